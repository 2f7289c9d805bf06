// trace_view.json of torch_npu, and msprof's own trace: Chrome JSON whose processes are Python,
// CANN (the calls), the NPU and what was derived from them. Times are texts of microseconds. Two
// kinds of arrows end where a task begins: one begins in the call that launched it, the other in
// the framework's operation, which may have run on another thread long before.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/text.h"
#include "import/formats.h"
#include "import/json_rows.h"
#include "import/open_spans.h"
#include "import/trace_rows.h"

namespace gf::ascend {

namespace {

constexpr std::string_view kList = "traceEvents";
constexpr std::string_view kToCall = "HostToDevice", kToOperation = "async_npu";

enum class Role { other, framework, calls, device, communication };

/// The content of a process of the trace, by its name; any other was derived from these.
constexpr std::pair<std::string_view, Role> kProcesses[] = {{"Python", Role::framework},
                                                            {"CANN", Role::calls},
                                                            {"Ascend Hardware", Role::device},
                                                            {"HCCL", Role::communication},
                                                            {"Communication", Role::communication}};

enum class Task { kernel, copy, part_of_collective, no_work };

/// Prefixes of the types of tasks that are no kernels; the first that fits.
constexpr std::pair<std::string_view, Task> kTasks[] = {{"event", Task::no_work},
                                                        {"notify", Task::no_work},
                                                        {"profiling", Task::no_work},
                                                        {"stream_wait", Task::no_work},
                                                        {"wait_value", Task::no_work},
                                                        {"write_value", Task::no_work},
                                                        {"capture", Task::no_work},
                                                        {"barrier", Task::no_work},
                                                        {"place_holder", Task::no_work},
                                                        {"model_execute", Task::no_work},
                                                        {"model_maint", Task::no_work},
                                                        {"memcpy", Task::copy},
                                                        {"memcopy", Task::copy},
                                                        {"sdma_sqe", Task::copy},
                                                        {"sdma", Task::part_of_collective},
                                                        {"rdma", Task::part_of_collective},
                                                        {"pcie_dma", Task::copy}};

/// "Write Value" of one version is "WRITE_VALUE" of another.
Task task_of(std::string_view type) {
  std::string word = lower_case(type);
  std::ranges::replace(word, ' ', '_');
  for (const auto& [begins, task] : kTasks)
    if (word.starts_with(begins)) return task;
  return Task::kernel;
}

class Trace {
 public:
  explicit Trace(Capture& capture) : c_(capture), rows_(capture) {}

  bool run(std::string_view text) {
    const std::string_view list = text.starts_with('[') ? "" : kList;
    const auto events = [list](std::string_view path) { return path == list; };
    JsonWalk walk;
    const bool whole = walk.run(text, events, [&](auto, const JsonRow& row) { describe(row); }) &&
                       walk.run(text, events, [&](auto, const JsonRow& row) { add(row); });
    add_calls();
    operations_.seal();
    for (auto& [work, place] : tasks_) add_task(work, place);
    // The parts of a collective are no other work where the collective itself is in the trace.
    collectives_.seal();
    for (auto& [work, place] : parts_)
      if (!collectives_.row_at(0, work.start)) add_task(work, place);
    return whole;
  }
  void finish() { rows_.finish(); }

 private:
  using Place = std::tuple<std::int64_t, std::int64_t, Nanos>;  // process, thread, time
  struct Arrows {
    std::map<std::string, std::pair<std::int64_t, Nanos>> from;  // by id: thread, time
    std::map<Place, std::string> to;                             // the id
  };

  void describe(const JsonRow& row) {
    const auto phase = row.text("ph");
    const auto pid = row.integer("pid");
    if (phase == "M" && row.text("name") == "process_name") {
      for (const auto& [name, role] : kProcesses)
        if (row.text("args.name") == name) roles_[pid] = role;
      if (role_of(pid) == Role::framework) process_ = pid;
    } else if (phase == "M" && row.text("name") == "process_labels") {
      number(pid, row.text("args.labels"));
    } else if (phase == "s" || phase == "f") {
      const auto category = row.text("cat");
      const auto time = row.decimal("ts", 3);
      if (!time || (category != kToCall && category != kToOperation)) return;
      Arrows& arrows = category == kToCall ? to_call_ : to_operation_;
      std::string id(row.text("id"));
      if (phase == "s")
        arrows.from.try_emplace(std::move(id), row.integer("tid"), *time);
      else
        arrows.to.try_emplace({pid, row.integer("tid"), *time}, std::move(id));
    }
  }

  /// "NPU 3".
  void number(std::int64_t pid, std::string_view label) {
    const auto digits = label.find_last_not_of("0123456789") + 1;
    std::int64_t value = -1;
    std::from_chars(label.data() + std::min(digits, label.size()), label.data() + label.size(),
                    value);
    if (value >= 0) numbers_[pid] = value;
  }

  Role role_of(std::int64_t pid) const {
    const auto found = roles_.find(pid);
    return found == roles_.end() ? Role::other : found->second;
  }

  void add(const JsonRow& row) {
    const auto pid = row.integer("pid"), tid = row.integer("tid");
    const Role role = role_of(pid);
    if (row.text("ph") != "X" || role == Role::other) return;
    const auto start = row.decimal("ts", 3), length = row.decimal("dur", 3);
    const auto end = start && length ? checked_add(*start, *length) : std::nullopt;
    if (!end) return rows_.bad_row();
    auto name = row.text("name");
    if (role == Role::framework) return add_operation(*start, *end, tid, name);
    if (role == Role::calls) {  // "AscendCL@aclnnAdd"
      const auto at = name.find('@');
      if (at != name.npos && name.substr(at + 1) != "launch") name.remove_prefix(at + 1);
      calls_.push_back({*start, *end, tid, std::string(name)});
      return;
    }
    DeviceWork work;
    work.start = *start;
    work.end = *end;
    work.device = device_of(pid);
    work.stream = tid;
    bool is_part = false;
    if (role == Role::communication) {
      // A collective as a whole; below it are its parts, which the NPU's own rows hold as well.
      if (!name.starts_with("hcom_")) return;
      work.stream += kCommunicationStreams;
      collectives_.add(0, work.start, work.end, 0);
    } else {
      const auto type = row.text("args.Task Type");
      const Task task = task_of(type == "Other" ? name : type);
      if (task == Task::no_work) return;
      is_part = task == Task::part_of_collective;
      if (task == Task::copy || is_part) {
        work.kind = ActivityKind::memcpy;
        work.copy = copy_direction(name);
        work.bytes = row.integer("args.size(Byte)");
      }
    }
    work.name = c_.strings.intern(name);
    (is_part ? parts_ : tasks_).push_back({work, {pid, tid, *start}});
  }

  void add_operation(Nanos start, Nanos end, std::int64_t tid, std::string_view name) {
    const auto thread = rows_.thread(process_, tid);
    if (name.find('#') != name.npos) return rows_.range(start, end, thread, name);
    const auto row = c_.host_ops.size();
    rows_.operation(start, end, thread, name, static_cast<std::int64_t>(row) + 1);
    if (c_.host_ops.size() > row) operations_.add(tid, start, end, row);
  }

  /// Calls are numbered in the order of time, with room for the launches in each.
  void add_calls() {
    std::ranges::stable_sort(calls_, {}, &Call::start);
    for (const Call& call : calls_) {
      const auto row = c_.api_calls.size();
      rows_.call(call.start, call.end, rows_.thread(process_, call.tid), call.name,
                 static_cast<std::int64_t>(row + 1) * kMostLaunches);
      if (c_.api_calls.size() == row) continue;
      launches_.add(call.tid, call.start, call.end, row);
      // torch_npu records no task for a copy that its caller waits for.
      if (c_.api_calls.kind[row] == ApiKind::memcpy) c_.api_calls.kind[row] = ApiKind::sync;
    }
    launches_.seal();
  }

  struct Origin {
    std::size_t row = 0;  // the innermost span of the host in which the arrow to a task begins
    Nanos time = 0;
  };
  static std::optional<Origin> origin(const Arrows& arrows, const OpenSpans& spans,
                                      const Place& place) {
    const auto id = arrows.to.find(place);
    if (id == arrows.to.end()) return {};
    const auto from = arrows.from.find(id->second);
    if (from == arrows.from.end()) return {};
    const auto [thread, time] = from->second;
    const auto row = spans.row_at(thread, time);
    return row ? std::optional<Origin>({*row, time}) : std::nullopt;
  }

  void add_task(DeviceWork& work, const Place& place) {
    auto& calls = c_.api_calls;
    if (const auto from = origin(to_call_, launches_, place)) {
      auto call = from->row;
      const auto earlier = launched_[call]++;
      if (earlier > 0 && earlier < kMostLaunches) {  // a launch in the call, at its own time
        call = calls.size();
        rows_.call(from->time, from->time, calls.thread[from->row], "launch",
                   calls.correlation[from->row] + earlier);
      }
      calls.kind[call] = work.kind == ActivityKind::memcpy ? ApiKind::memcpy : ApiKind::launch;
      work.correlation = calls.correlation[call];
    }
    if (const auto from = origin(to_operation_, operations_, place))
      work.operation = c_.host_ops.external_id[from->row];
    rows_.work(work);
  }

  std::uint32_t device_of(std::int64_t pid) {
    const auto known = numbers_.find(pid);
    if (known != numbers_.end()) return rows_.device(known->second, "huawei");
    if (role_of(pid) == Role::communication) return rows_.device(0, "huawei");
    const auto next = static_cast<std::int64_t>(unnumbered_.size());
    return rows_.device(unnumbered_.try_emplace(pid, next).first->second, "huawei");
  }

  static constexpr std::int64_t kMostLaunches = 1024;
  static constexpr std::int64_t kCommunicationStreams = 1'000'000;
  Capture& c_;
  TraceRows rows_;
  std::map<std::int64_t, Role> roles_;
  std::map<std::int64_t, std::int64_t> numbers_, unnumbered_;  // of devices, by process
  std::int64_t process_ = -1;
  Arrows to_call_, to_operation_;
  OpenSpans launches_, operations_, collectives_;
  std::map<std::size_t, std::int64_t> launched_;  // tasks of a call
  struct Call {
    Nanos start = 0, end = 0;
    std::int64_t tid = -1;
    std::string name;
  };
  std::vector<Call> calls_;
  std::vector<std::pair<DeviceWork, Place>> tasks_, parts_;  // parts_: of collectives
};

}  // namespace

int sniff_trace(std::string_view, std::string_view head) {
  if (!head.starts_with('[') && !head.starts_with('{')) return 0;
  const auto has = [head](std::string_view part) { return contains(head, part); };
  if (has("\"Ascend Hardware\"") || has("\"async_npu\"") || has("\"AscendCL")) return 93;
  // The host's rows may fill the front; torch_npu writes them with begins that are texts, lengths
  // that are numbers, and nothing that a GPU's trace begins with. Other tools quote all numbers.
  for (const auto of_gpu : {"\"deviceProperties\"", "\"schemaVersion\"", "\"baseTimeNanoseconds\"",
                            "\"kernel\"", "\"gpu_memcpy\"", "\"gpu_memset\"", "\"cuda_runtime\"",
                            "\"cuda_driver\"", "\"dur\": \"", "\"dur\":\""})
    if (has(of_gpu)) return 0;
  return (has("\"ts\": \"") || has("\"ts\":\"")) && has("\"cpu_op\"") ? 91 : 0;
}

Result<Capture> load_trace(const std::string& path, const ImportOptions& options) {
  return load_json_text(
      path, options, "ascend_trace", [](std::string_view text, Capture& capture) -> Status {
        Trace trace(capture);
        if (!trace.run(text))
          capture.note_quality(QualityCode::truncated_json,
                               "the file ends early, or is damaged: what follows is missing");
        trace.finish();
        return {};
      });
}

}  // namespace gf::ascend
