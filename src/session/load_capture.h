// The one way from files to a capture that can be asked: read, and joined with what was measured
// beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/kernel_rates/kernel_rates.h"
#include "analyze/result.h"
#include "core/error.h"
#include "import/importer.h"
#include "model/capture.h"

namespace gf {

struct InputOptions {
  std::string trace;
  std::string counters;  // counter report, joined
  std::string power;     // power log, joined
  std::uint64_t max_bytes = ImportOptions{}.max_bytes;
  unsigned threads = 0;
  std::string zone;  // of logs in local time, empty: UTC
};

struct Loaded {
  std::shared_ptr<const Capture> capture;
  std::optional<SourceInfo> counters;     // the counter report, when one was joined
  std::vector<KernelRates> kernel_rates;  // by device, when samples stand in for a report
  std::string power;                      // the power log, when one was joined
};

/// Reads the trace and joins the counter report and the power log. A joined file that holds no
/// counters (no samples) is an error: a report that silently lacks what was asked for would look
/// whole.
Result<Loaded> load_capture(const InputOptions& wanted, const Progress& progress);
/// The same for a trace that is read already.
Result<Loaded> join_measured(Capture trace, const InputOptions& wanted, const Progress& progress);

}  // namespace gf
