#include <algorithm>
#include <cmath>

#include "analyze/energy/work.h"
#include "analyze/kernel_rates/kernel_rates.h"
#include "model/counter_values.h"
#include "model/metrics.h"

namespace gf {

namespace {

/// Sampled metrics over some time: counts as they are, ratios times seconds.
using Sampled = std::map<std::string, double, std::less<>>;

/// Turns sampled metrics into features. Pipes count warp instructions; the threads of one are those
/// of the mean instruction.
class Translation {
 public:
  Translation(const Capture& capture, std::uint32_t device, const EnergyEvaluator& model)
      : model_(model) {
    const auto& d = capture.devices;
    const Product* product = find_product(capture.text(d.name[device]));
    sms_ = d.sm_count[device] > 0 ? d.sm_count[device] : product ? product->sm_count : 0;
    const Chip* chip =
        find_chip(capture.text(d.name[device]), d.compute_major[device], d.compute_minor[device]);
    // FP64 multiply-adds that an SM finishes in a cycle.
    if (chip)
      fp64_lanes_ = chip->id == ChipId::GH100 || chip->id == ChipId::GB100   ? 64
                    : chip->id == ChipId::GA100 || chip->id == ChipId::GV100 ? 32
                                                                             : 2;
  }

  /// Adds to `work`; `hertz` is the SM clock for what was sampled as a share of cycles.
  void add(const Sampled& s, double hertz, EnergyWork& work, std::vector<bool>& counted) const {
    auto of = [&](std::string_view metric) {
      const auto at = s.find(metric);
      return at == s.end() ? std::nan("") : at->second;
    };
    auto put = [&](std::string_view feature, double n) {
      const auto column = model_.column(feature);
      if (column >= work.size() || !(n >= 0)) return;
      work[column] += n;
      counted[column] = true;
    };
    const double threads = of("inst.executed") > 0 ? of("inst.threads") / of("inst.executed") : 0;
    put("inst", of("inst.executed"));
    put("pipe.alu", of("inst.alu") * threads);
    put("pipe.fma", of("inst.fma") * threads);
    put("pipe.xu", of("inst.xu") * threads);
    put("pipe.fp64", of("pipe.fp64") * hertz * sms_ * fp64_lanes_);
    put("tensor.cycle", of("tensor.active") * hertz * sms_);
    put("shared.access", 4 * of("shared.wavefronts"));
    put("l1.wavefront", std::max(0.0, of("l1.wavefronts") - of("shared.wavefronts")));
    put("l1.fill", of("l1.fill_bytes") / 32);
    put("l2.load", of("l2.sm_reads"));
    put("l2.store", of("l2.sm_writes"));
    if (const double all = of("l2.sm_reads") + of("l2.sm_writes"); all > 0) {
      put("l2.request", of("l2.sm_requests") * of("l2.sm_reads") / all);
      put("l2.store_request", of("l2.sm_requests") * of("l2.sm_writes") / all);
    }
    put("dram.read", of("dram.read") / 32);
    put("dram.write", of("dram.write") / 32);
    if (const double a = of("sm.active_any"); a >= 0)
      work[EnergyEvaluator::kActive] += a, counted[EnergyEvaluator::kActive] = true;
  }

 private:
  const EnergyEvaluator& model_;
  double sms_ = 0, fp64_lanes_ = 0;
};

double mean_clock(const Capture& c, std::uint32_t device, Interval span) {
  const Text id = c.strings.find("clock.sm");
  if (id == Text::none) return 0;
  double sum = 0, n = 0, nearest = 0;
  each_counter_value(c, {kAllTime.start, span.end}, {device, {id}},
                     [&](std::uint32_t, Text, Nanos start, Nanos, double value) {
                       if (!std::isfinite(value)) return;
                       if (start <= span.start) nearest = value;
                       if (start >= span.start) sum += value, ++n;
                     });
  return n > 0 ? sum / n : nearest;
}

/// SM cycles over time: as sampled, else as the driver says.
double hertz_of(const Sampled& s, double seconds, double fallback) {
  const auto at = s.find("sm.cycles");
  return at != s.end() && at->second > 0 && seconds > 0 ? at->second / seconds : fallback;
}

bool is_ratio(const Capture& c, Text metric) {
  const Metric* known = find_metric(c.text(metric));
  return known && known->unit == "ratio";
}

/// Something for each metric that comes, by its id: found without a search, since there are
/// millions of values.
template <class T>
class ByMetric {
 public:
  /// The metric's own; `make` gives the first.
  template <class Make>
  T& at(Text metric, Make&& make) {
    const auto id = static_cast<std::size_t>(metric);
    if (id >= place_.size()) place_.resize(id + 1, kNoRow);
    if (place_[id] == kNoRow) {
      place_[id] = static_cast<std::uint32_t>(all_.size());
      all_.emplace_back(metric, make());
    }
    return all_[place_[id]].second;
  }
  const std::vector<std::pair<Text, T>>& all() const { return all_; }

 private:
  std::vector<std::uint32_t> place_;
  std::vector<std::pair<Text, T>> all_;
};

/// The highest rate of each metric in any sample: no kernel is taken to be above it. Ratios as they
/// are, counts a nanosecond.
std::vector<double> highest_rates(const Capture& c, std::uint32_t device,
                                  const std::vector<Text>& metrics) {
  struct Highest {
    double rate = -HUGE_VAL;
    bool ratio = false;
  };
  ByMetric<Highest> highest;
  auto of = [&](Text metric) -> Highest& {
    return highest.at(metric, [&] { return Highest{-HUGE_VAL, is_ratio(c, metric)}; });
  };
  each_counter_value(c, kAllTime, {device, metrics},
                     [&](std::uint32_t, Text metric, Nanos, Nanos duration, double value) {
                       if (duration <= 0 || !std::isfinite(value)) return;
                       auto& most = of(metric);
                       most.rate = std::max(
                           most.rate, most.ratio ? value : value / static_cast<double>(duration));
                     });
  std::vector<double> out;
  for (const Text metric : metrics) out.push_back(of(metric).rate);
  return out;
}

}  // namespace

SampledWindow sampled_window(const Capture& c, std::uint32_t device, Interval span,
                             const EnergyEvaluator& model) {
  SampledWindow out;
  out.work = model.no_work();
  out.counted.assign(model.columns(), false);
  struct Sum {
    double value = 0;
    Nanos covered = 0;
    bool ratio = false;
  };
  ByMetric<Sum> sums;
  each_counter_value(c, span, {device, {}},
                     [&](std::uint32_t, Text metric, Nanos start, Nanos duration, double value) {
                       if (duration <= 0 || !std::isfinite(value)) return;
                       const Nanos overlap =
                           std::min(start + duration, span.end) - std::max(start, span.start);
                       if (overlap <= 0) return;
                       Sum& sum = sums.at(metric, [&] { return Sum{0, 0, is_ratio(c, metric)}; });
                       sum.value += value * static_cast<double>(overlap) *
                                    (sum.ratio ? 1e-9 : 1 / static_cast<double>(duration));
                       sum.covered += overlap;
                     });
  Sampled sampled;
  for (const auto& [metric, sum] : sums.all()) {
    sampled.emplace(c.text(metric), sum.value * static_cast<double>(span.length()) /
                                        static_cast<double>(sum.covered));
    if (c.text(metric) == "sm.active_any")
      out.coverage = static_cast<double>(sum.covered) / static_cast<double>(span.length());
  }
  const double seconds = static_cast<double>(span.length()) * 1e-9;
  out.hertz = hertz_of(sampled, seconds, mean_clock(c, device, span));
  Translation(c, device, model).add(sampled, out.hertz, out.work, out.counted);
  return out;
}

KernelWork sampled_work(const Capture& c, std::uint32_t device, const EnergyEvaluator& model) {
  KernelWork out;
  out.per_ns = true;
  out.counted.assign(model.columns(), false);
  const KernelRates solved = solve_kernel_rates(c, device);
  if (solved.metrics.empty()) return out;
  const auto highest = highest_rates(c, device, solved.metrics);
  auto bounded = [&](std::size_t m, std::size_t g) {
    return std::min(solved.rates[m][g].value, highest[m]);
  };
  // A rate is drawn towards the mean of all kernels as far as its doubt exceeds the spread between
  // kernels: what the samples do not tell apart then shares by time, and short kernels do not soak
  // up noise, which rates that cannot be negative invite.
  struct Spread {
    double mean = 0, variance = 0;
  };
  std::vector<Spread> spread(solved.metrics.size());
  for (std::size_t m = 0; m < solved.metrics.size(); ++m) {
    double ns = 0, sum = 0, squares = 0;
    for (std::size_t g = 0; g < solved.groups.size(); ++g) {
      const double weight = static_cast<double>(solved.groups[g].ns), rate = bounded(m, g);
      ns += weight, sum += weight * rate, squares += weight * rate * rate;
    }
    if (ns > 0) spread[m] = {sum / ns, std::max(0.0, squares / ns - sum / ns * (sum / ns))};
  }
  struct Drawn {
    double rate = 0, doubt = 0;
  };
  auto drawn = [&](std::size_t m, std::size_t g) -> Drawn {
    const double doubt = solved.rates[m][g].half_width / 1.96, noise = doubt * doubt;
    const double own = noise > 0 ? spread[m].variance / (spread[m].variance + noise) : 1;
    return {own * bounded(m, g) + (1 - own) * spread[m].mean, std::sqrt(own) * doubt};
  };
  const Translation translation(c, device, model);
  const double clock = mean_clock(c, device, {INT64_MIN, INT64_MAX});
  for (std::size_t g = 0; g < solved.groups.size(); ++g) {
    Sampled rates, higher;  // of one nanosecond; the same a standard error up
    for (std::size_t m = 0; m < solved.metrics.size(); ++m) {
      const Metric* metric = find_metric(c.text(solved.metrics[m]));
      const double unit = metric && metric->unit == "ratio" ? 1e-9 : 1;
      const auto [rate, doubt] = drawn(m, g);
      rates.emplace(c.text(solved.metrics[m]), rate * unit);
      higher.emplace(c.text(solved.metrics[m]), (rate + doubt) * unit);
    }
    EnergyWork work = model.no_work(), above = model.no_work();
    const double hertz = hertz_of(rates, 1e-9, clock);
    translation.add(rates, hertz, work, out.counted);
    translation.add(higher, hertz, above, out.counted);
    for (std::size_t i = 0; i < above.size(); ++i) above[i] = std::abs(above[i] - work[i]);
    above[EnergyEvaluator::kActive] *= 1e9;
    out.doubts.push_back(std::move(above));
    out.active.push_back(work[EnergyEvaluator::kActive] * 1e9);
    work[EnergyEvaluator::kActive] = 0;
    out.rows.push_back(std::move(work));
  }
  out.row_of = solved.group_of;
  return out;
}

}  // namespace gf
