// Perfetto traces: GPU work as stages (GpuRenderStageEvent), or as slices of tracks (slices.h).
#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <utility>
#include <vector>

#include "import/formats.h"
#include "import/input.h"
#include "import/perfetto/slices.h"
#include "import/trace_rows.h"

namespace gf::perfetto {

namespace {

constexpr std::uint64_t kClearsNames = 1;

class Loader {
 public:
  explicit Loader(Capture& capture) : c_(capture), rows_(capture), slices_(capture, rows_) {}

  void packet(protozero::pbf_reader packet) {
    std::uint64_t time = 0, sequence = 0, flags = 0;
    bool timed = false;
    std::string_view interned, stage, event, track;
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
          read(packet, interned);
          break;
        case field::kStage:
          read(packet, stage);
          break;
        case field::kEvent:
          read(packet, event);
          break;
        case field::kTrack:
          read(packet, track);
          break;
        default:
          packet.skip();
      }
    auto& names = sequences_[sequence];
    if (flags & kClearsNames) names.clear();
    if (!interned.empty()) names.learn(interned);
    if (!track.empty()) slices_.track(track);
    if (stage.empty() && event.empty()) return;
    if (!timed || time > static_cast<std::uint64_t>(INT64_MAX)) return rows_.bad_row();
    if (!event.empty()) return slices_.event(event, static_cast<Nanos>(time), names);
    add(message_of(stage), static_cast<Nanos>(time), names);
  }
  void finish() {
    slices_.finish();
    rows_.finish();
  }

 private:
  /// The values of a stage beside its times.
  struct Said {
    std::uint64_t duration = 0, gpu = 0, queue = 0, context = 0, stage = 0, name = 0, kernel = 0;
    std::string_view own_name;
    std::vector<std::string_view> extras;
    std::string_view launch;
  };

  static Said read_stage(protozero::pbf_reader stage) {
    Said said;
    std::string_view extra;
    while (stage.next()) switch (stage.tag()) {
        case field::kDuration:
          read(stage, said.duration);
          break;
        case field::kGpu:
          read(stage, said.gpu);
          break;
        case field::kQueueNumber:
          read(stage, said.queue);
          break;
        case field::kContext:
          read(stage, said.context);
          break;
        case field::kStageName:
          read(stage, said.stage);
          break;
        case field::kOwnName:
          read(stage, said.own_name);
          break;
        case field::kOwnNameNumber:
          read(stage, said.name);
          break;
        case field::kKernel:
          read(stage, said.kernel);
          break;
        case field::kLaunch:
          read(stage, said.launch);
          break;
        case field::kExtra:
          if (read(stage, extra)) said.extras.push_back(extra);
          break;
        default:
          stage.skip();
      }
    return said;
  }

  void add(protozero::pbf_reader stage, Nanos start, const SequenceNames& names) {
    const Said said = read_stage(stage);
    const auto end = said.duration <= static_cast<std::uint64_t>(INT64_MAX)
                         ? checked_add(start, static_cast<Nanos>(said.duration))
                         : std::nullopt;
    if (!end || said.gpu > INT32_MAX) return rows_.bad_row();
    const auto kind = names.get(SequenceNames::stages, said.stage);
    if (kind == "Annotation") return;  // a range that the program named, over its kernels
    DeviceWork work;
    work.start = start;
    work.end = *end;
    work.stream = static_cast<std::int64_t>(said.queue & 0xFFFFFFFF);
    work.context = static_cast<std::int64_t>(said.context & 0xFFFFFFFF);
    auto name = said.own_name;
    if (name.empty()) name = names.get(SequenceNames::events, said.name);
    if (name.empty()) name = names.get(SequenceNames::kernels, said.kernel);
    work.name = c_.strings.intern(name.empty() ? kind : name);
    std::string_view vendor;
    for (const auto extra : said.extras) add_extra(extra, work, vendor);
    work.device = rows_.device(static_cast<std::int64_t>(said.gpu), vendor);
    if (!said.launch.empty()) add_launch(said.launch, work, names);
    classify(kind, work);
    rows_.work(work);
  }

  /// PyTorch's: numbers as texts.
  static void add_extra(std::string_view extra, DeviceWork& work, std::string_view& vendor) {
    std::string_view key, text;
    for (auto message = message_of(extra); message.next();)
      if (message.tag() == 1)
        read(message, key);
      else if (message.tag() == 2)
        read(message, text);
      else
        message.skip();
    if (key == "arch") vendor = text.starts_with("sm_") ? "nvidia" : "";
    std::int64_t value = -1;
    std::from_chars(text.data(), text.data() + text.size(), value);
    for (const auto& [of, number] :
         {std::pair(std::string_view("correlation"), &work.correlation),
          std::pair(std::string_view("bytes"), &work.bytes),
          std::pair(std::string_view("stream id"), &work.stream),
          std::pair(std::string_view("context id"), &work.context),
          std::pair(std::string_view("graph node id"), &work.graph_node)})
      if (key == of) *number = value;
  }

  static void add_launch(std::string_view launch, DeviceWork& work, const SequenceNames& names) {
    const auto extent = [](std::string_view of, std::array<std::int64_t, 3>& to) {
      for (auto message = message_of(of); message.next();) {
        std::uint64_t value = 0;
        const auto axis = message.tag() - 1;
        if (axis > 2)
          message.skip();
        else if (read(message, value))
          to[axis] = static_cast<std::int64_t>(value & INT32_MAX);
      }
    };
    for (auto message = message_of(launch); message.next();) {
      std::string_view part;
      const auto tag = message.tag();
      if (tag != field::kGrid && tag != field::kWorkgroup && tag != field::kArguments)
        message.skip();
      else if (!read(message, part))
        continue;
      else if (tag == field::kGrid)
        extent(part, work.grid);
      else if (tag == field::kWorkgroup)
        extent(part, work.block);
      else
        add_argument(part, work, names);
    }
  }

  static void add_argument(std::string_view argument, DeviceWork& work,
                           const SequenceNames& names) {
    std::uint64_t number = 0, value = 0;
    for (auto message = message_of(argument); message.next();)
      if (message.tag() == 1)
        read(message, number);
      else if (message.tag() == 3 || message.tag() == 4)
        read(message, value);
      else
        message.skip();
    const auto name = names.get(SequenceNames::arguments, number);
    if (name == "registers_per_thread") work.registers = static_cast<std::int64_t>(value);
    if (name == "shared_mem_dynamic") work.shared_bytes = static_cast<std::int64_t>(value);
  }

  /// Copies and fills are stages of these names.
  void classify(std::string_view name, DeviceWork& work) {
    const bool copy = name == "H2D" || name == "D2H" || name == "D2D" || name == "P2P" ||
                      name.starts_with("Memcpy") || name.starts_with("memcpy");
    const bool fill = name == "fill" || name.starts_with("Memset") || name.starts_with("memset");
    if (fill) work.kind = ActivityKind::memset;
    if (!copy) return;
    work.kind = ActivityKind::memcpy;
    work.copy = copy_direction(name);
  }

  Capture& c_;
  TraceRows rows_;
  Slices slices_;
  std::map<std::uint64_t, SequenceNames> sequences_;
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
    std::string_view packet;
    while (trace.next()) {
      if (trace.tag() != field::kPacket) {
        trace.skip();
        continue;
      }
      if (!read(trace, packet)) continue;
      for (auto one = message_of(packet); one.next(); one.skip())
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
  // Made by `gpufathom export`, or by AMD's profiler of systems, whose slices name no GPU.
  for (const std::string_view stranger : {"idle, by cause", "rocm_kernel_dispatch", "rocm_hip_api"})
    if (head.find(stranger) != head.npos) return 0;
  if (has_stages(protozero::pbf_reader(head.data(), std::min(head.size(), kFront)))) return 93;
  // Their names come before them: calls of PyTorch's traces, what rocprofv3 calls its tracks.
  for (const std::string_view sign :
       {"cudaLaunchKernel", "cuLaunchKernel", "COMPUTE AGENT [", "kernel_dispatch"})
    if (head.find(sign) != head.npos) return 93;
  return 0;
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
    std::string_view packet;
    while (trace.next())
      if (trace.tag() != field::kPacket)
        trace.skip();
      else if (read(trace, packet))
        loader.packet(message_of(packet));
  } catch (const std::exception&) {
    capture.note_quality(QualityCode::bad_message,
                         "the trace is damaged or ends early: what follows is missing");
  }
  loader.finish();
  constexpr Nanos kTimesOfDay = 1'000'000'000'000'000'000;  // of 2001; no machine runs as long
  const auto& starts = capture.activities.start_ns;
  if (starts.empty() || starts[0] < kTimesOfDay) note_no_absolute_time(capture, "Perfetto");
  return capture;
}

}  // namespace gf::perfetto
