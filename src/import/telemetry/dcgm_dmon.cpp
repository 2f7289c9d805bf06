#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "import/load_text.h"
#include "import/telemetry/log_devices.h"
#include "import/telemetry/log_order.h"
#include "import/telemetry/quantities.h"
#include "import/telemetry/telemetry.h"
#include "import/telemetry/words.h"
#include "model/counter_row.h"

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

/// Whether a log has lines of whole GPUs. Then those of their parts say the same again: as devices
/// beside them they would count work, power and memory two or three times.
bool has_whole_gpus(std::string_view content) {
  bool found = false;
  each_line(content, [&](std::string_view line, std::size_t) {
    const auto cells = words(line);
    found |= cells.size() > 2 && cells[0] == "GPU";
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
    const auto row = device_of(cells);
    if (row == kNoRow) {
      if (bad_++ == 0)
        capture_.note_quality(
            QualityCode::bad_row,
            fmt::format("lines that are no readings of a GPU, first at byte {}", offset), 0);
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
                            "lines of MIG instances are left out: those of their GPUs hold the "
                            "same work and power (log the instances alone to see them)",
                            parts_);
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
  std::int64_t bad_ = 0, missing_ = 0, parts_ = 0;
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

}  // namespace gf::telemetry
