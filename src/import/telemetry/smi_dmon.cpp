// nvidia-smi dmon: a heading that begins with # and names the GPU column, the units below it, a
// line a GPU and second; with -o D, T or DT the date and time of day in front; with --format csv
// commas between.
#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "import/load_text.h"
#include "import/telemetry/quantities.h"
#include "import/telemetry/telemetry.h"
#include "import/telemetry/timestamps.h"
#include "import/telemetry/words.h"

namespace gf::telemetry {

namespace {

constexpr Nanos kInterval = kNsPerSecond, kDay = 86400 * kNsPerSecond, kLongest = 60 * kNsPerSecond;

/// The cells of a line, without the # of a heading.
std::vector<std::string_view> cells_of(std::string_view line) {
  if (line.starts_with('#')) line.remove_prefix(1);
  return words(line, " \t\r,");
}

/// "# gpu    pwr  gtemp ...", with Date and Time in front when they were asked for.
bool is_heading(std::string_view line) {
  if (!line.starts_with('#')) return false;
  const auto cells = cells_of(line);
  auto at = cells.begin();
  while (at != cells.end() && (*at == "Date" || *at == "Time")) ++at;
  if (at == cells.end() || *at != "gpu" || ++at == cells.end()) return false;
  return *at == "rxpci" || *at == "pviol" || *at == "sbecc" ||
         quantity_of_smi_dmon(*at, "").metric != *at;  // the first of each -s group
}

enum class Role { date, time, gpu, value };
struct Column {
  Role role = Role::value;
  std::string_view heading;
  Text metric{};
  double factor = 1;
};

/// Where a GPU stands in the log.
struct Place {
  Nanos last = -1, day = 0, time_of_day = 0;
};

}  // namespace

int sniff_smi_dmon(std::string_view, std::string_view head) {
  return sniff_heading(head, is_heading);
}

Result<Capture> parse_smi_dmon(std::string_view content, const std::string& path) {
  Capture capture;
  capture.path = path;
  capture.format = "smi_dmon";
  capture.bytes = static_cast<std::int64_t>(content.size());
  std::vector<Column> columns;
  std::vector<Place> places;  // by row of devices
  bool date = false, time = false;
  std::int64_t bad = 0, missing = 0;
  for (std::size_t at = 0; at < content.size();) {
    const auto end = std::min(content.find('\n', at), content.size());
    const std::string_view line = content.substr(at, end - at);
    const std::size_t offset = at;
    at = end + 1;
    const auto cells = cells_of(line);
    if (cells.empty()) continue;
    if (is_heading(line)) {
      columns.clear();
      date = time = false;
      for (const auto cell : cells) {
        const Quantity quantity = quantity_of_smi_dmon(cell, "");
        columns.push_back({cell == "Date"   ? Role::date
                           : cell == "Time" ? Role::time
                           : cell == "gpu"  ? Role::gpu
                                            : Role::value,
                           cell, capture.strings.intern(quantity.metric), quantity.factor});
        date |= cell == "Date";
        time |= cell == "Time";
      }
      continue;
    }
    if (line.starts_with('#')) {  // the units; the heading comes again every few lines
      for (std::size_t cell = 0; cell < columns.size() && cell < cells.size(); ++cell) {
        const Quantity quantity = quantity_of_smi_dmon(columns[cell].heading, cells[cell]);
        columns[cell].metric = capture.strings.intern(quantity.metric);
        columns[cell].factor = quantity.factor;
      }
      continue;
    }
    std::int32_t device = -1;
    std::optional<Nanos> day, of_day;
    if (cells.size() == columns.size())
      for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        if (columns[cell].role == Role::gpu)
          std::from_chars(cells[cell].data(), cells[cell].data() + cells[cell].size(), device);
        if (columns[cell].role == Role::date)
          day = parse_calendar(fmt::format("{}/{}/{} 00:00:00", cells[cell].substr(0, 4),
                                           cells[cell].size() == 8 ? cells[cell].substr(4, 2) : "",
                                           cells[cell].size() == 8 ? cells[cell].substr(6) : ""));
        if (columns[cell].role == Role::time)
          if (const auto calendar = parse_calendar(fmt::format("2000/01/01 {}", cells[cell])))
            of_day = *calendar % kDay;
      }
    if (device < 0 || (date && !day) || (time && !of_day)) {
      if (bad++ == 0)
        capture.note_quality(
            QualityCode::bad_row,
            fmt::format("lines that are no readings of a GPU, first at byte {}", offset), 0);
      continue;
    }
    const auto row = capture.device_row(device);
    capture.devices.vendor[row] = capture.strings.intern("nvidia");
    places.resize(std::max<std::size_t>(places.size(), row + 1u));
    auto& place = places[row];
    if (day) place.day = *day;
    if (!date && of_day && *of_day < place.time_of_day) place.day += kDay;  // past midnight
    if (of_day) place.time_of_day = *of_day;
    // Readings are averages up to the moment that they are printed, since the line before.
    Nanos now = 0;
    if (time) {
      now = place.day + *of_day;
    } else {
      now = place.last + (place.last < 0 ? kInterval + 1 : kInterval);
    }
    Nanos since = kInterval;
    if (place.last >= 0 && now > place.last && now - place.last <= kLongest)
      since = now - place.last;
    place.last = now;
    ++capture.events;
    for (std::size_t column = 0; column < columns.size(); ++column) {
      if (columns[column].role != Role::value) continue;
      const auto value = parse_reading(cells[column]);
      if (!value) {
        ++missing;
        continue;
      }
      auto& samples = capture.counter_samples;
      const auto sample = samples.add();
      samples.start_ns[sample] = now - since;
      samples.duration_ns[sample] = since;
      samples.device[sample] = row;
      samples.metric[sample] = columns[column].metric;
      samples.value[sample] = *value * columns[column].factor;
    }
  }
  if (columns.empty())
    return fail("no heading (# gpu ...) of nvidia-smi dmon in the text", path, -1,
                "keep the first lines that nvidia-smi dmon prints");
  if (bad > 0) capture.note_quality(QualityCode::bad_row, "", bad);
  if (missing > 0)
    capture.note_quality(QualityCode::no_reading, "cells without a number, such as -: no data",
                         missing);
  if (capture.events > 0 && date && time)
    capture.note_quality(QualityCode::local_time,
                         "the log gives the time of day without a zone; it is taken as UTC, so "
                         "that it may lie hours beside a trace");
  else if (capture.events > 0)
    capture.note_quality(
        QualityCode::no_timestamps,
        time
            ? "the log gives the time of day without the date: log with -o DT"
            : "the log gives no times: lines are taken as one second apart from 0; log with -o DT");
  return capture;
}

Result<Capture> load_smi_dmon(const std::string& path, const ImportOptions& options) {
  return load_text(path, options, parse_smi_dmon);
}

}  // namespace gf::telemetry
