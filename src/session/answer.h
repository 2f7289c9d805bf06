// The one way from a capture to an answer, for the verbs, the C interface and, through it, Python.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/analyze.h"
#include "analyze/energy/model_file.h"
#include "session/load_capture.h"

namespace gf {

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

/// Errors: no such model, or one of another product; those of analyze().
Result<Answer> answer_question(const Loaded& loaded, const Question& question);

}  // namespace gf
