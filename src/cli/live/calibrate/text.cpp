#include "cli/live/calibrate/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/statistics.h"

namespace gf::cli {

namespace {

void print_model(const EnergyModel& model) {
  fmt::print("{} points, {} left out; mean absolute error of the fit {:.1f} %\n", model.points,
             model.dropped, 100 * model.mean_absolute_error);
  fmt::print(
      "idle: asleep {:.0f} W, context {:.0f} W, sleeping warps {:.0f} W; SM clock {:.0f} to {:.0f} "
      "MHz\n",
      model.asleep_w, model.context_w, model.spin_w, model.sm_mhz_low, model.sm_mhz_high);
  fmt::print(
      "voltage: {:.2f} of its share lost a share of clock below {:.0f} MHz, down to {:.2f}\n\n",
      model.voltage.slope, model.voltage.reference_mhz, model.voltage.floor);
  fmt::print("  {:<20} {:>10}  {:>19}  {}\n", "feature", "pJ", "95 % interval", "of one");
  for (const auto& coefficient : model.coefficients) {
    std::string value = "no data", interval, remark = coefficient.note;
    if (coefficient.identified) {
      value = fmt::format("{:.4g}", coefficient.picojoules);
      interval = fmt::format("{:.4g} .. {:.4g}", coefficient.low, coefficient.high);
      remark = coefficient.unit;
    }
    fmt::print("  {:<20} {:>10}  {:>19}  {}\n", coefficient.feature, value, interval, remark);
  }
}

void print_facts(const BoardFacts& board_facts) {
  for (const auto& cache : board_facts.caches) {
    std::string size;
    if (cache.bytes) size = fmt::format("{:.0f} KiB", *cache.bytes / 1024);
    fmt::print("{:<5} {:>10}  {:6.1f} ns a dependent load\n", cache.level, size, cache.ns);
  }
  if (board_facts.dram_granularity_bytes)
    fmt::print("DRAM reads {:.0f} bytes for a scattered access of 32\n",
               *board_facts.dram_granularity_bytes);
  if (board_facts.sensor)
    fmt::print(
        "power reading: changes every {:.0f} ms, passes half of a step after {:.0f} ms ({:.0f} to "
        "{:.0f}, {} steps)\n",
        1e3 * board_facts.sensor->period_s, 1e3 * board_facts.sensor->delay_s,
        1e3 * board_facts.sensor->delay_low, 1e3 * board_facts.sensor->delay_high,
        board_facts.sensor->steps);
  fmt::print("energy counter over integrated power: {:.4f}, standard deviation of a point {:.4f}\n",
             board_facts.counter_over_power, board_facts.counter_over_power_sd);
  for (const auto& memory : board_facts.memory)
    fmt::print(
        "{}: {:.0f} pJ above idle an access of 32 bytes, {:.0f} pJ by the memory's own power\n",
        memory.bench, memory.board_pj, memory.memory_pj);
  if (!board_facts.divisions.empty()) {
    fmt::print("a division of one thread, added to a chase:");
    for (const auto& division : board_facts.divisions)
      fmt::print(" {} {:.0f} pJ (beside {:.0f} W)", division.level, division.picojoules,
                 division.offset_w);
    fmt::print("; spread {:.1f} % of the mean\n", 100 * board_facts.division_spread);
  }
}

void print_unseen(const std::vector<UnseenKernel>& kernels) {
  fmt::print("\n{:<26} {:>5} {:>5} {:>11} {:>11} {:>8}\n", "kernel never seen", "W", "MHz",
             "measured mJ", "model mJ", "error");
  for (const auto& kernel : kernels)
    fmt::print("{:<26} {:5.0f} {:5.0f} {:11.5g} {:11.5g} {:+7.1f} %\n", kernel.name, kernel.watts,
               kernel.sm_mhz, 1e3 * kernel.measured_j, 1e3 * kernel.predicted_j,
               100 * kernel.relative);
  fmt::print("{} kernels, dynamic energy: mean absolute error {:.1f} %\n", kernels.size(),
             100 * mean_absolute_error(kernels));
}

void print_left_out(const std::vector<LeftOutBench>& benches) {
  std::vector<double> errors;
  for (const auto& bench : benches) errors.push_back(std::abs(bench.relative));
  fmt::print("\n{:<22} {:>8}   predicted by a fit without it, energy above static power\n",
             "microbenchmark", "error");
  for (const auto& bench : benches)
    fmt::print("{:<22} {:+7.1f} %\n", bench.bench, 100 * bench.relative);
  fmt::print("{} microbenchmarks: median absolute error {:.1f} %\n", benches.size(),
             100 * median(errors));
}

void print_operands(const std::vector<OperandEffect>& effects) {
  fmt::print("\n{:<18} {:<18} {:>10} {:>10}   pJ of one, active power included\n", "operands",
             "of one", "random", "zeros");
  for (const auto& effect : effects)
    fmt::print("{:<18} {:<18} {:10.4g} {:10.4g}\n", effect.bench, effect.feature, effect.random_pj,
               effect.zeros_pj);
}

}  // namespace

void print_calibration(const CalibrationFile& file) {
  print_model(file.model);
  fmt::print("\n");
  print_facts(file.board);
  if (!file.operands.empty()) print_operands(file.operands);
  if (!file.leave_one_out.empty()) print_left_out(file.leave_one_out);
  if (!file.unseen.empty()) print_unseen(file.unseen);
}

void print_against(const EnergyModel& model, const EnergyModel& other) {
  struct Row {
    std::string name;
    double mine, other;
  };
  std::vector<Row> rows{{"static_w", model.static_w, other.static_w}};
  for (const auto& coefficient : model.coefficients)
    if (const auto* theirs = other.find(coefficient.feature);
        theirs && coefficient.identified && theirs->identified)
      rows.push_back({coefficient.feature, coefficient.picojoules, theirs->picojoules});
  std::vector<double> ratios;
  for (const auto& row : rows) ratios.push_back(row.mine / row.other);
  const double common =
      median(ratios);  // the gains of two sensors differ: it multiplies every coefficient
  fmt::print("\n{:<20} {:>10} {:>10} {:>9} {:>9}   {} of {}\n", "coefficient", "this", "other",
             "this is", "by itself", other.uuid, other.date);
  int plain = 0, alone = 0;
  for (const auto& row : rows) {
    const double difference = row.mine / row.other - 1, own = row.mine / row.other / common - 1;
    fmt::print("{:<20} {:10.4g} {:10.4g} {:+7.1f} % {:+7.1f} %\n", row.name, row.mine, row.other,
               100 * difference, 100 * own);
    plain += std::abs(difference) <= 0.05;
    alone += std::abs(own) <= 0.05;
  }
  fmt::print(
      "{} coefficients that both separate: {} within 5 %; {} within 5 % beside the factor {:.3f} "
      "that they have in common\n",
      rows.size(), plain, alone, common);
}

}  // namespace gf::cli
