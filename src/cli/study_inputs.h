// Sorts the inputs of `reproduce`: tables of rows, captures, and their counter reports.
#pragma once

#include <string>
#include <vector>

#include "analyze/claims/claims.h"
#include "core/error.h"

namespace gf::cli {

struct StudyInputs {
  std::vector<std::string> tables;
  std::vector<std::string> captures, counters;  // a report or "" for each capture
};

/// Files as they are named, and what folders hold. A report goes with the capture of its name up to
/// the first dot, or with the only one; `reports` go with the captures in their order, as
/// --counters says. Errors: a report that is named and has no capture, more reports than captures.
Result<StudyInputs> study_inputs(Study study, const std::vector<std::string>& paths,
                                 const std::vector<std::string>& reports);

/// The tables of a study that ship with the program, where they are installed.
std::vector<std::string> shipped_inputs(Study study);

}  // namespace gf::cli
