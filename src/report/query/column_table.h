// The tables of a capture as tables of SQL: statements read its columns where they are.
#pragma once

#include <sqlite3.h>

#include <memory>

#include "core/error.h"
#include "report/query/query.h"

namespace gf {

/// Lets statements on an empty database see a capture: every table with texts and, as _NAME, with
/// their ids, strings, source, counter_samples with all samples, and the joined views.
Status show_capture(sqlite3* db, const std::shared_ptr<QuerySource>& source);

}  // namespace gf
