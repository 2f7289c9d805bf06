#include "import/xplane/events.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <protozero/pbf_reader.hpp>
#include <protozero/varint.hpp>
#include <thread>

#include "core/machine.h"
#include "import/xplane/rows.h"
#include "import/xplane/schema.h"

namespace gf::xplane {

namespace {

/// Workers take chunks in order, at most `window` ahead of the joined ones, which bounds the memory
/// of waiting parts. One of them at a time joins what is ready, while the others go on decoding.
struct Pool {
  Capture& capture;
  const std::vector<Chunk>& chunks;
  std::string_view file;
  const ImportOptions& options;
  const Release& release;
  std::vector<Unplaced>& unplaced;
  std::size_t window;

  std::mutex lock;
  std::condition_variable moved;
  std::vector<std::unique_ptr<Part>> ready;  // decoded, not yet joined: chunk i in place i % window
  std::vector<std::unique_ptr<Part>> spare;  // joined and emptied: their memory serves again
  std::size_t next = 0, joined = 0;
  bool joining = false, stop = false, stopped_by_user = false;
  std::exception_ptr error;

  void work() {
    std::unique_lock held(lock);
    try {
      while (true) {
        moved.wait(held, [&] { return stop || next >= chunks.size() || next < joined + window; });
        if (stop || next >= chunks.size()) return;
        const std::size_t mine = next++;
        std::unique_ptr<Part> part;
        if (!spare.empty()) {
          part = std::move(spare.back());
          spare.pop_back();
        }
        held.unlock();
        if (!part) part = std::make_unique<Part>();
        decode(chunks[mine].bytes, chunks[mine].line, *part);
        if (release) release(chunks[mine].bytes);
        held.lock();
        ready[mine % window] = std::move(part);
        if (!joining) join_ready(held);
      }
    } catch (...) {
      if (!held.owns_lock()) held.lock();
      error = std::current_exception();
      stop = true;
      moved.notify_all();
    }
  }

  /// Joins what is ready, and what becomes ready meanwhile. `held` is the lock, given up while rows
  /// are copied.
  void join_ready(std::unique_lock<std::mutex>& held) {
    joining = true;
    while (!stop && joined < chunks.size() && ready[joined % window]) {
      auto part = std::move(ready[joined % window]);
      held.unlock();
      const auto first = static_cast<std::uint32_t>(capture.activities.size());
      for (const auto& run : part->unplaced)
        add(unplaced, {first + run.first, first + run.end, run.program});
      join_part(capture, *part, file);
      if (release && !part->texts.empty()) release(chunks[joined].bytes);  // read again
      part->clear();
      const bool go_on =
          !options.progress || options.progress("reading", static_cast<double>(joined + 1) /
                                                               static_cast<double>(chunks.size()));
      held.lock();
      spare.push_back(std::move(part));
      ++joined;
      if (!go_on) stop = stopped_by_user = true;
      moved.notify_all();
    }
    joining = false;
  }
};

}  // namespace

Status assemble(Capture& capture, const std::vector<Chunk>& chunks, std::string_view file,
                const ImportOptions& options, const Release& release,
                std::vector<Unplaced>& unplaced) {
  if (chunks.empty()) return {};
  const std::size_t threads = std::min<std::size_t>(worker_threads(options.threads), chunks.size());
  Pool pool{
      capture, chunks, file, options, release, unplaced, std::max<std::size_t>(2, threads * 4)};
  pool.ready.resize(pool.window);
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back([&] { pool.work(); });
    pool.work();
  }
  if (pool.stopped_by_user) return fail("reading was stopped", capture.path);
  if (pool.error) std::rethrow_exception(pool.error);
  return {};
}

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::tag_and_type;

struct Decoder {
  const LineContext& line;
  Part& out;
  EventFields e;
  Details inline_details;  // of an event that carries its own

  std::int64_t integer(const StatValue& statistic) const {
    if (statistic.kind == StatValue::Kind::number) return static_cast<std::int64_t>(statistic.bits);
    auto text = text_of(*line.plane, statistic);
    if (text.starts_with("$$"))
      text.remove_prefix(2);  // xprof marks ids that stand for names this way
    std::int64_t value = -1;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  EventText text(const StatValue& statistic) const {
    if (statistic.kind == StatValue::Kind::text) return {Text{}, statistic.text};
    if (statistic.kind != StatValue::Kind::ref) return {};
    const auto* name = line.plane->stat_names.find(statistic.bits);
    if (name) return EventText{name->text, {}};
    return EventText{};
  }

  void details(const StatValue& statistic) {
    if (statistic.kind == StatValue::Kind::ref) {
      const auto* name = line.plane->stat_names.find(statistic.bits);
      if (name && name->details >= 0)
        e.details = &line.plane->details[static_cast<std::size_t>(name->details)];
    } else if (statistic.kind == StatValue::Kind::text) {
      inline_details = parse_details(statistic.text);
      e.details = &inline_details;
    }
  }

  /// Reads the one value behind the id of a statistic, as all writers write it. False for
  /// everything else.
  static bool read_value(const char* at, const char* const end, StatValue& value) {
    constexpr int kText = static_cast<int>(pbf_wire_type::length_delimited),
                  kDouble = static_cast<int>(pbf_wire_type::fixed64);
    switch (*at++) {
      case field::stat::u64 << 3:
      case field::stat::i64 << 3:
        value.kind = StatValue::Kind::number;
        value.bits = number(at, end);
        return at == end;
      case field::stat::ref << 3:
        value.kind = StatValue::Kind::ref;
        value.bits = number(at, end);
        return at == end;
      case field::stat::f64 << 3 | kDouble:
        value.kind = StatValue::Kind::real;
        if (std::endian::native != std::endian::little || end - at != sizeof value.real)
          return false;
        std::memcpy(&value.real, at, sizeof value.real);
        return true;
      case field::stat::str << 3 | kText:
      case field::stat::bytes << 3 | kText: {
        value.kind = StatValue::Kind::text;
        const std::uint64_t length = number(at, end);
        value.text = {at, static_cast<std::size_t>(end - at)};
        return length == value.text.size();
      }
      default:
        return false;
    }
  }

  /// Statistics that are plain numbers: what the event belongs to, and sizes of memory.
  void identify(Stat stat, const StatValue& statistic) {
    switch (stat) {
      case Stat::correlation_id:
        e.correlation = integer(statistic);
        break;
      case Stat::program_id:
        e.program = integer(statistic);
        break;
      case Stat::context_id:
        e.context = integer(statistic);
        break;
      case Stat::graph_id:
        e.graph = integer(statistic);
        break;
      case Stat::graph_node:
        e.graph_node = integer(statistic);
        break;
      case Stat::device_id:
        e.device_id = integer(statistic);
        break;
      case Stat::producer_type:
        e.producer_type = statistic.bits;
        break;
      case Stat::producer_id:
        e.producer = integer(statistic);
        break;
      case Stat::consumer_type:
        e.consumer_type = statistic.bits;
        break;
      case Stat::consumer_id:
        e.consumer = integer(statistic);
        break;
      case Stat::allocation_bytes:
        e.allocation_bytes = integer(statistic);
        break;
      case Stat::bytes_allocated:
        e.bytes_allocated = integer(statistic);
        break;
      case Stat::bytes_reserved:
        e.bytes_reserved = integer(statistic);
        break;
      case Stat::address:
        e.address = integer(statistic);
        break;
      default:
        break;
    }
  }

  void stat(std::string_view message) {
    const char* at = message.data();
    const char* const end = at + message.size();
    if (message.size() >= 2 && *at == field::stat::metadata_id << 3) {
      const StatName* const name = line.plane->stat_names.find(number(++at, end));
      if (!name || name->stat == Stat::none) return;  // nothing that anyone reads
      StatValue statistic;
      if (at == end || read_value(at, end, statistic)) return take(name->stat, statistic);
    }
    const StatValue statistic = read_stat(message);
    if (const StatName* const name = line.plane->stat_names.find(statistic.id))
      take(name->stat, statistic);
  }

  void take(Stat stat, const StatValue& statistic) {
    switch (stat) {
      case Stat::none:
        break;
      case Stat::kernel_details:
        e.kernel = true;
        details(statistic);
        break;
      case Stat::memcpy_details:
        e.memcpy = true;
        details(statistic);
        break;
      case Stat::memset_details:
        e.memset = true;
        details(statistic);
        break;
      case Stat::hlo_op:
        e.op = text(statistic);
        e.op_name = text_of(*line.plane, statistic);
        break;
      case Stat::name:
        e.scope = text(statistic);
        break;
      case Stat::tf_op:
        if (e.scope.empty() && !text_of(*line.plane, statistic).starts_with("XlaModule:"))
          e.scope = text(statistic);
        break;
      case Stat::eager_op:
        e.type = text(statistic);
        break;
      case Stat::tensor_shapes:
        e.shapes = text(statistic);
        break;
      case Stat::step_num:
        e.step = integer(statistic);
        e.has_step = true;
        break;
      case Stat::occupancy_pct:
        if (statistic.kind == StatValue::Kind::real) {
          e.occupancy_pct = statistic.real;
        } else {
          e.occupancy_pct = NAN;
        }
        break;
      default:
        identify(stat, statistic);
    }
  }

  [[gnu::always_inline]] static std::uint64_t number(const char*& at, const char* end) {
    if (at != end && static_cast<signed char>(*at) >= 0) return static_cast<std::uint64_t>(*at++);
    return long_number(at, end);
  }

  /// Ids and times take two to nine bytes; what is longer, or cut short, is looked at with care.
  static std::uint64_t long_number(const char*& at, const char* end) {
    std::uint64_t value = 0;
    const char* next = at;
    for (unsigned shift = 0; next != end && shift < 63; shift += 7) {
      const auto byte = static_cast<unsigned char>(*next++);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) {
        at = next;
        return value;
      }
    }
    return protozero::decode_varint(&at, end);
  }

  void event(std::string_view message) {
    ++out.events;
    e = EventFields{};
    const EventName* name = nullptr;
    const char* at = message.data();
    const char* const end = at + message.size();
    while (at != end) {
      // All tags that are known take one byte.
      switch (*at) {
        case field::event::metadata_id << 3:
          e.metadata_id = number(++at, end);
          name = line.plane->event_names.find(e.metadata_id);
          if (name)
            for (const auto stat_message : name->stats) stat(stat_message);
          break;
        case field::event::offset_ps << 3:
          e.offset_ps = static_cast<std::int64_t>(number(++at, end));
          break;
        case field::event::duration_ps << 3:
          e.duration_ps = static_cast<std::int64_t>(number(++at, end));
          break;
        case field::event::num_occurrences << 3:
          e.aggregated = true;
          number(++at, end);
          break;
        case field::event::stats << 3 | static_cast<int>(pbf_wire_type::length_delimited): {
          const std::uint64_t length = number(++at, end);
          if (length > static_cast<std::uint64_t>(end - at))
            throw protozero::end_of_buffer_exception{};
          stat({at, static_cast<std::size_t>(length)});
          at += length;
          break;
        }
        default: {
          pbf_reader other{at, static_cast<std::size_t>(end - at)};
          other.next();
          other.skip();
          at = other.data().data();
        }
      }
    }
    if (e.aggregated) {  // a count over the whole profile, without a time of its own
      ++out.untimed;
      return;
    }
    static const EventName unnamed;
    out.unnamed += !name;
    if (!add_row(out, line, name ? *name : unnamed, e)) bad(message);
  }

  void bad(std::string_view message) {
    ++out.bad;
    if (!out.first_bad) out.first_bad = message.data();
  }
};

}  // namespace

void decode(std::string_view chunk, const LineContext& line, Part& part) {
  Decoder decoder{line, part, {}, {}};
  pbf_reader reader{chunk.data(), chunk.size()};
  while (reader.next()) {  // the scan has walked these fields once: they are whole
    if (reader.tag_and_type() !=
        tag_and_type(field::line::events, pbf_wire_type::length_delimited)) {
      reader.skip();
      continue;
    }
    const auto view = reader.get_view();
    const std::string_view message{view.data(), view.size()};
    try {
      decoder.event(message);
    } catch (const protozero::exception&) {
      decoder.bad(message);
    }
  }
}

}  // namespace gf::xplane
