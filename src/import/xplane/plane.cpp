#include "import/xplane/plane.h"

#include <protozero/pbf_reader.hpp>

#include "import/xplane/schema.h"

namespace gf::xplane {

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr std::size_t kChunkBytes =
    1 << 19;  // small enough to stay in a core's cache, large enough to share out cheaply

std::string_view view(protozero::data_view v) { return {v.data(), v.size()}; }
pbf_reader reader(std::string_view v) { return pbf_reader{v.data(), v.size()}; }

/// The key and value of a map entry; value is empty when there is none.
std::pair<std::uint64_t, std::string_view> map_entry(std::string_view message) {
  auto r = reader(message);
  std::uint64_t key = 0;
  std::string_view value;
  while (r.next()) {
    if (r.tag() == field::map_entry::key && r.wire_type() == pbf_wire_type::varint)
      key = r.get_uint64();
    else if (r.tag() == field::map_entry::value && r.wire_type() == pbf_wire_type::length_delimited)
      value = view(r.get_view());
    else
      r.skip();
  }
  return {key, value};
}

void read_event_name(std::string_view message, Plane& plane) {
  const auto [key, value] = map_entry(message);
  EventName e;
  auto r = reader(value);
  while (r.next()) {
    if (r.wire_type() != pbf_wire_type::length_delimited) {
      r.skip();
      continue;
    }
    const auto tag =
        r.tag();  // before the value is taken: a debug build of protozero forgets it then
    const auto text = view(r.get_view());
    if (tag == field::event_metadata::name)
      e.name = text;
    else if (tag == field::event_metadata::display_name)
      e.display_name = text;
    else if (tag == field::event_metadata::stats)
      e.stats.push_back(text);
  }
  plane.event_names.at(key) = std::move(e);
}

void read_stat_name(std::string_view message, Plane& plane) {
  const auto [key, value] = map_entry(message);
  StatName s;
  auto r = reader(value);
  while (r.next()) {
    if (r.tag() == field::stat_metadata::name && r.wire_type() == pbf_wire_type::length_delimited)
      s.name = view(r.get_view());
    else
      r.skip();
  }
  s.stat = stat_of(s.name);
  if (looks_like_details(s.name)) {
    s.details = static_cast<std::int32_t>(plane.details.size());
    plane.details.push_back(parse_details(s.name));
  }
  plane.stat_names.at(key) = s;
}

/// Fields of a line and the borders of its chunks. A line that is cut short keeps the events before
/// the cut.
bool read_line(std::string_view message, Line& line) {
  auto r = reader(message);
  const char* chunk = message.data();
  const char* at = chunk;
  bool whole = true;
  try {
    while (r.next()) {
      if (r.wire_type() == pbf_wire_type::length_delimited) {
        const auto tag = r.tag();
        const auto text = view(r.get_view());
        if (tag == field::line::events)
          ++line.events;
        else if (tag == field::line::name)
          line.name = text;
        else if (tag == field::line::display_name)
          line.display_name = text;
      } else if (r.wire_type() == pbf_wire_type::varint) {
        const auto tag = r.tag();
        const auto value = r.get_uint64();
        if (tag == field::line::id)
          line.id = value;
        else if (tag == field::line::timestamp_ns)
          line.timestamp_ns = static_cast<std::int64_t>(value);
      } else {
        r.skip();
      }
      at = r.data().data();
      if (static_cast<std::size_t>(at - chunk) >= kChunkBytes) {
        line.chunks.emplace_back(chunk, at - chunk);
        chunk = at;
      }
    }
  } catch (const protozero::exception&) {
    whole = false;
  }
  if (at != chunk) line.chunks.emplace_back(chunk, at - chunk);
  return whole;
}

/// f(tag, bytes) for every length-delimited field. A field that the end of the message cuts short
/// is given as far as it goes: a file cut in the middle of a line keeps the events before the cut.
/// False when the message is damaged.
template <class F>
bool each_part(std::string_view message, F&& f) {
  auto r = reader(message);
  const char* at = message.data();
  const char* const end = message.data() + message.size();
  protozero::pbf_tag_type cut = 0;
  try {
    while (r.next()) {
      cut = 0;
      if (r.wire_type() != pbf_wire_type::length_delimited) {
        r.skip();
        continue;
      }
      at = r.data().data();
      const auto tag = cut = r.tag();
      const auto part = view(r.get_view());
      cut = 0;
      f(tag, part);
    }
    return true;
  } catch (const protozero::exception&) {
  }
  try {
    if (cut != 0) {
      protozero::decode_varint(&at, end);
      f(cut, std::string_view(at, static_cast<std::size_t>(end - at)));
    }
  } catch (const protozero::exception&) {
  }
  return false;
}

struct Scanner {
  Space& space;
  const char* begin;

  void damage(const char* at) {
    ++space.damaged;
    if (space.first_damage < 0) space.first_damage = at - begin;
  }

  void plane(std::string_view message) {
    Plane& p = space.planes.emplace_back();
    std::vector<std::string_view> lines;
    const bool whole = each_part(message, [&](auto tag, std::string_view part) {
      try {
        if (tag == field::plane::name)
          p.name = part;
        else if (tag == field::plane::lines)
          lines.push_back(part);
        else if (tag == field::plane::event_metadata)
          read_event_name(part, p);
        else if (tag == field::plane::stat_metadata)
          read_stat_name(part, p);
        else if (tag == field::plane::stats)
          p.stats.push_back(part);
      } catch (const protozero::exception&) {
        damage(part.data());
      }
    });
    if (!whole) damage(message.data());
    p.kind = plane_kind(p.name);
    for (const auto part : lines)
      if (!read_line(part, p.lines.emplace_back())) damage(part.data());
  }
};

}  // namespace

Stat stat_of(std::string_view name) {
  struct Row {
    std::string_view name;
    Stat stat;
  };
  // xla/tsl/profiler/utils/xplane_schema.cc, GetStatTypeMap
  static constexpr Row rows[] = {
      {"correlation_id", Stat::correlation_id},
      {"kernel_details", Stat::kernel_details},
      {"memcpy_details", Stat::memcpy_details},
      {"memset_details", Stat::memset_details},
      {"Memset_details", Stat::memset_details},
      {"Memcpy_details", Stat::memcpy_details},
      {"hlo_op", Stat::hlo_op},
      {"tf_op", Stat::tf_op},
      {"name", Stat::name},
      {"eager_op", Stat::eager_op},
      {"step_num", Stat::step_num},
      {"context_id", Stat::context_id},
      {"cuda_graph_id", Stat::graph_id},
      {"cuda_graph_node_id", Stat::graph_node},
      {"theoretical_occupancy_pct", Stat::occupancy_pct},
      {"device_id", Stat::device_id},
      {"_pt", Stat::producer_type},
      {"_p", Stat::producer_id},
      {"_ct", Stat::consumer_type},
      {"_c", Stat::consumer_id},
      {"tensor_shapes", Stat::tensor_shapes},
      {"allocation_bytes", Stat::allocation_bytes},
      {"bytes_allocated", Stat::bytes_allocated},
      {"bytes_reserved", Stat::bytes_reserved},
      {"addr", Stat::address},
  };
  for (const auto& row : rows)
    if (row.name == name) return row.stat;
  return Stat::none;
}

StatValue read_stat(std::string_view message) {
  StatValue v;
  auto r = reader(message);
  while (r.next()) {
    switch (r.tag_and_type()) {
      case protozero::tag_and_type(field::stat::metadata_id, pbf_wire_type::varint):
        v.id = r.get_uint64();
        break;
      case protozero::tag_and_type(field::stat::f64, pbf_wire_type::fixed64):
        v.kind = StatValue::Kind::real;
        v.real = r.get_double();
        break;
      case protozero::tag_and_type(field::stat::u64, pbf_wire_type::varint):
      case protozero::tag_and_type(field::stat::i64, pbf_wire_type::varint):
        v.kind = StatValue::Kind::number;
        v.bits = r.get_uint64();
        break;
      case protozero::tag_and_type(field::stat::str, pbf_wire_type::length_delimited):
        v.kind = StatValue::Kind::text;
        v.text = view(r.get_view());
        break;
      case protozero::tag_and_type(field::stat::ref, pbf_wire_type::varint):
        v.kind = StatValue::Kind::ref;
        v.bits = r.get_uint64();
        break;
      default:
        r.skip();
    }
  }
  return v;
}

std::string_view text_of(const Plane& plane, const StatValue& value) {
  if (value.kind == StatValue::Kind::text) return value.text;
  if (value.kind != StatValue::Kind::ref) return {};
  const auto* name = plane.stat_names.find(value.bits);
  return name ? name->name : std::string_view{};
}

Space scan(std::string_view data) {
  Space space;
  Scanner s{space, data.data()};
  space.truncated = !each_part(data, [&](auto tag, std::string_view part) {
    if (tag == field::space::planes)
      s.plane(part);
    else if (tag == field::space::errors)
      space.errors.push_back(part);
    else if (tag == field::space::warnings)
      space.warnings.push_back(part);
    else if (tag == field::space::hostnames)
      space.hostnames.push_back(part);
  });
  return space;
}

void intern_names(Plane& plane, StringPool& strings) {
  plane.event_names.each([&](EventName& e) {
    if (!e.name.empty()) e.text = strings.intern(e.name);
    e.host = classify_host(e.name, e.display_name);
    if (!e.host.op_type.empty()) e.op_type = strings.intern(e.host.op_type);
  });
  plane.stat_names.each([&](StatName& s) {
    if (!s.name.empty() && s.details < 0) s.text = strings.intern(s.name);
  });
}

}  // namespace gf::xplane
