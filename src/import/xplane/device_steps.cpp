#include "import/xplane/device_steps.h"

#include <charconv>
#include <map>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

#include "core/time.h"
#include "import/xplane/schema.h"

namespace gf::xplane {

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

}  // namespace

std::int64_t base_of(const Line& line, std::int64_t start) {
  if (line.timestamp_ns >= kAbsoluteNanos) return line.timestamp_ns;
  return checked_add(line.timestamp_ns, start).value_or(line.timestamp_ns);
}

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

}  // namespace gf::xplane
