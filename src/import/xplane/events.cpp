#include "import/xplane/events.h"

#include <charconv>
#include <protozero/pbf_reader.hpp>
#include <protozero/varint.hpp>

#include "import/xplane/rows.h"
#include "import/xplane/schema.h"

namespace gf::xplane {

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::tag_and_type;

struct Decoder {
  const LineContext& line;
  Part& out;
  EventFields e;
  Details inline_details;  // of an event that carries its own

  std::int64_t integer(const StatValue& v) const {
    if (v.kind == StatValue::Kind::number) return static_cast<std::int64_t>(v.bits);
    auto text = text_of(*line.plane, v);
    if (text.starts_with("$$"))
      text.remove_prefix(2);  // xprof marks ids that stand for names this way
    std::int64_t value = -1;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  EventText text(const StatValue& v) const {
    if (v.kind == StatValue::Kind::text) return {Text{}, v.text};
    if (v.kind != StatValue::Kind::ref) return {};
    const auto* name = line.plane->stat_names.find(v.bits);
    return name ? EventText{name->text, {}} : EventText{};
  }

  void details(const StatValue& v) {
    if (v.kind == StatValue::Kind::ref) {
      const auto* name = line.plane->stat_names.find(v.bits);
      if (name && name->details >= 0)
        e.details = &line.plane->details[static_cast<std::size_t>(name->details)];
    } else if (v.kind == StatValue::Kind::text) {
      inline_details = parse_details(v.text);
      e.details = &inline_details;
    }
  }

  /// What all writers write, in one piece: the id, then one number or reference. False for
  /// everything else.
  static bool read_common(std::string_view message, const ById<StatName>& names,
                          const StatName*& name, StatValue& v) {
    const char* p = message.data();
    const char* const end = p + message.size();
    constexpr char kId = field::stat::metadata_id << 3, kUnsigned = field::stat::u64 << 3,
                   kSigned = field::stat::i64 << 3, kRef = field::stat::ref << 3;
    if (message.size() < 2 || *p != kId) return false;
    ++p;
    v.id = protozero::decode_varint(&p, end);
    name = names.find(v.id);
    if (!name || name->stat == Stat::none || p == end) return true;  // nothing that anyone reads
    if (*p != kUnsigned && *p != kSigned && *p != kRef) return false;
    v.kind = *p == kRef ? StatValue::Kind::ref : StatValue::Kind::number;
    ++p;
    v.bits = protozero::decode_varint(&p, end);
    return p == end;
  }

  void stat(std::string_view message) {
    StatValue v;
    const StatName* name = nullptr;
    if (!read_common(message, line.plane->stat_names, name, v)) {
      v = read_stat(message);
      name = line.plane->stat_names.find(v.id);
    }
    if (!name) return;
    switch (name->stat) {
      case Stat::none:
        break;
      case Stat::correlation_id:
        e.correlation = integer(v);
        break;
      case Stat::kernel_details:
        e.kernel = true;
        details(v);
        break;
      case Stat::memcpy_details:
        e.memcpy = true;
        details(v);
        break;
      case Stat::memset_details:
        e.memset = true;
        details(v);
        break;
      case Stat::hlo_op:
        e.op = text(v);
        break;
      case Stat::name:
        e.scope = text(v);
        break;
      case Stat::tf_op:
        if (e.scope.empty() && !text_of(*line.plane, v).starts_with("XlaModule:"))
          e.scope = text(v);
        break;
      case Stat::eager_op:
        e.type = text(v);
        break;
      case Stat::tensor_shapes:
        e.shapes = text(v);
        break;
      case Stat::step_num:
        e.step = integer(v);
        e.has_step = true;
        break;
      case Stat::context_id:
        e.context = integer(v);
        break;
      case Stat::graph_id:
        e.graph = integer(v);
        break;
      case Stat::graph_node:
        e.graph_node = integer(v);
        break;
      case Stat::occupancy_pct:
        e.occupancy_pct = v.kind == StatValue::Kind::real ? v.real : NAN;
        break;
      case Stat::device_id:
        e.device_id = integer(v);
        break;
      case Stat::producer_type:
        e.producer_type = v.bits;
        break;
      case Stat::producer_id:
        e.producer = integer(v);
        break;
      case Stat::consumer_type:
        e.consumer_type = v.bits;
        break;
      case Stat::consumer_id:
        e.consumer = integer(v);
        break;
      case Stat::allocation_bytes:
        e.allocation_bytes = integer(v);
        break;
      case Stat::bytes_allocated:
        e.bytes_allocated = integer(v);
        break;
      case Stat::bytes_reserved:
        e.bytes_reserved = integer(v);
        break;
      case Stat::address:
        e.address = integer(v);
        break;
    }
  }

  void event(std::string_view message) {
    ++out.events;
    e = EventFields{};
    const EventName* name = nullptr;
    pbf_reader r{message.data(), message.size()};
    while (r.next()) {
      switch (r.tag_and_type()) {
        case tag_and_type(field::event::metadata_id, pbf_wire_type::varint):
          e.metadata_id = r.get_uint64();
          name = line.plane->event_names.find(e.metadata_id);
          if (name)
            for (const auto s : name->stats) stat(s);
          break;
        case tag_and_type(field::event::offset_ps, pbf_wire_type::varint):
          e.offset_ps = r.get_int64();
          break;
        case tag_and_type(field::event::duration_ps, pbf_wire_type::varint):
          e.duration_ps = r.get_int64();
          break;
        case tag_and_type(field::event::stats, pbf_wire_type::length_delimited): {
          const auto s = r.get_view();
          stat({s.data(), s.size()});
          break;
        }
        case tag_and_type(field::event::num_occurrences, pbf_wire_type::varint):
          e.aggregated = true;
          r.skip();
          break;
        default:
          r.skip();
      }
    }
    if (e.aggregated) {  // a count over the whole profile, without a time of its own
      ++out.untimed;
      return;
    }
    static const EventName unnamed;
    if (!add_row(out, line, name ? *name : unnamed, e)) bad(message);
  }

  void bad(std::string_view message) {
    ++out.bad;
    if (!out.first_bad) out.first_bad = message.data();
  }
};

}  // namespace

void decode(std::string_view chunk, const LineContext& line, Part& part) {
  Decoder d{line, part, {}, {}};
  pbf_reader r{chunk.data(), chunk.size()};
  while (r.next()) {  // the scan has walked these fields once: they are whole
    if (r.tag_and_type() != tag_and_type(field::line::events, pbf_wire_type::length_delimited)) {
      r.skip();
      continue;
    }
    const auto v = r.get_view();
    const std::string_view message{v.data(), v.size()};
    try {
      d.event(message);
    } catch (const protozero::exception&) {
      d.bad(message);
    }
  }
}

}  // namespace gf::xplane
