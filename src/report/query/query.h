// SQL questions to a capture, and their answers as text, JSON and CSV.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/error.h"
#include "report/text/style.h"

namespace gf {

/// NULL, integer, real, text (any bytes).
using QueryValue = std::variant<std::monostate, std::int64_t, double, std::string>;

struct QueryAnswer {
  std::vector<std::string> columns;
  std::vector<std::vector<QueryValue>> rows;
};

/// What a statement may take: a small one can ask for more than any machine has.
struct QueryLimits {
  std::uint64_t max_bytes = 2ull << 30;  // of memory, the answer's rows and SQLite's own
  std::int64_t max_seconds = 600;
};

/// What is said when time is over.
Error no_answer_within(std::int64_t max_seconds);

/// Asks one SELECT statement. The database cannot be changed by it, nor another file be opened.
/// Besides SQLite's functions there are median(x) and quantile(x, q). Errors quote the place in the
/// statement, or name the limit that it reached.
Result<QueryAnswer> ask(sqlite3* db, const std::string& sql, const QueryLimits& limits = {});

/// A table that fits the style's width, or one block a row when even shortened columns do not fit.
/// At most `max_rows` rows (0: all); what was left out is said.
std::string answer_text(const QueryAnswer& answer, const TextStyle& style,
                        std::size_t max_rows = 0);
/// {"schema": "gpufathom.query/1", "columns": [...], "rows": [[...], ...]}
std::string answer_json(const QueryAnswer& answer);
/// RFC 4180 with a header line; NULL is an empty field, an empty text is "".
std::string answer_csv(const QueryAnswer& answer);

}  // namespace gf
