#include "report/reference/capture_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/file.h"
#include "report/text/format.h"

namespace gf {

namespace {

/// The type as SQL users see it in the view.
std::string_view shown_type(std::string_view type) {
  if (type == "F64") return "real";
  if (type == "I64" || type == "I32" || type == "U32" || type == "U8") return "integer";
  return "text";
}

constexpr const char* kPageHead = R"(# The capture file

<!-- Made by `./dev docs` from src/model/tables.def and src/model/file_schema.cpp: change those. -->

`gpufathom import trace.json.gz -o run.gpf` writes everything known about one run into one SQLite database; `gpufathom record` does so
while the program runs. Every verb that takes a trace takes a `.gpf`, and any SQLite tool can read it:

    gpufathom query run.gpf "select name, count(*), sum(duration_ns) from kernels group by name order by 3 desc limit 5"
    sqlite3 run.gpf "select * from steps"

Times are absolute nanoseconds (integers) on the capture's one clock. A value that is not known is NULL, never 0. Columns called
`device`, `thread`, `activity` and `kernel` hold the `row` of another table. The views below show texts; the tables behind them
(`_NAME`, one for each view) hold ids of `strings`.

`application_id` is 0x67706661 ("gpfa"), `user_version` the format's version, now 1. A column may be added within a version: readers
give a missing column its default and ignore those they do not know. A change of meaning raises the version, and an older program
then refuses the file. A file being recorded is complete after each transaction; a recorder that is killed loses at most the last one.

Reading never writes: not the file, and nothing beside it. What a killed recorder left half written is rolled back in a private copy in
`TMPDIR`. A journal that names a further file (SQLite would remove that file) and a write-ahead log are refused, also beside exports of
Nsight Systems, with a word on what to do.

`median(x)` and `quantile(x, q)` exist inside `gpufathom query` besides SQLite's own functions.
)";

constexpr const char* kSamples = R"(
## Packed samples

`gpufathom record` writes the samples of hardware counters in blocks: a row of `sample_blocks` holds some hundred samples of one device
(`device`, `start_ns`, `end_ns`, `samples`), whose `metrics` are ids of `strings` and whose `data` is packed with zstd
(`src/model/sample_block.h`). They take three bytes a value; as rows they would take ten times as much.

`gpufathom query` unpacks them while a statement runs: there `counter_samples` has all values, packed or not, numbered in this order.
Conditions on `device`, `metric` (`=`) and `start_ns` pass over blocks that cannot meet them, and `group by metric` needs no sorting.
Another SQLite program sees in `counter_samples` only what is stored as rows, such as power and clocks. `export --csv` and the C interface
([c-interface.md](c-interface.md)) give all of it.

A damaged block costs its own samples; `quality` counts it as `bad_sample_block`.
)";

}  // namespace

Result<std::string> capture_tables_text(const TextStyle& style, sqlite3* db,
                                        std::optional<std::uint64_t> samples) {
  std::string out;
  Status status;
  auto heading = [&](std::string_view name, std::string_view about) {
    std::string count;
    std::int64_t n = 1;
    if (db) {
      Result<std::int64_t> rows = sqlite::integer(
          db, fmt::format("SELECT count(*) FROM sqlite_schema WHERE name = '{}'", name), {});
      if (rows && *rows == 0) return false;  // a file of before this table
      if (samples && name == counter_samples_table::kName)
        rows = static_cast<std::int64_t>(*samples);
      else
        rows = sqlite::integer(db, fmt::format("SELECT count(*) FROM {}", name), {});
      if (!rows)
        status = tl::unexpected(rows.error());
      else
        count = fmt::format(", {}", plural(n = *rows, "row"));
    }
    out +=
        wrap(fmt::format("{}{}: {}", name, count, about), static_cast<std::size_t>(style.width), 0);
    return n > 0;
  };
  Tables{}.each_table([&](const auto& table) {
    if (!status || !heading(table.kName, table.kAbout)) return;
    std::size_t names = 0;
    table.each_column([&](const ColumnInfo& c, const auto&) {
      names = std::max(names, std::string_view(c.name).size());
    });
    table.each_column([&](const ColumnInfo& c, const auto&) {
      const std::size_t left = 2 + names + 2 + 7 + 2;
      out += fmt::format("  {:{}}  {:7}  {}", c.name, names, shown_type(c.type),
                         wrap(c.meaning, static_cast<std::size_t>(style.width), left).substr(left));
    });
  });
  for (const CaptureView& v : capture_views())
    if (status) heading(v.name, v.about);
  if (!status) return tl::unexpected(status.error());
  return out;
}

std::string capture_page() {
  std::string out = kPageHead;
  Tables{}.each_table([&](const auto& table) {
    out += fmt::format(
        "\n## {}\n\n{}.\n\n| column | type | meaning |\n|---|---|---|\n| row | integer | row "
        "number, from 0 |\n",
        table.kName, table.kAbout);
    table.each_column([&](const ColumnInfo& c, const auto&) {
      out += fmt::format("| {} | {} | {} |\n", c.name, shown_type(c.type), c.meaning);
    });
  });
  out += "\n## Joined views\n\n| view | rows |\n|---|---|\n";
  for (const CaptureView& v : capture_views()) out += fmt::format("| {} | {} |\n", v.name, v.about);
  out += kSamples;
  return out +
         "\n`source` has one row: path, format, framework, events and bytes of the file that the "
         "capture was imported from.\n";
}

}  // namespace gf
