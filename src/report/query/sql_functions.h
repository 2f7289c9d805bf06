// Aggregates that SQLite lacks and profiles need.
#pragma once

#include <sqlite3.h>

#include <cstdint>

namespace gf {

/// Adds median(x) and quantile(x, q) to a connection: linear interpolation, NULLs left out, NULL of
/// no values. The values of one group may take `max_bytes`.
void add_sql_functions(sqlite3* db, std::uint64_t max_bytes);

}  // namespace gf
