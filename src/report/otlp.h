// The monitor's table as an OpenTelemetry metrics request (OTLP, protobuf): the names of the
// semantic conventions for hardware (hw.gpu.*), and the catalog's own for what those lack.
#pragma once

#include <string>

#include "model/live.h"

namespace gf {

/// An ExportMetricsServiceRequest, to be posted to a collector's /v1/metrics as
/// application/x-protobuf.
std::string otlp_metrics(const LiveTable& table);

}  // namespace gf
