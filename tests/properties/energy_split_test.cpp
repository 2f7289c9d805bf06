// Parts sum to the measured energy exactly, whatever the model, the leaves and the measurement.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "analyze/energy/split.h"

namespace gf {

namespace {

EnergyModel any_model() {
  EnergyModel model;
  auto energy = [] { return *rc::gen::inRange(0, 100000) / 7.0; };
  model.static_w = energy() / 50;
  model.static_high = model.static_w * 1.1;
  model.active_w = energy() / 100;
  model.active_high = model.active_w;
  for (const char* feature : {"inst", "pipe.fma", "tensor.bf16.mma", "tensor.bf16.wgmma",
                              "shared.load", "shared.store", "l2.load", "dram.read"}) {
    const double fitted = energy();
    model.coefficients.push_back({feature, "", fitted, fitted * 0.9, fitted * 1.2, true, ""});
  }
  model.draw_columns = {"static_w", "l2.load"};
  for (int i = *rc::gen::inRange(0, 5); i > 0; --i)
    model.draws.push_back({energy() / 50, energy()});
  return model;
}

std::vector<EnergyLeaf> any_leaves(const EnergyEvaluator& model) {
  const bool waiting = *rc::gen::arbitrary<bool>();
  std::vector<EnergyLeaf> leaves(static_cast<std::size_t>(*rc::gen::inRange(1, 40)));
  for (auto& leaf : leaves) {
    leaf.step = *rc::gen::inRange<std::uint32_t>(0, 4);
    leaf.layer = *rc::gen::inRange<std::uint32_t>(0, 6);
    leaf.ns = *rc::gen::inRange<Nanos>(0, 1'000'000'000);
    leaf.runs = *rc::gen::arbitrary<bool>();
    leaf.count = leaf.runs;
    if (waiting) leaf.waits = *rc::gen::arbitrary<bool>();
    leaf.work = model.no_work();
    leaf.work[EnergyEvaluator::kStatic] = static_cast<double>(leaf.ns) * 1e-9;
    if (leaf.runs && *rc::gen::arbitrary<bool>()) {
      leaf.doubt = model.no_work();
      for (double& doubt : leaf.doubt) doubt = *rc::gen::inRange(0, 1000) * 1e6;
    }
    if (leaf.runs)
      for (std::size_t work = EnergyEvaluator::kFeatures; work < leaf.work.size(); ++work)
        leaf.work[work] = *rc::gen::inRange(0, 3) * 1e9 * *rc::gen::inRange(0, 100000);
  }
  return leaves;
}

std::int64_t sum_of(const std::vector<EnergyPart>& parts) {
  std::int64_t sum = 0;
  for (const auto& part : parts) sum += part.nj;
  return sum;
}

}  // namespace

RC_GTEST_PROP(EnergySplit, PartsSumToTheMeasuredEnergy, ()) {
  const EnergyEvaluator model(any_model(),
                              *rc::gen::arbitrary<bool>() ? find_chip("GH100") : nullptr);
  auto leaves = any_leaves(model);
  const auto total = *rc::gen::inRange<std::int64_t>(0, 5'000'000'000'000);
  split_energy(total, model, leaves);
  std::vector<const EnergyLeaf*> all;
  std::int64_t sum = 0;
  for (const auto& leaf : leaves) {
    all.push_back(&leaf);
    for (const auto nj : leaf.nj) sum += nj;
  }
  RC_ASSERT(sum == total);
  const auto parts = energy_parts(all, &model, *rc::gen::arbitrary<bool>());
  RC_ASSERT(sum_of(parts) == total);
  for (const auto& part : parts) {
    RC_ASSERT(part.low_nj <= part.nj && part.nj <= part.high_nj);
    if (part.component != "rest") RC_ASSERT(part.nj >= 0);
  }
  // Time without kernels takes no part of the rest while a kernel runs somewhere.
  bool runs = false;
  for (const auto& leaf : leaves) runs |= leaf.runs && leaf.ns > 0 && !leaf.waits.value_or(false);
  for (const auto& leaf : leaves)
    if (runs && !leaf.runs) RC_ASSERT(leaf.nj.back() == 0);
}

RC_GTEST_PROP(EnergySplit, RowsSumToTheirDeviceAndEachToItsParts, ()) {
  const EnergyEvaluator model(any_model());
  auto leaves = any_leaves(model);
  const auto total = *rc::gen::inRange<std::int64_t>(1, 5'000'000'000'000);
  const bool with_model = *rc::gen::arbitrary<bool>();
  with_model ? split_energy(total, model, leaves) : split_by_time(total, leaves);
  const auto most = *rc::gen::inRange<std::size_t>(0, 8);
  const auto rows = energy_rows(
      leaves, with_model ? &model : nullptr, total, most, *rc::gen::arbitrary<bool>(),
      [](const auto& leaf) { return leaf.layer; },
      [](const auto& leaf, EnergyRow& row) { row.name = std::to_string(leaf.layer); });
  RC_ASSERT(most == 0 || rows.size() <= most + 1);
  std::int64_t sum = 0;
  Nanos ns = 0, all_ns = 0;
  for (const auto& row : rows) {
    sum += row.nj;
    ns += row.ns;
    if (with_model) RC_ASSERT(sum_of(row.parts) == row.nj);
  }
  std::int64_t waits = 0, of_rows = 0;
  for (const auto& leaf : leaves) {
    all_ns += leaf.ns;
    if (leaf.waits.value_or(false))
      for (const auto nj : leaf.nj) waits += nj;
  }
  RC_ASSERT(sum == total && ns == all_ns);
  // Waiting is part of the rows, and a row of its own.
  const auto waiting = waiting_row(leaves, with_model ? &model : nullptr, total);
  RC_ASSERT(waiting.has_value() == leaves.front().waits.has_value());
  for (const auto& row : rows) of_rows += row.wait_nj.value_or(0);
  if (waiting) RC_ASSERT(waiting->nj == waits && of_rows == waits);
}

}  // namespace gf
