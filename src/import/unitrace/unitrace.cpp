// Intel's unitrace: Chrome JSON in which device work has the category gpu_op, calls have cpu_op,
// and flows link a call to its work by number.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <tuple>

#include "import/formats.h"
#include "import/json_rows.h"
#include "import/trace_rows.h"

namespace gf::unitrace {

namespace {

constexpr std::string_view kEvents = "traceEvents";

/// "gemm[SIMD32 {304; 1; 1} {256; 1; 1}]": the name, and blocks and work-items of one.
struct Shape {
  std::string_view name;
  std::array<std::int64_t, 3> grid{-1, -1, -1}, block{-1, -1, -1};
};

Shape shape_of(std::string_view text) {
  Shape shape{text};
  const auto open = text.rfind("[SIMD");
  if (open == text.npos || !text.ends_with(']')) return shape;
  shape.name = text.substr(0, open);
  std::size_t at = open, number = 0;
  while (number < 6 && (at = text.find_first_of("{;", at)) != text.npos) {
    at = text.find_first_not_of(" {;", at);
    if (at == text.npos) break;
    std::int64_t value = -1;
    std::from_chars(text.data() + at, text.data() + text.size(), value);
    (number < 3 ? shape.grid : shape.block)[number % 3] = value;
    ++number;
  }
  return shape;
}

/// "zeCommandListAppendMemoryCopy(M2D)[1048576 bytes]".
std::int64_t bytes_in(std::string_view text) {
  const auto open = text.rfind('[');
  std::int64_t value = -1;
  if (open == text.npos || text.find("bytes]", open) == text.npos) return -1;
  std::from_chars(text.data() + open + 1, text.data() + text.size(), value);
  return value;
}

class Loader {
 public:
  explicit Loader(Capture& capture) : c_(capture), rows_(capture) {}

  bool run(std::string_view text) {
    const auto events = [](std::string_view path) { return path == kEvents; };
    JsonWalk walk;
    return walk.run(text, events, [&](auto, const JsonRow& row) { describe(row); }) &&
           walk.run(text, events, [&](auto, const JsonRow& row) { add(row); });
  }
  void finish() { rows_.finish(); }

 private:
  using Place = std::tuple<std::int64_t, std::int64_t, Nanos>;  // process, thread, time

  void describe(const JsonRow& row) {
    if (row.text("ph") == "M" && row.text("name") == "process_name") {
      const auto name = row.text("args.name");
      const auto device = name.find("DEVICE<");
      const auto close = name.find("> ", device == name.npos ? 0 : device);
      if (device == name.npos || close == name.npos) return;
      std::int32_t number = -1;
      const auto* const end = name.data() + name.size();
      const auto [behind, wrong] = std::from_chars(name.data() + close + 2, end, number);
      if (wrong != std::errc() || number < 0 || devices_.size() >= kMostDevices) return;
      const auto at = c_.device_row(number);
      std::string_view product(behind, static_cast<std::size_t>(end - behind));
      product.remove_prefix(std::min(product.find_first_not_of(' '), product.size()));
      c_.devices.name[at] = c_.strings.intern(product);
      c_.devices.vendor[at] = c_.strings.intern("intel");
      devices_[row.integer("pid")] = at;
    } else if (row.text("ph") == "s" && row.text("cat").starts_with("Flow_H2D")) {
      if (const auto at = row.decimal("ts", 3))
        flows_[{row.integer("pid"), row.integer("tid"), *at}] = row.integer("id");
    }
  }

  void add(const JsonRow& row) {
    const auto category = row.text("cat");
    const bool device = category == "gpu_op";
    if (row.text("ph") != "X" || (!device && category != "cpu_op")) return;
    const auto start = row.decimal("ts", 3), length = row.decimal("dur", 3);
    const auto end = start && length ? checked_add(*start, *length) : std::nullopt;
    if (!end) return rows_.bad_row();
    const auto pid = row.integer("pid"), tid = row.integer("tid");
    const auto name = row.text("name");
    if (!device) {
      const auto flow = flows_.find({pid, tid, *start});
      return rows_.call(*start, *end, rows_.thread(pid, tid), name,
                        flow == flows_.end() ? -1 : flow->second);
    }
    DeviceWork work;
    work.start = *start;
    work.end = *end;
    work.device = device_of(pid);
    work.stream = tid;
    work.correlation = row.integer("args.id");
    if (name.find("MemoryCopy") != name.npos) {
      work.kind = ActivityKind::memcpy;
      work.copy = copy_direction(name);
      work.bytes = bytes_in(name);
    } else if (name.find("MemoryFill") != name.npos) {
      work.kind = ActivityKind::memset;
      work.bytes = bytes_in(name);
      work.name = c_.strings.intern("Memset");
    } else {
      const Shape shape = shape_of(name);
      work.name = c_.strings.intern(shape.name);
      work.grid = shape.grid;
      work.block = shape.block;
    }
    rows_.work(work);
  }

  std::uint32_t device_of(std::int64_t pid) {
    if (devices_.size() >= kMostDevices && !devices_.contains(pid)) return kNoRow;
    const auto [at, fresh] = devices_.try_emplace(pid, kNoRow);
    if (fresh) {
      std::int32_t next = 0;
      for (std::size_t i = 0; i < c_.devices.size(); ++i)
        next = std::max(next, c_.devices.id[i] + 1);
      at->second = c_.device_row(next);
      c_.devices.vendor[at->second] = c_.strings.intern("intel");
    }
    return at->second;
  }

  Capture& c_;
  TraceRows rows_;
  std::map<std::int64_t, std::uint32_t> devices_;
  std::map<Place, std::int64_t> flows_;
};

}  // namespace

int sniff(std::string_view, std::string_view head) {
  if (!head.starts_with('{')) return 0;
  const auto front = head.substr(0, 8192);
  return front.find("\"traceEvents\"") != front.npos && front.find("\"gpu_op\"") != front.npos ? 93
                                                                                               : 0;
}

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  return load_json_text(
      path, options, "unitrace", [](std::string_view text, Capture& capture) -> Status {
        Loader loader(capture);
        if (!loader.run(text))
          return fail("is a trace of unitrace that ends early, or is damaged", {}, -1,
                      "let the program end by itself, and copy the file again");
        loader.finish();
        return {};
      });
}

}  // namespace gf::unitrace
