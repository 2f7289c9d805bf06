// rocprofv3's JSON output: one file for all processes of a run.
#include <fmt/format.h>

#include <array>
#include <map>
#include <string>

#include "import/formats.h"
#include "import/json_rows.h"
#include "import/rocprof/agents.h"
#include "import/trace_rows.h"

namespace gf::rocprof {

namespace {

#define GF_TOOL "rocprofiler-sdk-tool"
constexpr std::string_view kJsonProcess = GF_TOOL ".metadata", kJsonAgents = GF_TOOL ".agents",
                           kJsonSymbols = GF_TOOL ".kernel_symbols",
                           kJsonNames = GF_TOOL ".strings.buffer_records",
                           kJsonRecords = GF_TOOL ".buffer_records.";
#undef GF_TOOL

class JsonLoader {
 public:
  explicit JsonLoader(Capture& capture) : c_(capture), rows_(capture) {}

  /// First what things are called, then what happened: a file says both in any order.
  bool run(std::string_view text) {
    JsonWalk walk;
    const bool named = walk.run(
        text,
        [](std::string_view path) {
          return path == kJsonProcess || path == kJsonAgents || path == kJsonSymbols ||
                 path == kJsonNames;
        },
        [&](std::string_view path, const JsonRow& row) { describe(path, row); });
    if (!named) return false;
    process_ = -1;
    return walk.run(
        text,
        [](std::string_view path) {
          return path == kJsonProcess || path.starts_with(kJsonRecords);
        },
        [&](std::string_view path, const JsonRow& row) { record(path, row); });
  }
  void finish() { rows_.finish(); }

 private:
  /// The records of one process: its metadata comes first.
  struct Process {
    std::int64_t pid = -1;
    std::map<std::string, Text> kernels;                    // by kernel_id
    std::map<std::string, std::vector<std::string>> calls;  // by kind
  };

  void describe(std::string_view path, const JsonRow& row) {
    if (path == kJsonProcess || processes_.empty()) processes_.emplace_back();
    Process& process = processes_.back();
    if (path == kJsonProcess) {
      process.pid = row.integer("pid");
    } else if (path == kJsonAgents) {
      add_agent(row);
    } else if (path == kJsonSymbols) {
      auto name = row.text("formatted_kernel_name");
      if (name.empty()) name = row.text("kernel_name");
      process.kernels[std::string(row.text("kernel_id"))] = c_.strings.intern(name);
    } else {
      auto& names = process.calls[std::string(row.text("kind"))];
      for (const auto& value : row.values())
        if (value.path.starts_with("operations.")) names.push_back(value.text);
      kinds_.push_back(std::string(row.text("kind")));
    }
  }

  void add_agent(const JsonRow& row) {
    std::string key(row.text("id.handle"));
    if (agents_.knows(key)) return;  // of an earlier process of the same machine
    if (row.integer("type") == 2)
      agents_.add_gpu(std::move(key), {gpus_++, row.text("product_name"), row.text("name"),
                                       row.integer("cu_count")});
    else
      agents_.add_other(std::move(key));
  }

  const Process& process() {
    static const Process kNone;
    return process_ >= 0 && process_ < static_cast<std::ptrdiff_t>(processes_.size())
               ? processes_[static_cast<std::size_t>(process_)]
           : processes_.empty() ? kNone
                                : processes_.front();
  }

  void record(std::string_view path, const JsonRow& row) {
    if (path == kJsonProcess) {
      ++process_;
      return;
    }
    path.remove_prefix(kJsonRecords.size());
    const bool kernel = path == "kernel_dispatch", copy = path == "memory_copy";
    const bool call = path == "hip_api" || path == "rccl_api" || path == "marker_api";
    if (!kernel && !copy && !call) return;
    const auto start = row.decimal("start_timestamp", 0), end = row.decimal("end_timestamp", 0);
    if (!start || !end) return rows_.bad_row();
    if (call) return add_call(path, row, *start, *end);
    DeviceWork work;
    work.start = *start;
    work.end = *end;
    work.pid = process().pid;
    work.correlation = row.integer("correlation_id.internal");
    work.stream = row.integer("stream_id.handle");
    if (copy) {
      work.kind = ActivityKind::memcpy;
      work.bytes = row.integer("bytes");
      std::string from(row.text("src_agent_id.handle")), to(row.text("dst_agent_id.handle"));
      work.device = agents_.row_of_copy(from, to);
      work.copy = direction(from, to);
    } else {
      describe_kernel(row, work);
    }
    rows_.work(work);
  }

  CopyKind direction(const std::string& from, const std::string& to) const {
    if (agents_.is_gpu(from) && agents_.is_gpu(to))
      return from == to ? CopyKind::device_to_device : CopyKind::peer;
    if (agents_.is_gpu(to)) return CopyKind::host_to_device;
    return agents_.is_gpu(from) ? CopyKind::device_to_host : CopyKind::unknown;
  }

  void describe_kernel(const JsonRow& row, DeviceWork& work) {
    work.device = agents_.row(std::string(row.text("dispatch_info.agent_id.handle")));
    if (work.stream < 0) work.stream = row.integer("dispatch_info.queue_id.handle");
    work.shared_bytes = row.integer("dispatch_info.group_segment_size");
    const auto& known = process().kernels;
    if (const auto name = known.find(std::string(row.text("dispatch_info.kernel_id")));
        name != known.end())
      work.name = name->second;
    std::array<std::int64_t, 3> items{};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string axis(1, "xyz"[i]);
      items[i] = row.integer("dispatch_info.grid_size." + axis);
      work.block[i] = row.integer("dispatch_info.workgroup_size." + axis);
    }
    work.grid = blocks_of(items, work.block);
  }

  void add_call(std::string_view path, const JsonRow& row, Nanos start, Nanos end) {
    const auto thread = rows_.thread(process().pid, row.integer("thread_id"));
    const auto name = call_name(path, row);
    if (path == "marker_api")
      rows_.range(start, end, thread, name);
    else
      rows_.call(start, end, thread, name, row.integer("correlation_id.internal"));
  }

  /// The kind is a number, the place of its names in the list; files have been seen in which it is
  /// the kind's name.
  std::string call_name(std::string_view path, const JsonRow& row) {
    std::string kind(row.text("kind"));
    const auto place = row.integer("kind");
    if (place >= 0 && place < static_cast<std::int64_t>(kinds_.size()))
      kind = kinds_[static_cast<std::size_t>(place)];
    const auto& calls = process().calls;
    if (const auto names = calls.find(kind); names != calls.end()) {
      const auto operation = row.integer("operation");
      if (operation >= 0 && operation < static_cast<std::int64_t>(names->second.size()))
        return names->second[static_cast<std::size_t>(operation)];
    }
    return fmt::format("{} {}", path, row.text("operation"));
  }

  Capture& c_;
  TraceRows rows_;
  Agents agents_{c_};
  std::vector<Process> processes_;
  std::vector<std::string> kinds_;
  std::ptrdiff_t process_ = -1;
  std::int32_t gpus_ = 0;
};

}  // namespace

int sniff_json(std::string_view, std::string_view head) {
  return head.substr(0, 256).find("\"rocprofiler-sdk-tool\"") != head.npos ? 95 : 0;
}

Result<Capture> load_json(const std::string& path, const ImportOptions& options) {
  return load_json_text(
      path, options, "rocprofv3_json", [](std::string_view text, Capture& capture) -> Status {
        JsonLoader loader(capture);
        if (!loader.run(text))
          return fail("is a JSON trace of rocprofv3 that ends early, or is damaged", {}, -1,
                      "let the profiler end by itself, and copy the file again");
        loader.finish();
        note_no_absolute_time(capture, "rocprofv3");
        return {};
      });
}

}  // namespace gf::rocprof
