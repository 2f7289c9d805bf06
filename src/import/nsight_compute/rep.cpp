#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <protozero/pbf_reader.hpp>
#include <variant>

#include "import/input.h"
#include "import/nsight_compute/nsight_compute.h"
#include "import/nsight_compute/rep_container.h"
#include "import/nsight_compute/report_builder.h"
#include "import/nsight_compute/units.h"
#include "model/kernel_name.h"

namespace gf::ncu {

namespace {

using Type = protozero::pbf_wire_type;
using Value = std::variant<std::monostate, double, std::string_view>;

std::string_view view(protozero::data_view value) { return {value.data(), value.size()}; }

/// A metric's value: field 1 is a text, the others numbers (3 double, 5 unsigned); the wire type
/// tells.
Value read_value(protozero::pbf_reader message) {
  Value value;
  while (message.next()) switch (message.wire_type()) {
      case Type::varint:
        value = static_cast<double>(message.get_uint64());
        break;
      case Type::fixed64:
        value = message.get_double();
        break;
      case Type::fixed32:
        value = static_cast<double>(message.get_float());
        break;
      case Type::length_delimited:
        value = view(message.get_view());
        break;
      default:
        message.skip();
    }
  return value;
}

Dim3 read_dim3(protozero::pbf_reader message) {
  Dim3 out{-1, -1, -1};
  while (message.next()) {
    const auto tag =
        message.tag();  // before the value is taken: a debug build of protozero forgets it then
    if (message.wire_type() == Type::varint && tag >= 1 && tag <= 3)
      out[tag - 1] = static_cast<std::int64_t>(message.get_uint32());
    else
      message.skip();
  }
  return out;
}

struct RawMetric {
  std::uint64_t name;
  Value value;
};

/// A result: one profiled kernel.
struct RawResult {
  Launch launch;
  std::string_view function, demangled;
  std::vector<RawMetric> metrics;
};

RawMetric read_metric(protozero::pbf_reader message) {
  RawMetric metric{UINT64_MAX, {}};
  while (message.next()) switch (message.tag_and_type()) {
      case protozero::tag_and_type(1, Type::varint):
        metric.name = message.get_uint64();
        break;
      case protozero::tag_and_type(2, Type::length_delimited):
        metric.value = read_value(message.get_message());
        break;
      default:
        message.skip();  // 3: values by instance
    }
  return metric;
}

RawResult read_result(std::string_view bytes) {
  RawResult result;
  protozero::pbf_reader message(bytes.data(), bytes.size());
  while (message.next()) switch (message.tag_and_type()) {
      case protozero::tag_and_type(5, Type::length_delimited):
        result.launch.mangled_name = view(message.get_view());
        break;
      case protozero::tag_and_type(6, Type::length_delimited):
        result.function = view(message.get_view());
        break;
      case protozero::tag_and_type(7, Type::length_delimited):
        result.demangled = view(message.get_view());
        break;
      case protozero::tag_and_type(10, Type::length_delimited):
        result.launch.grid = read_dim3(message.get_message());
        break;
      case protozero::tag_and_type(11, Type::length_delimited):
        result.launch.block = read_dim3(message.get_message());
        break;
      case protozero::tag_and_type(13, Type::length_delimited):
        result.metrics.push_back(read_metric(message.get_message()));
        break;
      case protozero::tag_and_type(22, Type::varint):
        result.launch.context = static_cast<std::int64_t>(message.get_uint32());
        break;
      case protozero::tag_and_type(23, Type::varint):
        result.launch.stream = static_cast<std::int64_t>(message.get_uint32());
        break;
      default:
        message.skip();
    }
  return result;
}

/// Turns results into rows; knows the string table so far.
class Reader {
 public:
  explicit Reader(Capture& capture) : capture_(capture), builder_(capture) {}

  void add_strings(std::vector<std::string> strings) {
    for (std::string& string : strings) {
      metrics_.push_back(builder_.metric(string, metric_unit(string)));
      names_.push_back(std::move(string));
    }
  }

  void add(RawResult result, std::int64_t pid) {
    Launch& launch = result.launch;
    launch.pid = pid;
    launch.id = next_id_++;
    std::string spelled;
    if (!result.demangled.empty())
      launch.name = result.demangled;
    else if (!launch.mangled_name.empty())
      launch.name = spelled = demangled(launch.mangled_name);
    else
      launch.name = result.function;
    // The device has no field of its own.
    for (const RawMetric& raw : result.metrics)
      if (const double* value = std::get_if<double>(&raw.value);
          value && raw.name < names_.size() && names_[raw.name] == "launch__device_id")
        launch.device = static_cast<std::int64_t>(*value);
    builder_.begin_kernel(launch);
    for (const RawMetric& raw : result.metrics) {
      if (raw.name >= metrics_.size()) {
        capture_.note_quality(
            QualityCode::unknown_metric_name,
            fmt::format("a metric of kernel {} is number {} of a string table with {} entries",
                        launch.id, raw.name, names_.size()));
        continue;
      }
      const auto& metric = metrics_[static_cast<std::size_t>(raw.name)];
      if (const double* value = std::get_if<double>(&raw.value); value && std::isfinite(*value))
        builder_.number(metric, *value);
      else if (const auto* text = std::get_if<std::string_view>(&raw.value); text && !text->empty())
        builder_.text(metric, *text);
    }
  }
  void skip() { ++next_id_; }
  void finish() { builder_.finish(); }
  std::int64_t results() const { return next_id_; }

 private:
  Capture& capture_;
  ReportBuilder builder_;
  std::vector<std::string> names_;
  std::vector<ReportBuilder::Metric> metrics_;
  std::int64_t next_id_ = 0;
};

}  // namespace

int sniff_rep(std::string_view, std::string_view head) {
  if (head.starts_with(kRepMagic)) return 100;
  return 0;
}

Result<Capture> load_rep(const std::string& path, const ImportOptions& options) {
  auto input = Input::open(path, options.max_bytes);
  if (!input) return tl::unexpected(input.error());
  RepContainer file(std::move(*input));
  if (const Status opened = file.open(); !opened) return tl::unexpected(opened.error());

  Capture capture;
  capture.path = path;
  capture.format = "nsight_compute_rep";
  if (file.version() != 7)
    capture.note_quality(QualityCode::unknown_version,
                         fmt::format("the report's file version is {}; this reader knows version 7",
                                     file.version()));
  Reader reader(capture);
  for (;;) {
    auto block = file.next_block();
    if (!block) return tl::unexpected(block.error());
    if (!*block) break;
    if (options.progress && !options.progress("reading the counter report", file.input().done()))
      return fail("stopped", path);
    if (!(*block)->executable.empty()) {
      const std::string& executable = (*block)->executable;
      capture.set_metadata("process",
                           std::string_view(executable).substr(executable.find_last_of("/\\") + 1));
      capture.set_metadata("host", (*block)->host);
    }
    reader.add_strings(std::move((*block)->strings));
    for (;;) {
      const auto result = file.next_result();
      if (!result) return tl::unexpected(result.error());
      if (!*result) break;
      try {
        reader.add(read_result(**result), (*block)->pid);
      } catch (const protozero::exception& error) {
        capture.note_quality(
            QualityCode::bad_event,
            fmt::format("result {} is damaged ({}) and left out", reader.results(), error.what()));
        reader.skip();
      }
    }
  }
  reader.finish();
  for (const RepDamage& damage : file.damage()) capture.note_quality(damage.code, damage.detail);
  note_damage(capture, file.input());
  capture.events = reader.results();
  capture.bytes = static_cast<std::int64_t>(file.input().delivered());
  return capture;
}

}  // namespace gf::ncu
