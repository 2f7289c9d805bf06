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
#include "cli/output.h"
#include "cli/sweep_of.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/files.h"
#include "core/nearest.h"
#include "model/enums.h"
#include "report/claims/claims.h"
#include "report/html/page.h"

namespace gf::cli {

namespace {

namespace fs = std::filesystem;

struct ReproduceArguments {
  std::string study;
  std::vector<std::string> files;
  OutputOptions output;
};

bool is_capture(const fs::path& path) {
  return path.extension() == ".gpf" || path.extension() == ".gz";
}

/// The tables below a folder in the order of their names; of runs also captures, and of other JSON
/// only what says that it is a table of them.
std::vector<std::string> files_in(const fs::path& folder, Study study) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(folder, ignored), end; it != end;
       it.increment(ignored)) {
    if (!it->is_regular_file(ignored)) continue;
    const std::string path = it->path().string();
    bool wanted = it->path().extension() == ".json";
    if (study == Study::date24)
      wanted = it->path().extension() == ".gpf" ||
               (wanted && text_of_file(path).find("gpufathom.sweep-table/") != std::string::npos);
    if (wanted) files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Rows of the same name in the same table of several files get the name of their file.
void name_files(std::vector<FactRow>& rows) {
  const auto known_as = [](const FactRow& row) { return row.words.at("table") + "/" + row.name; };
  std::map<std::string, std::set<std::string>> files;
  for (const auto& row : rows) files[known_as(row)].insert(row.words.at("file"));
  for (auto& row : rows)
    if (files[known_as(row)].size() > 1)
      row.name = fs::path(row.words.at("file")).stem().string() + ": " + row.name;
}

/// The rows of all files, and the runs behind them; the exit code that goes with them.
int read_rows(const ReproduceArguments& options, Study study, const std::vector<std::string>& files,
              std::vector<FactRow>& rows, std::optional<Sweep>& runs) {
  if (study == Study::date24) {
    SweepOptions sweep;
    sweep.output = options.output;
    for (const auto& file : files)
      (is_capture(file) ? sweep.captures : sweep.tables).push_back(file);
    SweepAnswer made = sweep_of(sweep);
    if (made.sweep) rows = facts_of(*made.sweep);
    runs = std::move(made.sweep);
    return made.exit_code;
  }
  for (const auto& file : files) {
    auto read = read_facts(file);
    if (!read) return complain(read.error());
    std::move(read->begin(), read->end(), std::back_inserter(rows));
  }
  name_files(rows);
  return kWhole;
}

Result<std::string> in_format(const std::string& format, const ReproduceArguments& options,
                              const Reproduction& answer, const std::optional<Sweep>& runs) {
  if (format == "json") return json_line(answer);
  if (format == "md") return reproduction_markdown(answer);
  if (format == "html") return reproduction_html(answer, runs ? &*runs : nullptr);
  return reproduction_text(answer, text_style(options.output.to_file()));
}

int reproduce_study(const ReproduceArguments& options) {
  const std::vector<std::string> studies(EnumNames<Study>::names.begin(),
                                         EnumNames<Study>::names.end());
  if (options.study.empty())
    return complain(fmt::format("no STUDY is given: one of {} (see gpufathom reproduce --help)",
                                fmt::join(studies, ", ")),
                    kWrongUsage);
  const auto known = enum_from<Study>(options.study);
  if (!known)
    return complain(fmt::format("there is no study '{}'{} ({})", options.study,
                                did_you_mean(options.study, studies), fmt::join(studies, ", ")),
                    kWrongUsage);
  if (options.files.empty())
    return complain("no FILE is given (see gpufathom reproduce --help)", kWrongUsage);
  const Study study = *known;
  std::vector<std::string> files;
  for (const auto& file : options.files) {
    std::error_code ignored;
    if (!fs::is_directory(file, ignored)) {
      files.push_back(file);
      continue;
    }
    for (auto& found : files_in(file, study)) files.push_back(std::move(found));
  }
  for (const auto& file : files)
    if (would_overwrite(options.output.path, file))
      return complain(overwrites_text(options.output.path), kWrongUsage);
  std::vector<FactRow> rows;
  std::optional<Sweep> runs;
  const int exit_code = read_rows(options, study, files, rows, runs);
  if (exit_code != kWhole && rows.empty()) return exit_code;
  Reproduction answer = reproduce(study, rows);
  if (answer.rows == 0)
    return complain(fmt::format("nothing there has a number that {} needs (docs/claims.md names "
                                "the tables of each study)",
                                options.study),
                    kBadInput);
  if (study == Study::date24)
    for (const auto& file : files) answer.sources.push_back(fs::path(file).filename().string());
  const auto text = in_format(chosen_format(options.output), options, answer, runs);
  if (!text) return complain(text.error());
  if (const auto written = write_answer(options.output, *text); !written)
    return complain(written.error());
  return exit_code;
}

}  // namespace

Verb reproduce_verb() {
  Verb verb{"reproduce", "judge the statements of a publication by measured runs"};
  const auto options = std::make_shared<ReproduceArguments>();
  verb.argument("STUDY", options->study,
                "date24 (utilization), dsd22 (framework runtime), asap24 (energy of data movement) "
                "or itu23 (profilers and monitors)");
  verb.argument("FILE", options->files,
                "tables of JSON, for date24 also captures, or folders of them: docs/claims.md")
      .input();
  add_output_options(verb, options->output, {"text", "json", "html", "md"});
  verb.run = [options] { return reproduce_study(*options); };
  return verb;
}

}  // namespace gf::cli
