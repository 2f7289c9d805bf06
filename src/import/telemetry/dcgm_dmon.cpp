#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "import/load_text.h"
#include "import/telemetry/log_devices.h"
#include "import/telemetry/quantities.h"
#include "import/telemetry/telemetry.h"
#include "import/telemetry/words.h"

namespace gf::telemetry {

namespace {

bool is_heading(std::string_view line) {
  return line.starts_with("#Entity") || line.starts_with("# Entity");
}

/// dcgmi prints a line an entity every `-d` milliseconds, a second unless told otherwise, and no
/// time.
constexpr Nanos kInterval = kNsPerSecond;

}  // namespace

int sniff_dmon(std::string_view, std::string_view head) { return sniff_heading(head, is_heading); }

Result<Capture> parse_dmon(std::string_view content, const std::string& path) {
  Capture capture;
  capture.path = path;
  capture.format = "dcgm_dmon";
  capture.bytes = static_cast<std::int64_t>(content.size());
  struct Field {
    Text metric;
    double factor;
  };
  LogDevices devices(capture);
  std::vector<Field> fields;
  std::vector<Nanos> next;  // time of the next line, by row of devices
  std::int64_t bad = 0, missing = 0;
  for (std::size_t at = 0; at < content.size();) {
    const auto end = std::min(content.find('\n', at), content.size());
    const std::string_view line = content.substr(at, end - at);
    const std::size_t offset = at;
    at = end + 1;
    const auto cells = words(line);
    if (cells.empty() || cells[0] == "ID") continue;
    if (is_heading(line)) {
      fields.clear();
      for (std::size_t i = cells[0] == "#" ? 2 : 1; i < cells.size(); ++i) {
        const Quantity quantity = quantity_of_dcgm(cells[i]);
        fields.push_back({capture.strings.intern(quantity.metric), quantity.factor});
      }
      continue;
    }
    // GPU, or a part of one: GPU-I (MIG instance), GPU-CI (compute instance).
    const bool part = cells[0] == "GPU-I" || cells[0] == "GPU-CI";
    std::int32_t device = -1;
    if (cells.size() >= 2)
      std::from_chars(cells[1].data(), cells[1].data() + cells[1].size(), device);
    if ((cells[0] != "GPU" && !part) || device < 0 || cells.size() != fields.size() + 2) {
      if (bad++ == 0)
        capture.note_quality(
            QualityCode::bad_row,
            fmt::format("lines that are no readings of a GPU, first at byte {}", offset), 0);
      continue;
    }
    const auto row = part ? devices.instance(fmt::format("MIG {} {}", cells[0], device))
                          : capture.device_row(device);
    capture.devices.vendor[row] = capture.strings.intern("nvidia");
    next.resize(std::max<std::size_t>(next.size(), row + 1u), 0);
    ++capture.events;
    for (std::size_t field = 0; field < fields.size(); ++field) {
      const auto value = parse_reading(cells[field + 2]);
      if (!value || is_dcgm_blank(*value)) {
        ++missing;
        continue;
      }
      auto& samples = capture.counter_samples;
      const auto sample = samples.add();
      samples.start_ns[sample] = next[row];
      samples.duration_ns[sample] = kInterval;
      samples.device[sample] = row;
      samples.metric[sample] = fields[field].metric;
      samples.value[sample] = *value * fields[field].factor;
    }
    next[row] += kInterval;
  }
  if (fields.empty())
    return fail("no heading (#Entity ...) of dcgmi dmon in the text", path, -1,
                "keep the first lines that dcgmi dmon prints");
  if (bad > 0) capture.note_quality(QualityCode::bad_row, "", bad);
  if (missing > 0)
    capture.note_quality(QualityCode::no_reading, "cells without a number, such as N/A: no data",
                         missing);
  if (capture.events > 0)
    capture.note_quality(QualityCode::no_timestamps,
                         "dcgmi dmon prints no times: lines are taken as one second apart from 0");
  return capture;
}

Result<Capture> load_dmon(const std::string& path, const ImportOptions& options) {
  return load_text(path, options, parse_dmon);
}

}  // namespace gf::telemetry
