// nvidia-smi dmon: a heading that begins with # and names the GPU column, the units below it, a
// line a GPU and second; with -o D, T or DT the date and time of day in front; with --format csv
// commas between.

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "import/formats.h"
#include "import/importer.h"
#include "import/telemetry/log_devices.h"
#include "import/telemetry/quantities.h"
#include "import/telemetry/timestamps.h"
#include "model/counter_values.h"

namespace gf::telemetry {

namespace {

bool is_heading(std::string_view line) {
  return line.starts_with("#Entity") || line.starts_with("# Entity");
}

/// dcgmi prints a line an entity every `-d` milliseconds, a second unless told otherwise, and no
/// time.
constexpr Nanos kInterval = kNsPerSecond;

/// GPU-I: a MIG instance, GPU-CI: a compute instance of one.
bool is_part(std::string_view entity) { return entity == "GPU-I" || entity == "GPU-CI"; }

/// "GPU 0 LINK 3": one link, since DCGM 4.6.
bool is_link(const std::vector<std::string_view>& cells) {
  return cells[0] == "LINK" || (cells.size() > 3 && cells[2] == "LINK");
}

/// True if a log has lines of whole GPUs. Then those of their parts say the same again: as devices
/// beside them they would count work, power and memory two or three times.
bool has_whole_gpus(std::string_view content) {
  bool found = false;
  each_line(content, [&](std::string_view line, std::size_t) {
    const auto cells = words(line);
    found |= cells.size() > 2 && cells[0] == "GPU" && !is_link(cells);
  });
  return found;
}

/// The lines of a text, one after the other.
class DcgmDmon {
 public:
  DcgmDmon(Capture& capture, bool has_gpus)
      : capture_(capture), devices_(capture), has_gpus_(has_gpus) {}

  void line(std::string_view line, std::size_t offset) {
    const auto cells = words(line);
    if (cells.empty() || cells[0] == "ID") return;
    if (is_heading(line)) return read_heading(cells);
    if (has_gpus_ && is_part(cells[0])) {
      ++parts_;
      return;
    }
    if (is_link(cells)) {
      ++links_;
      return;
    }
    const auto row = device_of(cells);
    if (row == kNoRow) {
      if (bad_++ == 0)
        capture_.note_quality(
            QualityCode::bad_row,
            fmt::format("lines that are not readings of a GPU, first at byte {}", offset), 0);
      return;
    }
    ++capture_.events;
    capture_.devices.vendor[row] = capture_.strings.intern("nvidia");
    next_.resize(std::max<std::size_t>(next_.size(), row + 1u), 0);
    take_readings(cells, row);
    next_[row] += kInterval;
  }

  bool has_heading() const { return !fields_.empty(); }

  void note_doubts() {
    if (bad_ > 0) capture_.note_quality(QualityCode::bad_row, "", bad_);
    if (parts_ > 0)
      capture_.note_quality(QualityCode::line_not_read,
                            "lines of MIG instances are ignored: those of their GPUs contain the "
                            "same work and power (log the instances alone to see them)",
                            parts_);
    if (of_whole_ > 0)
      capture_.note_quality(
          QualityCode::line_not_read,
          "power, energy, clocks and temperatures of MIG instances are those of "
          "their whole GPUs, which the log does not name: left out (log the GPUs)",
          of_whole_);
    if (links_ > 0)
      capture_.note_quality(QualityCode::line_not_read,
                            "lines of single NVLink links are ignored: those of their GPUs contain "
                            "the sums",
                            links_);
    if (missing_ > 0)
      capture_.note_quality(QualityCode::no_reading, "cells without a number, such as N/A: no data",
                            missing_);
    if (capture_.events > 0)
      capture_.note_quality(
          QualityCode::no_timestamps,
          "dcgmi dmon prints no times: lines are taken as one second apart from 0");
  }

 private:
  struct Field {
    Text metric;
    double factor;
  };

  void read_heading(const std::vector<std::string_view>& cells) {
    fields_.clear();
    for (std::size_t i = cells[0] == "#" ? 2 : 1; i < cells.size(); ++i) {
      const Quantity quantity = quantity_of_dcgm(cells[i]);
      fields_.push_back({capture_.strings.intern(quantity.metric), quantity.factor});
    }
  }

  /// The row of devices that a line is about, kNoRow when it is no reading of a GPU, or of a part
  /// of one: GPU-I (MIG instance), GPU-CI (compute instance).
  std::uint32_t device_of(const std::vector<std::string_view>& cells) {
    const bool part = is_part(cells[0]);
    std::int32_t number = -1;
    if (cells.size() >= 2)
      std::from_chars(cells[1].data(), cells[1].data() + cells[1].size(), number);
    if ((cells[0] != "GPU" && !part) || number < 0 || cells.size() != fields_.size() + 2)
      return kNoRow;
    if (part) return devices_.instance(fmt::format("MIG {} {}", cells[0], number));
    return capture_.device_row(number);
  }

  void take_readings(const std::vector<std::string_view>& cells, std::uint32_t row) {
    for (std::size_t field = 0; field < fields_.size(); ++field) {
      if (is_part(cells[0]) && is_of_whole_gpu(capture_.text(fields_[field].metric))) {
        ++of_whole_;
        continue;
      }
      const auto value = parse_reading(cells[field + 2]);
      if (!value || is_dcgm_blank(*value)) {
        ++missing_;
        continue;
      }
      add_row(capture_.counter_samples,
              {next_[row], kInterval, row, fields_[field].metric, *value * fields_[field].factor});
    }
  }

  Capture& capture_;
  LogDevices devices_;
  bool has_gpus_;
  std::vector<Field> fields_;
  std::vector<Nanos> next_;  // time of the next line, by row of devices
  std::int64_t bad_ = 0, missing_ = 0, parts_ = 0, of_whole_ = 0, links_ = 0;
};

}  // namespace

int sniff_dmon(std::string_view, std::string_view head) { return sniff_heading(head, is_heading); }

Result<Capture> parse_dmon(std::string_view content, const std::string& path) {
  Capture capture;
  capture.path = path;
  capture.format = "dcgm_dmon";
  capture.bytes = static_cast<std::int64_t>(content.size());
  DcgmDmon reader(capture, has_whole_gpus(content));
  each_line(content, [&](std::string_view line, std::size_t at) { reader.line(line, at); });
  if (!reader.has_heading())
    return fail("no heading (#Entity ...) of dcgmi dmon in the text", path, -1,
                "keep the first lines that dcgmi dmon prints");
  reader.note_doubts();
  return capture;
}

Result<Capture> load_dmon(const std::string& path, const ImportOptions& options) {
  return in_order(load_text(path, options, parse_dmon));
}

namespace {

constexpr Nanos kSmiInterval = kNsPerSecond, kDay = 86400 * kNsPerSecond,
                kLongest = 60 * kNsPerSecond;

/// The cells of a line, without the # of a heading.
std::vector<std::string_view> cells_of(std::string_view line) {
  if (line.starts_with('#')) line.remove_prefix(1);
  return words(line, " \t\r,");
}

/// "# gpu    pwr  gtemp ...", with Date and Time in front when they were asked for.
bool is_smi_heading(std::string_view line) {
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

/// Position of a GPU in the log.
struct Place {
  Nanos last = -1, day = 0, time_of_day = 0;
};

/// When and whose a line's readings are; what is not given or no number is absent.
struct LineHead {
  std::int32_t device = -1;
  std::optional<Nanos> day, time_of_day;
};

Role role_of(std::string_view heading) {
  if (heading == "Date") return Role::date;
  if (heading == "Time") return Role::time;
  return heading == "gpu" ? Role::gpu : Role::value;
}

std::optional<Nanos> parse_day(std::string_view cell) {
  if (cell.size() != 8) return std::nullopt;
  return parse_calendar(
      fmt::format("{}/{}/{} 00:00:00", cell.substr(0, 4), cell.substr(4, 2), cell.substr(6)));
}

class LogReader {
 public:
  explicit LogReader(Capture& capture) : capture_(capture) {}

  void heading(const std::vector<std::string_view>& cells) {
    columns_.clear();
    date_ = time_ = false;
    for (const auto cell : cells) {
      const Quantity quantity = quantity_of_smi_dmon(cell, "");
      const Role role = role_of(cell);
      columns_.push_back({role, cell, capture_.strings.intern(quantity.metric), quantity.factor});
      date_ |= role == Role::date;
      time_ |= role == Role::time;
    }
  }

  void units(const std::vector<std::string_view>& cells) {
    for (std::size_t cell = 0; cell < columns_.size() && cell < cells.size(); ++cell) {
      const Quantity quantity = quantity_of_smi_dmon(columns_[cell].heading, cells[cell]);
      columns_[cell].metric = capture_.strings.intern(quantity.metric);
      columns_[cell].factor = quantity.factor;
    }
  }

  void readings(const std::vector<std::string_view>& cells, std::size_t offset) {
    const LineHead head = head_of(cells);
    if (head.device < 0 || (date_ && !head.day) || (time_ && !head.time_of_day)) {
      if (bad_++ == 0)
        capture_.note_quality(
            QualityCode::bad_row,
            fmt::format("lines that are not readings of a GPU, first at byte {}", offset), 0);
      return;
    }
    const auto row = capture_.device_row(head.device);
    capture_.devices.vendor[row] = capture_.strings.intern("nvidia");
    places_.resize(std::max<std::size_t>(places_.size(), row + 1u));
    const Interval span = span_of(head, places_[row]);
    ++capture_.events;
    for (std::size_t column = 0; column < columns_.size(); ++column)
      if (columns_[column].role == Role::value) sample(columns_[column], cells[column], row, span);
  }

  Status finish() {
    if (columns_.empty())
      return fail("no heading (# gpu ...) of nvidia-smi dmon in the text", capture_.path, -1,
                  "keep the first lines that nvidia-smi dmon prints");
    if (bad_ > 0) capture_.note_quality(QualityCode::bad_row, "", bad_);
    if (missing_ > 0)
      capture_.note_quality(QualityCode::no_reading, "cells without a number, such as -: no data",
                            missing_);
    note_times();
    return {};
  }

 private:
  LineHead head_of(const std::vector<std::string_view>& cells) const {
    LineHead head;
    if (cells.size() != columns_.size()) return head;
    for (std::size_t column = 0; column < cells.size(); ++column) {
      const auto cell = cells[column];
      const Role role = columns_[column].role;
      if (role == Role::gpu) std::from_chars(cell.data(), cell.data() + cell.size(), head.device);
      if (role == Role::date) head.day = parse_day(cell);
      if (role == Role::time)
        if (const auto calendar = parse_calendar(fmt::format("2000/01/01 {}", cell)))
          head.time_of_day = *calendar % kDay;
    }
    return head;
  }

  /// Readings are averages up to the moment that they are printed, since the line before.
  Interval span_of(const LineHead& head, Place& place) const {
    if (head.day) place.day = *head.day;
    if (!date_ && head.time_of_day && *head.time_of_day < place.time_of_day)
      place.day += kDay;  // past midnight
    if (head.time_of_day) place.time_of_day = *head.time_of_day;
    Nanos now = place.last + kSmiInterval;
    if (time_)
      now = place.day + *head.time_of_day;
    else if (place.last < 0)
      ++now;
    Nanos since = place.last >= 0 && now > place.last && now - place.last <= kLongest
                      ? now - place.last
                      : kSmiInterval;
    place.last = now;
    return {now - since, now};
  }

  void sample(const Column& column, std::string_view cell, std::uint32_t device, Interval span) {
    const auto value = parse_reading(cell);
    if (!value) {
      ++missing_;
      return;
    }
    add_row(capture_.counter_samples,
            {span.start, span.length(), device, column.metric, *value * column.factor});
  }

  void note_times() {
    if (capture_.events == 0) return;
    if (date_ && time_)
      capture_.note_quality(QualityCode::local_time,
                            "the log gives the time of day without a zone; it is taken as UTC, so "
                            "it may be hours off a trace");
    else if (time_)
      capture_.note_quality(QualityCode::no_timestamps,
                            "the log gives the time of day without the date: log with -o DT");
    else
      capture_.note_quality(
          QualityCode::no_timestamps,
          "the log gives no times: lines are taken as one second apart from 0; log with -o DT");
  }

  Capture& capture_;
  std::vector<Column> columns_;
  std::vector<Place> places_;  // by row of devices
  bool date_ = false, time_ = false;
  std::int64_t bad_ = 0, missing_ = 0;
};

}  // namespace

int sniff_smi_dmon(std::string_view, std::string_view head) {
  return sniff_heading(head, is_smi_heading);
}

Result<Capture> parse_smi_dmon(std::string_view content, const std::string& path) {
  Capture capture;
  capture.path = path;
  capture.format = "smi_dmon";
  capture.bytes = static_cast<std::int64_t>(content.size());
  LogReader reader(capture);
  each_line(content, [&](std::string_view line, std::size_t offset) {
    const auto cells = cells_of(line);
    if (cells.empty()) return;
    if (is_smi_heading(line))
      reader.heading(cells);
    else if (line.starts_with('#'))  // the units; the heading comes again every few lines
      reader.units(cells);
    else
      reader.readings(cells, offset);
  });
  if (const auto finished = reader.finish(); !finished) return tl::unexpected(finished.error());
  return capture;
}

Result<Capture> load_smi_dmon(const std::string& path, const ImportOptions& options) {
  return in_order(load_text(path, options, parse_smi_dmon));
}

}  // namespace gf::telemetry
