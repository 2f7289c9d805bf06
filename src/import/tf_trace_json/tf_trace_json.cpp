#include <fmt/format.h>
#include <simdjson.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "core/secrets.h"
#include "core/text.h"
#include "import/formats.h"
#include "import/input.h"
#include "import/xplane/rows.h"
#include "import/xplane/xplane.h"

namespace gf::tf_trace_json {

namespace {

class Slices {
 public:
  /// `text` is the whole file. No elements when it has no "traceEvents".
  explicit Slices(std::string_view text);
  bool found() const { return at_ != std::string_view::npos; }
  /// The next element, braces included; empty at the end of the array.
  std::string_view next();
  /// After the last element: the array was closed. Otherwise the file ends inside it.
  bool closed() const { return closed_; }

 private:
  std::string_view text_;
  std::size_t at_ = std::string_view::npos;
  bool closed_ = false;
};

/// One past the closing brace of the object at `begin`, npos when the text ends first.
std::size_t end_of_object(std::string_view text, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        for (++i; i < text.size() && text[i] != '"'; ++i)
          if (text[i] == '\\') ++i;
        break;
      case '{':
        ++depth;
        break;
      case '}':
        if (--depth == 0) return i + 1;
        break;
      default:
        break;
    }
  }
  return text.npos;
}

Slices::Slices(std::string_view text) : text_(text) {
  const auto key = text.find("\"traceEvents\"");
  if (key == text.npos) return;
  const auto bracket = text.find('[', key);
  if (bracket != text.npos) at_ = bracket + 1;
}

std::string_view Slices::next() {
  if (!found() || closed_) return {};
  while (at_ < text_.size() && text_[at_] != '{' && text_[at_] != ']') ++at_;
  if (at_ >= text_.size()) return {};
  if (text_[at_] == ']') {
    closed_ = true;
    return {};
  }
  const auto end = end_of_object(text_, at_);
  if (end == text_.npos) {
    at_ = text_.size();
    return {};
  }
  const auto slice = text_.substr(at_, end - at_);
  at_ = end;
  return slice;
}

using namespace xplane;
namespace od = simdjson::ondemand;

static_assert(kPadding >= simdjson::SIMDJSON_PADDING);

constexpr std::size_t kRowsAtOnce = 1 << 16;

struct Reader {
  Capture& c;
  std::string_view content;
  od::parser parser;
  Part part;
  Details details;                       // of the event that is being read
  std::map<std::int64_t, Plane> planes;  // by pid
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> line_names;  // by pid and tid
  std::map<std::pair<std::int64_t, std::int64_t>, LineContext> lines;
  std::unordered_map<std::string, std::unique_ptr<EventName>> names;
  std::int64_t spans = 0, derived = 0;
  std::int64_t bad = 0, first_bad = -1;
  Text threadpool;

  Reader(Capture& capture, std::string_view given)
      : c(capture), content(given), threadpool(capture.strings.intern("threadpool")) {}

  void damaged(std::string_view slice) {
    if (bad++ == 0) first_bad = slice.data() - content.data();
  }

  template <class F>
  bool object(std::string_view slice, F&& apply) {
    od::document doc;
    if (parser
            .iterate(
                simdjson::padded_string_view(slice.data(), slice.size(), slice.size() + kPadding))
            .get(doc))
      return false;
    od::object object;
    if (doc.get_object().get(object)) return false;
    for (auto field : object) {
      std::string_view key;
      od::value value;
      if (field.unescaped_key().get(key) || field.value().get(value)) return false;
      if (!apply(key, value)) return false;
    }
    return true;
  }

  static bool number(od::value& value, std::int64_t& out) { return !value.get_int64().get(out); }
  static std::int64_t number_in(std::string_view text) {
    if (text.starts_with("$$")) text.remove_prefix(2);
    std::int64_t value = -1;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  /// First pass: what processes and threads are called.
  void name(std::string_view slice) {
    std::int64_t pid = -1, tid = -1;
    std::string what, given;
    const bool ok = object(slice, [&](std::string_view key, od::value value) {
      std::string_view text;
      if (key == "pid") return number(value, pid);
      if (key == "tid") return number(value, tid);
      if (key == "name") return !value.get_string().get(text) && (what = text, true);
      if (key == "args") {
        od::object args;
        if (value.get_object().get(args)) return false;
        for (auto field : args) {
          std::string_view key_text;
          if (field.unescaped_key().get(key_text)) return false;
          if (key_text == "name" && !field.value().get_string().get(text)) given = text;
        }
      }
      return true;
    });
    if (!ok) return damaged(slice);
    if (what == "process_name") {
      auto& plane = planes[pid];
      plane.name = c.text(c.strings.intern(without_secrets(given)));
      plane.kind = plane_kind(plane.name);
    } else if (what == "thread_name") {
      line_names[{pid, tid}] = given;
    }
  }

  LineContext& line(std::int64_t pid, std::int64_t tid) {
    auto [it, added] = lines.try_emplace({pid, tid});
    LineContext& line_context = it->second;
    if (!added) return line_context;
    auto [plane, unknown] = planes.try_emplace(pid);
    if (unknown) plane->second.kind = PlaneKind::host;
    line_context.plane = &plane->second;
    line_context.threadpool = threadpool;
    const auto& thread = line_names[{pid, tid}];
    if (line_context.plane->kind == PlaneKind::gpu) {
      const auto stream = stream_number(thread);
      if (!stream) return line_context;  // a derived line: the same time again
      line_context.device = c.device_row(*gpu_number(line_context.plane->name));
      line_context.stream = *stream;
      return line_context;
    }
    line_context.calls_alone = holds_calls_alone(thread);
    line_context.thread = c.threads.add();
    c.threads.tid[line_context.thread] = tid;
    c.threads.process_name[line_context.thread] = c.strings.intern(line_context.plane->name);
    c.threads.name[line_context.thread] = c.strings.intern(thread);
    return line_context;
  }

  const EventName& event_name(std::string_view name, std::string_view display) {
    auto& slot = names[std::string(name) + '\n' + std::string(display)];
    if (!slot) {
      slot = std::make_unique<EventName>();
      slot->text = c.strings.intern(name);
      slot->name = c.text(slot->text);
      slot->display_name = c.text(c.strings.intern(display));
      slot->host = classify_host(slot->name, slot->display_name);
      if (!slot->host.op_type.empty()) slot->op_type = c.strings.intern(slot->host.op_type);
    }
    return *slot;
  }

  /// The field that holds a statistic as the number that it is; null for every other one.
  static std::int64_t* number_field(Stat stat, EventFields& fields) {
    switch (stat) {
      case Stat::correlation_id:
        return &fields.correlation;
      case Stat::context_id:
        return &fields.context;
      case Stat::graph_id:
        return &fields.graph;
      case Stat::graph_node:
        return &fields.graph_node;
      case Stat::allocation_bytes:
        return &fields.allocation_bytes;
      case Stat::bytes_allocated:
        return &fields.bytes_allocated;
      case Stat::bytes_reserved:
        return &fields.bytes_reserved;
      case Stat::address:
        return &fields.address;
      default:
        return nullptr;
    }
  }

  /// All values are texts here, numbers too.
  void argument(std::string_view key, std::string_view text, EventFields& fields) {
    auto packed = [&](bool& flag) {
      flag = true;
      details = parse_details(text);
      fields.details = &details;
    };
    auto interned = [&] { return EventText{c.strings.intern(text), {}}; };
    const Stat stat = stat_of(key);
    if (std::int64_t* number = number_field(stat, fields)) {
      *number = number_in(text);
      return;
    }
    switch (stat) {
      case Stat::kernel_details:
        packed(fields.kernel);
        break;
      case Stat::memcpy_details:
        packed(fields.memcpy);
        break;
      case Stat::memset_details:
        packed(fields.memset);
        break;
      case Stat::hlo_op:
        fields.op = interned();
        break;
      case Stat::name:
        fields.scope = interned();
        break;
      case Stat::tf_op:
        if (fields.scope.empty() && !text.starts_with("XlaModule:")) fields.scope = interned();
        break;
      case Stat::eager_op:
        fields.type = interned();
        break;
      case Stat::tensor_shapes:
        fields.shapes = interned();
        break;
      case Stat::step_num:
        fields.step = number_in(text);
        fields.has_step = true;
        break;
      case Stat::occupancy_pct: {
        double pct = 0;
        if (std::from_chars(text.data(), text.data() + text.size(), pct).ec == std::errc{})
          fields.occupancy_pct = pct;
        break;
      }
      default:
        break;
    }
  }

  void span(std::string_view slice) {
    ++spans;
    EventFields fields;
    std::int64_t pid = -1, tid = -1;
    std::string name, full;
    bool timed = false;
    const bool ok = object(slice, [&](std::string_view key, od::value value) {
      std::string_view text;
      if (key == "pid") return number(value, pid);
      if (key == "tid") return number(value, tid);
      if (key == "name") return !value.get_string().get(text) && (name = text, true);
      if (key == "ts" || key == "dur") {
        // Microseconds printed as 17-digit doubles of picoseconds: rounded to them, never cut.
        auto token = value.raw_json_token();
        token = token.substr(0, token.find_first_of(" \t\r\n,}"));
        const auto ps = parse_decimal(token, 6);
        if (!ps) return false;
        if (key == "ts") timed = true;
        (key == "ts" ? fields.offset_ps : fields.duration_ps) = *ps;
        return true;
      }
      if (key == "args") {
        od::object args;
        if (value.get_object().get(args)) return false;
        for (auto field : args) {
          std::string_view index;
          od::value left;
          if (field.unescaped_key().get(index) || field.value().get(left)) return false;
          if (left.get_string().get(text)) continue;
          if (index == "long_name")
            full = text;
          else
            argument(index, text, fields);
        }
      }
      return true;
    });
    if (!ok || !timed) return damaged(slice);
    const LineContext& line_context = line(pid, tid);
    if (line_context.device == kNoRow && line_context.thread == kNoRow) {
      ++derived;
      return;
    }
    const EventName& named = full.empty() ? event_name(name, {}) : event_name(full, name);
    if (!add_row(part, line_context, named, fields)) damaged(slice);
    if (part.host_ops.size() + part.activities.size() + part.api_calls.size() > kRowsAtOnce)
      flush();
  }

  void flush() {
    join_part(c, part, content);
    part.clear();
  }
};

/// The xplane file that a trace.json(.gz) was made from, empty when it is not beside it.
std::string source_of(const std::string& path) {
  for (std::string_view suffix : {".trace.json.gz", ".trace.json"})
    if (path.ends_with(suffix)) {
      auto candidate = path.substr(0, path.size() - suffix.size()) + ".xplane.pb";
      std::error_code ignored;
      if (std::filesystem::is_regular_file(candidate, ignored)) return candidate;
    }
  return {};
}

}  // namespace

int sniff(std::string_view, std::string_view head) {
  auto has = [&](std::string_view part) { return contains(head, part); };
  if (!head.starts_with('{') || !has("\"traceEvents\"") || has("\"cat\"")) return 0;
  if (has("\"highres-ticks\"")) return 85;
  return has("\"process_name\"") && (has("/host:CPU") || has("/device:GPU:")) ? 85 : 0;
}

Result<Capture> load_text(std::string_view text, const std::string& path,
                          const ImportOptions& options) {
  Capture capture;
  capture.path = path;
  capture.format = "tf_trace_json";
  capture.bytes = static_cast<std::int64_t>(text.size());
  Reader reader(capture, text);
  Slices naming(text);
  if (!naming.found()) return fail("has no traceEvents", path);
  for (auto slice = naming.next(); !slice.empty(); slice = naming.next())
    if (slice.find("\"M\"") != slice.npos) reader.name(slice);
  Slices slices(text);
  for (auto slice = slices.next(); !slice.empty(); slice = slices.next()) {
    if (slice.find("\"M\"") != slice.npos || slice.find("\"ph\"") == slice.npos)
      continue;  // names; and the {} at the end
    reader.span(slice);
    if (reader.spans % 100'000 == 0 && options.progress &&
        !options.progress("reading", static_cast<double>(slice.data() - text.data()) /
                                         static_cast<double>(text.size())))
      return fail("reading was stopped", path);
  }
  reader.flush();
  capture.events = reader.spans;
  if (!slices.closed())
    capture.note_quality(QualityCode::truncated_input,
                         "the file ends inside traceEvents; the events before its end were read");
  if (reader.bad > 0)
    capture.note_quality(
        QualityCode::bad_event,
        fmt::format("an event cannot be read or has an impossible time, the first at byte {}",
                    reader.first_bad),
        reader.bad);
  if (reader.spans == 1'000'000 || reader.spans == 5'000'000)
    capture.note_quality(
        QualityCode::event_cap,
        fmt::format("the writer of trace.json stops at {} events, so the end of the run is missing "
                    "and nothing here is valid for the whole run; read the xplane.pb file",
                    reader.spans));
  capture.note_quality(
      QualityCode::no_absolute_time,
      "a trace.json does not say when it was recorded: times count from the profile's start");
  for (std::size_t i = 0; i < capture.host_ops.size() && capture.framework.empty(); ++i) {
    const auto name = capture.text(capture.host_ops.name[i]);
    if (name.starts_with("EagerExecute") || name.starts_with("EagerLocalExecute") ||
        name.starts_with("ExecutorState::"))
      capture.framework = "tensorflow";
    else if (name.starts_with("PjitFunction") || name.starts_with("PjRt"))
      capture.framework = "jax";
  }
  return capture;
}

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  if (const auto source = source_of(path); !source.empty())
    if (auto capture = xplane::load(source, options)) {
      capture->set_metadata("read_instead_of", path);
      return capture;
    }
  Capture damage;
  auto text = read_whole(path, options.max_bytes, &damage);
  if (!text) return tl::unexpected(text.error());
  const std::size_t size = text->size();
  text->append(kPadding, '\0');
  auto capture = load_text(std::string_view(*text).substr(0, size), path, options);
  if (capture) capture->add_quality(damage);
  return capture;
}

}  // namespace gf::tf_trace_json
