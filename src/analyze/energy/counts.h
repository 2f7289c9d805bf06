// Features of the energy model from the counters of a report.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/capture.h"

namespace gf {

/// Value of "a + b" or "4 * a", where names are counters; "x | y" takes the first whose counters
/// are all there. Empty without.
std::optional<double> evaluate_counters(std::string_view expression,
                                        const std::map<std::string, double, std::less<>>& counters);

/// All numeric counters of every kernel of the report, by row of report_kernels.
std::vector<std::map<std::string, double, std::less<>>> counters_by_kernel(const Capture& report);

/// How often each known feature happened in a kernel; features whose counters are missing are
/// absent.
std::map<std::string, double> energy_counts(
    const std::map<std::string, double, std::less<>>& counters);

/// Every counter that the features need, for the command line of a profiler.
std::vector<std::string> energy_counter_names();

}  // namespace gf
