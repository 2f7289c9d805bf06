#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "import/csv_cells.h"
#include "import/load_text.h"
#include "import/telemetry/quantities.h"
#include "import/telemetry/telemetry.h"
#include "import/telemetry/timestamps.h"

namespace gf::telemetry {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

enum class Role { time, calendar, index, uuid, bus, instance, name, skipped, value };

struct LogColumn {
  Role role = Role::value;
  int exponent = 0;  // of a time
  Text metric{};
  double factor = 1;
};

Role role_of(std::string_view header) {
  if (header == "timestamp") return Role::calendar;
  if (time_column_exponent(header)) return Role::time;
  if (header == "index" || header == "gpu" || header == "device") return Role::index;
  if (header == "uuid" || header == "gpu_uuid") return Role::uuid;
  if (header == "name" || header == "gpu_name") return Role::name;
  if (header == "pci.bus_id" || header == "gpu_bus_id" || header == "serial" ||
      header == "gpu_serial")
    return Role::bus;
  if (header == "instance") return Role::instance;
  if (header == "host" || header == "hostname" || header == "source" ||
      header == "driver_version" || header == "pstate" || header == "vbios_version")
    return Role::skipped;
  return Role::value;
}

/// Seconds since 1970, or thousandths, millionths, billionths of them: no log is of another
/// century.
std::optional<Nanos> parse_epoch(std::string_view cell) {
  const auto digits = std::min(cell.find('.'), cell.size());
  return parse_decimal(cell, digits < 12 ? 9 : digits < 15 ? 6 : digits < 18 ? 3 : 0);
}

/// Numbers for GPUs that a log names otherwise, in the order in which they appear.
class Devices {
 public:
  /// `index` is the log's own number, -1 without one.
  std::uint32_t row(Capture& capture, std::int32_t index, std::string_view uuid,
                    std::string_view bus, std::string_view instance) {
    if (!instance.empty()) {  // a part of a GPU, with readings of its own
      const auto id = 1000 + number(fmt::format("{}/{}", index, instance));
      const auto row = capture.device_row(id);
      capture.devices.name[row] =
          capture.strings.intern(fmt::format("GPU {}, MIG instance {}", index, instance));
      return row;
    }
    if (index >= 0) return capture.device_row(index);
    const auto key = !uuid.empty() ? uuid : bus;
    return capture.device_row(key.empty() ? 0 : number(std::string(key)));
  }

 private:
  std::int32_t number(std::string key) {
    return numbers_.try_emplace(std::move(key), static_cast<std::int32_t>(numbers_.size()))
        .first->second;
  }
  std::map<std::string, std::int32_t> numbers_;
};

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

}  // namespace

int sniff_csv(std::string_view, std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::string_view line = first_line(head);
  if (line.size() > 8192 || line.find('\0') != line.npos) return 0;  // not a line of text
  if (line.find(',') == line.npos || line.find("\"ID\"") != line.npos) return 0;
  if (parse_calendar(trimmed(line.substr(0, line.find(',')))))
    return 45;  // readings without their headings
  bool time = false;
  int known = 0;
  for (std::size_t at = 0; at <= line.size();) {
    const auto end = std::min(line.find(',', at), line.size());
    const std::string_view cell = trimmed(line.substr(at, end - at));
    const Role role = role_of(cell);
    time |= role == Role::time || role == Role::calendar;
    if (role == Role::value && !cell.empty() &&
        quantity_of_column(cell).metric.find('.') != std::string::npos)
      ++known;
    at = end + 1;
  }
  return known == 0 ? 0 : time ? 85 : known > 1 ? 40 : 0;
}

Result<Capture> parse_csv(std::string_view content, const std::string& path) {
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  CsvReader reader(content);
  std::vector<std::string_view> row;
  if (!reader.next(row)) return fail("the log is empty", path);

  Capture capture;
  capture.path = path;
  capture.format = "telemetry_csv";
  capture.bytes = static_cast<std::int64_t>(content.size());
  std::vector<LogColumn> columns(row.size());
  bool has_time = false, local = false;
  for (std::size_t c = 0; c < row.size(); ++c) {
    const std::string_view header = trimmed(row[c]);
    columns[c].role = role_of(header);
    if (columns[c].role == Role::time) columns[c].exponent = *time_column_exponent(header);
    has_time |= columns[c].role == Role::time || columns[c].role == Role::calendar;
    if (columns[c].role != Role::value) continue;
    const Quantity q = quantity_of_column(header);
    columns[c].metric = capture.strings.intern(q.metric);
    columns[c].factor = q.factor;
  }
  if (!has_time && !row.empty() && std::ranges::any_of(row, [](std::string_view cell) {
        return parse_calendar(trimmed(cell)).has_value();
      }))
    return fail("the log has no headings: what a column holds is not known", path, 0,
                "log without noheader, or write the names that were queried as its first line");
  if (!has_time)
    return fail(
        "the log has no column of time", path, 0,
        "query it too: nvidia-smi --query-gpu=timestamp,index,power.draw.instant,... --format=csv");

  std::int64_t bad = 0, missing = 0;
  std::size_t first_bad = 0;
  std::string first_time;  // that could not be read
  Devices devices;
  while (reader.next(row)) {
    if (row.size() < columns.size() && reader.row_was_cut()) {
      capture.note_quality(
          "truncated", fmt::format("the file ends inside a line, at byte {}", reader.row_offset()));
      break;
    }
    std::optional<Nanos> time;
    std::int32_t device = -1;
    std::string_view uuid, bus, instance, name;
    if (row.size() == columns.size())
      for (std::size_t c = 0; c < row.size(); ++c) {
        const std::string_view cell = trimmed(row[c]);
        switch (columns[c].role) {
          case Role::time:
            time = parse_decimal(cell, columns[c].exponent);
            break;
          case Role::calendar: {
            bool zoned = false;
            time = parse_calendar(cell, &zoned);
            local |= time && !zoned;
            if (!time) time = parse_epoch(cell);
            if (!time && first_time.empty()) first_time = cell;
            break;
          }
          case Role::index:
            std::from_chars(cell.data(), cell.data() + cell.size(), device);
            break;
          case Role::uuid:
            uuid = cell;
            break;
          case Role::bus:
            bus = cell;
            break;
          case Role::instance:
            instance = cell;
            break;
          case Role::name:
            name = cell;
            break;
          default:
            break;
        }
      }
    if (!time) {  // a header repeated by a restarted logger, or damage
      if (bad++ == 0) first_bad = reader.row_offset();
      continue;
    }
    ++capture.events;
    const auto device_row = devices.row(capture, device, uuid, bus, instance);
    if (!uuid.empty()) capture.devices.uuid[device_row] = capture.strings.intern(uuid);
    if (!name.empty() && instance.empty())
      capture.devices.name[device_row] = capture.strings.intern(name);
    capture.devices.vendor[device_row] = capture.strings.intern("nvidia");
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (columns[c].role != Role::value) continue;
      const auto value = parse_reading(row[c]);
      if (!value) {
        ++missing;
        continue;
      }
      auto& s = capture.counter_samples;
      const auto at = s.add();
      s.start_ns[at] = *time;
      s.device[at] = device_row;
      s.metric[at] = columns[c].metric;
      s.value[at] = *value * columns[c].factor;
    }
  }
  if (capture.events == 0 && !first_time.empty())
    return fail(fmt::format("no line has a time that can be read: '{}'", first_time.substr(0, 40)),
                path, static_cast<std::int64_t>(first_bad),
                "write times as 2026/11/20 12:34:56.789 or as seconds since 1970");
  if (bad > 0)
    capture.note_quality(
        "bad_row",
        fmt::format("lines without a time or with another number of cells, first at byte {}",
                    first_bad),
        bad);
  if (missing > 0)
    capture.note_quality("no_reading", "cells without a number, such as [N/A]: no data", missing);
  if (local)
    capture.note_quality("local_time",
                         "the log gives the time of day without a zone; it is taken as UTC, so "
                         "that it may lie hours beside a trace");
  return capture;
}

Result<Capture> load_csv(const std::string& path, const ImportOptions& options) {
  return load_text(path, options, parse_csv);
}

}  // namespace gf::telemetry
