// Reads the output of exporters of GPU metrics at one instant, and Prometheus's answers over time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "core/text.h"
#include "import/fleet/series.h"
#include "import/formats.h"
#include "import/input.h"
#include "import/json_rows.h"

namespace gf::fleet {

namespace {

/// Series of GPUs begin so.
constexpr std::string_view kPrefixes[] = {"DCGM_FI_", "dcgm_", "nvidia_smi_", "all_smi_"};

bool is_gpu_series(std::string_view name) {
  return std::ranges::any_of(kPrefixes, [&](auto prefix) { return name.starts_with(prefix); });
}

std::optional<double> number(std::string_view text) {
  if (text == "NaN" || text.ends_with("Inf")) return NAN;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || wrong != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

void set_label(Labels& labels, std::string_view key, std::string_view value) {
  const std::string name = lower_case(key);
  auto is = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, std::string_view(name)) != names.end();
  };
  if (is({"gpu", "gpu_index", "index", "minor_number"}))
    labels.index = value;
  else if (is({"uuid", "gpu_uuid"}))
    labels.uuid = value.starts_with("GPU-") || value.empty() ? std::string(value)
                                                             : "GPU-" + std::string(value);
  else if (is({"pci_bus_id"}))
    labels.bus = value;
  else if (is({"gpu_i_id", "gpu_instance_id"}))
    labels.instance = value;
  else if (is({"modelname", "name", "gpu_name"}))
    labels.name = value;
  else if (is({"hostname"}) || (is({"instance"}) && labels.host.empty()))
    labels.host = value;
  else if (is({"pod", "exported_pod"}) && !value.empty())
    labels.pod = value;
  else if (is({"hpc_job"}))  // "job" is Prometheus' own word for what it asks
    labels.job = value;
}

/// One line of an exposition: name{label="value",...} value [time].
struct Line {
  std::string_view name;
  Labels labels;
  double value = 0;
  std::optional<Nanos> time;
};

/// The labels behind an opening brace; the place behind the closing one, npos where there is none.
std::size_t read_labels(std::string_view line, std::size_t at, Labels& labels) {
  std::string value;
  while (at < line.size() && line[at] != '}') {
    const auto equals = line.find("=\"", at);
    if (equals == line.npos) return equals;
    const auto key = trimmed(line.substr(at, equals - at), " ,");
    value.clear();
    for (at = equals + 2; at < line.size() && line[at] != '"'; ++at) {
      if (line[at] == '\\' && at + 1 < line.size()) ++at;
      value += line[at];
    }
    if (at >= line.size()) return line.npos;
    set_label(labels, key, value);
    ++at;
    while (at < line.size() && (line[at] == ',' || line[at] == ' ')) ++at;
  }
  return at < line.size() ? at + 1 : line.npos;
}

std::optional<Line> read_line(std::string_view text) {
  Line line;
  const auto open = text.find('{');
  auto behind = text.find(' ');
  if (open < behind) {
    line.name = text.substr(0, open);
    behind = read_labels(text, open + 1, line.labels);
  } else {
    line.name = text.substr(0, behind);
  }
  if (behind == text.npos) return {};
  auto rest = trimmed(text.substr(behind));
  const auto space = std::min(rest.find(' '), rest.size());
  const auto value = number(rest.substr(0, space));
  if (!value) return {};
  line.value = *value;
  if (const auto time = trimmed(rest.substr(space)); !time.empty())
    line.time = parse_decimal(time, 6);  // milliseconds
  return line;
}

bool is_scrape(std::string_view head) {
  for (std::size_t at = 0, lines = 0; at < head.size() && lines < 200; ++lines) {
    const auto end = std::min(head.find('\n', at), head.size());
    const auto line = head.substr(at, end - at);
    at = end + 1;
    if (line.starts_with('#') || line.empty()) {
      if (!line.empty() && !line.starts_with("# HELP") && !line.starts_with("# TYPE") &&
          !line.starts_with("# UNIT") && !line.starts_with("# EOF"))
        return false;
      continue;
    }
    const auto name = line.substr(0, line.find_first_of("{ "));
    if (is_gpu_series(name) && line.find(' ') != line.npos) return true;
    if (name.empty() || name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
                                               "YZ0123456789_:") != name.npos)
      return false;
  }
  return false;
}

/// Reads one exposition taken at `time`.
void read_scrape(std::string_view content, Nanos time, Capture& capture, Readings& readings) {
  std::int64_t bad = 0;
  for (std::size_t at = 0; at < content.size();) {
    const auto end = std::min(content.find('\n', at), content.size());
    const auto text = trimmed(content.substr(at, end - at));
    at = end + 1;
    if (text.empty() || text.starts_with('#') ||
        !is_gpu_series(text.substr(0, text.find_first_of("{ "))))
      continue;
    const auto line = read_line(text);
    if (!line) {
      ++bad;
      continue;
    }
    Labels labels = line->labels;
    if (line->name.starts_with("all_smi_")) labels.vendor = {};
    readings.add(line->name, labels, line->time.value_or(time), line->value);
  }
  if (bad > 0)
    capture.note_quality(QualityCode::bad_row, "lines that are no values of a series", bad);
}

/// When a scrape was saved, which is all that says when it was taken.
Nanos time_of_file(const std::string& path) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(path, error);
  if (error) return 0;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::file_clock::to_sys(written).time_since_epoch())
      .count();
}

Capture empty_capture(const std::string& path) {
  Capture capture;
  capture.path = path;
  capture.format = "prometheus";
  return capture;
}

}  // namespace

int sniff_prometheus(std::string_view, std::string_view head) {
  if (head.starts_with('#') || is_gpu_series(head)) return is_scrape(head) ? 92 : 0;
  if (!head.starts_with('{')) return 0;
  const auto front = head.substr(0, 4096);
  return front.find("\"resultType\"") != front.npos && front.find("\"result\"") != front.npos ? 92
                                                                                              : 0;
}

namespace {

/// The answer to a query: rows of a matrix have `values`, those of a vector `value`.
Status read_answer(std::string_view text, Capture& capture) {
  Readings readings(capture);
  std::int64_t nameless = 0;
  JsonWalk walk;
  const bool valid = walk.run(
      text, [](std::string_view path) { return path == "data.result"; },
      [&](std::string_view, const JsonRow& row) {
        const auto name = row.text("metric.__name__");
        if (name.empty()) ++nameless;
        if (name.empty() || !is_gpu_series(name)) return;
        Labels labels;
        if (name.starts_with("all_smi_")) labels.vendor = {};
        for (const auto& value : row.values())
          if (value.path.starts_with("metric."))
            set_label(labels, std::string_view(value.path).substr(7), value.text);
        // Time and value take turns.
        bool timed = false;
        Nanos time = 0;
        for (const auto& value : row.values()) {
          if (!value.path.starts_with("value")) continue;
          if (value.path.ends_with(".0")) {
            const auto said = parse_decimal(value.text, 9);
            timed = said.has_value();
            if (timed) time = *said;
          } else if (const auto reading = number(value.text); timed && reading) {
            readings.add(name, labels, time, *reading);
            timed = false;
          }
        }
      });
  if (!valid)
    return fail("is an answer of Prometheus that ends early, or is damaged", {}, -1,
                "ask again: curl 'http://HOST:9090/api/v1/query_range?query=...'");
  if (capture.events == 0 && nameless > 0)
    return fail("is an answer of Prometheus without names of series, as sums and rates have none",
                {}, -1,
                "ask for the series themselves: query={__name__=~\"DCGM_FI_.*\"} over the range");
  readings.finish();
  return {};
}

}  // namespace

Result<Capture> load_prometheus(const std::string& path, const ImportOptions& options) {
  Capture capture = empty_capture(path);
  auto text = read_whole(path, options.max_bytes, &capture);
  if (!text) return tl::unexpected(text.error());
  const std::size_t size = text->size();
  capture.bytes = static_cast<std::int64_t>(size);
  if (text->starts_with('{')) {
    text->append(JsonWalk::kPadding, '\0');
    if (auto done = read_answer(std::string_view(*text).substr(0, size), capture); !done) {
      done.error().file = path;
      return tl::unexpected(done.error());
    }
    return capture;
  }
  Readings readings(capture);
  read_scrape(*text, time_of_file(path), capture, readings);
  readings.finish();
  capture.note_quality(QualityCode::no_timestamps,
                       "a scrape is one instant, taken as the time of its file: give a folder of "
                       "scrapes, or a range of Prometheus, for means and energy");
  return capture;
}

std::vector<std::string> find_scrapes(const std::string& folder) {
  constexpr std::size_t kMostFiles = 100'000, kHead = 16 << 10;
  std::vector<std::string> found;
  std::error_code error;
  std::size_t seen = 0;
  for (std::filesystem::directory_iterator at(folder, error), end;
       !error && at != end && ++seen < kMostFiles; at.increment(error)) {
    std::error_code ignored;
    const auto path = at->path().string();
    if (!at->is_regular_file(ignored) || path.ends_with(".json")) continue;
    const auto head = read_head(path, kHead);
    if (head && is_scrape(*head)) found.push_back(path);
    if (found.empty() && seen > 16) break;  // a folder of something else
  }
  std::ranges::sort(found);
  return found;
}

Result<Capture> load_scrapes(const std::vector<std::string>& files, const std::string& path,
                             const ImportOptions& options) {
  Capture capture = empty_capture(path);
  Readings readings(capture);
  for (const auto& file : files) {
    const auto text = read_whole(file, options.max_bytes, &capture);
    if (!text) return tl::unexpected(text.error());
    capture.bytes += static_cast<std::int64_t>(text->size());
    read_scrape(*text, time_of_file(file), capture, readings);
  }
  readings.finish();
  capture.note_quality(QualityCode::no_timestamps,
                       "scrapes have no times: those of their files are taken");
  return capture;
}

}  // namespace gf::fleet
