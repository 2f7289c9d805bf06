#include "cli/sweep_of.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "analyze/compare/run_facts.h"
#include "analyze/sweep/sweep.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "core/nearest.h"
#include "session/answer.h"

namespace gf::cli {

namespace {

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    words.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

/// Rows of the table, and one for every capture that is named by itself.
Result<std::vector<SweepRow>> rows_of(const SweepOptions& options) {
  std::vector<SweepRow> rows;
  for (const auto& table : options.tables) {
    auto read = read_sweep_table(table);
    if (!read) return read;
    std::move(read->begin(), read->end(), std::back_inserter(rows));
  }
  for (std::size_t i = 0; i < options.captures.size(); ++i) {
    SweepRow row;
    row.capture = options.captures[i];
    if (!options.counters.empty()) row.counters = options.counters[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Values of the table take precedence over those of the capture.
void join(SweepInput analysed, SweepInput& given) {
  SweepRun& run = given.run;
  for (const auto& axis : sweep_axes())
    if ((run.*(axis.member)).empty()) run.*(axis.member) = analysed.run.*(axis.member);
  run.source = analysed.run.source;
  if (run.levels.empty()) run.levels = std::move(analysed.run.levels);
  if (given.step_seconds.empty()) given.step_seconds = std::move(analysed.step_seconds);
  if (given.step_joules.empty()) {
    given.step_joules = std::move(analysed.step_joules);
    given.joules_doubt = analysed.joules_doubt;
    given.boards = std::move(analysed.boards);
  }
  if (given.kernels.empty()) given.kernels = std::move(analysed.kernels);
}

/// Analyses the capture of a row; the exit code, kWhole when nothing was lost.
int fill(const SweepOptions& options, SweepRow& row, ProgressDisplay& progress) {
  InputOptions input = options.limits;
  input.trace = row.capture;
  input.counters = row.counters;
  const auto loaded = load_capture(input, progress.callback());
  progress.wipe();
  if (!loaded) return complain(loaded.error());
  Question question;
  question.window = row.window.empty() ? options.window : row.window;
  question.devices = options.devices;
  question.progress = progress.callback();
  const auto answer = answer_question(*loaded, question);
  progress.wipe();
  if (!answer) return complain(answer.error(), row.capture, *loaded->capture);
  join(sweep_input(answer->analysis, *answer->context), row.input);
  read_axes_from_name(row.capture, row.input.run);
  const RunFacts facts = run_facts(*answer->capture, answer->analysis);
  if (!row.input.run.batch) row.input.run.batch = facts.batch;
  if (row.input.run.precision.empty()) row.input.run.precision = facts.precision;
  return say_missing(row.capture, answer->missing);
}

/// True if the output would replace a file that the table names.
bool overwrites(const std::string& output, const std::vector<SweepRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [&](const SweepRow& row) {
    return would_overwrite(output, row.capture) || would_overwrite(output, row.counters);
  });
}

/// The first asked-for axis that a run lacks, as a complaint.
std::string lacking(const std::vector<std::string>& axes, const SweepRow& row) {
  const SweepRun& run = row.input.run;
  for (const auto& name : axes) {
    bool lacks = name == "batch" && !run.batch;
    for (const auto& axis : sweep_axes())
      if (axis.name == name && (run.*(axis.member)).empty()) lacks = true;
    if (lacks)
      return fmt::format(
          "{}: its {} is not known: put it into the file's name (resnet50_amp_eager_b64.gpf) or "
          "into a table (--table)",
          row.capture.empty() ? run.source : row.capture, name);
  }
  return {};
}

}  // namespace

std::vector<std::string> axis_names() {
  std::vector<std::string> names{"batch"};
  for (const auto& axis : sweep_axes()) names.emplace_back(axis.name);
  return names;
}

SweepAnswer sweep_of(const SweepOptions& options) {
  const auto axes = split(options.axes);
  for (const auto& name : axes)
    if (!is_sweep_axis(name))
      return complain(fmt::format("--axes: '{}' is not one of {}{}", name,
                                  fmt::join(axis_names(), ", "), did_you_mean(name, axis_names())),
                      kWrongUsage);
  if (!options.counters.empty() && options.counters.size() != options.captures.size())
    return complain("--counters requires one report per capture, in the same order, or none",
                    kWrongUsage);
  auto rows = rows_of(options);
  if (!rows) return complain(rows.error());
  if (rows->size() < options.least_runs)
    return complain(options.least_runs > 1 ? "a sweep requires at least 2 runs"
                                           : "no run of a program is among the files",
                    kWrongUsage);
  if (overwrites(options.output.path, *rows))
    return complain(overwrites_text(options.output.path), kWrongUsage);
  ProgressDisplay progress;
  SweepAnswer out;
  std::vector<SweepInput> inputs;
  for (auto& row : *rows) {
    if (!row.capture.empty()) {
      out.exit_code = std::max(out.exit_code, fill(options, row, progress));
      if (row.input.run.source.empty()) return out;
    }
    if (const std::string complaint = lacking(axes, row); !complaint.empty())
      return complain(complaint, kBadInput);
    inputs.push_back(std::move(row.input));
  }
  out.sweep = make_sweep(std::move(inputs), axes);
  return out;
}

}  // namespace gf::cli
