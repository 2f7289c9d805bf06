#include "analyze/attribution/forward_table.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace gf {
namespace {

std::uint64_t number_key(std::int64_t pid, std::int32_t number) {
  return static_cast<std::uint64_t>(pid) << 32 ^ static_cast<std::uint32_t>(number);
}

}  // namespace

ForwardTable::ForwardTable(const Capture& capture)
    : capture_(capture), threads_(capture.threads.size()) {
  std::vector<bool> forward(capture.threads.size(), false);
  const auto& ops = capture.host_ops;
  for (std::size_t i = 0; i < ops.size(); ++i)
    if (ops.sequence[i] >= 0 && ops.forward_thread[i] <= 0 && ops.thread[i] < forward.size())
      forward[ops.thread[i]] = true;
  std::size_t count = 0;
  for (std::uint32_t thread = 0; thread < forward.size(); ++thread) {
    if (!forward[thread]) continue;
    threads_[thread].process = &processes_[capture.threads.pid[thread]];
    threads_[thread].process->threads.push_back(thread);
    ++count;
  }
  if (count > 1) learn_numbers(capture);
}

// The profiler numbers threads in its own way; where there are several forward threads the arrows
// from forward to backward operations tell which number is which thread.
void ForwardTable::learn_numbers(const Capture& capture) {
  const auto& flows = capture.flows;
  const auto& ops = capture.host_ops;
  // Arrows by where they end and by id; of several with one id or end the first counts.
  struct Head {
    std::uint32_t thread;
    Nanos time;
    std::int64_t id;
  };
  struct Tail {
    std::int64_t id;
    std::uint32_t thread;
  };
  std::vector<Head> heads;
  std::vector<Tail> tails;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    if (flows.thread[i] == kNoRow) continue;
    if (flows.finish[i])
      heads.push_back({flows.thread[i], flows.time_ns[i], flows.id[i]});
    else
      tails.push_back({flows.id[i], flows.thread[i]});
  }
  if (heads.empty()) return;
  auto ends_before = [](const Head& left, const Head& right) {
    return std::tie(left.thread, left.time) < std::tie(right.thread, right.time);
  };
  auto id_before = [](const Tail& left, const Tail& right) { return left.id < right.id; };
  if (!std::ranges::is_sorted(heads, ends_before)) std::ranges::stable_sort(heads, ends_before);
  if (!std::ranges::is_sorted(tails, id_before)) std::ranges::stable_sort(tails, id_before);
  // Arrows mostly end where the operation behind the last one's begins, or before the next arrow.
  auto next_head = heads.begin();
  auto next_tail = tails.begin();
  const auto first_not_before = [](auto& all, auto& next, const auto& value, auto before) {
    const auto is_it = [&](auto at) {
      return (at == all.end() || !before(*at, value)) &&
             (at == all.begin() || before(*(at - 1), value));
    };
    if (!is_it(next)) {
      if (next != all.end() && is_it(next + 1))
        ++next;
      else
        next = std::lower_bound(all.begin(), all.end(), value, before);
    }
    return next;
  };
  std::map<std::pair<std::uint64_t, std::uint32_t>, int> votes;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ops.forward_thread[i] <= 0 || ops.thread[i] == kNoRow) continue;
    const auto end =
        first_not_before(heads, next_head, Head{ops.thread[i], ops.start_ns[i], 0}, ends_before);
    if (end == heads.end() || end->thread != ops.thread[i] || end->time != ops.start_ns[i])
      continue;
    const auto tail = first_not_before(tails, next_tail, Tail{end->id, 0}, id_before);
    if (tail != tails.end() && tail->id == end->id)
      ++votes[{number_key(capture.threads.pid[ops.thread[i]], ops.forward_thread[i]),
               tail->thread}];
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
  if (table.process->threads.size() > kFewThreads) {
    const auto [at, fresh] = table.process->owner.try_emplace(sequence, thread);
    if (!fresh && at->second != thread) at->second = kSeveral;
  }
  ++table.entries;
  if (table.dense.empty()) {
    table.base = sequence;
    table.dense.push_back(entry);
    return;
  }
  const auto offset = static_cast<std::uint64_t>(sequence) - static_cast<std::uint64_t>(table.base);
  if (offset < table.dense.size())
    table.dense[offset] = entry;
  else if (offset < 4 * table.entries + 1024) {
    table.dense.resize(offset + 1);
    table.dense[offset] = entry;
  } else {
    const auto [place, fresh] = table.scattered.place(static_cast<std::uint64_t>(sequence));
    if (fresh) {
      *place = static_cast<std::uint32_t>(table.far.size());
      table.far.emplace_back();
    }
    table.far[*place] = entry;
  }
}

const ForwardTable::Entry* ForwardTable::at(const PerThread& table, std::int64_t sequence) {
  const auto offset = static_cast<std::uint64_t>(sequence) - static_cast<std::uint64_t>(table.base);
  if (offset < table.dense.size() && table.dense[offset].op != kNoRow) return &table.dense[offset];
  const auto* place = table.scattered.find(static_cast<std::uint64_t>(sequence));
  return place ? &table.far[*place] : nullptr;
}

ForwardTable::Entry ForwardTable::find(std::uint32_t thread, std::int32_t number,
                                       std::int64_t sequence) const {
  const std::int64_t pid = capture_.threads.pid[thread];
  if (const auto known = by_number_.find(number_key(pid, number)); known != by_number_.end()) {
    const auto* entry = at(threads_[known->second], sequence);
    if (entry) return *entry;
    return Entry{};
  }
  // One forward thread in this process is the usual case; with several and no arrows the answer
  // must be unique.
  const auto process = processes_.find(pid);
  if (process == processes_.end()) return {};
  if (process->second.threads.size() > kFewThreads) {
    const auto owner = process->second.owner.find(sequence);
    if (owner == process->second.owner.end() || owner->second == kSeveral) return {};
    if (const auto* entry = at(threads_[owner->second], sequence)) return *entry;
    return {};
  }
  const Entry* only = nullptr;
  for (const auto forward_thread : process->second.threads) {
    if (const auto* entry = at(threads_[forward_thread], sequence)) {
      if (only) return {};
      only = entry;
    }
  }
  if (only) return *only;
  return Entry{};
}

}  // namespace gf
