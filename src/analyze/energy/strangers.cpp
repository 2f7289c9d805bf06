// Errors of the population on boards and kernels that it has not seen.
#include <algorithm>
#include <cmath>
#include <set>

#include "analyze/energy/pool.h"

namespace gf {

namespace {

struct Prediction {
  double watts = 0, static_w = 0;
  Interval95 interval;
};

Prediction predict(const EnergyModel& model, const CountedKernel& kernel, bool same_board) {
  EnergyEvaluator evaluator(model);
  evaluator.bring_to_clock(kernel.run.sm_mhz);
  evaluator.allow_for_spread(same_board, false);
  const auto work = work_of_a_second(kernel, evaluator);
  Prediction out;
  out.static_w = model.static_w;
  for (const double watts : evaluator.by_component(work)) out.watts += watts;
  out.interval = evaluator.interval_of_sum(work);
  return out;
}

/// The models that one family of kernels of a left-out board meets.
struct Met {
  std::string family;
  EnergyModel before, after;
};

StrangerKernel judge(const EnergyModel& population, const EnergyModel& adapted,
                     const CountedKernel& kernel) {
  StrangerKernel out;
  out.name = kernel.run.name;
  out.watts = kernel.run.energy_j / kernel.run.seconds;
  const auto before = predict(population, kernel, false);
  const auto after = predict(adapted, kernel, true);
  out.before = before.watts / out.watts - 1;
  out.after = after.watts / out.watts - 1;
  out.before_low = before.interval.low;
  out.before_high = before.interval.high;
  out.after_low = after.interval.low;
  out.after_high = after.interval.high;
  // Against the board's own idle power, so that both are errors of the same energy.
  const double dynamic = out.watts - after.static_w;
  out.dynamic_before = (before.watts - before.static_w) / dynamic - 1;
  out.dynamic_after = (after.watts - after.static_w) / dynamic - 1;
  for (double* value : {&out.watts, &out.before, &out.after, &out.before_low, &out.before_high,
                        &out.after_low, &out.after_high, &out.dynamic_before, &out.dynamic_after})
    *value = to_five_digits(*value);
  return out;
}

/// The runs of the population's list that a board did not make for it, predicted.
void judge_benches(const std::vector<const PreparedBoard*>& others, const BoardEvidence& board,
                   const EnergyModel& before, const EnergyModel& after, StrangerBoard& out) {
  std::set<RunKey> made;
  for (const auto& run : before.population.quick) made.insert({run.bench, run.threads, run.blocks});
  const Pool pool(others, {});
  const auto loops =
      loop_joules(board.raw, after.static_w, after.reference_celsius, after.per_celsius_w, 0);
  Eigen::VectorXd moved(pool.dram.size());
  for (Eigen::Index i = 0; i < moved.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double was = before.coefficients[at].picojoules;
    moved[i] = was > 0 ? std::log(after.coefficients[at].picojoules / was) : 0;
  }
  for (const auto& candidate : quick_candidates(pool)) {
    const auto found = loops.find(candidate.key);
    if (found == loops.end() || made.count(candidate.key) > 0) continue;
    const double error = candidate.log_joules - std::log(found->second.front());
    ++out.benches;
    out.bench_before += std::abs(std::expm1(error));
    out.bench_after += std::abs(std::expm1(error + candidate.shares.dot(moved)));
  }
  if (out.benches == 0) return;
  out.bench_before /= out.benches;
  out.bench_after /= out.benches;
}

double log_variance(const std::vector<StrangerKernel>& kernels) {
  double sum = 0;
  for (const auto& kernel : kernels) sum += std::pow(std::log1p(kernel.dynamic_after), 2);
  return sum / static_cast<double>(kernels.size());
}

}  // namespace

std::vector<StrangerKernel> meet(const EnergyModel& population, const EnergyModel& adapted,
                                 const std::vector<CountedKernel>& kernels) {
  std::vector<StrangerKernel> met;
  for (const auto& kernel : kernels) met.push_back(judge(population, adapted, kernel));
  return met;
}

double form_spread(std::span<const StrangerBoard> boards) {
  double sum = 0, count = 0;
  for (const auto& board : boards)
    if (!board.kernels.empty()) {
      sum += log_variance(board.kernels) * static_cast<double>(board.kernels.size());
      count += static_cast<double>(board.kernels.size());
    }
  return count > 0 ? std::sqrt(sum / count) : EnergySpread{}.form;
}

Result<std::vector<StrangerBoard>> leave_boards_out(const std::vector<BoardEvidence>& evidence,
                                                    const std::vector<BoardEvidence>& strangers) {
  const auto prepared = prepare_boards(evidence);
  if (!prepared) return tl::unexpected(prepared.error());
  std::vector<const BoardEvidence*> all;
  for (const auto* some : {&evidence, &strangers})
    for (const auto& board : *some) all.push_back(&board);
  std::vector<StrangerBoard> boards;
  std::vector<std::vector<Met>> met;
  for (const auto* left : all) {
    std::vector<const PreparedBoard*> others;
    for (const auto& board : *prepared)
      if (board.evidence != left) others.push_back(&board);
    std::set<std::string> families{""};  // none: for the microbenchmarks
    for (const auto& kernel : left->kernels) families.insert(kernel_family(kernel.run.name));
    StrangerBoard out;
    out.uuid = left->raw.board.uuid;
    met.emplace_back();
    for (const auto& family : families) {
      auto before = fit_population(others, family);
      if (!before) return tl::unexpected(before.error());
      auto after = adapt_to_board(*before, left->raw, kQuickSeconds);
      if (!after) return tl::unexpected(after.error());
      met.back().push_back({family, std::move(*before), std::move(*after)});
    }
    const auto& plain = met.back().front();
    const auto& found = plain.after.population.boards.front();
    out.quick = found.points;
    out.gain = found.gain;
    out.dram = found.dram;
    judge_benches(others, *left, plain.before, plain.after, out);
    boards.push_back(std::move(out));
  }
  auto judge_all = [&](std::size_t at) {
    boards[at].kernels.clear();
    for (const auto& kernel : all[at]->kernels)
      for (const auto& one : met[at])
        if (one.family == kernel_family(kernel.run.name))
          boards[at].kernels.push_back(judge(one.before, one.after, kernel));
  };
  for (std::size_t at = 0; at < boards.size(); ++at) judge_all(at);
  // The width of a board's intervals is what the other boards' kernels say.
  std::vector<double> forms;
  for (std::size_t at = 0; at < boards.size(); ++at) {
    std::vector<StrangerBoard> rest(boards.begin(),
                                    boards.begin() + static_cast<std::ptrdiff_t>(evidence.size()));
    if (at < rest.size()) rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
    forms.push_back(form_spread(rest));
  }
  for (std::size_t at = 0; at < boards.size(); ++at) {
    for (auto& one : met[at]) one.before.spread.form = one.after.spread.form = forms[at];
    judge_all(at);
  }
  return boards;
}

}  // namespace gf
