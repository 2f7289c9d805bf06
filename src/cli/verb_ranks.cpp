#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "analyze/ranks/ranks.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/machine.h"
#include "model/quality.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/ranks/nccl_dumps.h"
#include "report/ranks/ranks.h"
#include "session/late_rank.h"
#include "session/nccl_dumps.h"
#include "session/ranks.h"

namespace gf::cli {

namespace {

struct RanksArguments {
  RankInputs input;
  OutputOptions output;
  std::optional<std::size_t> rows;
  bool map = false, allow_incomplete = false;
};

int complain_of(const LoadedRanks& loaded) {
  for (const auto& error : loaded.failed) complain(error);
  for (const auto& path : loaded.left_out) complain(path + ": skipped: not a capture", kWhole);
  for (const auto& path : loaded.earlier)
    complain(
        path + ": skipped: the same worker has a later capture (`gpufathom compare` takes both)",
        kWhole);
  return loaded.failed.empty() ? kWhole : kBadInput;
}

Result<LoadedRanks> load(const RankInputs& input) {
  ProgressDisplay progress;
  auto loaded = load_ranks(input, progress.callback());
  progress.wipe();
  if (loaded && !input.graphs.empty() && loaded->told_by_graphs == 0 && loaded->failed.empty())
    return tl::unexpected(nothing_for_graphs("the ranks"));
  return loaded;
}

/// One line of JSON for each rank.
int give_parts(const RanksArguments& o, const LoadedRanks& loaded) {
  std::string lines;
  for (const auto& part : loaded.parts) lines += json_line(part);
  const int exit_code = complain_of(loaded);
  if (loaded.parts.empty()) return exit_code;
  OutputOptions output = o.output;
  output.format = "json";
  if (const auto written = write_answer(output, lines); !written) return complain(written.error());
  return exit_code;
}

std::vector<ApartFinding> findings_of_latest(const JobRanks& job, const RankInputs& input,
                                             const LoadedRanks& loaded) {
  ProgressDisplay progress;
  auto apart = findings_apart(job, input, loaded.captures, progress.callback());
  progress.wipe();
  return apart;
}

/// Ranks without a file, or with a damaged one.
void note_failed(const LoadedRanks& loaded, JobRanks& answer) {
  if (loaded.failed.empty()) return;
  answer.quality.insert(answer.quality.begin(),
                        {"unreadable_ranks", static_cast<std::int64_t>(loaded.failed.size()),
                         loaded.failed.front().message()});
}

std::vector<std::string> missing_from(const JobRanks& answer) {
  std::vector<std::string> missing;
  for (const auto& note : answer.quality) {
    const auto code = enum_from<QualityCode>(note.code);
    if (code && makes_partial(note.code)) missing.push_back(note.detail);
  }
  if (!answer.missing_ranks.empty()) missing.push_back(missing_ranks_text(answer));
  return missing;
}

std::vector<std::string> missing_from(const std::vector<JobRanks>& stages) {
  std::vector<std::string> missing;
  for (const auto& answer : stages)
    for (auto& text : missing_from(answer))
      if (std::ranges::find(missing, text) == missing.end()) missing.push_back(std::move(text));
  return missing;
}

Result<std::string> rendered(std::vector<JobRanks> stages, const std::string& format,
                             const TextStyle& style, std::size_t rows) {
  if (format == "html" && stages.size() > 1)
    return fail("the captures are of several stretches of time, and a page shows one", {}, -1,
                "give the captures of one of them, or take text or json");
  if (format == "html") return ranks_html(stages.front());
  if (format == "json" && stages.size() > 1)
    return json_line(RankStages{.stages = std::move(stages)});
  if (format == "json") return json_line(stages.front());
  std::string text;
  for (const auto& answer : stages)
    text += (text.empty() ? "" : "\n") + ranks_text(answer, style, rows);
  return text;
}

/// The answer of flight recorders: of dumps that can be read, told as what a job hangs in.
int answer_dumps(const std::vector<std::string>& files, const RankInputs& input,
                 const OutputOptions& output, const std::string& format,
                 std::optional<std::size_t> rows) {
  if (format == "html")
    return complain("flight recorders have no page: take text or json", kWrongUsage);
  std::vector<NcclDump> dumps;
  int exit_code = kWhole;
  for (const auto& file : files) {
    auto dump = read_nccl_dump(file, input.max_bytes);
    if (!dump)
      exit_code = complain(dump.error());
    else
      dumps.push_back(std::move(*dump));
  }
  if (dumps.empty()) return exit_code;
  const auto answer = analyze_dumps(std::move(dumps));
  if (!answer) return complain(answer.error());
  const auto text = format == "json"
                        ? json_line(*answer)
                        : dumps_text(*answer, text_style(output.to_file()), text_rows(rows));
  if (const auto done = write_answer(output, text); !done) return complain(done.error());
  return exit_code;
}

int say_what_is_missing(const std::vector<std::string>& missing) {
  for (const auto& text : missing) complain("incomplete result: " + text, kBadInput);
  return missing.empty() ? kWhole : kBadInput;
}

int refuse() {
  return complain("incomplete captures give no verdict about ranks (--allow-incomplete continues)",
                  kRefused);
}

}  // namespace

int answer_ranks(const RankInputs& input, const OutputOptions& output,
                 std::optional<std::size_t> rows, Incomplete incomplete) {
  const std::string format = chosen_format(output);
  if (const auto files = dump_files(input.paths); !files.empty())
    return answer_dumps(files, input, output, format, rows);
  auto loaded = load(input);
  if (!loaded) return complain(loaded.error());
  const int exit_code = complain_of(*loaded);
  if (loaded->parts.empty() && exit_code == kWhole)
    return complain("no GPU event in any capture: there are no ranks to compare", kBadInput);
  if (loaded->parts.empty()) return kBadInput;
  RanksOptions options;
  options.max_collectives = format == "text" ? 0 : rows.value_or(0);
  options.workers = worker_threads(input.threads);
  auto answer = analyze_stages(std::move(loaded->parts), options);
  if (!answer) return complain(answer.error());
  for (auto& stage : *answer) {
    note_failed(*loaded, stage);
    stage.window = input.window;
    stage.apart = findings_of_latest(stage, input, *loaded);
  }
  const auto missing = missing_from(*answer);
  if (incomplete == Incomplete::refuse && (exit_code != kWhole || !missing.empty())) {
    say_what_is_missing(missing);
    return refuse();
  }
  const auto text =
      rendered(std::move(*answer), format, text_style(output.to_file()), text_rows(rows));
  if (!text) return complain(text.error());
  if (const auto done = write_answer(output, *text); !done) return complain(done.error());
  return std::max(exit_code, say_what_is_missing(missing));
}

Verb ranks_verb() {
  Verb verb{"ranks", "analyze a distributed job: which rank waited for which, and why"};
  const auto o = std::make_shared<RanksArguments>();
  verb.argument("FILE", o->input.paths,
                "captures of one run's ranks, folders of them, output of --map, or dumps of "
                "PyTorch's flight recorder (nccl_trace_rank_N)")
      .must()
      .input();
  verb.flag("--map", o->map,
            "print one JSON line per rank, as input for a later analysis of many ranks");
  verb.flag("--allow-incomplete", o->allow_incomplete,
            "analyze even if captures are incomplete or ranks are missing, and exit with 1 "
            "(default: no result, exit code 3)");
  add_window_option(verb, o->input.window,
                    "span of each rank's capture: all (default), auto, "
                    "steps, stable, step:N or START:END");
  add_devices_option(verb, o->input.devices);
  add_graphs_option(verb, o->input.graphs);
  add_rows_option(verb, o->rows);
  add_output_options(verb, o->output, {"text", "json", "html"});
  add_limit_options(verb, o->input.max_bytes, o->input.threads);
  verb.run = [o] {
    const auto incomplete = o->allow_incomplete ? Incomplete::answer : Incomplete::refuse;
    if (!o->map) return answer_ranks(o->input, o->output, o->rows, incomplete);
    const auto loaded = load(o->input);
    return !loaded ? complain(loaded.error()) : give_parts(*o, *loaded);
  };
  return verb;
}

}  // namespace gf::cli
