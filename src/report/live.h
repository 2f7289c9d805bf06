// The monitor's table as text for an 80-column terminal and as CSV. (JSON comes from the struct
// itself.)
// The meaning of the driver's XID errors that stop work.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/live.h"
#include "report/text/format.h"

namespace gf {

/// Metrics: of the levels those that counters of the whole GPU tell, as they are called there.
std::vector<const char*> live_levels();
/// One line a GPU or MIG instance, its processes below; values without data show as "-".
std::string live_text(const LiveTable& table, const TextStyle& style);
/// "time_ns,host,gpu,uuid,instance,source,metric…": the header names every metric of the
/// catalog's live part.
std::string live_csv_header();
/// One line a GPU or MIG instance; an empty cell is "no data".
std::string live_csv(const LiveTable& table);

/// A few words; empty for a code that is not in the list.
std::string_view xid_words(std::int64_t code);

}  // namespace gf
