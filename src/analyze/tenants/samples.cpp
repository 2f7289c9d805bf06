#include "analyze/tenants/samples.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "analyze/kernel_rates/align_samples.h"
#include "analyze/sampled/series.h"
#include "model/levels.h"
#include "model/metric_id.h"

namespace gf {

namespace {

/// What work does to a device: its levels and traffic; gpu.busy is what the activities themselves
/// say.
std::vector<std::string_view> metrics_of_work() {
  std::vector<std::string_view> ids;
  for (const LevelRow& row : kLevelRows) {
    if (row.place == LevelPlace::window || row.place == LevelPlace::of_accesses) continue;
    ids.push_back(row.id);
    if (!row.stand_in.empty()) ids.push_back(row.stand_in);
  }
  ids.insert(ids.end(), {"dram.read"_metric, "dram.write"_metric});
  return ids;
}
/// Clocks of samples and kernels lie some milliseconds apart where they cannot be laid over each
/// other: in means of so long that matters little.
constexpr Nanos kBlock = 100 * kNsPerMs;

bool of_work(std::string_view id) { return std::ranges::count(metrics_of_work(), id) > 0; }

TenantSamples sample_by_sample(const Capture& capture, std::uint32_t device,
                               const Intervals& known) {
  const auto all = align_samples(capture, device);
  TenantSamples out;
  out.aligned = true;
  std::vector<std::size_t> kept;
  for (std::size_t metric = 0; metric < all.metrics.size(); ++metric)
    if (of_work(capture.text(all.metrics[metric]))) kept.push_back(metric);
  for (const auto metric : kept) out.metrics.push_back(all.metrics[metric]);
  for (const auto& row : all.rows) {
    if (kept.empty() || !holds(known, row.span)) continue;
    auto& added = out.rows.emplace_back(TenantSamples::Row{row.span, {}});
    for (const auto metric : kept) added.rates.push_back(row.values[metric]);
  }
  return out;
}

TenantSamples block_by_block(const Capture& capture, std::uint32_t device, const Intervals& known) {
  struct Sum {
    double amount = 0;
    Nanos covered = 0;
  };
  TenantSamples out;
  CounterFilter filter{device, {}};
  for (const auto id : metrics_of_work())
    if (const Text metric = capture.strings.find(id); metric != Text::none)
      filter.metrics.push_back(metric);
  if (filter.metrics.empty()) return out;
  out.metrics = filter.metrics;
  std::map<Nanos, std::vector<Sum>> blocks;
  const Interval all{known.front().start, known.back().end};
  each_counter_value(
      capture, all, filter,
      [&](std::uint32_t, Text metric, Nanos start, Nanos duration, double value) {
        if (duration <= 0) return;
        auto& sums = blocks[(start + duration / 2) / kBlock];
        sums.resize(out.metrics.size());
        const auto at = static_cast<std::size_t>(
            std::find(out.metrics.begin(), out.metrics.end(), metric) - out.metrics.begin());
        const bool count = is_count(capture.text(metric));
        sums[at].amount += count ? value : value * static_cast<double>(duration);
        sums[at].covered += duration;
      });
  for (const auto& [number, sums] : blocks) {
    const Interval span{number * kBlock, (number + 1) * kBlock};
    const bool whole = std::all_of(sums.begin(), sums.end(),
                                   [](const Sum& sum) { return sum.covered >= kBlock / 2; });
    if (!whole || !holds(known, span)) continue;
    auto& added = out.rows.emplace_back(TenantSamples::Row{span, {}});
    for (const auto& sum : sums)
      added.rates.push_back(sum.amount / static_cast<double>(sum.covered));
  }
  return out;
}

}  // namespace

TenantSamples tenant_samples(const Capture& capture, std::uint32_t device, const Intervals& known) {
  auto out = sample_by_sample(capture, device, known);
  if (out.rows.empty()) out = block_by_block(capture, device, known);
  return out;
}

}  // namespace gf
