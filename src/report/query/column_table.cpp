#include "report/query/column_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <vector>

#include "core/secrets.h"
#include "report/query/sql_column.h"
#include "report/query/virtual_table.h"

namespace gf {

namespace {

/// Scans for a value cost less than an order of the rows until there have been some.
constexpr int kScansBeforeOrder = 8;
constexpr std::size_t kMostSought = 4;

/// The subject of a module: one table of a capture.
struct TableOf {
  std::shared_ptr<QuerySource> source;
  std::function<std::vector<std::unique_ptr<SqlColumn>>()> columns;
  std::function<Status(std::uint64_t)> need;  // columns as of TableId, without `row`
  std::function<Result<std::size_t>()> rows;
};

struct OrderedColumn {
  std::unique_ptr<SqlColumn> column;
  RowOrder order;
  std::vector<std::uint32_t> falling;  // the same from the largest value on, equal ones as before
  int scans = 0;
};

struct SqlTable : sqlite3_vtab {
  const TableOf* of = nullptr;
  std::vector<OrderedColumn> columns;
};

struct SqlCursor : sqlite3_vtab_cursor {
  SqlTable& table() const { return *static_cast<SqlTable*>(pVtab); }
  const std::uint32_t* rows = nullptr;  // in this order; null: all in their own
  std::size_t at = 0, end = 0;
  std::vector<std::pair<const SqlColumn*, SoughtValue>> conditions;

  std::size_t row() const { return rows ? rows[at] : at; }
  void settle() {
    while (at < end && !std::ranges::all_of(
                           conditions,
                           [&](const auto& condition) {
                             return condition.first->holds(row(), condition.second);
                           }))
      ++at;
  }
};

/// The plan of best_index, passed to filter as text.
struct Plan {
  std::uint64_t used = 0;  // columns, without `row`
  int order = -1;          // by this column ...
  int falls = 0;           // ... from its largest value on
  std::vector<int> sought;

  std::string text() const {
    std::string out = fmt::format("{} {} {}", used, order, falls);
    for (const int column : sought) out += fmt::format(" {}", column);
    return out;
  }
  static Plan of(std::string_view text) {
    Plan plan;
    const char *at = text.data(), *end = at + text.size();
    at = std::from_chars(at, end, plan.used).ptr;
    at = std::from_chars(at + 1, end, plan.order).ptr;
    at = std::from_chars(at + 1, end, plan.falls).ptr;
    while (at != end) at = std::from_chars(at + 1, end, plan.sought.emplace_back()).ptr;
    return plan;
  }
  void use(int column) {
    if (column > 0) used |= std::uint64_t{1} << column_bit(static_cast<unsigned>(column) - 1);
  }
};

int failed(sqlite3_vtab* table, const Error& error) {
  sqlite3_free(table->zErrMsg);
  table->zErrMsg = sqlite3_mprintf("%s", error.what.c_str());  // the source knows the rest
  return SQLITE_ERROR;
}

int connect_table(sqlite3* db, void* of, int, const char* const*, sqlite3_vtab** out, char**) {
  return guarded([&] {
    auto table = std::make_unique<SqlTable>();
    table->of = static_cast<const TableOf*>(of);
    std::string columns;
    for (auto& column : table->of->columns()) {
      columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", sqlite::quoted(column->name()),
                             column->type());
      table->columns.push_back({std::move(column), {}, {}, 0});
    }
    const int code = sqlite3_declare_vtab(db, fmt::format("CREATE TABLE t({})", columns).c_str());
    if (code == SQLITE_OK) *out = table.release();
    return code;
  });
}

/// True if the value is a constant of the column's own type: what another column holds may compare
/// by other rules, so that SQLite has to look again.
bool is_sure(sqlite3_index_info* info, int constraint, int type) {
  sqlite3_value* value = nullptr;
  return sqlite3_vtab_rhs_value(info, constraint, &value) == SQLITE_OK &&
         sqlite3_value_type(value) == type;
}

int plan_table(sqlite3_vtab* vtab, sqlite3_index_info* info) {
  return guarded([&] {
    const auto& table = *static_cast<SqlTable*>(vtab);
    const auto count = table.of->rows();
    if (!count) return failed(vtab, count.error());
    Plan plan;
    const std::uint64_t last = std::uint64_t{1} << 63;
    plan.used = info->colUsed & last ? kAllColumns : info->colUsed >> 1;
    const double all = static_cast<double>(*count) + 1;
    double rows = all;
    for (int i = 0; i < info->nConstraint && plan.sought.size() < kMostSought; ++i) {
      const auto& constraint = info->aConstraint[i];
      if (!constraint.usable || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
      // One scan finds the values of a list, in the table's own order.
      if (constraint.iColumn > 0 && sqlite3_vtab_in(info, i, -1)) continue;
      const int column = std::max(constraint.iColumn, 0);
      const int type = table.columns[static_cast<std::size_t>(column)].column->sought_type();
      if (type == SQLITE_NULL || sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
        continue;
      plan.sought.push_back(column);
      plan.use(column);
      info->aConstraintUsage[i].argvIndex = static_cast<int>(plan.sought.size());
      info->aConstraintUsage[i].omit = is_sure(info, i, type);
      // As of a table of rows without statistics: one of a key, some of another column.
      rows = column == 0 ? 1 : std::max(1.0, rows / 10);
      if (column == 0) info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    }
    // DISTINCT alone wants no order, and would get one that it had not before. A falling order is
    // worth it for GROUP BY alone: of others mostly the first rows are wanted.
    const int asked = sqlite3_vtab_distinct(info);
    if (info->nOrderBy == 1 && asked != 2 && (asked == 1 || !info->aOrderBy[0].desc)) {
      plan.order = std::max(info->aOrderBy[0].iColumn, 0);
      plan.falls = info->aOrderBy[0].desc;
      plan.use(plan.order);
      info->orderByConsumed = 1;
    }
    info->idxStr = sqlite3_mprintf("%s", plan.text().c_str());
    info->needToFreeIdxStr = 1;
    info->estimatedRows = static_cast<sqlite3_int64>(rows);
    // More than half of a scan, but for a key: one scan finds the values on both sides of an OR.
    info->estimatedCost = std::max(rows, plan.sought.empty() ? 0 : 0.6 * all) + 10;
    if (info->idxFlags == SQLITE_INDEX_SCAN_UNIQUE) info->estimatedCost = 10;
    return SQLITE_OK;
  });
}

const RowOrder& order_of_column(OrderedColumn& column, std::size_t rows) {
  if (column.order.rows.size() != rows) column.order = column.column->sorted(rows);
  return column.order;
}

const std::vector<std::uint32_t>& falling_order_of_column(OrderedColumn& column, std::size_t rows) {
  const auto& rising = order_of_column(column, rows).rows;
  if (column.falling.size() == rows) return column.falling;
  column.falling.reserve(rows);
  for (auto end = rising.end(); end != rising.begin();) {
    auto begin = end - 1;
    while (begin != rising.begin() && column.column->are_same(*(begin - 1), *begin)) --begin;
    column.falling.insert(column.falling.end(), begin, end);
    end = begin;
  }
  return column.falling;
}

/// Narrows the cursor to the rows that hold a value, or has it look at each.
void seek(SqlCursor& cursor, OrderedColumn& column, const SoughtValue& sought, std::size_t rows) {
  if (cursor.rows || column.scans < kScansBeforeOrder) {
    ++column.scans;
    cursor.conditions.emplace_back(column.column.get(), sought);
    return;
  }
  const auto [first, last] = column.column->range(order_of_column(column, rows), sought);
  cursor.rows = first;
  cursor.end = static_cast<std::size_t>(last - first);
}

int filter_table(sqlite3_vtab_cursor* at, int, const char* text, int, sqlite3_value** values) {
  auto& cursor = *static_cast<SqlCursor*>(at);
  SqlTable& table = cursor.table();
  return guarded([&] {
    const Plan plan = Plan::of(text);
    if (auto ok = table.of->need(plan.used); !ok) return failed(&table, ok.error());
    const auto rows = table.of->rows();
    if (!rows) return failed(&table, rows.error());
    cursor.conditions.clear();
    cursor.rows = nullptr;
    cursor.at = 0;
    cursor.end = *rows;
    if (plan.order >= 0) {
      auto& column = table.columns[static_cast<std::size_t>(plan.order)];
      cursor.rows = plan.falls ? falling_order_of_column(column, *rows).data()
                               : order_of_column(column, *rows).rows.data();
    }
    for (std::size_t i = 0; i < plan.sought.size(); ++i) {
      auto& column = table.columns[static_cast<std::size_t>(plan.sought[i])];
      const auto sought = column.column->seek(values[i]);
      if (!sought) {
        cursor.end = 0;
        return SQLITE_OK;
      }
      seek(cursor, column, *sought, *rows);
    }
    cursor.settle();
    return SQLITE_OK;
  });
}

int next_of_table(sqlite3_vtab_cursor* at) {
  auto& cursor = *static_cast<SqlCursor*>(at);
  ++cursor.at;
  cursor.settle();
  return SQLITE_OK;
}

int table_ended(sqlite3_vtab_cursor* at) {
  const auto& cursor = *static_cast<SqlCursor*>(at);
  return cursor.at >= cursor.end;
}

int row_of_table(sqlite3_vtab_cursor* at, sqlite3_int64* out) {
  *out = static_cast<sqlite3_int64>(static_cast<SqlCursor*>(at)->row());
  return SQLITE_OK;
}

int value_of_table(sqlite3_vtab_cursor* at, sqlite3_context* out, int column) {
  const auto& cursor = *static_cast<SqlCursor*>(at);
  cursor.table().columns[static_cast<std::size_t>(column)].column->give(out, cursor.row());
  return SQLITE_OK;
}

struct ColumnTable {
  using State = TableOf;
  using Table = SqlTable;
  using Cursor = SqlCursor;
  static constexpr auto connect = connect_table;
  static constexpr auto plan = plan_table;
  static constexpr auto filter = filter_table;
  static constexpr auto next = next_of_table;
  static constexpr auto ended = table_ended;
  static constexpr auto value = value_of_table;
  static constexpr auto row = row_of_table;
};

void add_table(sqlite3* db, const std::string& name, TableOf of) {
  add_virtual_table<ColumnTable>(db, name.c_str(), std::move(of));
}

Status show_source(sqlite3* db, const Capture& capture) {
  auto ok = sqlite::execute(
      db,
      "CREATE TEMP TABLE source(path TEXT, format TEXT, framework TEXT, events INTEGER, bytes "
      "INTEGER)",
      {});
  if (!ok) return ok;
  auto row = sqlite::prepare(db, "INSERT INTO source VALUES(?,?,?,?,?)", {});
  if (!row) return tl::unexpected(row.error());
  int at = 1;
  const std::string path = without_secrets(capture.path);
  for (const std::string* text : {&path, &capture.format, &capture.framework})
    sqlite3_bind_text(row->get(), at++, text->data(), static_cast<int>(text->size()),
                      SQLITE_TRANSIENT);
  sqlite3_bind_int64(row->get(), at++, capture.events);
  sqlite3_bind_int64(row->get(), at++, capture.bytes);
  if (sqlite3_step(row->get()) != SQLITE_DONE) return sqlite::failure(db, "no source", {});
  return {};
}

}  // namespace

Status show_capture(sqlite3* db, const std::shared_ptr<QuerySource>& source) {
  for (const bool ids : {false, true})
    Tables{}.each_table([&](const auto& table) {
      if (table.kId == TableId::counter_samples) return;
      add_table(db, fmt::format("{}{}", ids ? "_" : "", table.kName),
                {source, [=, id = table.kId] { return columns_of(source->capture(), id, ids); },
                 [=, id = table.kId](std::uint64_t used) { return source->need(id, used); },
                 [=, id = table.kId] { return source->rows(id); }});
    });
  add_table(db, "sample_blocks",
            {source, [=] { return columns_of_blocks(source->capture()); },
             [=](std::uint64_t) { return source->need_samples(); },
             [=]() -> Result<std::size_t> {
               if (auto ok = source->need_samples(); !ok) return tl::unexpected(ok.error());
               return source->capture().sample_blocks.size();
             }});
  add_table(db, "strings",
            {source, [=] { return columns_of_strings(source->capture()); },
             [](std::uint64_t) { return Status{}; },
             [=] { return Result<std::size_t>(string_rows(source->capture())); }});
  show_samples(db, source);
  auto ok = show_source(db, source->capture());
  std::string views;
  // Connected now: what asks may not declare a table.
  Tables{}.each_table([&](const auto& table) {
    views += fmt::format("PRAGMA table_info({0}); PRAGMA table_info(_{0});", table.kName);
  });
  views += "PRAGMA table_info(strings); PRAGMA table_info(sample_blocks);";
  for (const CaptureView& view : capture_views())
    views += fmt::format("CREATE TEMP VIEW {} AS {};", view.name, view.sql);
  if (ok) ok = sqlite::execute(db, views, {});
  return ok;
}

}  // namespace gf
