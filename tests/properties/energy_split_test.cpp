// Parts sum to the measured energy exactly, whatever the model, the leaves and the measurement.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "analyze/energy/split.h"

namespace gf {

namespace {

EnergyModel any_model() {
  EnergyModel m;
  auto energy = [] { return *rc::gen::inRange(0, 100000) / 7.0; };
  m.static_w = energy() / 50, m.static_high = m.static_w * 1.1;
  m.active_w = energy() / 100, m.active_high = m.active_w;
  for (const char* f : {"inst", "pipe.fma", "tensor.bf16.mma", "tensor.bf16.wgmma", "shared.load",
                        "shared.store", "l2.load", "dram.read"}) {
    const double e = energy();
    m.coefficients.push_back({f, "", e, e * 0.9, e * 1.2, true, ""});
  }
  m.draw_columns = {"static_w", "l2.load"};
  for (int i = *rc::gen::inRange(0, 5); i > 0; --i) m.draws.push_back({energy() / 50, energy()});
  return m;
}

std::vector<EnergyLeaf> any_leaves(const EnergyEvaluator& model) {
  std::vector<EnergyLeaf> leaves(static_cast<std::size_t>(*rc::gen::inRange(1, 40)));
  for (auto& l : leaves) {
    l.step = *rc::gen::inRange<std::uint32_t>(0, 4),
    l.layer = *rc::gen::inRange<std::uint32_t>(0, 6);
    l.ns = *rc::gen::inRange<Nanos>(0, 1'000'000'000);
    l.runs = *rc::gen::arbitrary<bool>();
    l.count = l.runs;
    l.work = model.no_work();
    l.work[EnergyEvaluator::kStatic] = static_cast<double>(l.ns) * 1e-9;
    if (l.runs && *rc::gen::arbitrary<bool>()) {
      l.doubt = model.no_work();
      for (double& x : l.doubt) x = *rc::gen::inRange(0, 1000) * 1e6;
    }
    if (l.runs)
      for (std::size_t c = EnergyEvaluator::kFeatures; c < l.work.size(); ++c)
        l.work[c] = *rc::gen::inRange(0, 3) * 1e9 * *rc::gen::inRange(0, 100000);
  }
  return leaves;
}

std::int64_t sum_of(const std::vector<EnergyPart>& parts) {
  std::int64_t sum = 0;
  for (const auto& p : parts) sum += p.nj;
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
  for (const auto& l : leaves) {
    all.push_back(&l);
    for (const auto nj : l.nj) sum += nj;
  }
  RC_ASSERT(sum == total);
  const auto parts = energy_parts(all, &model, *rc::gen::arbitrary<bool>());
  RC_ASSERT(sum_of(parts) == total);
  for (const auto& p : parts) {
    RC_ASSERT(p.low_nj <= p.nj && p.nj <= p.high_nj);
    if (p.component != "rest") RC_ASSERT(p.nj >= 0);
  }
  // Time without kernels takes no part of the rest while a kernel runs somewhere.
  bool runs = false;
  for (const auto& l : leaves) runs |= l.runs && l.ns > 0;
  for (const auto& l : leaves)
    if (runs && !l.runs) RC_ASSERT(l.nj.back() == 0);
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
      [](const auto& l) { return l.layer; },
      [](const auto& l, EnergyRow& r) { r.name = std::to_string(l.layer); });
  RC_ASSERT(most == 0 || rows.size() <= most + 1);
  std::int64_t sum = 0;
  Nanos ns = 0, all_ns = 0;
  for (const auto& r : rows) {
    sum += r.nj, ns += r.ns;
    if (with_model) RC_ASSERT(sum_of(r.parts) == r.nj);
  }
  for (const auto& l : leaves) all_ns += l.ns;
  RC_ASSERT(sum == total && ns == all_ns);
}

}  // namespace gf
