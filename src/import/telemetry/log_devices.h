// Finds the GPU of a log's line.
// Checks that a log's clock runs forward.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "model/capture.h"

namespace gf::telemetry {

/// The cells of a line that identify its GPU; empty where the log has no such column.
struct DeviceCells {
  std::string_view index, uuid, bus, instance, name, host;
};

/// Numbers for GPUs that a log names otherwise, in the order in which they appear.
class LogDevices {
 public:
  explicit LogDevices(Capture& capture) : capture_(capture) {}
  std::uint32_t row(const DeviceCells& cells);
  /// Part `instance` of a GPU, with readings of its own.
  std::uint32_t instance(std::string_view name);

 private:
  std::int32_t number(std::string key);
  Capture& capture_;
  std::map<std::string, std::int32_t> numbers_;
  std::string first_host_;
};

/// Metadata of a log of one GPU that does not say which.
inline constexpr std::string_view kGpuOfLog = "log.gpu";

/// Lines of a log that has no column of GPUs. Several readings of one moment are readings of
/// several GPUs, which nvidia-smi prints in the order of their numbers.
class UnnamedLines {
 public:
  void add(Nanos time, std::size_t first_sample) { lines_.push_back({time, first_sample}); }
  /// Gives the samples of each line to the GPU of its place among the lines of its moment. An error
  /// when lines share a time and it cannot be told how many GPUs there are.
  Status assign(Capture& capture) const;

 private:
  struct Line {
    Nanos time;
    std::size_t first_sample;
  };
  struct Groups {
    std::size_t size = 1;  // lines of a moment; 0: they differ
    bool same_times = false;
  };
  Groups groups(Nanos apart) const;
  Nanos widest_gap_inside() const;
  std::vector<Line> lines_;
};

/// A log is written as time goes on. Where a GPU's times go back (lines were shuffled, joined
/// twice, or the clock was set), when its power and energy were read is not known: they become no
/// data.
Result<Capture> in_order(Result<Capture> log);

}  // namespace gf::telemetry
