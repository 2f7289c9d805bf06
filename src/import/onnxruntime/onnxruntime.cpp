// Profiles of ONNX Runtime: a list of Chrome events in whole microseconds from the session's start.
// A node's row is the time of its host; kernels follow the node that launched them, where ONNX
// Runtime was built to record them.
#include <array>
#include <map>
#include <string>

#include "core/text.h"
#include "import/formats.h"
#include "import/json_rows.h"
#include "import/said_columns.h"
#include "import/trace_rows.h"

namespace gf::onnxruntime {

namespace {

constexpr std::string_view kNodeEnds = "_kernel_time";

/// The GPU vendor of each execution provider.
constexpr std::pair<std::string_view, std::string_view> kProviders[] = {
    {"CUDAExecutionProvider", "nvidia"},
    {"TensorrtExecutionProvider", "nvidia"},
    {"NvTensorRTRTXExecutionProvider", "nvidia"},
    {"ROCMExecutionProvider", "amd"},
    {"MIGraphXExecutionProvider", "amd"}};

class Profile {
 public:
  explicit Profile(Capture& capture) : c_(capture), rows_(capture) {}

  bool run(std::string_view text) {
    JsonWalk walk;
    return walk.run(
        text, [](std::string_view path) { return path.empty(); },
        [&](auto, const JsonRow& row) { add(row); });
  }

  void finish() {
    rows_.finish();
    for (std::size_t row = 0; row < c_.devices.size(); ++row)
      if (!vendor_.empty()) c_.devices.vendor[row] = c_.strings.intern(vendor_);
    c_.note_quality(QualityCode::no_absolute_time,
                    "ONNX Runtime counts from the session's start: a power log cannot be laid "
                    "beside it");
    if (c_.activities.empty()) return;
    c_.note_quality(QualityCode::coarse_times,
                    "ONNX Runtime writes whole microseconds: kernels below one have no length, and "
                    "busy time is at least what is said");
    c_.note_quality(QualityCode::assumed_device,
                    "ONNX Runtime does not say which GPU a kernel ran on: all are taken as one's");
  }

 private:
  void add(const JsonRow& row) {
    const auto category = row.text("cat");
    if (row.text("ph") != "X") return;
    const auto start = row.decimal("ts", 3), length = row.decimal("dur", 3);
    const auto end = start && length ? checked_add(*start, *length) : std::nullopt;
    if (!end) return rows_.bad_row();
    if (category == "Kernel") return add_kernel(row, *start, *end);
    const auto thread = rows_.thread(row.integer("pid"), row.integer("tid"));
    auto name = row.text("name");
    if (category == "Session") return rows_.range(*start, *end, thread, name);
    if (category == "Api") return rows_.call(*start, *end, thread, name, -1);
    if (category != "Node" || !name.ends_with(kNodeEnds)) return;
    name.remove_suffix(kNodeEnds.size());
    for (const auto& [provider, vendor] : kProviders)
      if (row.text("args.provider") == provider) vendor_ = vendor;
    node_ = static_cast<std::int64_t>(c_.host_ops.size()) + 1;
    rows_.operation(*start, *end, thread, name, node_);
    if (static_cast<std::int64_t>(c_.host_ops.size()) == node_)
      put(c_.host_ops.op_type, c_.host_ops.size() - 1, c_.strings.intern(row.text("args.op_name")));
  }

  void add_kernel(const JsonRow& row, Nanos start, Nanos end) {
    const auto name = row.text("name");
    if (name.starts_with("not_available_due_to_")) {
      c_.note_quality(QualityCode::source_error,
                      "CUPTI gave ONNX Runtime no kernels: another profiler may have them");
      return;
    }
    DeviceWork work;
    work.start = start;
    work.end = end;
    work.device = rows_.device(0, {});
    work.stream = row.integer("args.stream");
    work.operation = node_;
    if (name.starts_with("Memcpy")) {
      work.kind = ActivityKind::memcpy;
      work.copy = copy_direction(name);
    } else {
      work.name = c_.strings.intern(name);
      for (std::size_t i = 0; i < 3; ++i) {
        const std::string axis(1, "xyz"[i]);
        work.grid[i] = row.integer("args.grid_" + axis);
        work.block[i] = row.integer("args.block_" + axis);
      }
    }
    rows_.work(work);
  }

  Capture& c_;
  TraceRows rows_;
  std::int64_t node_ = -1;  // external_id of the one before
  std::string_view vendor_;
};

}  // namespace

int sniff(std::string_view, std::string_view head) {
  if (!head.starts_with('[')) return 0;
  const auto has = [head](std::string_view part) { return contains(head, part); };
  const bool session =
      has("\"Session\"") && (has("session_initialization") || has("model_loading"));
  return session || (has("_kernel_time\"") && has("\"op_name\"")) ? 93 : 0;
}

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  return load_json_text(
      path, options, "onnxruntime", [](std::string_view text, Capture& capture) -> Status {
        Profile profile(capture);
        if (!profile.run(text))
          capture.note_quality(
              QualityCode::truncated_json,
              "the file ends early, or is damaged: end_profiling() writes its end");
        profile.finish();
        return {};
      });
}

}  // namespace gf::onnxruntime
