#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/error.h"
#include "import/formats.h"
#include "import/input.h"
#include "import/nsight_compute/rep_rules.h"
#include "import/nsight_compute/report_builder.h"
#include "import/nsight_compute/units.h"
#include "model/kernel_name.h"

namespace gf::ncu {

namespace {

constexpr std::string_view kRepMagic{"NVR\0", 4};

/// The header of a block.
struct RepBlock {
  std::uint64_t sources = 0, results = 0, payload_bytes = 0;
  std::vector<std::string>
      strings;  // the part of the file's string table that comes with this block
  std::int64_t pid = -1;
  std::string host, executable;
};

/// Damage that ended or shortened the reading.
struct RepDamage {
  QualityCode code;
  std::string detail;
};

class RepContainer {
 public:
  explicit RepContainer(Input input) : input_(std::move(input)) {}

  /// Reads magic and file header. Errors: not a report.
  Status open();
  std::uint64_t version() const { return version_; }

  /// The next block's header; empty at the end of the file or at damage from which there is no way
  /// on.
  Result<std::optional<RepBlock>> next_block();
  /// The next result of the current block's payload; sources are skipped. Empty behind the last
  /// one. The text is valid until the next call.
  Result<std::optional<std::string_view>> next_result();

  const std::vector<RepDamage>& damage() const { return damage_; }
  const Input& input() const { return input_; }

 private:
  Result<bool> read_exactly(std::uint64_t count);  // into buffer_; false when the file ends before
  Result<bool> skip(std::uint64_t count);
  Result<std::optional<std::uint32_t>> read_size();  // empty when the file ends
  void ended(const char* where);

  Input input_;
  std::string buffer_;
  std::uint64_t version_ = 0, payload_left_ = 0, sources_left_ = 0;
  bool over_ = false;
  std::vector<RepDamage> damage_;
};

// Sizes come from the file: memory grows only as bytes arrive, in pieces of this size.
constexpr std::uint64_t kPiece = 1 << 20;

RepBlock parse_header(std::string_view bytes) {
  RepBlock block;
  protozero::pbf_reader header(bytes.data(), bytes.size());
  while (header.next()) switch (header.tag_and_type()) {
      case protozero::tag_and_type(1, protozero::pbf_wire_type::varint):
        block.sources = header.get_uint64();
        break;
      case protozero::tag_and_type(2, protozero::pbf_wire_type::varint):
        block.results = header.get_uint64();
        break;
      case protozero::tag_and_type(4, protozero::pbf_wire_type::length_delimited): {
        protozero::pbf_reader table = header.get_message();
        while (table.next())
          if (table.wire_type() == protozero::pbf_wire_type::length_delimited)
            block.strings.push_back(table.get_string());
          else
            table.skip();
        break;
      }
      case protozero::tag_and_type(5, protozero::pbf_wire_type::varint):
        block.payload_bytes = header.get_uint64();
        break;
      case protozero::tag_and_type(6, protozero::pbf_wire_type::length_delimited): {
        protozero::pbf_reader process = header.get_message();
        while (process.next())
          if (process.tag_and_type() ==
              protozero::tag_and_type(1, protozero::pbf_wire_type::varint))
            block.pid = static_cast<std::int64_t>(process.get_uint32());
          else if (process.tag_and_type() ==
                   protozero::tag_and_type(2, protozero::pbf_wire_type::length_delimited))
            block.host = process.get_string();
          else if (process.tag_and_type() ==
                   protozero::tag_and_type(3, protozero::pbf_wire_type::length_delimited))
            block.executable = process.get_string();
          else
            process.skip();
        break;
      }
      default:
        header.skip();
    }
  return block;
}

void RepContainer::ended(const char* where) {
  over_ = true;
  damage_.push_back({QualityCode::truncated,
                     fmt::format("the file ends {}, at byte {}", where, input_.delivered())});
}

Result<bool> RepContainer::read_exactly(std::uint64_t count) {
  buffer_.clear();
  while (buffer_.size() < count) {
    const std::size_t have = buffer_.size(),
                      piece = static_cast<std::size_t>(std::min(kPiece, count - have));
    buffer_.resize(have + piece);
    const auto got = input_.read(buffer_.data() + have, piece);
    if (!got) return tl::unexpected(got.error());
    buffer_.resize(have + *got);
    if (*got < piece) return false;
  }
  return true;
}

Result<bool> RepContainer::skip(std::uint64_t count) {
  std::string scratch(static_cast<std::size_t>(std::min(kPiece, count)), '\0');
  while (count > 0) {
    const auto got = input_.read(
        scratch.data(), static_cast<std::size_t>(std::min<std::uint64_t>(scratch.size(), count)));
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) return false;
    count -= *got;
  }
  return true;
}

Result<std::optional<std::uint32_t>> RepContainer::read_size() {
  const auto whole = read_exactly(4);
  if (!whole) return tl::unexpected(whole.error());
  if (!*whole) return std::optional<std::uint32_t>{};
  std::uint32_t size = 0;
  for (int i = 3; i >= 0; --i)
    size = size << 8 | static_cast<unsigned char>(buffer_[static_cast<std::size_t>(i)]);
  return std::optional(size);
}

Status RepContainer::open() {
  const auto magic = read_exactly(kRepMagic.size());
  if (!magic) return tl::unexpected(magic.error());
  if (buffer_ != kRepMagic)
    return fail("is not an Nsight Compute report: it does not begin with NVR", input_.path(), 0,
                "give a .ncu-rep file or a CSV export of one");
  const auto size = read_size();
  if (!size) return tl::unexpected(size.error());
  const auto whole = *size ? read_exactly(**size) : Result<bool>(false);
  if (!whole) return tl::unexpected(whole.error());
  if (!*whole)
    return fail("the report ends inside its file header", input_.path(),
                static_cast<std::int64_t>(input_.delivered()), "profile again");
  try {
    protozero::pbf_reader header(buffer_);
    while (header.next())
      if (header.tag_and_type() == protozero::tag_and_type(1, protozero::pbf_wire_type::varint))
        version_ = header.get_uint64();
      else
        header.skip();
  } catch (const protozero::exception&) {
    return fail("the report's file header is damaged", input_.path(), 8, "profile again");
  }
  return {};
}

Result<std::optional<RepBlock>> RepContainer::next_block() {
  std::optional<RepBlock> none;
  if (over_) return none;
  if (payload_left_ > 0) {  // the last payload was left early
    const auto skipped = skip(payload_left_);
    payload_left_ = 0;
    if (!skipped) return tl::unexpected(skipped.error());
    if (!*skipped) {
      ended("inside a block's payload");
      return none;
    }
  }
  const std::uint64_t at = input_.delivered();
  const auto size = read_size();
  if (!size) return tl::unexpected(size.error());
  if (!*size) {
    if (buffer_.empty())
      over_ = true;  // the regular end
    else
      ended("inside the size of a block");
    return none;
  }
  const auto whole = read_exactly(**size);
  if (!whole) return tl::unexpected(whole.error());
  if (!*whole) {
    ended("inside a block's header");
    return none;
  }
  try {
    RepBlock block = parse_header(buffer_);
    payload_left_ = block.payload_bytes;
    sources_left_ = block.sources;
    return std::optional(std::move(block));
  } catch (const protozero::exception&) {
    // This header says where the next block begins: without it there is no way on.
    over_ = true;
    damage_.push_back(
        {QualityCode::damaged_block,
         fmt::format(
             "the header of the block at byte {} is damaged; what follows it cannot be read", at)});
    return none;
  }
}

Result<std::optional<std::string_view>> RepContainer::next_result() {
  std::optional<std::string_view> none;
  while (payload_left_ > 0 && !over_) {
    const std::uint64_t at = input_.delivered();
    Result<std::optional<std::uint32_t>> size = std::optional<std::uint32_t>(UINT32_MAX);
    if (payload_left_ >= 4) size = read_size();
    if (!size) return tl::unexpected(size.error());
    if (!*size) {
      ended("inside a block's payload");
      return none;
    }
    if (payload_left_ >= 4) payload_left_ -= 4;
    if (**size > payload_left_) {
      damage_.push_back(
          {QualityCode::damaged_block,
           fmt::format(
               "the message at byte {} is longer than its block; the rest of the block is left out",
               at)});
      return none;  // next_block skips the rest
    }
    payload_left_ -= **size;
    const bool source = sources_left_ > 0;
    if (source) --sources_left_;
    const auto whole = source ? skip(**size) : read_exactly(**size);
    if (!whole) return tl::unexpected(whole.error());
    if (!*whole) {
      ended(source ? "inside a source" : "inside a result");
      return none;
    }
    if (!source) return std::optional<std::string_view>(buffer_);
  }
  return none;
}

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
  std::vector<RuleText> rules;
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
      case protozero::tag_and_type(19, Type::length_delimited):
        read_rule(view(message.get_view()), result.rules);
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
    for (const RuleText& rule : result.rules) builder_.rule(rule);
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
  return head.starts_with(kRepMagic) ? 100 : 0;
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
