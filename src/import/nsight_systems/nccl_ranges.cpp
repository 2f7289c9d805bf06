#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include "import/nsight_systems/loader.h"

namespace gf::nsys {

namespace {

// Names of entries, as NCCL gives them.
constexpr std::string_view kCommunicator = "NCCL communicator ID", kBytes = "Message size [bytes]",
                           kPeer = "Peer rank", kRank = "Rank", kRanks = "No. of ranks";

// The header that the exporter puts before a payload: domain, schema, size of the payload, 8 bytes
// each, and another 8 that do not matter.
constexpr std::size_t kHead = 32;

/// Bytes of a predefined type of NVTX; 4 for enumerations, which have types of their own.
std::size_t width_of(std::int64_t type) {
  switch (type) {
    case 1:
    case 2:
    case 11:
    case 12:
      return 1;
    case 3:
    case 4:
    case 13:
    case 14:
      return 2;
    case 7:   // long
    case 8:   // unsigned long
    case 9:   // long long
    case 10:  // unsigned long long
    case 17:  // int64
    case 18:  // uint64
    case 20:  // double
    case 22:  // size_t
      return 8;
    default:
      return 4;
  }
}

std::int64_t number_at(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, width);  // little-endian, as every host of a GPU is
  return width == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
}

/// ncclDevKernel_…, ncclKernel_… of old versions, ncclSymkDevKernel_… and ncclSymDevKernel_… of
/// symmetric memory. A kernel of somebody else may have arguments of NCCL's.
bool is_nccl_kernel(std::string_view name) {
  name = name.substr(0, name.find('('));
  const auto own = name.find("nccl");
  return own != name.npos && name.find("Kernel", own) != name.npos;
}

bool point_to_point(std::string_view name) { return name == "ncclSend" || name == "ncclRecv"; }

bool describes_data(std::string_view name) {
  constexpr std::array known{"ncclAllReduce", "ncclAllGather", "ncclReduceScatter", "ncclBroadcast",
                             "ncclBcast",     "ncclReduce",    "ncclSend",          "ncclRecv",
                             "ncclAlltoAll",  "ncclAllToAll",  "ncclGather",        "ncclScatter"};
  return std::find(known.begin(), known.end(), name) != known.end();
}

std::int64_t found_in(const std::map<std::string, std::int64_t, std::less<>>& fields,
                      std::string_view name) {
  const auto found = fields.find(name);
  return found == fields.end() ? -1 : found->second;
}

}  // namespace

void NcclRanges::add_entry(std::int64_t domain, std::int64_t schema, PayloadEntry entry) {
  auto& entries = schemas_[{domain, schema}];
  if (entry.offset < 0) {  // each behind the one before, as a compiler lays them out
    const std::size_t width = width_of(entry.type);
    std::size_t end = 0;
    if (!entries.empty())
      end = static_cast<std::size_t>(entries.back().offset) + width_of(entries.back().type);
    entry.offset = static_cast<std::int64_t>((end + width - 1) / width * width);
  }
  entries.push_back(std::move(entry));
}

std::optional<NcclRanges::Fields> NcclRanges::read(std::string_view payload) const {
  if (payload.size() < kHead) return {};
  const auto schema = schemas_.find({number_at(payload, 0, 4), number_at(payload, 8, 8)});
  if (schema == schemas_.end()) return {};
  const std::string_view body = payload.substr(kHead);
  Fields fields;
  for (const auto& entry : schema->second) {
    const std::size_t width = width_of(entry.type);
    if (entry.offset < 0 || static_cast<std::size_t>(entry.offset) > body.size()) continue;
    if (body.size() - static_cast<std::size_t>(entry.offset) < width) continue;
    fields[entry.name] = number_at(body, static_cast<std::size_t>(entry.offset), width);
  }
  return fields;
}

void NcclRanges::add_range(std::uint32_t thread, Nanos start, std::string_view name,
                           std::string_view payload) {
  if (!name.starts_with("nccl")) return;
  const auto fields = read(payload);
  if (!fields || !fields->contains(kCommunicator)) return;
  Call call;
  call.thread = thread;
  call.start = start;
  call.name = name;
  call.communicator = static_cast<std::uint64_t>(found_in(*fields, kCommunicator));
  call.bytes = found_in(*fields, kBytes);
  call.peer = found_in(*fields, kPeer);
  if (name.starts_with("ncclCommInit") || name.starts_with("ncclCommSplit")) {
    made_[{thread, call.communicator}] = {found_in(*fields, kRank), found_in(*fields, kRanks)};
  } else if (describes_data(name)) {
    calls_.push_back(std::move(call));
  }
}

/// NCCL asks of all ranks that they call in the same order: where the communicator was made in the
/// capture, the place of a call in it is its number.
void NcclRanges::number_calls(const Capture& capture) {
  for (const auto& [key, communicator] : made_)
    communicators_[{capture.threads.pid[key.first], key.second}] = communicator;
  std::stable_sort(calls_.begin(), calls_.end(),
                   [](const Call& left, const Call& right) { return left.start < right.start; });
  std::map<std::pair<Process, std::uint64_t>, std::int64_t> next;
  for (auto& call : calls_) {
    const std::pair key{capture.threads.pid[call.thread], call.communicator};
    if (point_to_point(call.name) || !communicators_.contains(key)) continue;
    call.sequence = next[key]++;
  }
}

std::map<std::uint32_t, std::vector<NcclRanges::Event>> NcclRanges::events_by_thread(
    const Capture& capture) const {
  std::map<std::uint32_t, std::vector<Event>> events;
  for (const auto& call : calls_) events[call.thread].push_back({call.start, &call, kNoRow});
  std::map<std::pair<Process, std::int64_t>, std::uint32_t> launched;  // the call by correlation
  for (std::uint32_t row = 0; row < capture.api_calls.size(); ++row)
    if (const auto thread = capture.api_calls.thread[row]; thread < capture.threads.size())
      launched[{capture.threads.pid[thread], capture.api_calls.correlation[row]}] = row;
  const auto& activities = capture.activities;
  for (std::uint32_t row = 0; row < activities.size(); ++row) {
    if (activities.graph_node[row] >= 0 || activities.kind[row] != ActivityKind::kernel) continue;
    if (!is_nccl_kernel(capture.text(activities.name[row]))) continue;
    auto found = launched.find({activities.pid[row], activities.correlation[row]});
    if (found == launched.end()) continue;
    events[capture.api_calls.thread[found->second]].push_back(
        {capture.api_calls.start_ns[found->second], nullptr, row});
  }
  for (auto& [thread, list] : events)
    std::stable_sort(list.begin(), list.end(),
                     [](const Event& left, const Event& right) { return left.at < right.at; });
  return events;
}

void NcclRanges::describe(Capture& capture) {
  if (calls_.empty()) return;
  number_calls(capture);
  for (const auto& [thread, events] : events_by_thread(capture)) {
    // Calls between ncclGroupStart and ncclGroupEnd are launched together at the end.
    std::vector<const Call*> calls;
    std::vector<std::uint32_t> kernels;
    for (const auto& event : events) {
      if (event.call && !kernels.empty()) {
        describe_group(capture, calls, kernels);
        calls.clear();
        kernels.clear();
      }
      if (event.call) {
        calls.push_back(event.call);
      } else {
        kernels.push_back(event.kernel);
      }
    }
    describe_group(capture, calls, kernels);
  }
  say_rank(capture);
}

void NcclRanges::describe_group(Capture& capture, const std::vector<const Call*>& calls,
                                const std::vector<std::uint32_t>& kernels) const {
  if (calls.empty() || kernels.empty()) return;
  if (calls.size() == kernels.size()) {
    for (std::size_t i = 0; i < calls.size(); ++i)
      describe_kernel(capture, kernels[i], *calls[i], calls[i]->bytes);
    return;
  }
  // One kernel for several calls of a kind carries all of their bytes.
  std::int64_t bytes = 0;
  for (const Call* call : calls) {
    if (call->name != calls.front()->name || call->communicator != calls.front()->communicator)
      return;
    if (call->bytes < 0 || bytes > INT64_MAX - call->bytes) return;
    bytes += call->bytes;
  }
  if (kernels.size() == 1) describe_kernel(capture, kernels.front(), *calls.front(), bytes);
}

void NcclRanges::describe_kernel(Capture& capture, std::uint32_t kernel, const Call& call,
                                 std::int64_t bytes) const {
  Communicator communicator;
  const auto found = communicators_.find({capture.threads.pid[call.thread], call.communicator});
  if (found != communicators_.end()) communicator = found->second;
  auto& table = capture.collectives;
  const auto row = table.add();
  table.activity[row] = kernel;
  table.name[row] = capture.strings.intern(call.name);
  table.group_size[row] = communicator.size;
  const std::string name = fmt::format("{:#018x}", call.communicator);
  table.communicator[row] = table.group_name[row] = capture.strings.intern(name);
  table.sequence[row] = call.sequence;
  if (call.name == "ncclSend") {
    table.from_rank[row] = communicator.rank;
    table.to_rank[row] = call.peer;
  } else if (call.name == "ncclRecv") {
    table.from_rank[row] = call.peer;
    table.to_rank[row] = communicator.rank;
  }
  if (bytes < 0) return;
  table.dtype[row] = capture.strings.intern("byte");
  // The message is what one rank gives (all-gather) or keeps (reduce-scatter) of the whole.
  const bool gathers = call.name == "ncclAllGather", scatters = call.name == "ncclReduceScatter";
  std::int64_t whole = bytes;
  if (gathers || scatters) {
    const bool known = communicator.size > 0 && bytes <= INT64_MAX / communicator.size;
    whole = known ? bytes * communicator.size : -1;
  }
  table.in_elements[row] = gathers ? bytes : whole;
  table.out_elements[row] = scatters ? bytes : whole;
}

/// The largest communicator that the one process of the capture made.
void NcclRanges::say_rank(Capture& capture) const {
  const Communicator* largest = nullptr;
  Process process = -1;
  for (const auto& [key, communicator] : communicators_) {
    if (largest && key.first != process) return;
    process = key.first;
    if (!largest || communicator.size > largest->size) largest = &communicator;
  }
  if (!largest || largest->rank < 0 || largest->size < 0) return;
  capture.set_metadata("nccl.rank", std::to_string(largest->rank));
  capture.set_metadata("nccl.world_size", std::to_string(largest->size));
}

}  // namespace gf::nsys
