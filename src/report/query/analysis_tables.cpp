#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analyze/call_tree.h"
#include "analyze/replay/critical_path.h"
#include "analyze/work/work.h"
#include "core/text.h"
#include "model/sqlite.h"
#include "report/json.h"
#include "report/query/kernel_facts.h"
#include "report/query/query.h"
#include "report/summary.h"

namespace gf {

namespace {

template <class T>
inline constexpr std::string_view kSqlType = std::is_enum_v<T> ? "text" : "";
template <>
inline constexpr std::string_view kSqlType<std::string> = "text";
template <>
inline constexpr std::string_view kSqlType<double> = "real";
template <>
inline constexpr std::string_view kSqlType<std::int64_t> = "integer";
template <>
inline constexpr std::string_view kSqlType<bool> = "integer";
template <class T>
inline constexpr std::string_view kSqlType<std::optional<T>> = kSqlType<T>;
template <>
inline constexpr std::string_view kSqlType<std::vector<std::string>> = "text";  // the same
template <Described T>
inline constexpr std::string_view kSqlType<std::vector<T>> = "text";  // JSON, for json_each()

/// Other lists and structs have no column: JSON has them.
template <class T>
concept SqlCell = !kSqlType<T>.empty();

void bind_value(sqlite3_stmt* raw, int at, std::string_view value) {
  sqlite3_bind_text64(raw, at, value.data() ? value.data() : "", value.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
}
void bind_value(sqlite3_stmt* raw, int at, double value) { sqlite3_bind_double(raw, at, value); }
void bind_value(sqlite3_stmt* raw, int at, std::int64_t value) {
  sqlite3_bind_int64(raw, at, value);
}
void bind_value(sqlite3_stmt* raw, int at, bool value) {
  sqlite3_bind_int64(raw, at, value ? 1 : 0);
}
template <class E>
  requires std::is_enum_v<E>
void bind_value(sqlite3_stmt* raw, int at, E value) {
  bind_value(raw, at, name_of(value));
}
template <class T>
void bind_value(sqlite3_stmt* raw, int at, const std::vector<T>& values) {
  std::string json;
  to_json(json, values);
  bind_value(raw, at, std::string_view(json));
}
template <class T>
void bind_value(sqlite3_stmt* raw, int at, const std::optional<T>& value) {
  if (value)
    bind_value(raw, at, *value);
  else
    sqlite3_bind_null(raw, at);
}

template <Described Row>
std::vector<AnalysisTable::Column> sql_columns() {
  std::vector<AnalysisTable::Column> columns;
  each_field(Row{}, [&](const char* name, const auto& value, const char* meaning) {
    using T = std::decay_t<decltype(value)>;
    if constexpr (SqlCell<T>) columns.push_back({sqlite::plain_name(name), kSqlType<T>, meaning});
  });
  return columns;
}

template <Described Row>
Status add_table(sqlite3* db, const char* name, const std::vector<Row>& rows) {
  std::string columns, marks;
  for (const auto& column : sql_columns<Row>()) {
    columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", sqlite::quoted(column.name),
                           column.type);
    if (marks.empty()) {
      marks += "?";
    } else {
      marks += ",?";
    }
  }
  auto done = sqlite::execute(db, fmt::format("CREATE TEMP TABLE {}({})", name, columns), {});
  if (!done) return done;
  auto insert = sqlite::prepare(db, fmt::format("INSERT INTO temp.{} VALUES({})", name, marks), {});
  if (!insert) return tl::unexpected(insert.error());
  for (const Row& row : rows) {
    int at = 1;
    each_field(row, [&](const char*, const auto& value, const char*) {
      if constexpr (SqlCell<std::decay_t<decltype(value)>>) bind_value(insert->get(), at++, value);
    });
    if (sqlite3_step(insert->get()) != SQLITE_DONE)
      return sqlite::failure(db, "a table of the analysis cannot be made", {});
    sqlite3_reset(insert->get());
  }
  return {};
}

}  // namespace

namespace {

/// A column of work_groups and what it is made of; those without an aggregate make a group.
struct GroupColumn {
  AnalysisTable::Column column;
  std::string_view sum;
};
constexpr GroupColumn kGroupColumns[] = {
    {{"kind", "text", "kernel, memcpy or memset"}, ""},
    {{"short_name", "text", "name without arguments and template details"}, ""},
    {{"operator", "text", "framework operation open at the launch"}, ""},
    {{"parent", "text", "framework operation around that one"}, ""},
    {{"module", "text", "module that the operation belongs to"}, ""},
    {{"phase", "text", "forward, backward, optimizer or other"}, ""},
    {{"layer", "text", "type of layer"}, ""},
    {{"traits", "text", "what its names say (docs/names.md)"}, ""},
    {{"idle_cause", "text", "why the device was idle before"}, ""},
    {{"count", "integer", "activities"}, "count(*)"},
    {{"steps", "integer", "steps that have one"}, "count(distinct step)"},
    {{"exclusive_ns", "integer", "time that no other group counts"}, "sum(exclusive_ns)"},
    {{"duration_ns", "integer", "time of all"}, "sum(duration_ns)"},
    {{"idle_ns", "integer", "time that the device was idle before them"},
     "coalesce(sum(idle_ns), 0)"},
    {{"longest_ns", "integer", "of one activity"}, "max(duration_ns)"},
    {{"bytes", "integer", "that copies and sets moved"}, "sum(bytes)"}};

std::vector<AnalysisTable::Column> group_columns() {
  std::vector<AnalysisTable::Column> columns;
  for (const auto& one : kGroupColumns) columns.push_back(one.column);
  return columns;
}

std::string groups_view() {
  std::string columns, keys;
  for (const auto& [column, sum] : kGroupColumns) {
    const auto name = sqlite::quoted(column.name);
    columns +=
        fmt::format("{}{} AS {}", columns.empty() ? "" : ", ", sum.empty() ? name : sum, name);
    if (sum.empty()) keys += fmt::format("{}{}", keys.empty() ? "" : ", ", name);
  }
  return fmt::format("CREATE TEMP VIEW work_groups AS SELECT {} FROM attributed_work GROUP BY {}",
                     columns, keys);
}

}  // namespace

const std::vector<AnalysisTable>& analysis_tables() {
  static const std::vector<AnalysisTable> tables{
      {"analyzed_window", "The span that the tables of the analysis are of",
       sql_columns<WindowInfo>()},
      {"analyzed_steps", "The steps in that span", sql_columns<StepInfo>()},
      {"levels", "Levels of utilization over that span", sql_columns<Level>()},
      {"idle_causes", "Idle time of all devices by cause", sql_columns<IdleCause>()},
      {"findings", "What the analysis found, and what to change", sql_columns<Finding>()},
      {"attributed_kernels", "Kernels with all their columns, and what the analysis knows of each",
       sql_columns<KernelFacts>()},
      {"attributed_copies", "The same of copies and sets", sql_columns<KernelFacts>()},
      {"attributed_work", "The same of all of them", sql_columns<KernelFacts>()},
      {"work_groups",
       "The same by name, operation, its parent, module, phase, layer and idle cause, with the "
       "idle time before",
       group_columns()},
      {"operators", "Calls by operator, shapes, types, strides, module and phase, with their rates",
       sql_columns<OperatorWork>()},
      {"sequences",
       "Kernels that follow each other again and again, and what one kernel would gain",
       sql_columns<KernelSequence>()},
      {"call_tree", "Device time by module and by call path, down to kernels and idle causes",
       sql_columns<CallNode>()},
      {"critical_path", "The critical path of the device that works most (`gpufathom path`)",
       sql_columns<CriticalPiece>()},
      {"engine_steps", "Steps of a serving engine: kind, tokens and requests",
       sql_columns<EngineStep>()},
      {"engine_kinds", "Steps of a serving engine by kind: times, padding, energy and idle causes",
       sql_columns<StepKindUse>()},
      {"served_requests", "Requests that marks name: waits, time and energy",
       sql_columns<ServedRequest>()}};
  return tables;
}

std::string_view asked_table(const Error& error) {
  for (const auto& table : analysis_tables()) {
    const std::string missing = fmt::format("no such table: {}", table.name);
    const auto at = error.what.find(missing);
    if (at == std::string::npos) continue;
    const auto end = at + missing.size();  // the name ends here
    if (end == error.what.size() || error.what[end] == ',') return table.name;
  }
  return {};
}

namespace {

Status add_attributed(sqlite3* db, const Context& context) {
  auto done = add_table(db, "_kernel_facts", kernel_facts(context, FactsOf::all));
  if (!done) return done;
  std::string columns;
  for (const auto& column : sql_columns<KernelFacts>())
    if (column.name != "row") columns += fmt::format(", f.{}", sqlite::quoted(column.name));
  return sqlite::execute(
      db,
      fmt::format("CREATE INDEX temp._kernel_facts_row ON _kernel_facts(row); CREATE TEMP VIEW "
                  "attributed_kernels AS SELECT k.*{0} FROM kernels k LEFT JOIN temp._kernel_facts "
                  "f ON f.row = k.row; CREATE TEMP VIEW attributed_copies AS SELECT k.*{0} FROM "
                  "activities k LEFT JOIN temp._kernel_facts f ON f.row = k.row WHERE k.kind <> "
                  "'kernel'; CREATE TEMP VIEW attributed_work AS SELECT k.*{0} FROM activities k "
                  "LEFT JOIN temp._kernel_facts f ON f.row = k.row; {1}",
                  columns, groups_view()),
      {});
}

}  // namespace

Status add_analysis_table(sqlite3* db, std::string_view table, const Context& context,
                          const Analysis& analysis, const CeilingsFile* ceilings) {
  if (table == "analyzed_window")
    return add_table(db, "analyzed_window", std::vector<WindowInfo>{analysis.window});
  if (table == "analyzed_steps") return add_table(db, "analyzed_steps", analysis.window.steps);
  if (table == "levels") return add_table(db, "levels", analysis.levels);
  if (table == "idle_causes") return add_table(db, "idle_causes", idle_of_all(analysis));
  if (table == "findings") return add_table(db, "findings", analysis.findings);
  if (table == "operators")
    return add_table(db, "operators", measure_work(context, analysis, ceilings).operators);
  if (table == "sequences")
    return add_table(db, "sequences", measure_work(context, analysis, ceilings).sequences);
  if (table == "critical_path") {
    const auto path = critical_path(context, analysis);
    return path ? add_table(db, "critical_path", path->pieces) : tl::unexpected(path.error());
  }
  const Serving serving = analysis.serving.value_or(Serving{});
  if (table == "engine_steps") return add_table(db, "engine_steps", serving.steps);
  if (table == "engine_kinds") return add_table(db, "engine_kinds", serving.kinds);
  if (table == "served_requests") return add_table(db, "served_requests", serving.requests);
  if (table == "call_tree") return add_table(db, "call_tree", call_tree(context, analysis));
  return add_attributed(db, context);
}

}  // namespace gf
