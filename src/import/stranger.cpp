#include "import/stranger.h"

#include <algorithm>
#include <filesystem>
#include <string>

namespace gf {

namespace {

constexpr std::string_view kTraceOfTorch =
    "of a PyTorch program, give torch.profiler's trace: export_chrome_trace(\"trace.json\")";
constexpr std::string_view kTraceOfXpu =
    "of a PyTorch program, give the trace of torch.profiler with ProfilerActivity.XPU: "
    "export_chrome_trace(\"trace.json\")";
constexpr std::string_view kRunNsys =
    "record with nsys profile --trace=cuda,nvtx, then nsys export --type sqlite REPORT.nsys-rep";
constexpr std::string_view kNvprof =
    "record with nvprof -o run.nvvp PROGRAM, or nvprof --print-gpu-trace --csv; GPUs of compute "
    "capability 8.0 and later need nsys profile --trace=cuda,nvtx";
constexpr std::string_view kRunNsysOrTorch =
    "record GPU work with torch.profiler (export_chrome_trace) or, on NVIDIA, nsys profile and "
    "nsys export --type sqlite";
constexpr std::string_view kExportSqlite =
    "export the report as SQLite: nsys export --type sqlite REPORT.nsys-rep";
constexpr std::string_view kRunRocprof =
    "record with rocprofv3 --kernel-trace --memory-copy-trace --hip-trace -- PROGRAM, and give its "
    "results.db, JSON or CSV";
constexpr std::string_view kRocpdOfSystems =
    "record with ROCPROFSYS_USE_ROCPD=ON, and give its database";
constexpr std::string_view kAmdLog = "log over time: amd-smi metric -p -c -t -u -w 1 --csv";
constexpr std::string_view kAscend =
    "give trace_view.json or kernel_details.csv of torch_npu's output (ASCEND_PROFILER_OUTPUT)";
constexpr std::string_view kApple = "Apple's GPUs are not analyzed: Instruments shows it";
constexpr std::string_view kDcgmLog =
    "log the same over time on the node: dcgmi dmon -e 155,1001,1002,1003,1004,1005 -d 1000";
constexpr std::string_view kPowerLog =
    "log over time beside the run: nvidia-smi "
    "--query-gpu=timestamp,index,power.draw.instant,utilization.gpu --format=csv -lms 100";
constexpr std::string_view kFlightRecorder =
    "which rank the others wait for: gpufathom ranks FOLDER, with the dumps of all ranks";
constexpr std::string_view kInspector =
    "which rank came last: gpufathom ranks FOLDER, with the logs of all ranks";
constexpr std::string_view kRanks =
    "give gpufathom ranks a folder with the torch.profiler trace of each rank";

constexpr Stranger kStrangers[] = {
#define ALL(...) {__VA_ARGS__}
#define GF_STRANGER(shape, named, begins, parts, writer, what, next) \
  {Shape::shape, named, begins, parts, writer, what, next},
#include "core/text.h"
#include "import/strangers.def"
#undef GF_STRANGER
#undef ALL
};

/// Marks stand near a file's beginning; looking further would take longer than reading it.
constexpr std::size_t kFront = 64 << 10;

bool is_text(std::string_view head) {
  return std::none_of(head.begin(), head.end(), [](char letter) {
    return static_cast<unsigned char>(letter) < 0x20 && letter != '\n' && letter != '\r' &&
           letter != '\t' && letter != '\f';
  });
}

/// The begin of the first field of a protobuf message's own field 1, when its length is inside the
/// file: what an XSpace or a Perfetto trace begins with. npos: it is none.
std::size_t first_inner_field(std::string_view head) {
  if (head.size() < 16 || head[0] != '\x0a') return head.npos;
  std::uint64_t length = 0;
  for (std::size_t i = 1, shift = 0; i < 6; ++i, shift += 7) {
    length |= static_cast<std::uint64_t>(head[i] & 0x7f) << shift;
    if (!(head[i] & 0x80)) return length > 1 ? i + 1 : head.npos;
  }
  return head.npos;
}

/// A TracePacket begins with its clocks (6), time (8), sequence (10), event (11), names (12), trace
/// configuration (33) or track (60); a plane of an XSpace with its id (1) or name (2).
bool is_perfetto(std::string_view head) {
  const auto at = first_inner_field(head);
  if (at == head.npos) return false;
  const auto field = head.substr(at, 2);
  for (const std::string_view tag :
       {"\x32", "\x40", "\x50", "\x5a", "\x62", "\x8a\x02", "\xe2\x03"})
    if (field.starts_with(tag)) return true;
  return false;
}

std::string_view without_blanks(std::string_view head) {
  return head.substr(std::min(head.find_first_not_of(" \t\r\n\xef\xbb\xbf"), head.size()));
}

Shape shape_of(std::string_view front) {
  if (front.starts_with("SQLite format 3")) return Shape::sqlite;
  if (is_text(front)) {
    const auto begin = without_blanks(front);
    return begin.starts_with('{') || begin.starts_with('[') ? Shape::json : Shape::text;
  }
  return is_perfetto(front) ? Shape::perfetto : Shape::binary;
}

/// A file's name with the folder that holds it.
std::string_view end_of(std::string_view path) {
  const auto name = path.rfind('/');
  if (name == path.npos || name == 0) return path;
  const auto folder = path.rfind('/', name - 1);
  return folder == path.npos ? path : path.substr(folder + 1);
}

/// One of the endings (.x) or parts of a list, or none is asked for.
bool is_named(std::string_view path, std::string_view list) {
  if (list.empty()) return true;
  for (const std::string_view packed : {".gz", ".zst"})
    if (path.ends_with(packed)) path.remove_suffix(packed.size());
  while (path.ends_with('/')) path.remove_suffix(1);
  path = end_of(path);
  while (!list.empty()) {
    const auto name = list.substr(0, list.find(' '));
    list.remove_prefix(std::min(name.size() + 1, list.size()));
    if (name.starts_with('.') ? path.ends_with(name) : contains(path, name)) return true;
  }
  return false;
}

bool fits(const Stranger& row, Shape shape, std::string_view path, std::string_view front) {
  if (row.shape != shape && (row.shape != Shape::any || shape == Shape::folder)) return false;
  const bool whole = row.shape == Shape::binary || row.shape == Shape::any;
  return is_named(path, row.named) &&
         (whole ? front : without_blanks(front)).starts_with(row.begins) &&
         std::ranges::all_of(row.has, [&](auto part) { return contains(front, part); });
}

const Stranger* find(Shape shape, std::string_view path, std::string_view front, bool of_profiler) {
  const auto* const found = std::ranges::find_if(kStrangers, [&](const Stranger& row) {
    return row.writer.empty() != of_profiler && fits(row, shape, path, front);
  });
  return found == std::end(kStrangers) ? nullptr : found;
}

}  // namespace

std::span<const Stranger> strangers() { return kStrangers; }

const Stranger* find_stranger(std::string_view path, std::string_view head) {
  const auto front = head.substr(0, kFront);
  return find(shape_of(front), path, front, true);
}

const Stranger* find_stranger_folder(const char* path) {
  constexpr std::size_t kMostNames = 10'000;
  std::string names;
  std::error_code error;
  std::size_t seen = 0;
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    if (++seen > kMostNames) break;
    names += at->path().filename().string() + "\n";
  }
  return find(Shape::folder, path, names, true);
}

std::string_view describe_content(std::string_view head) {
  if (head.size() > 262 && head.substr(257, 5) == "ustar")
    return "a tar archive: unpack it first, and name the file or folder in it";
  if (head.find_first_not_of('\0') == head.npos)
    return "zeros only: a file that was reserved but never written";
  const auto begin = without_blanks(head);
  if (begin.empty()) return "blank text";
  const auto front = head.substr(0, kFront);
  const Shape shape = shape_of(front);
  if (const auto* known = find(shape, {}, front, false)) return known->what;
  if (shape == Shape::json) return "JSON of an unknown format";
  if (shape == Shape::text) {
    const auto line = begin.substr(0, begin.find('\n'));
    return std::count(line.begin(), line.end(), ',') > 1 ? "a CSV table of an unknown format"
                                                         : "plain text";
  }
  return first_inner_field(head) != head.npos ? "perhaps a protobuf message" : "";
}

}  // namespace gf
