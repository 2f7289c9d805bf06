#include "analyze/attribution/forward_table.h"

#include <algorithm>
#include <map>

namespace gf {
namespace {

std::uint64_t number_key(std::int64_t pid, std::int32_t number) {
  return static_cast<std::uint64_t>(pid) << 32 ^ static_cast<std::uint32_t>(number);
}

}  // namespace

ForwardTable::ForwardTable(const Capture& capture) : capture_(capture), threads_(capture.threads.size()) {
  std::vector<bool> forward(capture.threads.size(), false);
  const auto& ops = capture.host_ops;
  for (std::size_t i = 0; i < ops.size(); ++i)
    if (ops.sequence[i] >= 0 && ops.forward_thread[i] <= 0 && ops.thread[i] < forward.size()) forward[ops.thread[i]] = true;
  for (std::uint32_t t = 0; t < forward.size(); ++t)
    if (forward[t]) forward_threads_.push_back(t);
  if (forward_threads_.size() > 1) learn_numbers(capture);
}

// The profiler numbers threads in its own way; where there are several forward threads the arrows from forward to
// backward operations tell which number is which thread.
void ForwardTable::learn_numbers(const Capture& capture) {
  const auto& flows = capture.flows;
  const auto& ops = capture.host_ops;
  std::unordered_map<std::int64_t, std::uint32_t> tail_thread;
  std::map<std::pair<std::uint32_t, Nanos>, std::int64_t> head;  // where an arrow ends -> its id
  for (std::size_t i = 0; i < flows.size(); ++i) {
    if (flows.thread[i] == kNoRow) continue;
    if (flows.finish[i]) head.emplace(std::pair{flows.thread[i], flows.time_ns[i]}, flows.id[i]);
    else tail_thread.emplace(flows.id[i], flows.thread[i]);
  }
  std::map<std::pair<std::uint64_t, std::uint32_t>, int> votes;
  for (std::size_t i = 0; i < ops.size() && !head.empty(); ++i) {
    if (ops.forward_thread[i] <= 0 || ops.thread[i] == kNoRow) continue;
    const auto end = head.find({ops.thread[i], ops.start_ns[i]});
    if (end == head.end()) continue;
    const auto tail = tail_thread.find(end->second);
    if (tail != tail_thread.end()) ++votes[{number_key(capture.threads.pid[ops.thread[i]], ops.forward_thread[i]), tail->second}];
  }
  std::unordered_map<std::uint64_t, int> most;
  for (const auto& [who, count] : votes)
    if (count > most[who.first]) {
      most[who.first] = count;
      by_number_[who.first] = who.second;
    }
}

void ForwardTable::put(std::uint32_t thread, std::int64_t sequence, Entry entry) {
  auto& table = threads_[thread];
  ++table.entries;
  if (table.dense.empty()) {
    table.base = sequence;
    table.dense.push_back(entry);
    return;
  }
  const auto offset = static_cast<std::uint64_t>(sequence) - static_cast<std::uint64_t>(table.base);
  if (offset < table.dense.size()) table.dense[offset] = entry;
  else if (offset < 4 * table.entries + 1024) {
    table.dense.resize(offset + 1);
    table.dense[offset] = entry;
  } else table.scattered[sequence] = entry;
}

const ForwardTable::Entry* ForwardTable::at(const PerThread& table, std::int64_t sequence) {
  const auto offset = static_cast<std::uint64_t>(sequence) - static_cast<std::uint64_t>(table.base);
  if (offset < table.dense.size() && table.dense[offset].op != kNoRow) return &table.dense[offset];
  const auto found = table.scattered.find(sequence);
  return found == table.scattered.end() ? nullptr : &found->second;
}

ForwardTable::Entry ForwardTable::find(std::uint32_t thread, std::int32_t number, std::int64_t sequence) const {
  const std::int64_t pid = capture_.threads.pid[thread];
  if (const auto known = by_number_.find(number_key(pid, number)); known != by_number_.end()) {
    const auto* entry = at(threads_[known->second], sequence);
    return entry ? *entry : Entry{};
  }
  // One forward thread in this process is the usual case; with several and no arrows the answer must be unique.
  const Entry* only = nullptr;
  for (const auto t : forward_threads_) {
    if (capture_.threads.pid[t] != pid) continue;
    if (const auto* entry = at(threads_[t], sequence)) {
      if (only) return {};
      only = entry;
    }
  }
  return only ? *only : Entry{};
}

}  // namespace gf
