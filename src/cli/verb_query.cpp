#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/files.h"
#include "model/file.h"
#include "report/query/column_table.h"
#include "report/query/query.h"
#include "report/summary.h"
#include "session/answer.h"

namespace gf::cli {

namespace {

struct QueryArguments {
  std::optional<std::string> file, sql;
  OutputOptions output;
  std::size_t rows = 200;
  std::optional<std::uint64_t> max_bytes;
  std::vector<std::string> graphs;
  std::string window = "auto", devices;
  QueryLimits limits;
};

constexpr int kLongestText = 256 << 20;  // or blob, in bytes
constexpr std::int64_t kCountingSeconds = 10;
constexpr std::int64_t kMostSeconds = 100'000'000;  // three years: clocks count no further

struct Input {
  std::shared_ptr<QuerySource> source;
  sqlite::Database db;  // empty but for what shows the source
};

Result<bool> lies_as_capture(const std::string& path) {
  if (is_folder(path)) return false;
  if (const auto first = read_head(path); !first) return tl::unexpected(first.error());
  std::string head(100, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  return is_capture_file(head.substr(0, static_cast<std::size_t>(in.gcount())));
}

/// Ends the program when no answer comes in time, whatever holds it up: one call of one of SQLite's
/// functions can take days, and looks at no clock meanwhile. What does look is given a moment to
/// say so itself.
class Watchdog {
 public:
  Watchdog(std::int64_t max_seconds, const std::string& file)
      : thread_([this, max_seconds, file](const std::stop_token& stop) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          const auto grace = std::chrono::milliseconds(500);
          const auto end =
              std::chrono::steady_clock::now() + std::chrono::seconds(max_seconds) + grace;
          ended_.wait_until(lock, stop, end, [] { return false; });
          if (stop.stop_requested()) return;
          Error error = no_answer_within(max_seconds);
          error.file = file;
          complain(error);
          ::_exit(kBadInput);
        }) {}

 private:
  std::condition_variable_any ended_;
  std::jthread thread_;
};

Result<Input> shown(std::shared_ptr<QuerySource> source) {
  auto db = sqlite::open("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
  if (!db) return tl::unexpected(db.error());
  sqlite3_limit(db->get(), SQLITE_LIMIT_LENGTH, kLongestText);
  if (auto ok = show_capture(db->get(), source); !ok) return tl::unexpected(ok.error());
  return Input{std::move(source), std::move(*db)};
}

/// A capture file is asked where it lies; every other input is imported.
Result<Input> open_input(const std::string& path, const ImportOptions& options, bool stored) {
  if (stored) {
    auto source = QuerySource::open(path, options.max_bytes);
    if (!source) return tl::unexpected(source.error());
    return shown(std::move(*source));
  }
  auto imported = import_file(path, options);
  if (!imported) return tl::unexpected(imported.error());
  return shown(
      std::make_shared<QuerySource>(std::make_shared<const Capture>(std::move(*imported))));
}

/// The analysis of a file, with the ceilings of its GPU.
struct Analyzed {
  Answer answer;
  std::optional<CeilingsFile> ceilings;
};

Result<Analyzed> analyze_file(const QueryArguments& asked, const ImportOptions& options) {
  InputOptions wanted;
  wanted.trace = *asked.file;
  wanted.max_bytes = options.max_bytes;
  wanted.graphs = asked.graphs;
  const auto loaded = load_capture(wanted, options.progress);
  if (!loaded) return tl::unexpected(loaded.error());
  Question question;
  question.window = asked.window;
  question.devices = asked.devices;
  question.progress = options.progress;
  auto answered = answer_question(*loaded, question);
  if (!answered) return tl::unexpected(answered.error());
  auto ceilings = find_ceilings({}, *loaded->capture);
  if (!ceilings) return tl::unexpected(ceilings.error());
  return Analyzed{std::move(*answered), std::move(*ceilings)};
}

/// Asks, and makes a table of the analysis each time that the statement asks for one.
Result<QueryAnswer> ask_input(const QueryArguments& out, Input& input,
                              const ImportOptions& options) {
  QueryLimits limits = out.limits;
  limits.max_bytes = out.max_bytes.value_or(limits.max_bytes);
  std::optional<Analyzed> analyzed;
  for (std::size_t made = 0;; ++made) {
    auto found = ask(input.db.get(), *out.sql, limits);
    if (!input.source->status()) return tl::unexpected(input.source->status().error());
    if (found && analyzed) found->window = analyzed->answer.analysis.window;
    if (found) return found;
    const auto table = asked_table(found.error());
    if (table.empty() || made == analysis_tables().size()) return found;
    if (!analyzed) {
      auto done = analyze_file(out, options);
      if (!done) return tl::unexpected(done.error());
      analyzed.emplace(std::move(*done));
      auto whole = shown(std::make_shared<QuerySource>(analyzed->answer.capture));
      if (!whole) return tl::unexpected(whole.error());
      input = std::move(*whole);
    }
    const Answer& answer = analyzed->answer;
    const auto* ceilings = analyzed->ceilings ? &*analyzed->ceilings : nullptr;
    auto done =
        add_analysis_table(input.db.get(), table, *answer.context, answer.analysis, ceilings);
    if (!done) return tl::unexpected(done.error());
  }
}

/// Notes on the capture, once the query has run.
void take_notes(const Capture& capture, Capture& notes) {
  notes.add_quality(capture);
  for (std::size_t i = 0; i < capture.metadata.size(); ++i)
    notes.set_metadata(capture.text(capture.metadata.key[i]),
                       capture.text(capture.metadata.value[i]));
  notes.note_unfinished_recording();
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
  auto input = open_input(*options.file, import, *stored);
  progress.wipe();
  if (!input) return tl::unexpected(input.error());
  if (!options.sql) {
    const auto text =
        capture_tables_text(style, input->db.get(), input->source.get(),
                            std::min(kCountingSeconds, options.limits.max_seconds - 1));
    take_notes(input->source->capture(), notes);
    return text;
  }
  auto found = ask_input(options, *input, import);
  progress.wipe();
  take_notes(input->source->capture(), notes);
  if (!found) {
    if (found.error().file.empty()) found.error().file = *options.file;
    return tl::unexpected(found.error());
  }
  const std::string format = chosen_format(options.output);
  if (format == "json") return answer_json(*found);
  return format == "csv" ? answer_csv(*found) : answer_text(*found, style, options.rows);
}

}  // namespace

Verb query_verb() {
  Verb verb{"query", "query a capture or trace with SQL; without SQL, list its tables"};
  const auto options = std::make_shared<QueryArguments>();
  verb.argument("FILE", options->file, "capture (.gpf), or anything that analyze reads").input();
  verb.argument("SQL", options->sql, "one SELECT statement");
  verb.option("--graphs", options->graphs, "FILE",
              "as for `work`, for tables of the analysis (repeatable)")
      .each_time()
      .input();
  add_window_option(verb, options->window,
                    "span of the tables of the analysis: auto (default: the steps, or all if there "
                    "are none), all, steps, stable, step:N or START:END");
  add_devices_option(verb, options->devices);
  verb.option("--rows", options->rows, "N", "rows of a text answer, 0 for all (default 200)");
  verb.option(
          "--max-bytes", options->max_bytes, "SIZE",
          "stop if an input decompresses to more (default: 64GiB), or an answer takes more memory "
          "(default 2GiB)")
      .size();
  verb.option("--max-seconds", options->limits.max_seconds, "N",
              "stop after this time, reading the file included (default 600)")
      .positive();
  add_output_options(verb, options->output, {"text", "json", "csv"});
  verb.run = [options] {
    Capture notes;
    auto& seconds = options->limits.max_seconds;
    seconds = std::min(seconds, kMostSeconds);
    std::optional<Watchdog> watchdog(std::in_place, seconds, options->file.value_or(""));
    const auto text = answer(*options, notes);
    watchdog.reset();
    if (!text) return complain(text.error());
    if (const auto written = write_answer(options->output, *text); !written)
      return complain(written.error());
    return say_missing(options->file.value_or(""), shortcomings(notes));
  };
  return verb;
}

}  // namespace gf::cli
