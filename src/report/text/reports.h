// The answers of the verbs as text for a terminal.
#pragma once

#include <cstddef>
#include <string>

#include "analyze/replay/what_if.h"
#include "analyze/result.h"
#include "analyze/work/result.h"
#include "model/record_summary.h"
#include "report/text/format.h"

namespace gf {

/// What fits one screen: headline, the first three recommendations, levels, and what is left out.
std::string short_text(const Analysis& analysis, const TextStyle& style);

/// Everything; tables show `rows` rows at most.
std::string full_text(const Analysis& analysis, const TextStyle& style, std::size_t rows = 12);

// What a captured program would take with something changed, for people.

std::string what_if_text(const WhatIf& answer, const TextStyle& style);

// The text of `gpufathom work`.

/// The account of peak x time, operators, roofline, copies, memory and stall reasons, as far as
/// they are known; at most `rows` rows of each table.
std::string work_text(const WorkUse& work, const TextStyle& style, std::size_t rows);

// The summary that `record` prints when the program has ended.

std::string record_summary_text(const RecordSummary& summary, const TextStyle& style);

}  // namespace gf
