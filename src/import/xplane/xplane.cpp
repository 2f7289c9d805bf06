#include "import/xplane/xplane.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <utility>
#include <vector>

#include "core/order.h"
#include "core/secrets.h"
#include "core/text.h"
#include "core/time.h"
#include "import/input.h"
#include "import/raw_file.h"
#include "import/xplane/events.h"
#include "import/xplane/plane.h"
#include "import/xplane/programs.h"
#include "import/xplane/schema.h"
#include "model/capture.h"

namespace gf::xplane {

// Steps that the host does not mark but the profiler wrote beside the GPU's work.

/// 1973 in unix nanoseconds: no profile runs that long, so that a smaller time is relative.
inline constexpr std::int64_t kAbsoluteNanos = 100'000'000'000'000'000;

namespace {

using protozero::pbf_wire_type;
using protozero::tag_and_type;

struct Span {
  Nanos start = 0, end = 0;
};

/// Begin and length of an event in picoseconds, and the number that it is called; empty without
/// one.
std::optional<std::int64_t> number_of(const Plane& plane, protozero::pbf_reader event,
                                      std::int64_t& offset, std::int64_t& duration) {
  std::string_view name;
  while (event.next()) {
    switch (event.tag_and_type()) {
      case tag_and_type(field::event::metadata_id, pbf_wire_type::varint):
        if (const auto* known = plane.event_names.find(event.get_uint64())) name = known->name;
        break;
      case tag_and_type(field::event::offset_ps, pbf_wire_type::varint):
        offset = event.get_int64();
        break;
      case tag_and_type(field::event::duration_ps, pbf_wire_type::varint):
        duration = event.get_int64();
        break;
      default:
        event.skip();
    }
  }
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || number < 0) return {};
  return number;
}

void add_line(const Plane& plane, const Line& line, Nanos base, std::map<std::int64_t, Span>& all) {
  for (const auto chunk : line.chunks) {
    protozero::pbf_reader events{chunk.data(), chunk.size()};
    while (events.next(field::line::events, pbf_wire_type::length_delimited)) {
      std::int64_t offset = 0, duration = 0;
      const auto number = number_of(plane, events.get_message(), offset, duration);
      if (!number || duration < 0) continue;
      const auto start = checked_add(base, offset / 1000);
      const auto end = start ? checked_add(*start, duration / 1000) : start;
      if (!end) continue;
      const auto [at, added] = all.try_emplace(*number, Span{*start, *end});
      at->second.start = std::min(at->second.start, *start);
      at->second.end = std::max(at->second.end, *end);
    }
  }
}

/// Absolute time of offset 0 of a line; `start` is the profile's.
std::int64_t base_of(const Line& line, std::int64_t start) {
  if (line.timestamp_ns >= kAbsoluteNanos) return line.timestamp_ns;
  return checked_add(line.timestamp_ns, start).value_or(line.timestamp_ns);
}

/// Steps of the lines "Steps" of GPU planes, whose events are named by their numbers: from the
/// first begin to the last end over the devices. Events without a number are left out.
void add_device_steps(Capture& capture, const Space& space, std::int64_t start) {
  std::map<std::int64_t, Span> spans;
  for (const auto& plane : space.planes) {
    if (plane.kind != PlaneKind::gpu) continue;
    for (const auto& line : plane.lines) try {
        if (line.name == "Steps") add_line(plane, line, base_of(line, start), spans);
      } catch (const protozero::exception&) {  // what was read before stays
      }
  }
  const Text name = capture.strings.intern("Steps");
  for (const auto& [number, span] : spans) {
    const auto row = capture.steps.add();
    capture.steps.index[row] = number;
    capture.steps.start_ns[row] = span.start;
    capture.steps.duration_ns[row] = span.end - span.start;
    capture.steps.name[row] = name;
  }
}

/// f(name, text, value) for the plane's own stats; a damaged one is skipped.
template <class F>
void each_plane_stat(const Plane& plane, F&& apply) {
  for (const auto message : plane.stats) {
    try {
      const auto stat = read_stat(message);
      if (const auto* name = plane.stat_names.find(stat.id)) apply(name->name, stat);
    } catch (const protozero::exception&) {
    }
  }
}

std::uint64_t file_size(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

std::string value_text(const Plane& plane, const StatValue& statistic) {
  if (statistic.kind == StatValue::Kind::number)
    return fmt::format("{}", static_cast<std::int64_t>(statistic.bits));
  if (statistic.kind == StatValue::Kind::real) return fmt::format("{}", statistic.real);
  return std::string(text_of(plane, statistic));
}

/// Unix nanoseconds of the profile's start, 0 when the file does not say.
std::int64_t profile_start(const Space& space) {
  std::int64_t start = 0;
  for (const auto& plane : space.planes)
    if (plane.kind == PlaneKind::environment)
      each_plane_stat(plane, [&](std::string_view name, const StatValue& statistic) {
        if (name == "profile_start_time" && statistic.kind == StatValue::Kind::number)
          start = static_cast<std::int64_t>(statistic.bits);
      });
  return start;
}

std::uint32_t add_device(Capture& capture, const Plane& plane) {
  const auto row = capture.device_row(*gpu_number(plane.name));
  auto& devices = capture.devices;
  each_plane_stat(plane, [&](std::string_view name, const StatValue& statistic) {
    const auto number = static_cast<std::int64_t>(statistic.bits);
    if (name == "gpu_device_name")
      devices.name[row] = capture.strings.intern(text_of(plane, statistic));
    else if (name == "device_vendor")
      devices.vendor[row] = capture.strings.intern(lower_case(text_of(plane, statistic)));
    else if (statistic.kind != StatValue::Kind::number || number < 0)
      return;
    else if (name == "clock_rate")
      devices.clock_khz[row] = number;
    else if (name == "core_count")
      devices.sm_count[row] = static_cast<I32>(std::min<std::int64_t>(number, INT32_MAX));
    else if (name == "memory_size")
      devices.memory_bytes[row] = number;
    else if (name == "compute_cap_major")
      devices.compute_major[row] = static_cast<I32>(std::min<std::int64_t>(number, INT32_MAX));
    else if (name == "compute_cap_minor")
      devices.compute_minor[row] = static_cast<I32>(std::min<std::int64_t>(number, INT32_MAX));
  });
  return row;
}

std::int64_t process_id(const Plane& plane) {
  std::int64_t pid = -1;
  each_plane_stat(plane, [&](std::string_view name, const StatValue& statistic) {
    if (name == "process_id" && statistic.kind == StatValue::Kind::number)
      pid = static_cast<std::int64_t>(statistic.bits);
  });
  return pid;
}

/// jax or tensorflow, by what only one of them writes.
std::string framework_of(Space& space) {
  bool jax = false, tensorflow = false;
  for (auto& plane : space.planes) {
    each_plane_stat(plane,
                    [&](std::string_view name, const StatValue&) { jax |= name == "jax_version"; });
    if (plane.kind != PlaneKind::host) continue;
    plane.event_names.each([&](const EventName& event_name) {
      jax |= event_name.name.starts_with("PjitFunction") || event_name.name.starts_with("PjRt") ||
             event_name.name.starts_with("PJRT_");
      tensorflow |= event_name.name.starts_with("EagerExecute") ||
                    event_name.name.starts_with("EagerLocalExecute") ||
                    event_name.name.starts_with("FunctionRun") ||
                    event_name.name.starts_with("ExecutorState::") ||
                    event_name.name.starts_with("SessionRun");
    });
  }
  if (tensorflow) return "tensorflow";
  if (jax) return "jax";
  return "";
}

bool is_of_tpus(const Space& space) {
  bool tpu = false;
  for (const auto& plane : space.planes) {
    if (plane.kind == PlaneKind::gpu) return false;
    tpu |= plane.name.starts_with("/device:TPU");
  }
  return tpu;
}

std::int64_t events_of(const Plane& plane) {
  std::int64_t events = 0;
  for (const auto& line : plane.lines) events += line.events;
  return events;
}

void note_unread_plane(Capture& capture, const Plane& plane) {
  const std::int64_t events = events_of(plane);
  if (events > 0)
    capture.note_quality(
        QualityCode::plane_not_read,
        fmt::format("plane \"{}\" with {} events is neither a GPU nor a host plane", plane.name,
                    events),
        events);
  capture.events += events;
}

void note_unread_line(Capture& capture, const Plane& plane, const Line& line) {
  capture.events += line.events;
  if (!is_derived_line(line.name) && line.events > 0)
    capture.note_quality(
        QualityCode::line_not_read,
        fmt::format("line \"{}\" of plane \"{}\" is not a stream", line.name, plane.name),
        line.events);
}

/// A host line is a thread.
void describe_thread(Capture& capture, const Plane& plane, const Line& line, LineContext& context) {
  const auto thread = line.display_name.empty() ? line.name : line.display_name;
  context.calls_alone = holds_calls_alone(thread);
  context.thread = capture.threads.add();
  capture.threads.pid[context.thread] = context.pid;
  capture.threads.tid[context.thread] = static_cast<std::int64_t>(line.id);
  capture.threads.process_name[context.thread] = capture.strings.intern(plane.name);
  capture.threads.name[context.thread] = capture.strings.intern(thread);
}

/// Adds the runs of events of a plane; `start` is the profile's.
void plan_plane(Capture& capture, const Plane& plane, LineContext context, std::int64_t start,
                std::vector<Chunk>& chunks) {
  context.plane = &plane;
  context.pid = process_id(plane);
  if (plane.kind == PlaneKind::gpu) context.device = add_device(capture, plane);
  for (const auto& line : plane.lines) {
    LineContext line_context = context;
    line_context.base_ns = base_of(line, start);
    if (plane.kind == PlaneKind::gpu) {
      const auto stream = stream_number(line.name);
      if (!stream) {
        note_unread_line(capture, plane, line);
        continue;
      }
      line_context.stream = *stream;
    } else {
      describe_thread(capture, plane, line, line_context);
    }
    for (const auto bytes : line.chunks) chunks.push_back({bytes, line_context});
  }
}

/// The work list of the second pass: every run of events of every line that is not a repetition of
/// another.
std::vector<Chunk> plan(Capture& capture, Space& space, const Programs& programs,
                        std::int64_t start) {
  std::vector<Chunk> chunks;
  LineContext context;
  context.threadpool = capture.strings.intern("threadpool");
  if (!programs.empty()) context.programs = &programs;
  for (auto& plane : space.planes) {
    if (plane.kind == PlaneKind::metadata || plane.kind == PlaneKind::environment) {
      each_plane_stat(plane, [&](std::string_view name, const StatValue& statistic) {
        if (const auto text = value_text(plane, statistic); !text.empty())
          capture.set_metadata(name, without_secrets(name, text));
      });
    } else if (plane.kind == PlaneKind::other) {
      note_unread_plane(capture, plane);
    } else {
      intern_names(plane, capture.strings);
      plan_plane(capture, plane, context, start, chunks);
    }
  }
  return chunks;
}

/// A call that has a kernel launched it, whatever its name. XLA's calls have their kernel's, also
/// those that only put it into a graph.
void find_launches(Capture& capture) {
  const auto& rows = std::as_const(capture).activities;  // reading leaves columns narrow
  const auto& calls = std::as_const(capture).api_calls;
  std::vector<std::pair<std::int64_t, std::uint32_t>> open;  // number and row of such calls
  for (std::uint32_t row = 0; row < calls.size(); ++row)
    if (calls.kind[row] == ApiKind::other && calls.correlation[row] > 0)
      open.emplace_back(calls.correlation[row], row);
  if (open.empty()) return;
  sort_nearly_ordered(open.begin(), open.end(), std::less<>());
  std::int64_t last = -1;
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    if (rows.kind[row] != ActivityKind::kernel || rows.correlation[row] == last) continue;
    last = rows.correlation[row];
    for (auto call = std::ranges::lower_bound(open, std::pair(last, 0U));
         call != open.end() && call->first == last; ++call)
      capture.api_calls.kind[call->second] = ApiKind::launch;
  }
}

}  // namespace

int sniff(std::string_view path, std::string_view head) {
  if (head.size() < 4 ||
      (head[0] != '\x0a' && head[0] != '\x12' && head[0] != '\x1a' && head[0] != '\x22'))
    return 0;
  // A plane's name stands near its front, and every profile has one of these planes.
  const auto front = head.substr(0, 512);
  const bool plane = front.find("/host:") != front.npos || front.find("/device:") != front.npos ||
                     front.find("Task Environment") != front.npos;
  const bool named = path.find(".xplane.pb") != path.npos;
  if (plane) {
    return named ? 95 : 80;
  }
  return named ? 60 : 0;
}

Result<Capture> load_bytes(std::string_view bytes, const std::string& path,
                           const ImportOptions& options, const Release& release) {
  if (bytes.size() > options.max_bytes)
    return fail(fmt::format("is larger than the limit of {} bytes", options.max_bytes), path);
  Capture capture;
  capture.path = path;
  capture.format = "xplane";
  capture.bytes = static_cast<std::int64_t>(bytes.size());
  // Small enough to stay in a core's cache, large enough to share out cheaply.
  constexpr std::size_t kChunkBytes = 1 << 18;
  Space space = scan(bytes, options.chunk_bytes ? options.chunk_bytes : kChunkBytes, release);
  if (space.planes.empty())
    return fail(
        "contains no profile plane", path, std::max<std::int64_t>(space.first_damage, 0),
        "an empty profile is written when the profiler stops before it started; record again");
  if (is_of_tpus(space))
    return fail("is a TPU capture: it contains no GPU work", path, -1,
                "gpufathom analyzes GPUs; XProf and TensorBoard read TPU captures");
  capture.framework = framework_of(space);
  const std::int64_t start = profile_start(space);
  for (const auto text : space.hostnames) capture.set_metadata("hostname", text);
  for (const auto text : space.errors)
    capture.note_quality(QualityCode::source_error, fmt::format("the profiler reported: {}", text));
  for (const auto text : space.warnings)
    capture.note_quality(QualityCode::source_warning,
                         fmt::format("the profiler reported: {}", text));
  if (space.truncated)
    capture.note_quality(QualityCode::truncated_input,
                         "the file ends inside a plane; the events before its end were read");
  if (space.damaged > 0)
    capture.note_quality(QualityCode::bad_message,
                         fmt::format("a plane, line or name cannot be read, the first at byte {}",
                                     space.first_damage),
                         space.damaged);
  const Programs programs(capture, space);
  const auto chunks = plan(capture, space, programs, start);
  std::vector<Unplaced> unplaced;
  if (auto ok = assemble(capture, chunks, bytes, options, release, unplaced); !ok)
    return tl::unexpected(ok.error());
  programs.place(capture, unplaced);
  find_launches(capture);
  if (capture.steps.size() == 0) add_device_steps(capture, space, start);
  if (start == 0 && !chunks.empty() && chunks.front().line.base_ns < kAbsoluteNanos)
    capture.note_quality(
        QualityCode::no_absolute_time,
        "the file does not say when it was recorded: times count from its own start");
  return capture;
}

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  const auto input = Input::open(path, options.max_bytes);
  if (!input) return tl::unexpected(input.error());
  // A large file is read where it lies: its pages cost neither a copy nor memory of this process.
  constexpr std::uint64_t kMapped = 4 << 20;
  if (input->compression() == Compression::none && file_size(path) > kMapped) {
    auto file = MappedFile::open(path);
    if (!file) return tl::unexpected(file.error());
    auto capture = load_bytes(file->bytes(), path, options, MappedFile::release);
    if (capture && file->cut())
      capture->note_quality(QualityCode::truncated_input,
                            "the file was cut short while it was read");
    return capture;
  }
  Capture damage;
  const auto content = read_whole(path, options.max_bytes, &damage);
  if (!content) return tl::unexpected(content.error());
  auto capture = load_bytes(*content, path, options);
  if (capture) capture->add_quality(damage);
  return capture;
}

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> members(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    found.push_back(it->path());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Result<ProfileFile> find_profile(const std::string& folder) {
  fs::path at = folder;
  for (const char* below : {"plugins", "profile"})
    if (is_folder((at / below).string())) at /= below;
  std::vector<fs::path> runs{at};
  for (const auto& member : members(at))
    if (is_folder(member.string())) runs.push_back(member);
  for (std::string_view kind : {".xplane.pb", ".trace.json.gz", ".trace.json"})
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      ProfileFile found{{}, 0};
      for (const auto& member : members(*run)) {
        if (!member.string().ends_with(kind)) continue;
        if (found.hosts++ == 0) found.file = member.string();
      }
      if (found.hosts > 0) return found;
    }
  return fail("is a directory that contains no profile", folder, -1,
              "name a file, or the folder of a TensorFlow or JAX profile (it contains "
              "plugins/profile/RUN/HOST.xplane.pb)");
}

}  // namespace gf::xplane
