#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "core/text.h"
#include "model/counter_values.h"
#include "model/file.h"
#include "report/query/query.h"
#include "report/text/format.h"

namespace gf {

namespace {

/// The type as SQL users see it in the view.
template <class Declared>
std::string_view shown_type() {
  if (kIsText<Declared> || kIsListed<Declared>) return "text";
  return std::is_same_v<ValueOf<Declared>, F64> ? "real" : "integer";
}

/// The meaning of a column, and the table whose rows it names.
template <class Declared>
std::string meaning(const ColumnRef<Declared>& column_ref) {
  if constexpr (kIsRef<Declared>)
    return fmt::format("row of {}{}{}", RefTarget<Declared>::type::kName,
                       *column_ref.info.meaning ? "; " : "", column_ref.info.meaning);
  else
    return column_ref.info.meaning;
}

constexpr const char* kPageHead = R"(# The capture file

<!-- Made by `./dev docs` from src/model/tables.def and src/model/file_schema.cpp: change those. -->

`gpufathom import trace.json.gz -o run.gpf` writes everything known about one run into one SQLite
database; `gpufathom record` does so while the program runs. Every verb that takes a trace takes a
`.gpf`, and any SQLite tool can read it:

    gpufathom query run.gpf "select name, count(*) from kernels group by name order by 2 desc"
    sqlite3 run.gpf "select * from metadata"

Times are absolute nanoseconds (integers) on the capture's one clock. A value that is not known is
NULL, never 0. Columns called `device`, `thread`, `activity` and `kernel` hold the `row` of another
table. The tables below show texts; those behind them (`_NAME`, one for each) hold ids of `strings`.

`application_id` is 0x67706661 ("gpfa"), `user_version` the format's version: 2 where a table is
packed (see [Packed rows](#packed-rows)), else 1. A column may be added within a version: readers
give a missing column its default and ignore those they do not know. A change of meaning raises the
version, and an older program then refuses the file. A file being recorded is complete after each
transaction; a recorder that is killed loses at most the last one.

Reading never writes: not the file, and nothing beside it. What a killed recorder left half written
is rolled back in a private copy in `TMPDIR`. A journal that names a further file (SQLite would
remove that file) and a write-ahead log are refused, also beside exports of Nsight Systems, with a
word on what to do. `gpufathom query` shows the tables below itself, over the columns that a
statement asks for, and none of a file's own tables and views, so that a stranger's capture cannot
say what our names mean.

A complete file holds a `seal`: a hash over all its rows. One that was changed afterwards is told by
every verb (`changed_file`), and each block has a hash of its own. Seals tell accidents and edits;
they are no signature.

`median(x)` and `quantile(x, q)` exist inside `gpufathom query` besides SQLite's own functions.
)";

constexpr const char* kPacked = R"(
## Packed rows

Tables of fewer than 8 192 rows stand as rows of `_NAME`, with a view NAME for other programs.
From there on they are columns: a row of `column_blocks` holds up to 32 768 values of one column
(`table`, `column`) from row `row` on. Rows that come later stand in `_NAME` until they are as
many. A column that has no value in a stretch of rows has no block there, except the table's
first. `hash` is the XXH64 of `data`, seeded with the XXH64 of "TABLE.COLUMN ROW ROWS NAMES",
numbers in decimal. `data` is little-endian:

| byte | meaning |
|---|---|
| 0 | 0: v[i] = base + u[i]; 1: v[i] = v[i-1] + base + u[i], the first from `before` |
| 1 | bytes of one u, without sign: 0 (every u is 0), 1, 2, 4 or 8 |
| 2 | 0: the u follow as they are; 1: as one zstd frame |
| 3-10, 11-18 | base and before, with sign; sums wrap around |

A text is its id in `strings` (0: none), a real number the integer of its bits (NaN: not known), one
of a list of names its place in the block's `names`, a row of another table its number (-1: none),
and of other integers that may be not known, -1 says so.

Why so: SQLite keeps a recording safe when its writer is killed, and every SQLite program still
finds metadata, quality and texts. Blocks are read rather than mapped: from memory the operating
system already holds that costs some milliseconds, and a file that shrinks while it is mapped would
end the program. [results/spine_capture.json](results/spine_capture.json) compares with Arrow IPC.

## Kept answer

`gpufathom import` of one trace also writes what `gpufathom analyze` says of the file, and `analyze`
without options then prints it without reading the capture. It is a row of `kept`: its `name`, a
`key` of the program's sources and compiler, the XXH64 of `data`, seeded with that of "NAME KEY",
and `data`, which no other program reads. `analyze` takes it where its own key is the same, the seal
and every block are whole, and the signature in `data`, of the answer and of all other rows, is by
the user's own key, a file that only the user can read (`gpufathom/key` in `XDG_STATE_HOME` or
`~/.local/state`, made by the first import): sentences and commands of strangers are not printed. In
all other cases the answer comes from the rows; it is the same.

`import` says "with its answer" where it keeps one. It keeps none, and the capture is whole all the
same, of several files, of samples and counters, where nothing ran, where the analysis does not end
well, such as without the memory for it, and where the user has no key: there is no place for it,
others can read it, or the home is another user's (`sudo`). `--no-answer` leaves the answer out and
makes no key: the import takes less time and memory, and its file is the same bytes for every user.
With an answer, which a user's key signs, it is so for each user alone.
)";

constexpr const char* kSamples = R"(
## Packed samples

`gpufathom record` writes the samples of hardware counters in blocks: a row of `sample_blocks` holds
some hundred samples of one device (`device`, `start_ns`, `end_ns`, `samples`), whose `metrics` are
ids of `strings` and whose `data` is packed with zstd (`src/model/sample_block.h`). They take three
bytes a value; as rows they would take ten times as much.

`hash` is the XXH64 of `data`, `values` how many values there are; what is no data is none. In
a sealed file that is as it was written these are believed; in others, and in those of older
programs, every block is unpacked when the file is read.

`gpufathom query` unpacks them while a statement runs: there `counter_samples` has all values,
packed or not, numbered in this order. Conditions on `device`, `metric` (`=`) and `start_ns` pass
over blocks that cannot meet them, and `group by metric` needs no sorting. Another SQLite program
sees in `counter_samples` only what is stored as rows, such as power and clocks. `export --csv` and
the C interface ([c-interface.md](c-interface.md)) give all of it.

A damaged block costs its own samples; `quality` counts it as `bad_sample_block`.
)";

/// Counts rows of joined views for a list: none once the time is over.
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

namespace {

/// Rows of a table, packed samples included.
Result<std::optional<std::int64_t>> rows_of(QuerySource& source, TableId table) {
  if (table == TableId::counter_samples) {
    if (auto ok = source.need_samples(); !ok) return tl::unexpected(ok.error());
    return static_cast<std::int64_t>(counter_value_count(source.capture()));
  }
  const auto rows = source.rows(table);
  if (!rows) return tl::unexpected(rows.error());
  return static_cast<std::int64_t>(*rows);
}

}  // namespace

Result<std::string> capture_tables_text(const TextStyle& style, sqlite3* db, QuerySource* source,
                                        std::int64_t max_seconds) {
  std::string out;
  Status status;
  RowCounter counter(db, max_seconds);
  auto heading = [&](std::string_view name, std::string_view about,
                     std::optional<TableId> table = {}) {
    std::string count;
    std::int64_t number = 1;
    if (source) {
      const auto rows = table ? rows_of(*source, *table) : counter.count(name);
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
    if (!status || !heading(table.kName, table.kAbout, table.kId)) return;
    std::size_t names = 0;
    table.each_column([&](const ColumnInfo& column_info, const auto&) {
      names = std::max(names, sqlite::plain_name(column_info.name).size());
    });
    table.each_column_ref([&](const auto& column) {
      using Declared = typename std::remove_cvref_t<decltype(column)>::Declared;
      const std::size_t left = 2 + names + 2 + 7 + 2;
      out += fmt::format(
          "  {:{}}  {:7}  {}", sqlite::plain_name(column.info.name), names, shown_type<Declared>(),
          wrap(meaning(column), static_cast<std::size_t>(style.width), left).substr(left));
    });
  });
  for (const CaptureView& view : capture_views())
    if (status) heading(view.name, view.about);
  if (!status) return tl::unexpected(status.error());
  for (const AnalysisTable& table : analysis_tables())
    out += wrap(fmt::format("{}: {} (made by analyzing the capture, when asked for)", table.name,
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
      "capture says. It analyzes when a statement asks for one of these tables, which no file "
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
      out += fmt::format("| {} | {} | {} |\n", sqlite::plain_name(column.info.name),
                         shown_type<Declared>(), meaning(column));
    });
  });
  out +=
      "\nCodes, and whether they make an answer partial (every verb then says so and ends with "
      "1):\n\n| code | answer | meaning |\n|---|---|---|\n";
  for (const QualityKind& kind : kQualityKinds)
    out += fmt::format("| `{}` | {} | {} |\n", kind.code,
                       kind.effect == QualityEffect::partial ? "partial" : "whole", kind.meaning);
  out += views_section();
  out += kPacked;
  out += kSamples;
  return out +
         "\n`source` has one row: path, format, framework, events and bytes of the file that the "
         "capture was imported from.\n";
}

Result<std::shared_ptr<QuerySource>> QuerySource::open(const std::string& path,
                                                       std::uint64_t max_bytes) {
  auto reader = CaptureReader::open(path, max_bytes);
  if (!reader) return tl::unexpected(reader.error());
  for (const TableId table : {TableId::quality, TableId::metadata})
    if (auto ok = reader->load(table); !ok) return tl::unexpected(ok.error());
  auto source = std::make_shared<QuerySource>(reader->shared_capture());
  source->reader_.emplace(std::move(*reader));
  return source;
}

Status QuerySource::need(TableId table, std::uint64_t columns) {
  if (!reader_ || !status_) return status_;
  // Damage of samples is known once they are read.
  return table == TableId::quality ? need_samples() : status_ = reader_->load(table, columns);
}

Status QuerySource::need_samples() {
  if (!reader_ || !status_) return status_;
  status_ = reader_->load(TableId::counter_samples);
  if (status_) status_ = reader_->load_samples();
  return status_;
}

Result<std::size_t> QuerySource::rows(TableId table) {
  std::size_t size = 0;
  capture_->each_table([&](const auto& each) {
    if (each.kId == table) size = each.size();
  });
  // Those of which the reader finds some itself are read already.
  if (!reader_ || size > 0 || table == TableId::quality) return size;
  auto rows = reader_->rows(table);
  if (!rows && status_) status_ = tl::unexpected(rows.error());
  return rows;
}

}  // namespace gf
