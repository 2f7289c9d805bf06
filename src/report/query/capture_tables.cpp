#include "report/query/capture_tables.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "core/when.h"
#include "model/file.h"
#include "report/query/analysis_tables.h"
#include "report/query/query.h"
#include "report/text/format.h"

namespace gf {

namespace {

/// The type as SQL users see it in the view.
template <class Declared>
std::string_view shown_type() {
  if (kIsText<Declared> || kIsListed<Declared>) return "text";
  if (std::is_same_v<ValueOf<Declared>, F64>) return "real";
  return "integer";
}

/// What a column means, and whose rows it names.
template <class Declared>
std::string meaning(const ColumnRef<Declared>& column_ref) {
  if constexpr (kIsRef<Declared>)
    return fmt::format("row of {}{}{}", RefTarget<Declared>::type::kName,
                       when(*column_ref.info.meaning, "; "), column_ref.info.meaning);
  else
    return column_ref.info.meaning;
}

constexpr const char* kPageHead = R"(# The capture file

<!-- Made by `./dev docs` from src/model/tables.def and src/model/file_schema.cpp: change those. -->

`gpufathom import trace.json.gz -o run.gpf` writes everything known about one run into one SQLite
database; `gpufathom record` does so while the program runs. Every verb that takes a trace takes a
`.gpf`, and any SQLite tool can read it:

    gpufathom query run.gpf "select name, count(*) from kernels group by name order by 2 desc"
    sqlite3 run.gpf "select * from steps"

Times are absolute nanoseconds (integers) on the capture's one clock. A value that is not known is
NULL, never 0. Columns called `device`, `thread`, `activity` and `kernel` hold the `row` of another
table. The views below show texts; the tables behind them (`_NAME`, one for each view) hold ids of
`strings`.

`application_id` is 0x67706661 ("gpfa"), `user_version` the format's version, now 1. A column may be
added within a version: readers give a missing column its default and ignore those they do not know.
A change of meaning raises the version, and an older program then refuses the file. A file being
recorded is complete after each transaction; a recorder that is killed loses at most the last one.

Reading never writes: not the file, and nothing beside it. What a killed recorder left half written
is rolled back in a private copy in `TMPDIR`. A journal that names a further file (SQLite would
remove that file) and a write-ahead log are refused, also beside exports of Nsight Systems, with a
word on what to do. `gpufathom query` makes the views below anew and asks none that a file holds, so
that a stranger's capture cannot say what our names mean.

`median(x)` and `quantile(x, q)` exist inside `gpufathom query` besides SQLite's own functions.
)";

constexpr const char* kSamples = R"(
## Packed samples

`gpufathom record` writes the samples of hardware counters in blocks: a row of `sample_blocks` holds
some hundred samples of one device (`device`, `start_ns`, `end_ns`, `samples`), whose `metrics` are
ids of `strings` and whose `data` is packed with zstd (`src/model/sample_block.h`). They take three
bytes a value; as rows they would take ten times as much.

`gpufathom query` unpacks them while a statement runs: there `counter_samples` has all values,
packed or not, numbered in this order. Conditions on `device`, `metric` (`=`) and `start_ns` pass
over blocks that cannot meet them, and `group by metric` needs no sorting. Another SQLite program
sees in `counter_samples` only what is stored as rows, such as power and clocks. `export --csv` and
the C interface ([c-interface.md](c-interface.md)) give all of it.

A damaged block costs its own samples; `quality` counts it as `bad_sample_block`.
)";

/// Counts rows for a list of tables. Pages of a stranger's file can be referred to again and again:
/// none is counted once the time is over.
class RowCounter {
 public:
  RowCounter(sqlite3* db, std::int64_t max_seconds)
      : db_(db), end_(std::chrono::steady_clock::now() + std::chrono::seconds(max_seconds)) {}
  /// Empty when there is no time left.
  Result<std::optional<std::int64_t>> count(std::string_view table) {
    if (given_up_) return std::nullopt;
    QueryLimits limits;
    const auto left = end_ - std::chrono::steady_clock::now();
    limits.max_seconds =
        std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::seconds>(left).count());
    const auto answer = ask(db_, fmt::format("SELECT count(*) FROM {}", table), limits);
    if (answer) return std::get<std::int64_t>(answer->rows.at(0).at(0));
    given_up_ = (sqlite3_errcode(db_) & 0xff) == SQLITE_INTERRUPT;
    if (given_up_) return std::nullopt;
    return tl::unexpected(answer.error());
  }

 private:
  sqlite3* db_;
  std::chrono::steady_clock::time_point end_;
  bool given_up_ = false;
};

}  // namespace

Result<std::string> capture_tables_text(const TextStyle& style, sqlite3* db,
                                        std::optional<std::uint64_t> samples,
                                        std::int64_t max_seconds) {
  std::string out;
  Status status;
  RowCounter counter(db, max_seconds);
  auto lacks = [&](std::string_view name) {  // a file of before this table
    if (!db) return false;
    const auto there = sqlite::integer(
        db, fmt::format("SELECT count(*) FROM sqlite_schema WHERE name = '_{}'", name), {});
    return there && *there == 0;
  };
  auto heading = [&](std::string_view name, std::string_view about) {
    std::string count;
    std::int64_t number = 1;
    if (db) {
      Result<std::optional<std::int64_t>> rows;
      if (samples && name == counter_samples_table::kName)
        rows = static_cast<std::int64_t>(*samples);
      else
        rows = counter.count(name);
      if (!rows)
        status = tl::unexpected(rows.error());
      else if (*rows)
        count = fmt::format(", {}", plural(number = **rows, "row"));
      else
        count = ", rows not counted: that takes too long";
    }
    out +=
        wrap(fmt::format("{}{}: {}", name, count, about), static_cast<std::size_t>(style.width), 0);
    return number > 0;
  };
  Tables{}.each_table([&](const auto& table) {
    if (!status || lacks(table.kName) || !heading(table.kName, table.kAbout)) return;
    std::size_t names = 0;
    table.each_column([&](const ColumnInfo& column_info, const auto&) {
      names = std::max(names, std::string_view(column_info.name).size());
    });
    table.each_column_ref([&](const auto& column) {
      using Declared = typename std::remove_cvref_t<decltype(column)>::Declared;
      const std::size_t left = 2 + names + 2 + 7 + 2;
      out += fmt::format(
          "  {:{}}  {:7}  {}", column.info.name, names, shown_type<Declared>(),
          wrap(meaning(column), static_cast<std::size_t>(style.width), left).substr(left));
    });
  });
  for (const CaptureView& view : capture_views())
    if (status) heading(view.name, view.about);
  if (!status) return tl::unexpected(status.error());
  for (const AnalysisTable& table : analysis_tables())
    out += wrap(fmt::format("{}: {} (made by analysing the capture, when asked for)", table.name,
                            table.about),
                static_cast<std::size_t>(style.width), 0);
  return out;
}

namespace {

/// Names of a view's columns, as SQLite works them out.
Result<std::string> view_columns(sqlite3* db, std::string_view view) {
  auto names = sqlite::prepare(
      db, fmt::format("SELECT group_concat(name, ', ') FROM pragma_table_info('{}')", view), {});
  if (!names) return tl::unexpected(names.error());
  if (sqlite3_step(names->get()) != SQLITE_ROW) return sqlite::failure(db, "no columns", {});
  return std::string(sqlite::column_text(names->get(), 0));
}

/// The views that join what belongs together, and the tables of the analysis.
std::string views_section() {
  std::string out = "\n## Joined views\n\n| view | rows | columns |\n|---|---|---|\n";
  auto db = sqlite::open(":memory:", SQLITE_OPEN_READWRITE);
  if (db && !sqlite::execute(db->get(), capture_schema(), {})) db = fail("no schema");
  for (const CaptureView& view : capture_views()) {
    const auto columns = db ? view_columns(db->get(), view.name) : Result<std::string>("");
    out += fmt::format("| {} | {} | {} |\n", view.name, view.about, columns.value_or(""));
  }
  out +=
      "\n## Tables of the analysis\n\n`gpufathom query` also knows what an analysis of the whole "
      "capture says. It analyses when a statement asks for one of these tables, which no file "
      "holds:\n\n    gpufathom query run.gpf \"select layer, phase, sum(duration_ns) from "
      "attributed_kernels group by 1, 2 order by 3 desc\"\n";
  for (const AnalysisTable& table : analysis_tables()) {
    out += fmt::format("\n### {}\n\n{}.\n\n| column | type | meaning |\n|---|---|---|\n",
                       table.name, table.about);
    for (const auto& column : table.columns)
      out += fmt::format("| {} | {} | {} |\n", column.name, column.type, column.meaning);
  }
  return out;
}

}  // namespace

std::string capture_page() {
  std::string out = kPageHead;
  Tables{}.each_table([&](const auto& table) {
    out += fmt::format(
        "\n## {}\n\n{}.\n\n| column | type | meaning |\n|---|---|---|\n| row | integer | row "
        "number, from 0 |\n",
        table.kName, table.kAbout);
    table.each_column_ref([&](const auto& column) {
      using Declared = typename std::remove_cvref_t<decltype(column)>::Declared;
      out += fmt::format("| {} | {} | {} |\n", column.info.name, shown_type<Declared>(),
                         meaning(column));
    });
  });
  out +=
      "\nCodes, and whether they make an answer partial (every verb then says so and ends with "
      "1):\n\n| code | answer | meaning |\n|---|---|---|\n";
  for (const QualityKind& kind : kQualityKinds)
    out += fmt::format("| `{}` | {} | {} |\n", kind.code,
                       kind.effect == QualityEffect::partial ? "partial" : "whole", kind.meaning);
  out += views_section();
  out += kSamples;
  return out +
         "\n`source` has one row: path, format, framework, events and bytes of the file that the "
         "capture was imported from.\n";
}

}  // namespace gf
