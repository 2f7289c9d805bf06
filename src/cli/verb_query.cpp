#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "analyze/analyze.h"
#include "cli/load_capture.h"
#include "cli/output.h"
#include "cli/progress_display.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "model/counter_values.h"
#include "model/file.h"
#include "report/query/analysis_tables.h"
#include "report/query/capture_tables.h"
#include "report/query/query.h"
#include "report/query/sample_table.h"

namespace gf::cli {

namespace {

struct QueryArguments {
  std::optional<std::string> file, sql;
  OutputOptions output;
  std::size_t rows = 200;
  std::optional<std::uint64_t> max_bytes;
  QueryLimits limits;
};

struct Input {
  sqlite::Database db;
  std::shared_ptr<const Capture> samples;  // holds the packed ones; null: there are none
  Capture notes;                           // quality and metadata
};

Result<bool> lies_as_capture(const std::string& path) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) return false;
  if (const auto first = read_head(path); !first) return tl::unexpected(first.error());
  std::string head(100, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  return is_capture_file(head.substr(0, static_cast<std::size_t>(in.gcount())));
}

/// A capture file is asked where it lies; its packed samples are shown beside it.
Result<Input> open_stored(const std::string& path, const ImportOptions& options) {
  auto db = open_capture_file(path);
  if (!db) return tl::unexpected(db.error());
  const auto packed = sqlite::integer(
      db->get(), "SELECT count(*) FROM sqlite_schema WHERE name = 'sample_blocks'", path);
  auto notes = read_quality(path);
  if (!notes) return tl::unexpected(notes.error());
  if (!packed || *packed == 0) return Input{std::move(*db), nullptr, std::move(*notes)};
  auto read = read_samples(path, options.progress, options.max_bytes);
  if (!read) return tl::unexpected(read.error());
  const auto samples = std::make_shared<const Capture>(std::move(*read));
  if (auto shown = show_samples(db->get(), samples); !shown) return tl::unexpected(shown.error());
  notes->add_quality(*samples);
  return Input{std::move(*db), samples, std::move(*notes)};
}

/// Every other input is imported into a temporary database, which goes away by itself. So is a
/// capture file of which the analysis is asked for.
Result<Input> open_imported(const std::string& path, const ImportOptions& options,
                            bool with_analysis) {
  auto imported = import_file(path, options);
  if (!imported) return tl::unexpected(imported.error());
  const auto capture = std::make_shared<const Capture>(std::move(*imported));
  auto db = sqlite::open("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
  if (!db) return tl::unexpected(db.error());
  auto done =
      sqlite::execute(db->get(), "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;", path);
  if (done) done = store_capture(db->get(), *capture, options.progress);
  if (done && !capture->sample_blocks.empty()) done = show_samples(db->get(), capture, false);
  if (done && with_analysis) {
    AnalyzeOptions analyze_options;
    analyze_options.progress = options.progress;
    std::optional<Context> context;
    const auto analysis = analyze(*capture, analyze_options, &context);
    if (!analysis) return tl::unexpected(analysis.error());
    done = add_analysis_tables(db->get(), *context, *analysis);
  }
  if (!done) return tl::unexpected(done.error());
  Capture notes;
  notes.add_quality(*capture);
  return Input{std::move(*db), capture, std::move(notes)};
}

/// Asks, and analyses first when the statement asks for what an analysis says.
Result<QueryAnswer> ask_input(const QueryArguments& out, Input& input,
                              const ImportOptions& options) {
  QueryLimits limits = out.limits;
  limits.max_bytes = out.max_bytes.value_or(limits.max_bytes);
  auto found = ask(input.db.get(), *out.sql, limits);
  if (found || !asks_for_analysis(found.error())) return found;
  auto analysed = open_imported(*out.file, options, true);
  if (!analysed) return tl::unexpected(analysed.error());
  input = std::move(*analysed);
  return ask(input.db.get(), *out.sql, limits);
}

/// `notes`: what is known to be missing.
Result<std::string> answer(const QueryArguments& options, Capture& notes) {
  const TextStyle style = text_style(options.output.to_file());
  if (!options.file) return capture_tables_text(style);
  ProgressDisplay progress;
  ImportOptions import;
  import.progress = progress.callback();
  import.max_bytes = options.max_bytes.value_or(import.max_bytes);
  const auto stored = lies_as_capture(*options.file);
  if (!stored) return tl::unexpected(stored.error());
  auto input =
      *stored ? open_stored(*options.file, import) : open_imported(*options.file, import, false);
  progress.wipe();
  if (!input) return tl::unexpected(input.error());
  if (!options.sql) {
    notes = std::move(input->notes);
    return capture_tables_text(
        style, input->db.get(),
        input->samples ? std::optional(counter_value_count(*input->samples)) : std::nullopt);
  }
  auto found = ask_input(options, *input, import);
  progress.wipe();
  notes = std::move(input->notes);
  if (!found) {
    if (found.error().file.empty()) found.error().file = *options.file;
    return tl::unexpected(found.error());
  }
  const std::string format = chosen_format(options.output);
  if (format == "json") return answer_json(*found);
  if (format == "csv") return answer_csv(*found);
  return answer_text(*found, style, options.rows);
}

}  // namespace

Verb query_verb() {
  Verb verb{"query", "ask a capture or trace in SQL; without SQL, list its tables and columns"};
  const auto options = std::make_shared<QueryArguments>();
  verb.argument("FILE", options->file, "capture (.gpf), or anything that analyze reads").input();
  verb.argument("SQL", options->sql, "one SELECT statement");
  verb.option("--rows", options->rows, "N", "rows of a text answer, 0 for all (default 200)");
  verb.option("--max-bytes", options->max_bytes, "SIZE",
              "give up on an input that unpacks to more (default 64GiB), and on an answer that "
              "takes more memory (default 2GiB)")
      .size();
  verb.option("--max-seconds", options->limits.max_seconds, "N",
              "give up on a statement that takes longer (default 600)")
      .positive();
  add_output_options(verb, options->output, {"text", "json", "csv"});
  verb.run = [options] {
    Capture notes;
    const auto text = answer(*options, notes);
    if (!text) return complain(text.error());
    if (const auto written = write_answer(options->output, *text); !written)
      return complain(written.error());
    return say_shortcomings(options->file.value_or(""), notes);
  };
  return verb;
}

}  // namespace gf::cli
