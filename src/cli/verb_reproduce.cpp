#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyze/claims/claims.h"
#include "analyze/compare/run_facts.h"
#include "cli/output.h"
#include "cli/study_inputs.h"
#include "cli/sweep_of.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "import/input.h"
#include "model/enums.h"
#include "report/claims/claims.h"
#include "report/html/page.h"
#include "session/answer.h"

namespace gf::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = 64 << 20;  // a table of results is small; its rows are not

struct ReproduceArguments {
  std::string study;
  std::vector<std::string> files, counters;
  InputOptions limits;
  OutputOptions output;
};

/// The rows read from the inputs; empty: the exit code and standard error say why.
struct StudyRows {
  std::vector<FactRow> rows;
  std::optional<Sweep> runs;  // behind the rows of date24
  int exit_code = kWhole;
};

/// Rows of the same name in the same table of several files get the name of their file.
void name_files(std::vector<FactRow>& rows) {
  const auto word = [](const FactRow& row, const char* key) {
    const auto found = row.words.find(key);
    return found == row.words.end() ? std::string() : found->second;
  };
  const auto known_as = [&](const FactRow& row) { return word(row, "table") + "/" + row.name; };
  std::map<std::string, std::set<std::string>> files;
  for (const auto& row : rows) files[known_as(row)].insert(word(row, "file"));
  for (auto& row : rows)
    if (files[known_as(row)].size() > 1)
      row.name = fs::path(word(row, "file")).stem().string() + ": " + row.name;
}

/// The row of a capture: what `analyze` and `energy` answer about it.
std::optional<FactRow> row_of_capture(const ReproduceArguments& options, const std::string& path,
                                      const std::string& counters, int& exit_code) {
  ProgressDisplay progress;
  InputOptions input = options.limits;
  input.trace = path;
  input.counters = counters;
  const auto failed = [&](const Error& error) {
    exit_code = std::max(exit_code, complain(error));
    return std::nullopt;
  };
  const auto loaded = load_capture(input, progress.callback());
  progress.wipe();
  if (!loaded) return failed(loaded.error());
  SweepRun run;
  read_axes_from_name(path, run);
  Question question;
  question.batch = run.batch.value_or(0);
  question.progress = progress.callback();
  const auto answer = answer_question(*loaded, question);
  progress.wipe();
  if (!answer) return failed(answer.error());
  const RunFacts facts = run_facts(*answer->capture, answer->analysis);
  if (!run.batch) run.batch = facts.batch;
  if (run.precision.empty()) run.precision = facts.precision;
  exit_code = std::max(exit_code, say_missing(path, answer->missing));
  return fact_of_answer(json_line(answer->analysis), run, fs::path(path).filename().string());
}

StudyRows read_rows(const ReproduceArguments& options, Study study, const StudyInputs& inputs) {
  StudyRows out;
  if (study == Study::date24) {
    SweepOptions sweep;
    sweep.output = options.output;
    sweep.limits = options.limits;
    sweep.captures = inputs.captures;
    sweep.counters = inputs.counters;
    sweep.tables = inputs.tables;
    sweep.least_runs = 1;
    SweepAnswer made = sweep_of(sweep);
    if (made.sweep) out.rows = facts_of(*made.sweep);
    out.runs = std::move(made.sweep);
    out.exit_code = made.exit_code;
    return out;
  }
  for (const auto& table : inputs.tables) {
    const auto content = read_whole(table, kMostBytes);
    if (!content) return {{}, {}, complain(content.error())};
    auto read = read_facts(*content, table);
    if (!read) return {{}, {}, complain(read.error())};
    std::move(read->begin(), read->end(), std::back_inserter(out.rows));
  }
  for (std::size_t at = 0; at < inputs.captures.size(); ++at)
    if (auto row = row_of_capture(options, inputs.captures[at], inputs.counters[at], out.exit_code))
      out.rows.push_back(std::move(*row));
  name_files(out.rows);
  return out;
}

std::vector<std::string> names_of(const StudyInputs& inputs) {
  std::vector<std::string> names;
  for (const auto* files : {&inputs.tables, &inputs.captures})
    for (const auto& file : *files) names.push_back(fs::path(file).filename().string());
  return names;
}

/// The answer of the tables that ship to a study; nothing where they are not installed.
std::optional<Reproduction> shipped_answer(Study study, StudyRows* read = nullptr) {
  StudyInputs inputs;
  inputs.tables = shipped_inputs(study);
  if (inputs.tables.empty()) return {};
  StudyRows rows = read_rows({}, study, inputs);
  if (rows.rows.empty()) return {};
  Reproduction answer = reproduce(study, rows.rows, FigureSource::ours);
  if (study == Study::date24) answer.sources = names_of(inputs);
  if (read) *read = std::move(rows);
  return answer;
}

Result<std::string> in_format(const std::string& format, const ReproduceArguments& options,
                              const Reproduction& answer, const std::optional<Sweep>& runs) {
  if (format == "json") return json_line(answer);
  if (format == "md") return reproduction_markdown(answer);
  if (format == "html") return reproduction_html(answer, runs ? &*runs : nullptr);
  return reproduction_text(answer, text_style(options.output.to_file()));
}

int write(const ReproduceArguments& options, const Result<std::string>& text, int exit_code) {
  if (!text) return complain(text.error());
  if (const auto written = write_answer(options.output, *text); !written)
    return complain(written.error());
  return exit_code;
}

/// Without a study: what there is, what our own measurements say, and what to give.
int list_studies(const ReproduceArguments& options) {
  if (chosen_format(options.output) != "text")
    return complain(fmt::format("a STUDY is required for this format: {}",
                                fmt::join(EnumNames<Study>::names, ", ")),
                    kWrongUsage);
  std::vector<Reproduction> answers;
  for (std::size_t at = 0; at < EnumNames<Study>::names.size(); ++at) {
    const auto study = static_cast<Study>(at);
    auto shipped = shipped_answer(study);
    answers.push_back(shipped ? std::move(*shipped) : reproduce(study, {}));
  }
  return write(options, studies_text(answers, text_style(options.output.to_file())), kWhole);
}

int reproduce_study(const ReproduceArguments& options) {
  if (options.study.empty()) return list_studies(options);
  const Study study = *enum_from<Study>(options.study);
  const std::string format = chosen_format(options.output);
  if (options.files.empty()) {
    StudyRows read;
    const auto answer = shipped_answer(study, &read);
    if (!answer)
      return complain(
          "no FILE is given, and the tables that ship are not installed (see gpufathom "
          "reproduce --help)",
          kWrongUsage);
    return write(options, in_format(format, options, *answer, read.runs), kWhole);
  }
  const auto inputs = study_inputs(study, options.files, options.counters);
  if (!inputs) return complain(inputs.error());
  for (const auto* files : {&inputs->tables, &inputs->captures, &inputs->counters})
    for (const auto& file : *files)
      if (would_overwrite(options.output.path, file))
        return complain(overwrites_text(options.output.path), kWrongUsage);
  const StudyRows read = read_rows(options, study, *inputs);
  if (read.exit_code != kWhole && read.rows.empty()) return read.exit_code;
  Reproduction answer = reproduce(study, read.rows);
  if (answer.rows == 0 && answer.figures.empty())
    return complain(Error{fmt::format("nothing there has a number that {} needs", options.study),
                          {},
                          -1,
                          needs_text(answer)});
  if (study == Study::date24) answer.sources = names_of(*inputs);
  if (const auto shipped = shipped_answer(study); shipped && shipped->sources != answer.sources)
    put_beside(*shipped, answer);
  return write(options, in_format(format, options, answer, read.runs), read.exit_code);
}

}  // namespace

Verb reproduce_verb() {
  Verb verb{"reproduce", "check the statements of a publication against measured runs"};
  const auto options = std::make_shared<ReproduceArguments>();
  verb.argument("STUDY", options->study,
                "date24 (utilization), dsd22 (framework runtime), asap24 (energy of data movement) "
                "or itu23 (profilers and monitors); without it: what each says and needs")
      .of(names_of_all<Study>());
  verb.argument("FILE", options->files,
                "traces, recordings, counter reports, answers and tables of JSON, or folders of "
                "them: docs/claims.md (default: the measurements that ship with gpufathom)")
      .input();
  verb.option("--counters", options->counters, "FILE ...",
              "counter reports, one for each capture in the same order (default: by the names of "
              "the files)")
      .input();
  add_limit_options(verb, options->limits.max_bytes, options->limits.threads);
  add_output_options(verb, options->output, {"text", "json", "html", "md"});
  verb.run = [options] { return reproduce_study(*options); };
  return verb;
}

}  // namespace gf::cli
