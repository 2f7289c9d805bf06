#include "import/xplane/plane.h"

#include <protozero/pbf_reader.hpp>

#include "import/xplane/schema.h"

namespace gf::xplane {

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

std::string_view view(protozero::data_view value) { return {value.data(), value.size()}; }
pbf_reader reader(std::string_view value) { return pbf_reader{value.data(), value.size()}; }

/// The key and value of a map entry; value is empty when there is none.
std::pair<std::uint64_t, std::string_view> map_entry(std::string_view message) {
  auto parser = reader(message);
  std::uint64_t key = 0;
  std::string_view value;
  while (parser.next()) {
    if (parser.tag() == field::map_entry::key && parser.wire_type() == pbf_wire_type::varint)
      key = parser.get_uint64();
    else if (parser.tag() == field::map_entry::value &&
             parser.wire_type() == pbf_wire_type::length_delimited)
      value = view(parser.get_view());
    else
      parser.skip();
  }
  return {key, value};
}

void read_event_name(std::string_view message, Plane& plane) {
  const auto [key, value] = map_entry(message);
  EventName event_name;
  auto parser = reader(value);
  while (parser.next()) {
    if (parser.wire_type() != pbf_wire_type::length_delimited) {
      parser.skip();
      continue;
    }
    const auto tag =
        parser.tag();  // before the value is taken: a debug build of protozero forgets it then
    const auto text = view(parser.get_view());
    if (tag == field::event_metadata::name)
      event_name.name = text;
    else if (tag == field::event_metadata::display_name)
      event_name.display_name = text;
    else if (tag == field::event_metadata::stats)
      event_name.stats.push_back(text);
  }
  plane.event_names.at(key) = std::move(event_name);
}

void read_stat_name(std::string_view message, Plane& plane) {
  const auto [key, value] = map_entry(message);
  StatName stat_name;
  auto parser = reader(value);
  while (parser.next()) {
    if (parser.tag() == field::stat_metadata::name &&
        parser.wire_type() == pbf_wire_type::length_delimited)
      stat_name.name = view(parser.get_view());
    else
      parser.skip();
  }
  stat_name.stat = stat_of(stat_name.name);
  if (looks_like_details(stat_name.name)) {
    stat_name.details = static_cast<std::int32_t>(plane.details.size());
    plane.details.push_back(parse_details(stat_name.name));
  }
  plane.stat_names.at(key) = stat_name;
}

/// Fields of a line and the borders of its chunks. A line that is cut short keeps the events before
/// the cut.
bool read_line(std::string_view message, std::size_t chunk_bytes, const Release& release,
               Line& line) {
  const auto cut = [&](const char* begin, const char* end) {
    line.chunks.emplace_back(begin, end - begin);
    if (release) release(line.chunks.back());
  };
  auto parser = reader(message);
  const char* chunk = message.data();
  const char* at = chunk;
  bool whole = true;
  try {
    while (parser.next()) {
      if (parser.wire_type() == pbf_wire_type::length_delimited) {
        const auto tag = parser.tag();
        const auto text = view(parser.get_view());
        if (tag == field::line::events)
          ++line.events;
        else if (tag == field::line::name)
          line.name = text;
        else if (tag == field::line::display_name)
          line.display_name = text;
      } else if (parser.wire_type() == pbf_wire_type::varint) {
        const auto tag = parser.tag();
        const auto value = parser.get_uint64();
        if (tag == field::line::id)
          line.id = value;
        else if (tag == field::line::timestamp_ns)
          line.timestamp_ns = static_cast<std::int64_t>(value);
      } else {
        parser.skip();
      }
      at = parser.data().data();
      if (static_cast<std::size_t>(at - chunk) >= chunk_bytes) {
        cut(chunk, at);
        chunk = at;
      }
    }
  } catch (const protozero::exception&) {
    whole = false;
  }
  if (at != chunk) cut(chunk, at);
  return whole;
}

/// f(tag, bytes) for every length-delimited field. A field that the end of the message cuts short
/// is given as far as it goes: a file cut in the middle of a line keeps the events before the cut.
/// False when the message is damaged.
template <class F>
bool each_part(std::string_view message, F&& apply) {
  auto parser = reader(message);
  const char* at = message.data();
  const char* const end = message.data() + message.size();
  protozero::pbf_tag_type cut = 0;
  try {
    while (parser.next()) {
      cut = 0;
      if (parser.wire_type() != pbf_wire_type::length_delimited) {
        parser.skip();
        continue;
      }
      at = parser.data().data();
      const auto tag = cut = parser.tag();
      const auto part = view(parser.get_view());
      cut = 0;
      apply(tag, part);
    }
    return true;
  } catch (const protozero::exception&) {
  }
  try {
    if (cut != 0) {
      protozero::decode_varint(&at, end);
      apply(cut, std::string_view(at, static_cast<std::size_t>(end - at)));
    }
  } catch (const protozero::exception&) {
  }
  return false;
}

struct Scanner {
  Space& space;
  const char* begin;
  std::size_t chunk_bytes;
  const Release& release;

  void damage(const char* at) {
    ++space.damaged;
    if (space.first_damage < 0) space.first_damage = at - begin;
  }

  void plane(std::string_view message) {
    Plane& plane = space.planes.emplace_back();
    std::vector<std::string_view> lines;
    const bool whole = each_part(message, [&](auto tag, std::string_view part) {
      try {
        if (tag == field::plane::name)
          plane.name = part;
        else if (tag == field::plane::lines)
          lines.push_back(part);
        else if (tag == field::plane::event_metadata)
          read_event_name(part, plane);
        else if (tag == field::plane::stat_metadata)
          read_stat_name(part, plane);
        else if (tag == field::plane::stats)
          plane.stats.push_back(part);
      } catch (const protozero::exception&) {
        damage(part.data());
      }
    });
    if (!whole) damage(message.data());
    plane.kind = plane_kind(plane.name);
    for (const auto part : lines)
      if (!read_line(part, chunk_bytes, release, plane.lines.emplace_back())) damage(part.data());
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
      {"program_id", Stat::program_id},
      {"tf_op", Stat::tf_op},
      {"level 0", Stat::tf_op},  // of TensorFlow's kernels: the annotation that was open
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
  StatValue statistic;
  auto parser = reader(message);
  while (parser.next()) {
    switch (parser.tag_and_type()) {
      case protozero::tag_and_type(field::stat::metadata_id, pbf_wire_type::varint):
        statistic.id = parser.get_uint64();
        break;
      case protozero::tag_and_type(field::stat::f64, pbf_wire_type::fixed64):
        statistic.kind = StatValue::Kind::real;
        statistic.real = parser.get_double();
        break;
      case protozero::tag_and_type(field::stat::u64, pbf_wire_type::varint):
      case protozero::tag_and_type(field::stat::i64, pbf_wire_type::varint):
        statistic.kind = StatValue::Kind::number;
        statistic.bits = parser.get_uint64();
        break;
      case protozero::tag_and_type(field::stat::str, pbf_wire_type::length_delimited):
      case protozero::tag_and_type(field::stat::bytes, pbf_wire_type::length_delimited):
        statistic.kind = StatValue::Kind::text;
        statistic.text = view(parser.get_view());
        break;
      case protozero::tag_and_type(field::stat::ref, pbf_wire_type::varint):
        statistic.kind = StatValue::Kind::ref;
        statistic.bits = parser.get_uint64();
        break;
      default:
        parser.skip();
    }
  }
  return statistic;
}

std::string_view text_of(const Plane& plane, const StatValue& value) {
  if (value.kind == StatValue::Kind::text) return value.text;
  if (value.kind != StatValue::Kind::ref) return {};
  const auto* name = plane.stat_names.find(value.bits);
  if (name) return name->name;
  return std::string_view{};
}

Space scan(std::string_view data, std::size_t chunk_bytes, const Release& release) {
  Space space;
  Scanner scanner{space, data.data(), chunk_bytes, release};
  space.truncated = !each_part(data, [&](auto tag, std::string_view part) {
    if (tag == field::space::planes)
      scanner.plane(part);
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
  plane.event_names.each([&](EventName& event_name) {
    if (!event_name.name.empty()) event_name.text = strings.intern(event_name.name);
    event_name.host = classify_host(event_name.name, event_name.display_name);
    if (!event_name.host.op_type.empty())
      event_name.op_type = strings.intern(event_name.host.op_type);
  });
  plane.stat_names.each([&](StatName& stat_name) {
    if (!stat_name.name.empty() && stat_name.details < 0)
      stat_name.text = strings.intern(stat_name.name);
  });
}

}  // namespace gf::xplane
