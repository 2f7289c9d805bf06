// The details page prints labels of its sections ("Duration", "Registers Per Thread") where the raw
// page prints metric names.
#pragma once

#include <string_view>

namespace gf::ncu {

/// The metric behind a label of the standard sections; the label itself when it is a metric name or
/// not known. `base_unit` tells apart labels that two sections share ("Memory Throughput" in % and
/// in byte/s).
std::string_view metric_of_label(std::string_view label, std::string_view base_unit);

}  // namespace gf::ncu
