// Tables as CSV (RFC 4180): what the capture holds, and what the analysis found. What is not known
// is an empty cell.
#pragma once

#include <functional>
#include <string_view>

#include "analyze/context.h"
#include "analyze/result.h"
#include "core/error.h"
#include "model/capture.h"

namespace gf {

/// Takes one finished table: its name (without ".csv") and its bytes, in pieces; `last` with the
/// last one.
using CsvSink = std::function<Status(std::string_view table, std::string_view bytes, bool last)>;

/// Every table of the capture that has rows: host_ops, activities, ... Row numbers of other tables
/// count from 0.
Status write_capture_csv(const Capture& capture, const CsvSink& sink);
/// kernels, layers, layer_types, idle_causes, waterfall, levels, findings.
Status write_analysis_csv(const Analysis& analysis, const CsvSink& sink);
/// idle_pieces: the idle time of every device, stretch by stretch.
Status write_idle_csv(const Context& context, const CsvSink& sink);

}  // namespace gf
