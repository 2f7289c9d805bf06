// The summary that `record` prints when the program has ended.
#pragma once

#include <string>

#include "model/record_summary.h"
#include "report/text/style.h"

namespace gf {

std::string record_summary_text(const RecordSummary& summary, const TextStyle& style);

}  // namespace gf
