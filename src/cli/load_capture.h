// Loads a capture and whatever files are to be joined with it, for every verb that reads one.
#pragma once

#include <optional>
#include <string>

#include "analyze/kernel_rates/kernel_rates.h"
#include "analyze/result.h"
#include "cli/options.h"
#include "core/error.h"
#include "import/importer.h"
#include "model/capture.h"

namespace gf::cli {

struct InputOptions {
  std::string trace;
  std::string counters;  // counter report, joined
  std::string power;     // power log, joined
  std::uint64_t max_bytes = ImportOptions{}.max_bytes;
  unsigned threads = 0;
  std::string zone;  // of logs in local time, empty: UTC
};

struct Loaded {
  Capture capture;
  std::optional<SourceInfo> counters;     // the counter report, when one was joined
  std::vector<KernelRates> kernel_rates;  // by device, when samples stand in for a report
  /// For AnalyzeOptions.
  const std::vector<KernelRates>* rates() const {
    return kernel_rates.empty() ? nullptr : &kernel_rates;
  }
};

void add_input_options(Verb& verb, InputOptions& options);
/// --max-bytes and --threads.
void add_limit_options(Verb& verb, std::uint64_t& max_bytes, unsigned& threads);

/// Reads the trace and joins the counter report and the power log. A joined file that holds no
/// counters (no samples) is an error: a report that silently lacks what was asked for would look
/// whole.
Result<Loaded> load_capture(const InputOptions& options, const Progress& progress);

}  // namespace gf::cli
