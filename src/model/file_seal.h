// The seal of a capture file: one number over all that it holds, written when it is complete, so
// that a file that was changed afterwards can be told. It tells accidents and edits; whoever means
// to deceive can seal anew.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.h"
#include "model/sqlite.h"

namespace gf {

/// Inside the writer's transaction, as its last statement.
Status seal(sqlite3* db, const std::string& file);

/// none: from before there were seals, or taken off; open: its writer did not end.
enum class Seal { none, open, whole, broken };
/// Whether a file is as it was sealed. Looks at every row, not at the data of blocks, which have
/// hashes of their own. Where it has a sum, `rows_sum` becomes sum_of_rows().
Result<Seal> check_seal(sqlite3* db, sqlite::ReadBudget& budget, const std::string& file,
                        std::int64_t* rows_sum = nullptr);

/// The sum of all but `kept`, which was worked out of the rest.
Result<std::int64_t> sum_of_rows(sqlite3* db, const std::string& file);

}  // namespace gf
