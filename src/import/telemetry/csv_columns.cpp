#include "import/telemetry/csv_columns.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "core/text.h"
#include "import/telemetry/timestamps.h"

namespace gf::telemetry {

ColumnRole column_role(std::string_view written) {
  const std::string header = lower_case(written);
  if (header == "timestamp" || header == "datetime" || header == "date_time")
    return ColumnRole::calendar;
  if (header == "date") return ColumnRole::date;
  if (header == "time") return ColumnRole::clock;
  if (time_column_exponent(header)) return ColumnRole::time;
  for (const std::string_view index : {"index", "gpu", "device", "gpu_index", "gpu_id", "gpuid",
                                       "gpu id", "device_index", "device_id", "minor_number"})
    if (header == index) return ColumnRole::index;
  if (header == "uuid" || header == "gpu_uuid") return ColumnRole::uuid;
  if (header == "name" || header == "gpu_name") return ColumnRole::name;
  if (header == "pci.bus_id" || header == "gpu_bus_id" || header == "serial" ||
      header == "gpu_serial")
    return ColumnRole::bus;
  if (header == "instance" || header == "gpu_i_id" || header == "gpu_instance_id")
    return ColumnRole::instance;
  if (header == "host" || header == "hostname") return ColumnRole::host;
  if (header == "source" || header == "driver_version" || header == "pstate" ||
      header == "vbios_version" || header == "gpu_i_profile")
    return ColumnRole::skipped;
  return ColumnRole::value;
}

namespace {

/// Judges how well a column's numbers tell GPUs apart: each GPU has one line a moment, and all have
/// as many lines.
class DeviceColumn {
 public:
  explicit DeviceColumn(std::size_t at) : at_(at) {}
  std::size_t at() const { return at_; }
  void add(std::string_view moment, std::string_view cell) {
    ++lines_of_[std::string(cell)];
    if (!seen_.insert(std::string(moment).append("\n").append(cell)).second) ++repeated_;
  }
  /// The smaller, the better.
  auto rank() const {
    int fewest = INT32_MAX, most = 0;
    for (const auto& [cell, lines] : lines_of_) {
      fewest = std::min(fewest, lines);
      most = std::max(most, lines);
    }
    const bool even = lines_of_.size() < 2 || (fewest > 1 && most - fewest <= 1);
    return std::tuple(repeated_, !even, -static_cast<std::int64_t>(lines_of_.size()));
  }

 private:
  std::size_t at_;
  std::map<std::string, int> lines_of_;
  std::set<std::string> seen_;
  int repeated_ = 0;
};

}  // namespace

DateOrder look_ahead(CsvReader lines, std::vector<LogColumn>& columns) {
  constexpr int kLines = 4096;
  std::vector<DeviceColumn> devices;
  std::vector<std::size_t> times, dates;
  for (std::size_t at = 0; at < columns.size(); ++at) {
    const ColumnRole role = columns[at].role;
    if (role == ColumnRole::index) devices.emplace_back(at);
    if (is_time(role)) times.push_back(at);
    if (role == ColumnRole::calendar || role == ColumnRole::date) dates.push_back(at);
  }
  if (devices.size() < 2 && dates.empty()) return {};
  bool year_last = false, month_first = false, day_first = false;
  std::vector<std::string_view> row;
  for (int line = 0; line < kLines && lines.next(row); ++line) {
    if (row.size() != columns.size()) continue;
    for (const auto at : dates)
      if (const auto date = split_date(trimmed(row[at])); date && !date->year_first) {
        year_last = true;
        day_first |= date->first > 12;
        month_first |= date->second > 12;
      }
    if (devices.size() < 2) {
      if (!year_last || day_first || month_first) break;
      continue;
    }
    std::string moment;
    for (const auto at : times) moment.append(row[at]).append("\n");
    for (auto& device : devices) device.add(moment, trimmed(row[device.at()]));
  }
  const auto best = std::ranges::min_element(devices, {}, &DeviceColumn::rank);
  for (const auto& device : devices)
    if (device.at() != best->at()) columns[device.at()].role = ColumnRole::skipped;
  return {month_first && !day_first, !year_last || day_first || month_first};
}

}  // namespace gf::telemetry
