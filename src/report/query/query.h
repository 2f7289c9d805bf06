// SQL questions to a capture, and their answers as text, JSON and CSV.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analyze/context.h"
#include "analyze/work/ceilings.h"
#include "core/error.h"
#include "model/capture.h"
#include "model/file_reader.h"
#include "report/text/format.h"

namespace gf {

// The subject of statements: a capture in memory, or a file of which columns are read once a
// statement needs them.

class QuerySource {
 public:
  explicit QuerySource(std::shared_ptr<const Capture> capture) : capture_(std::move(capture)) {}
  /// Reads quality and metadata at once: what every question to a file must know.
  static Result<std::shared_ptr<QuerySource>> open(const std::string& path,
                                                   std::uint64_t max_bytes);

  const Capture& capture() const { return *capture_; }
  Status need(TableId table, std::uint64_t columns);
  Status need_samples();
  Result<std::size_t> rows(TableId table);
  /// The error inside a statement, if any.
  const Status& status() const { return status_; }

 private:
  std::optional<CaptureReader> reader_;
  std::shared_ptr<const Capture> capture_;
  Status status_;
};

/// NULL, integer, real, text (any bytes).
using QueryValue = std::variant<std::monostate, std::int64_t, double, std::string>;

struct QueryAnswer {
  std::vector<std::string> columns;
  std::vector<std::vector<QueryValue>> rows;
  std::optional<WindowInfo> window;  // of the analysis that the tables come from, if any
};

/// Limits of a statement: a small one can ask for more than any machine has.
struct QueryLimits {
  std::uint64_t max_bytes = 2ull << 30;  // of memory, the answer's rows and SQLite's own
  std::int64_t max_seconds = 600;
};

/// The message when the time limit is reached.
Error no_answer_within(std::int64_t max_seconds);

/// Asks one SELECT statement. The database cannot be changed by it, nor another file be opened.
/// Besides SQLite's functions there are median(x) and quantile(x, q). Errors quote the place in the
/// statement, or name the limit that it reached.
Result<QueryAnswer> ask(sqlite3* db, const std::string& sql, const QueryLimits& limits = {});

/// A table that fits the style's width, or one block a row when even shortened columns do not fit.
/// At most `max_rows` rows (0: all); what was left out is said.
std::string answer_text(const QueryAnswer& answer, const TextStyle& style,
                        std::size_t max_rows = 0);
/// {"schema": "gpufathom.query/1", "columns": [...], "rows": [[...], ...]}, and of tables of the
/// analysis "window".
std::string answer_json(const QueryAnswer& answer);
/// RFC 4180 with a header line; NULL is an empty field, an empty text is "".
std::string answer_csv(const QueryAnswer& answer);

// The capture's tables, columns and views with their meaning: what `query` lists, and the page
// docs/capture.md.

/// Tables with their columns. With a capture that a database shows, the rows that each holds; empty
/// tables then show no columns. Counting takes `max_seconds` at most.
Result<std::string> capture_tables_text(const TextStyle& style, sqlite3* db = nullptr,
                                        QuerySource* source = nullptr,
                                        std::int64_t max_seconds = 10);
/// The reference page.
std::string capture_page();

// The results of an analysis as tables of SQL.

/// A table that `query` fills by analyzing the capture, once a statement asks for it.
struct AnalysisTable {
  struct Column {
    std::string_view name, type, meaning;
  };
  std::string_view name, about;
  std::vector<Column> columns;
};
const std::vector<AnalysisTable>& analysis_tables();

/// The one of these tables that a statement failed for, since it is not there yet; empty when it
/// failed for something else.
std::string_view asked_table(const Error& error);

/// Makes one of the tables in a database that holds `context.capture`.
Status add_analysis_table(sqlite3* db, std::string_view table, const Context& context,
                          const Analysis& analysis, const CeilingsFile* ceilings);

}  // namespace gf
