#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <vector>

#include "core/nearest.h"
#include "core/statistics.h"
#include "core/text.h"
#include "model/sqlite.h"
#include "report/query/query.h"

namespace gf {

// Aggregates that SQLite lacks and profiles need.

namespace {

struct Values {
  std::vector<double> values;
  double q = 0.5;
};

/// SQLite keeps one zeroed pointer for each group.
Values** group(sqlite3_context* context, bool create) {
  return static_cast<Values**>(sqlite3_aggregate_context(context, create ? sizeof(Values*) : 0));
}

void step(sqlite3_context* context, int arguments, sqlite3_value** argument) {
  Values** at = group(context, true);
  if (!at) return sqlite3_result_error_nomem(context);
  const auto most = *static_cast<const std::uint64_t*>(sqlite3_user_data(context));
  try {
    if (!*at) *at = new Values;
    if (arguments == 2) (*at)->q = sqlite3_value_double(argument[1]);
    const int type = sqlite3_value_numeric_type(argument[0]);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;
    if ((*at)->values.size() >= most / sizeof(double)) return sqlite3_result_error_nomem(context);
    (*at)->values.push_back(sqlite3_value_double(argument[0]));
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

void finish(sqlite3_context* context) {
  Values** at = group(context, false);
  const std::unique_ptr<Values> values(at ? *at : nullptr);
  if (at) *at = nullptr;
  if (!values || values->values.empty()) return sqlite3_result_null(context);
  if (!(values->q >= 0 && values->q <= 1))
    return sqlite3_result_error(context, "quantile requires a share from 0 to 1", -1);
  sqlite3_result_double(context, quantile(std::move(values->values), values->q));
}

/// Adds median(x) and quantile(x, q) to a connection: linear interpolation, NULLs left out, NULL of
/// no values. The values of one group may take `max_bytes`.
void add_sql_functions(sqlite3* db, std::uint64_t max_bytes) {
  const auto forget = [](void* most) { delete static_cast<std::uint64_t*>(most); };
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  sqlite3_create_function_v2(db, "median", 1, kFlags, new std::uint64_t(max_bytes), nullptr, step,
                             finish, forget);
  sqlite3_create_function_v2(db, "quantile", 2, kFlags, new std::uint64_t(max_bytes), nullptr, step,
                             finish, forget);
}

/// Lets statements read and nothing else: no write, no ATTACH, no settings.
int allow_reading(void*, int action, const char* name, const char* function, const char*,
                  const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      // The one gives an address in memory, the other runs a library.
      if (sqlite3_stricmp(function, "fts3_tokenizer") == 0) return SQLITE_DENY;
      if (sqlite3_stricmp(function, "load_extension") == 0) return SQLITE_DENY;
      return SQLITE_OK;
    case SQLITE_PRAGMA:
      if (std::string_view(name).starts_with("table_")) return SQLITE_OK;
      return SQLITE_DENY;  // table_info, table_list
    default:
      return SQLITE_DENY;
  }
}

/// The statement's text from a place on, short enough to quote.
std::string quote_from(std::string_view sql, int offset) {
  if (offset < 0 || static_cast<std::size_t>(offset) >= sql.size()) return {};
  std::string_view rest = sql.substr(static_cast<std::size_t>(offset));
  const bool cut = rest.size() > 40;
  return fmt::format(", at \"{}{}\"", rest.substr(0, 40), cut ? "..." : "");
}

tl::unexpected<Error> too_large() {
  return fail("the answer takes more memory than allowed", {}, -1,
              "ask for fewer rows (WHERE, LIMIT), or raise --max-bytes");
}

/// The names that `PRAGMA table_list` or `PRAGMA table_info(TABLE)` gives.
std::vector<std::string> names_by(sqlite3* db, const std::string& pragma) {
  std::vector<std::string> texts;
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(db, pragma.c_str(), -1, &raw, nullptr) != SQLITE_OK) return texts;
  const sqlite::Statement statement(raw);
  while (sqlite3_step(raw) == SQLITE_ROW)
    if (const auto* text = sqlite3_column_text(raw, 1))
      texts.emplace_back(reinterpret_cast<const char*>(text));
  return texts;
}

/// ": did you mean kernels?" after SQLite's "no such table: kernel" or "no such column: nam".
std::string meant_by(sqlite3* db, const std::string& message, const std::string& sql) {
  constexpr std::string_view kTable = "no such table: ", kColumn = "no such column: ";
  const bool table = message.starts_with(kTable), column = message.starts_with(kColumn);
  if (!table && !column) return {};
  auto tables = names_by(db, "PRAGMA table_list");
  std::erase_if(tables, [](std::string_view name) {
    return name.starts_with('_') || name.starts_with("sqlite_");
  });
  for (const auto& made : analysis_tables()) tables.emplace_back(made.name);
  if (table) {
    const std::string asked = message.substr(kTable.size());
    const bool known = std::ranges::find(tables, asked) != tables.end();
    return known ? std::string() : did_you_mean(asked, tables);
  }
  std::string asked = message.substr(kColumn.size());
  asked.erase(0, asked.rfind('.') + 1);  // of TABLE.COLUMN
  std::vector<std::string> columns;
  for (const auto& name : tables)
    if (sql.find(name) != sql.npos)
      std::ranges::move(names_by(db, fmt::format("PRAGMA table_info(\"{}\")", name)),
                        std::back_inserter(columns));
  return did_you_mean(asked, columns);
}

tl::unexpected<Error> sql_error(sqlite3* db, const std::string& sql, const QueryLimits& limits) {
  const int code = sqlite3_errcode(db) & 0xff;
  if (code == SQLITE_INTERRUPT) return tl::unexpected(no_answer_within(limits.max_seconds));
  if (code == SQLITE_NOMEM || code == SQLITE_TOOBIG) return too_large();
  if (code == SQLITE_AUTH || code == SQLITE_READONLY ||
      std::string_view(sqlite3_errmsg(db)).ends_with("may not be modified"))
    return fail("query only reads: this statement would change something or open another file", {},
                -1, "ask with SELECT");
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
    return fail(fmt::format("cannot be read: {}", sqlite3_errmsg(db)), {}, -1,
                "the file is damaged");
  const std::string message = sqlite3_errmsg(db);
  const std::string quote = quote_from(sql, sqlite3_error_offset(db));
  return fail(fmt::format("SQL: {}{}{}", message, quote, meant_by(db, message, sql)), {}, -1,
              "gpufathom query FILE lists the tables and their columns");
}

QueryValue value_at(sqlite3_stmt* raw, int column) {
  switch (sqlite3_column_type(raw, column)) {
    case SQLITE_NULL:
      return {};
    case SQLITE_INTEGER:
      return sqlite3_column_int64(raw, column);
    case SQLITE_FLOAT:
      return sqlite3_column_double(raw, column);
    default: {
      const auto* data = static_cast<const char*>(sqlite3_column_blob(raw, column));
      if (data)
        return std::string(data, static_cast<std::size_t>(sqlite3_column_bytes(raw, column)));
      return std::string();
    }
  }
}

std::uint64_t bytes_of(const QueryValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return sizeof value + (text ? text->capacity() : 0);
}

/// Lets statements of a connection read alone, interrupts those that take too long, and keeps
/// SQLite's memory in bounds, while it lives.
class Guard {
 public:
  Guard(sqlite3* db, const QueryLimits& limits)
      : db_(db),
        end_(std::chrono::steady_clock::now() + std::chrono::seconds(limits.max_seconds)),
        heap_before_(sqlite3_hard_heap_limit64(static_cast<sqlite3_int64>(limits.max_bytes))) {
    sqlite3_set_authorizer(db, allow_reading, nullptr);
    constexpr int kSteps = 20'000;  // of SQLite's machine between two looks at the clock
    sqlite3_progress_handler(
        db, kSteps,
        [](void* self) -> int {
          return std::chrono::steady_clock::now() > static_cast<Guard*>(self)->end_;
        },
        this);
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() {
    sqlite3_set_authorizer(db_, nullptr, nullptr);
    sqlite3_progress_handler(db_, 0, nullptr, nullptr);
    sqlite3_hard_heap_limit64(heap_before_);
  }

 private:
  sqlite3* db_;
  std::chrono::steady_clock::time_point end_;
  sqlite3_int64 heap_before_;
};

struct Finalize {
  void operator()(sqlite3_stmt* raw) const { sqlite3_finalize(raw); }
};

}  // namespace

Error no_answer_within(std::int64_t max_seconds) {
  return Error{fmt::format("no answer within {} s", max_seconds),
               {},
               -1,
               "ask for less, or raise --max-seconds"};
}

Result<QueryAnswer> ask(sqlite3* db, const std::string& sql, const QueryLimits& limits) {
  add_sql_functions(db, limits.max_bytes);
  // Declares json_each() and json_tree() of this connection, which would look like writing later.
  sqlite3_exec(db, "SELECT 1 FROM json_each('[]'), json_tree('[]')", nullptr, nullptr, nullptr);
  const Guard guard(db, limits);
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &raw, &rest);
  const std::unique_ptr<sqlite3_stmt, Finalize> statement(raw);
  if (code != SQLITE_OK) return sql_error(db, sql, limits);
  if (!raw)
    return fail("the statement is empty", {}, -1,
                "try \"select name, count(*) from kernels group by name\"");
  const std::string_view more(rest, static_cast<std::size_t>(sql.data() + sql.size() - rest));
  if (more.find_first_not_of(" \t\r\n;") != more.npos)
    return fail("SQL: one statement at a time", {}, -1,
                "the second begins at \"" + std::string(more.substr(0, 40)) + "\"");
  QueryAnswer answer;
  const int columns = sqlite3_column_count(raw);
  for (int column = 0; column < columns; ++column)
    answer.columns.emplace_back(sqlite3_column_name(raw, column));
  std::uint64_t bytes = 0;
  for (;;) {
    const int step = sqlite3_step(raw);
    if (step == SQLITE_DONE) return answer;
    if (step != SQLITE_ROW) return sql_error(db, sql, limits);
    auto& row = answer.rows.emplace_back();
    row.reserve(static_cast<std::size_t>(columns));
    bytes += sizeof row;
    for (int column = 0; column < columns; ++column)
      bytes += bytes_of(row.emplace_back(value_at(raw, column)));
    if (bytes > limits.max_bytes) return too_large();
  }
}

}  // namespace gf
