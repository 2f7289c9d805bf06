#include <fmt/format.h>

#include "model/file.h"
#include "model/file_values.h"

namespace gf {

namespace {

// The views that join what belongs together. Correlation numbers are unique within one process
// only.
constexpr CaptureView kViews[] = {
    {"kernels", "activities that are kernels", "SELECT * FROM activities WHERE kind = 'kernel'"},
    {"launches",
     "each launch call with the kernel that it started and the time that the kernel was queued",
     "SELECT l.row AS api_call, k.row AS activity, l.thread, l.name AS api, l.start_ns, "
     "l.duration_ns, k.name AS kernel, k.device, k.stream, k.start_ns AS kernel_start_ns, "
     "k.duration_ns AS kernel_duration_ns, k.start_ns - (l.start_ns + l.duration_ns) AS queued_ns "
     "FROM activities k JOIN api_calls l ON l.correlation = k.correlation LEFT JOIN threads t ON "
     "t.row = l.thread WHERE k.kind = 'kernel' AND (k.pid IS NULL OR t.pid IS NULL OR k.pid = "
     "t.pid)"},
    {"counters", "each counter value of a report with its kernel's name",
     "SELECT c.kernel, r.id AS report_id, r.name, c.metric, c.value, c.text, c.unit, r.duration_ns "
     "FROM kernel_counters c CROSS JOIN report_kernels r ON r.row = c.kernel"},
};

template <class T>
constexpr std::string_view sql_type() {
  if constexpr (std::is_same_v<T, F64>)
    return "REAL";
  else
    return "INTEGER";
}

/// The columns of a table in SQL.
struct TableSql {
  std::string columns;   // with their types
  std::string readable;  // the view of the table with texts in place of their ids
};

template <class Table>
TableSql sql_of(const Table& table) {
  TableSql sql;
  sql.readable = "SELECT t.row";
  table.each_column_ref([&](const auto& column) {
    using Column = std::remove_cvref_t<decltype(column)>;
    using Declared = typename Column::Declared;
    const std::string name = sqlite::quoted(column.info.name);
    const std::string shown = sqlite::quoted(sqlite::plain_name(column.info.name));
    sql.columns += fmt::format(", {} {}", name, sql_type<typename Column::Value>());
    if (kIsText<Declared> || kIsListed<Declared>) {
      sql.readable +=
          fmt::format(", (SELECT text FROM strings WHERE id = t.{}) AS {}", name, shown);
    } else {
      sql.readable += fmt::format(", t.{} AS {}", name, shown);
    }
  });
  sql.readable += fmt::format(" FROM _{} t", Table::kName);
  return sql;
}

}  // namespace

std::span<const CaptureView> capture_views() { return kViews; }

std::string capture_schema() {
  std::string sql = fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                                kCaptureFileId, kRowsVersion);
  sql += "CREATE TABLE strings(id INTEGER PRIMARY KEY, text TEXT NOT NULL);";
  sql +=
      "CREATE TABLE source(path TEXT, format TEXT, framework TEXT, events INTEGER, bytes INTEGER);";
  sql += "CREATE TABLE seal(hash INTEGER); INSERT INTO seal VALUES(NULL);";  // open
  std::int64_t id = 0;
  for_each_enum_name([&](std::string_view name) {
    sql += fmt::format("INSERT INTO strings VALUES({}, '{}');", --id, name);
  });
  Tables{}.each_table([&](const auto& table) {
    const TableSql its = sql_of(table);
    sql += fmt::format("CREATE TABLE _{0}(row INTEGER PRIMARY KEY{1}); CREATE VIEW {0} AS {2};",
                       table.kName, its.columns, its.readable);
  });
  for (const CaptureView& view : kViews)
    sql += fmt::format("CREATE VIEW {} AS {};", view.name, view.sql);
  return sql;
}

bool is_capture_file(std::string_view head) {
  if (head.size() < 72 || head.substr(0, 16) != std::string_view("SQLite format 3\0", 16))
    return false;
  std::uint32_t id = 0;
  for (std::size_t i = 68; i < 72; ++i) id = id << 8 | static_cast<unsigned char>(head[i]);
  return id == kCaptureFileId;
}

}  // namespace gf
