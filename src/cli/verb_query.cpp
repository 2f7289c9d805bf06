#include <fmt/format.h>

#include <fstream>
#include <memory>

#include "cli/load_capture.h"
#include "cli/output.h"
#include "cli/progress_display.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "model/counter_values.h"
#include "model/file.h"
#include "report/query/query.h"
#include "report/query/sample_table.h"
#include "report/reference/capture_tables.h"

namespace gf::cli {

namespace {

struct Options {
  std::string file, sql;
  OutputOptions output;
  std::size_t rows = 200;
};

struct Input {
  sqlite::Database db;
  std::shared_ptr<const Capture> samples;  // those of a recording; null: the database has them all
};

/// A capture file is asked where it lies; its packed samples are shown beside it. Every other input
/// is imported into a temporary database, which goes away by itself.
Result<Input> open_input(const std::string& path, const Progress& progress) {
  std::string head(100, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (is_capture_file(head.substr(0, static_cast<std::size_t>(in.gcount())))) {
    auto db = open_capture_file(path);
    if (!db) return tl::unexpected(db.error());
    const auto packed = sqlite::integer(
        db->get(), "SELECT count(*) FROM sqlite_schema WHERE name = 'sample_blocks'", path);
    if (!packed || *packed == 0) return Input{std::move(*db), nullptr};
    auto read = read_samples(path, progress);
    if (!read) return tl::unexpected(read.error());
    const auto samples = std::make_shared<const Capture>(std::move(*read));
    if (auto shown = show_samples(db->get(), samples); !shown) return tl::unexpected(shown.error());
    return Input{std::move(*db), samples};
  }
  ImportOptions options;
  options.progress = progress;
  auto capture = import_file(path, options);
  if (!capture) return tl::unexpected(capture.error());
  auto db = sqlite::open("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
  if (!db) return tl::unexpected(db.error());
  auto stored =
      sqlite::execute(db->get(), "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;", path);
  if (stored) stored = store_capture(db->get(), *capture, progress);
  if (!stored) return tl::unexpected(stored.error());
  return Input{std::move(*db), nullptr};
}

/// `damage`: what is said of samples that are lost.
Result<std::string> answer(const Options& o, std::string& damage) {
  const TextStyle style = text_style(o.output.to_file());
  if (o.file.empty()) return capture_tables_text(style);
  ProgressDisplay progress;
  auto input = open_input(o.file, progress.callback());
  progress.wipe();
  if (!input) return tl::unexpected(input.error());
  if (const Capture* c = input->samples.get(); c && !c->quality.empty())
    damage = fmt::format("{}: the answer is not whole: {} x {}: {}", o.file, c->quality.count[0],
                         c->text(c->quality.code[0]), c->text(c->quality.detail[0]));
  if (o.sql.empty())
    return capture_tables_text(
        style, input->db.get(),
        input->samples ? std::optional(counter_value_count(*input->samples)) : std::nullopt);
  auto found = ask(input->db.get(), o.sql);
  if (!found) {
    found.error().file = o.file;
    return tl::unexpected(found.error());
  }
  const std::string format = chosen_format(o.output);
  if (format == "json") return answer_json(*found);
  return format == "csv" ? answer_csv(*found) : answer_text(*found, style, o.rows);
}

}  // namespace

Verb query_verb() {
  Verb verb{"query", "ask a capture or trace in SQL; without SQL, list its tables and columns"};
  const auto o = std::make_shared<Options>();
  verb.argument("FILE", o->file, "capture (.gpf), or anything that analyze reads").input();
  verb.argument("SQL", o->sql, "one SELECT statement");
  verb.option("--rows", o->rows, "N", "rows of a text answer, 0 for all (default 200)");
  add_output_options(verb, o->output, {"text", "json", "csv"});
  verb.run = [o] {
    std::string damage;
    const auto text = answer(*o, damage);
    if (!text) return complain(text.error());
    if (const auto written = write_answer(o->output, *text); !written)
      return complain(written.error());
    return damage.empty() ? kWhole : complain(damage, kBadInput);
  };
  return verb;
}

}  // namespace gf::cli
