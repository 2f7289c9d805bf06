// Fills a capture with the kernels and counters of a report, whatever file they were read from.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/capture.h"

namespace gf::ncu {

using Dim3 = std::array<std::int64_t, 3>;

/// The identity of one profiled kernel instance; -1 where the report does not say.
struct Launch {
  std::int64_t id = -1, pid = -1, device = -1, context = -1, stream = -1;
  std::string_view name, mangled_name;
  Dim3 grid{-1, -1, -1}, block{-1, -1, -1};
  int compute_major = -1, compute_minor = -1;
  std::int64_t launches = -1;  // of a summary: how many the row is the mean of
};

/// The text of one of the profiler's own rules about a kernel.
struct RuleText {
  std::string_view section, rule, kind, description, speedup_kind;
  double speedup = std::numeric_limits<double>::quiet_NaN();  // percent
};

class ReportBuilder {
 public:
  explicit ReportBuilder(Capture& capture) : capture_(capture) {}

  /// A metric of the report, looked up once per column or table entry.
  struct Metric {
    enum class Role {
      counter,
      device_attribute,
      registers,
      shared_static,
      shared_dynamic,
      duration,
      grid,
      block,
      stream,
      context,
      device
    };
    Text name, unit;
    Role role = Role::counter;
    int axis = 0;  // of grid and block
  };
  Metric metric(std::string_view name, std::string_view base_unit);

  /// Starts the next kernel; values that follow are its own. Returns its row of report_kernels.
  std::uint32_t begin_kernel(const Launch& launch);
  /// Goes on with a kernel that was begun before: rows of a table may come in any order.
  void resume_kernel(std::uint32_t kernel);
  void number(const Metric& metric, double value);
  void text(const Metric& metric, std::string_view value);
  void rule(const RuleText& rule);

  /// Writes what was gathered per device: `devices`, and every device__attribute_ once as metadata
  /// "device.N.NAME".
  void finish();

 private:
  void attribute(const Metric& metric, std::string value);
  void sum_shared_memory();

  Capture& capture_;
  std::uint32_t kernel_ = kNoRow;
  std::int64_t device_ = -1;
  struct SharedMemory {
    std::int64_t fixed = -1, dynamic = -1;
  };
  std::vector<SharedMemory> shared_;  // by row of report_kernels
  std::map<std::int64_t, std::map<std::uint32_t, std::string>>
      attributes_;  // by device, by metric name
  std::map<std::int64_t, std::array<int, 2>> capability_;
};

}  // namespace gf::ncu
