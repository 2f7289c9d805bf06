// Aggregates that SQLite lacks and profiles need.
#pragma once

#include <sqlite3.h>

namespace gf {

/// Adds median(x) and quantile(x, q) to a connection: linear interpolation, NULLs left out, NULL of
/// no values.
void add_sql_functions(sqlite3* db);

}  // namespace gf
