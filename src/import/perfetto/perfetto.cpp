// Perfetto traces with stages of GPU work (GpuRenderStageEvent): names, queues and contexts are
// numbers that a sequence of packets explains as it goes.
#include <algorithm>
#include <exception>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>

#include "import/formats.h"
#include "import/input.h"
#include "import/trace_rows.h"

namespace gf::perfetto {

namespace {

// Field numbers of protos/perfetto/trace of the Perfetto repository.
namespace field {
enum : protozero::pbf_tag_type { kPacket = 1 };
enum Packet : protozero::pbf_tag_type {
  kTimestamp = 8,
  kSequence = 10,
  kInterned = 12,
  kFlags = 13,
  kStage = 53
};
enum Interned : protozero::pbf_tag_type { kSpecifications = 24 };
enum Specification : protozero::pbf_tag_type { kId = 1, kName = 2 };
enum Stage : protozero::pbf_tag_type {
  kDuration = 2,
  kContext = 5,
  kGpu = 11,
  kQueueNumber = 13,
  kStageName = 14
};
}  // namespace field

constexpr std::uint64_t kClearsNames = 1;

/// The present field as a number, or as the bytes of a text or message; false, and passed over,
/// when it is of another type.
bool read(protozero::pbf_reader& message, std::uint64_t& number) {
  if (message.wire_type() == protozero::pbf_wire_type::varint) {
    number = message.get_uint64();
    return true;
  }
  message.skip();
  return false;
}
bool read(protozero::pbf_reader& message, protozero::data_view& bytes) {
  if (message.wire_type() == protozero::pbf_wire_type::length_delimited) {
    bytes = message.get_view();
    return true;
  }
  message.skip();
  return false;
}

class Loader {
 public:
  explicit Loader(Capture& capture) : c_(capture), rows_(capture) {}

  void packet(protozero::pbf_reader packet) {
    std::uint64_t time = 0, sequence = 0, flags = 0;
    bool timed = false;
    protozero::data_view names, stage;
    while (packet.next()) switch (packet.tag()) {
        case field::kTimestamp:
          timed = read(packet, time);
          break;
        case field::kSequence:
          read(packet, sequence);
          break;
        case field::kFlags:
          read(packet, flags);
          break;
        case field::kInterned:
          read(packet, names);
          break;
        case field::kStage:
          read(packet, stage);
          break;
        default:
          packet.skip();
      }
    auto& known = sequences_[sequence];
    if (flags & kClearsNames) known.clear();
    if (!names.empty()) learn(protozero::pbf_reader(names), known);
    if (stage.empty()) return;
    if (!timed || time > static_cast<std::uint64_t>(INT64_MAX)) return rows_.bad_row();
    add(protozero::pbf_reader(stage), static_cast<Nanos>(time), known);
  }
  void finish() { rows_.finish(); }

 private:
  using Names = std::map<std::uint64_t, Text>;

  void learn(protozero::pbf_reader names, Names& known) {
    protozero::data_view specification, text;
    while (names.next()) {
      if (names.tag() != field::kSpecifications) {
        names.skip();
        continue;
      }
      if (!read(names, specification)) continue;
      std::uint64_t id = 0;
      Text name{};
      for (protozero::pbf_reader one(specification); one.next();)
        if (one.tag() == field::kId)
          read(one, id);
        else if (one.tag() != field::kName)
          one.skip();
        else if (read(one, text))
          name = c_.strings.intern({text.data(), text.size()});
      known[id] = name;
    }
  }

  void add(protozero::pbf_reader stage, Nanos start, const Names& known) {
    std::uint64_t duration = 0, gpu = 0, queue = 0, context = 0, number = 0;
    while (stage.next()) switch (stage.tag()) {
        case field::kDuration:
          read(stage, duration);
          break;
        case field::kGpu:
          read(stage, gpu);
          break;
        case field::kQueueNumber:
          read(stage, queue);
          break;
        case field::kContext:
          read(stage, context);
          break;
        case field::kStageName:
          read(stage, number);
          break;
        default:
          stage.skip();
      }
    const auto end = duration <= static_cast<std::uint64_t>(INT64_MAX)
                         ? checked_add(start, static_cast<Nanos>(duration))
                         : std::nullopt;
    if (!end || gpu > INT32_MAX) return rows_.bad_row();
    DeviceWork work;
    work.start = start;
    work.end = *end;
    work.device = rows_.device(static_cast<std::int64_t>(gpu), {});
    work.stream = static_cast<std::int64_t>(queue & 0xFFFFFFFF);
    work.context = static_cast<std::int64_t>(context & 0xFFFFFFFF);
    if (const auto name = known.find(number); name != known.end()) work.name = name->second;
    classify(work);
    rows_.work(work);
  }

  /// Copies and fills are stages of these names.
  void classify(DeviceWork& work) {
    const auto name = c_.text(work.name);
    auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
    const bool copy = name == "H2D" || name == "D2H" || name == "D2D" || name == "P2P" ||
                      name.starts_with("Memcpy") || name.starts_with("memcpy");
    const bool fill = name == "fill" || name.starts_with("Memset") || name.starts_with("memset");
    if (fill) work.kind = ActivityKind::memset;
    if (!copy) return;
    work.kind = ActivityKind::memcpy;
    work.copy = copy_direction(name);
    if (has("H2D")) work.copy = CopyKind::host_to_device;
    if (has("D2H")) work.copy = CopyKind::device_to_host;
    if (has("D2D")) work.copy = CopyKind::device_to_device;
    if (has("P2P")) work.copy = CopyKind::peer;
  }

  Capture& c_;
  TraceRows rows_;
  std::map<std::uint64_t, Names> sequences_;
};

/// The fields that a packet may begin with: its clocks (6), time (8), sequence (10), event (11),
/// names (12), flags (13), trace configuration (33), stage (53), track (60).
bool begins_packet(std::string_view field) {
  for (const std::string_view tag :
       {"\x32", "\x40", "\x50", "\x5a", "\x62", "\x68", "\x8a\x02", "\xaa\x03", "\xe2\x03"})
    if (field.starts_with(tag)) return true;
  return false;
}

bool has_stages(protozero::pbf_reader trace) {
  try {
    protozero::data_view packet;
    while (trace.next()) {
      if (trace.tag() != field::kPacket) {
        trace.skip();
        continue;
      }
      if (!read(trace, packet)) continue;
      for (protozero::pbf_reader one(packet); one.next(); one.skip())
        if (one.tag() == field::kStage) return true;
    }
  } catch (const std::exception&) {  // the front of a file ends inside a packet
  }
  return false;
}

}  // namespace

int sniff(std::string_view, std::string_view head) {
  constexpr std::size_t kFront = 64 << 10;
  if (!head.starts_with('\x0a')) return 0;
  std::size_t at = 1;  // behind the packet's length
  while (at < 6 && at < head.size() && (head[at] & 0x80)) ++at;
  if (at >= head.size() || !begins_packet(head.substr(at + 1))) return 0;
  return has_stages(protozero::pbf_reader(head.data(), std::min(head.size(), kFront))) ? 93 : 0;
}

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  Capture capture;
  const auto content = read_whole(path, options.max_bytes, &capture);
  if (!content) return tl::unexpected(content.error());
  capture.path = path;
  capture.format = "perfetto";
  capture.bytes = static_cast<std::int64_t>(content->size());
  Loader loader(capture);
  try {
    protozero::pbf_reader trace(content->data(), content->size());
    protozero::data_view packet;
    while (trace.next())
      if (trace.tag() != field::kPacket)
        trace.skip();
      else if (read(trace, packet))
        loader.packet(protozero::pbf_reader(packet));
  } catch (const std::exception&) {
    capture.note_quality(QualityCode::bad_message,
                         "the trace is damaged or ends early: what follows is missing");
  }
  loader.finish();
  note_no_absolute_time(capture, "Perfetto");
  return capture;
}

}  // namespace gf::perfetto
