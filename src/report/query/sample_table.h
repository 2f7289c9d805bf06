// Samples as a table of SQL; packed ones are unpacked while a statement runs.
#pragma once

#include <sqlite3.h>

#include <memory>

#include "report/query/source.h"

namespace gf {

/// Makes `counter_samples` and `_counter_samples`, the latter with ids in place of texts.
/// Conditions on device, metric and start_ns pass over blocks that cannot meet them.
void show_samples(sqlite3* db, const std::shared_ptr<QuerySource>& source);

}  // namespace gf
