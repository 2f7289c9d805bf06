// The one way from a capture to an answer, for the verbs, the C interface and, through it, Python.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/analyze.h"
#include "analyze/energy/model_file.h"
#include "analyze/kernel_rates/kernel_rates.h"
#include "analyze/result.h"
#include "analyze/work/ceilings.h"
#include "core/error.h"
#include "import/importer.h"
#include "model/capture.h"
#include "report/html/page.h"

namespace gf {

/// Path of FOLDER/NAME among the data that ship with the program; empty when it is not there.
std::string shipped_file(const std::string& folder, const std::string& name);

// Files of one GPU product that ship with the program: energy models, measured ceilings.

/// Name of the capture's first named GPU; empty when none has a name.
std::string product_of(const Capture& capture);

/// The model of `path`, or the one shipped for the capture's first named GPU when `path` is empty:
/// empty when there is none. Errors: the file cannot be read or is no model; it was measured on
/// another product than the capture's.
Result<std::optional<EnergyModelFile>> find_energy_model(const std::string& path,
                                                         const Capture& capture);

/// The model shipped for a product; empty when there is none.
Result<std::optional<EnergyModelFile>> shipped_energy_model(const std::string& product);

/// The same for ceilings.
Result<std::optional<CeilingsFile>> find_ceilings(const std::string& path, const Capture& capture);

// The one way from files to a capture that can be asked: read, and joined with what was measured
// beside it.

struct InputOptions {
  std::string trace;
  std::string counters;             // counter report, joined
  std::string power;                // power log, joined
  std::vector<std::string> graphs;  // traces that tell the operators of CUDA graphs
  bool among_others = false;        // one of several captures, of which `graphs` may tell another
  std::uint64_t max_bytes = ImportOptions{}.max_bytes;
  unsigned threads = 0;
  std::string zone;  // of logs in local time, empty: UTC
};

struct Loaded {
  std::shared_ptr<const Capture> capture;
  std::optional<SourceInfo> counters;     // the counter report, when one was joined
  std::vector<KernelRates> kernel_rates;  // by device, when samples stand in for a report
  std::string power;                      // the power log, when one was joined
  std::size_t told_by_graphs = 0;         // kernels whose operators `graphs` tell
  unsigned threads = 0;                   // as InputOptions
};

/// The traces of --graphs.
Result<std::vector<Capture>> read_graphs(const std::vector<std::string>& paths,
                                         const ImportOptions& options);
/// The error of --graphs with a trace that tells of no kernel.
Error nothing_for_graphs(const std::string& path);

/// Reads the trace and joins the counter report and the power log. A joined file that holds no
/// counters (no samples) is an error: a report that silently lacks what was asked for would look
/// whole.
Result<Loaded> load_capture(const InputOptions& wanted, const Progress& progress);
/// The same for a trace that is read already.
Result<Loaded> join_measured(Capture trace, const InputOptions& wanted, const Progress& progress);

/// An empty window is what runs are compared by: the steps, the steady part of samples alone, or
/// all where there is neither. The model and the kernel rates are put in by what answers.
struct Question : AnalyzeOptions {
  Question() { window = "auto"; }
  std::string model;          // energy model, empty: the shipped one
  bool report_alone = false;  // of a counter report without a trace, too: what its kernels tell
};

struct Answer {
  std::shared_ptr<const Capture> capture;  // what was analyzed, which `context` refers to
  std::unique_ptr<EnergyModelFile> model;  // the same; null: none was given and none ships
  Analysis analysis;
  std::optional<Context> context;    // for as long as what was asked lives
  std::vector<std::string> missing;  // why the answer is not whole, one sentence each
};

/// The page of an answer, with the ceilings that ship for its GPU.
Result<std::string> page_of(const Answer& answer, PageOrder order = PageOrder::time);

/// Errors: no such model, or one of another product; those of analyze().
Result<Answer> answer_question(const Loaded& loaded, const Question& question);

}  // namespace gf
