#include "cli/compare_runs.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "cli/terminal.h"
#include "core/statistics.h"

namespace gf::cli {

namespace {

std::optional<int> add_run(const CompareArguments& options, const std::string& path,
                           std::size_t index, ComparedRuns& runs, std::size_t& told_by_graphs) {
  ProgressDisplay progress;
  InputOptions input = options.limits;
  input.trace = path;
  if (!options.counters.empty()) input.counters = options.counters[index];
  input.graphs = options.graphs;
  input.among_others = true;
  const auto loaded = load_capture(input, progress.callback());
  progress.wipe();
  if (!loaded) return complain(loaded.error());
  told_by_graphs += loaded->told_by_graphs;
  Question question;
  question.window = options.window;
  question.devices = options.devices;
  question.progress = progress.callback();
  auto answer = answer_question(*loaded, question);
  progress.wipe();
  if (!answer) return complain(answer.error(), path, *loaded->capture);
  auto& run = runs.captures.emplace_back();
  run.facts = run_facts(*answer->capture, answer->analysis);
  if (answer->context) run.details = run_details(*answer->context, answer->analysis);
  run.measured.push_back(
      answer->context ? measured_run(*answer->context, answer->analysis, run.details.roles.steps)
                      : measured_steps(answer->analysis));
  run.analysis = std::move(answer->analysis);
  runs.missing.push_back(std::move(answer->missing));
  return std::nullopt;
}

void add_version(ComparedVersions& all, ComparedRuns& runs, std::size_t begin, std::size_t end) {
  std::vector<std::size_t> order(end - begin);
  std::iota(order.begin(), order.end(), begin);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>((order.size() - 1) / 2);
  std::nth_element(order.begin(), middle, order.end(), [&](auto left, auto right) {
    return median(runs.captures[left].measured.front().step_ns) <
           median(runs.captures[right].measured.front().step_ns);
  });
  MeasuredVersion measured;
  bool whole = true;
  for (std::size_t at = begin; at < end; ++at) {
    measured.push_back(std::move(runs.captures[at].measured.front()));
    whole = whole && runs.missing[at].empty();
  }
  all.versions.push_back(std::move(runs.captures[*middle]));
  all.versions.back().measured = std::move(measured);
  all.whole.push_back(whole);
}

}  // namespace

std::optional<int> read_runs(const CompareArguments& options, ComparedRuns& runs) {
  runs.paths = options.captures;
  runs.paths.insert(runs.paths.end(), options.after.begin(), options.after.end());
  std::size_t told_by_graphs = 0;  // kernels
  for (std::size_t index = 0; index < runs.paths.size(); ++index)
    if (const auto exit_code = add_run(options, runs.paths[index], index, runs, told_by_graphs))
      return *exit_code;
  if (!options.graphs.empty() && told_by_graphs == 0)
    return complain(nothing_for_graphs("the captures"));
  return std::nullopt;
}

ComparedVersions versions_of(const CompareArguments& options, ComparedRuns& runs) {
  ComparedVersions all;
  const std::size_t captures = runs.captures.size();
  if (options.one_version()) {
    add_version(all, runs, 0, captures);
  } else if (options.after.empty()) {
    for (std::size_t run = 0; run < captures; ++run) add_version(all, runs, run, run + 1);
  } else {
    add_version(all, runs, 0, options.captures.size());
    add_version(all, runs, options.captures.size(), captures);
  }
  return all;
}

}  // namespace gf::cli
