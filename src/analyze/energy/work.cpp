#include "analyze/energy/work.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "analyze/energy/chip_counters.h"
#include "analyze/energy/model.h"
#include "analyze/kernel_rates/sample_reader.h"
#include "analyze/traits.h"
#include "core/text.h"
#include "model/counter_values.h"
#include "model/metrics.h"

namespace gf {

namespace {

struct Term {
  double factor = 1;
  std::string_view counter;
};

std::vector<Term> terms_of(std::string_view expression) {
  std::vector<Term> terms;
  while (!expression.empty()) {
    const auto plus = expression.find(" + ");
    std::string_view part = trimmed(expression.substr(0, plus));
    Term term;
    if (const auto times = part.find(" * "); times != std::string_view::npos) {
      const auto factor = trimmed(part.substr(0, times));
      std::from_chars(factor.data(), factor.data() + factor.size(), term.factor);
      part = trimmed(part.substr(times + 3));
    }
    term.counter = part;
    terms.push_back(term);
    if (plus == std::string_view::npos) {
      expression = std::string_view{};
    } else {
      expression = expression.substr(plus + 3);
    }
  }
  return terms;
}

}  // namespace

const Chip* chip_at(const Capture& capture, std::uint32_t device) {
  return find_chip(capture.text(capture.devices.name[device]),
                   capture.devices.compute_major[device], capture.devices.compute_minor[device]);
}

std::optional<double> evaluate_counters(
    std::string_view expression, const std::map<std::string, double, std::less<>>& counters) {
  while (!expression.empty()) {
    const auto bar = expression.find(" | ");
    std::optional<double> sum = 0;
    for (const auto& term : terms_of(expression.substr(0, bar))) {
      const auto at = counters.find(term.counter);
      if (at == counters.end()) {
        sum.reset();
        break;
      }
      *sum += term.factor * at->second;
    }
    if (sum) return sum;
    if (bar == std::string_view::npos) {
      expression = std::string_view{};
    } else {
      expression = expression.substr(bar + 3);
    }
  }
  return std::nullopt;
}

std::vector<std::map<std::string, double, std::less<>>> counters_by_kernel(const Capture& report) {
  std::vector<std::map<std::string, double, std::less<>>> all(report.report_kernels.size());
  for (std::size_t i = 0; i < report.kernel_counters.size(); ++i) {
    const double value = report.kernel_counters.value[i];
    const auto kernel = report.kernel_counters.kernel[i];
    if (value == value && kernel < all.size())
      all[kernel].emplace(report.text(report.kernel_counters.metric[i]), value);
  }
  return all;
}

std::map<std::string, double> energy_counts(
    const std::map<std::string, double, std::less<>>& counters) {
  std::map<std::string, double> counts;
  for (const auto& feature : energy_features())
    if (const auto count = evaluate_counters(feature.counters, counters))
      counts[feature.id] = *count;
  // Chips that do not tell the paths of a tensor type apart.
  for (const auto& [type, feature] : kTensorFeatures) {
    if (counts.contains(std::string(feature))) continue;
    for (const auto& expression : tensor_expressions(type))
      if (const auto count = evaluate_counters(expression, counters)) {
        counts[std::string(feature)] = *count;
        break;
      }
  }
  return counts;
}

std::vector<std::string> counters_in(std::string_view expression) {
  std::vector<std::string> names;
  for (const auto& term : terms_of(expression.substr(0, expression.find(" | "))))
    names.emplace_back(term.counter);
  return names;
}

std::vector<std::string> energy_counter_names() {
  std::vector<std::string> names;
  for (const auto& feature : energy_features())
    for (auto& name : counters_in(feature.counters)) names.push_back(std::move(name));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::span<const TermlessWork> termless_work() {
  static constexpr TermlessWork kAll[] = {
      {"FP64 tensor operations", "tensor.fp64",
       "sm__ops_path_tensor_src_fp64.sum | sm__inst_executed_pipe_tensor_op_dmma.sum | "
       "smsp__inst_executed_pipe_tensor_op_dmma.sum",
       1.2},
      {"integer tensor operations", "tensor.int",
       "sm__ops_path_tensor_src_int8.sum | sm__inst_executed_pipe_tensor_op_imma.sum | "
       "smsp__inst_executed_pipe_tensor_op_imma.sum",
       0.8},
      {"atomics", "l2.atomic", "lts__t_sectors_op_atom.sum + lts__t_sectors_op_red.sum", 0.2},
      {"textures", "texture",
       "l1tex__t_requests_pipe_tex.sum | smsp__inst_executed_op_texture.sum | "
       "smsp__inst_executed_pipe_tex.sum",
       1.2},
  };
  static_assert(std::size(kAll) <= 8 * sizeof(TermlessKinds));
  return kAll;
}

double lacking(TermlessKinds kinds) {
  double most = 0;
  const auto all = termless_work();
  for (std::size_t kind = 0; kind < all.size(); ++kind)
    if (kinds & (1u << kind)) most = std::max(most, all[kind].lacks);
  return most;
}

TermlessKinds without_terms(TermlessKinds kinds, const EnergyEvaluator& model,
                            const std::vector<bool>& counted) {
  const auto all = termless_work();
  for (std::size_t kind = 0; kind < all.size(); ++kind)
    for (std::size_t i = EnergyEvaluator::kFeatures; i < model.columns(); ++i)
      if (i < counted.size() && counted[i] && model.feature(i).starts_with(all[kind].feature))
        kinds &= static_cast<TermlessKinds>(~(1u << kind));
  return kinds;
}

TermlessKinds termless_by_name(const Names& names, Text name, const Chip* chip) {
  const auto traits = names.kernel(name);
  TermlessKinds kinds = 0;
  const auto has_path = [&](TensorType type) { return chip && tensor_path(chip->id, type); };
  if ((traits & kernel_is::fp64_product) && has_path(TensorType::fp64)) kinds |= 1;
  if ((traits & kernel_is::int8_product) && has_path(TensorType::int8)) kinds |= 2;
  if ((traits & kernel_is::atomic) || (traits & kernel_is::adds_by_index)) kinds |= 4;
  return kinds;
}

KernelWork reported_work(const Capture& capture, const Column<std::uint32_t>& report_row,
                         const EnergyEvaluator& model) {
  KernelWork out;
  out.counted.assign(model.columns(), false);
  const auto termless = termless_work();
  for (const auto& counters : counters_by_kernel(capture)) {
    EnergyWork work = model.no_work();
    TermlessKinds kinds = 0;
    for (std::size_t kind = 0; kind < termless.size(); ++kind)
      if (const auto count = evaluate_counters(termless[kind].counters, counters)) {
        const auto bit = static_cast<TermlessKinds>(1u << kind);
        out.termless_counted |= bit;
        if (*count > 0) kinds |= bit;
      }
    out.termless.push_back(kinds);
    for (const auto& [feature, count] : energy_counts(counters)) {
      const auto column = model.column(feature);
      if (column >= work.size()) continue;
      work[column] = std::max(0.0, count);
      out.counted[column] = true;
    }
    double active = std::nan("");
    auto of = [&](const char* name) {
      const auto at = counters.find(name);
      return at == counters.end() ? std::nan("") : at->second;
    };
    // SMs with work; sub-partitions with work, where a report has only those, are a lower bound of
    // it.
    for (const auto& [some, all] :
         {std::pair{"sm__cycles_active.sum", "sm__cycles_elapsed.sum"},
          std::pair{"sm__cycles_active.avg", "sm__cycles_elapsed.max"},
          std::pair{"smsp__cycles_active.sum", "smsp__cycles_elapsed.sum"},
          std::pair{"smsp__cycles_active.avg", "smsp__cycles_elapsed.avg"}})
      if (std::isnan(active) && of(all) > 0) active = std::min(1.0, of(some) / of(all));
    if (!std::isnan(active)) out.counted[EnergyEvaluator::kActive] = true;
    out.rows.push_back(std::move(work));
    out.active.push_back(active);
  }
  out.row_of.assign(report_row.begin(), report_row.end());
  return out;
}

namespace {

/// Sampled metrics over some time: counts as they are, ratios times seconds.
using Sampled = std::map<std::string, double, std::less<>>;

/// Turns sampled metrics into features. Pipes count warp instructions; the threads of one are those
/// of the mean instruction.
class Translation {
 public:
  Translation(const Capture& capture, std::uint32_t device, const EnergyEvaluator& model)
      : model_(model) {
    const auto& devices = capture.devices;
    sms_ = std::max(0, devices.sm_count[device]);
    const Chip* chip = chip_at(capture, device);
    // FP64 multiply-adds that an SM finishes in a cycle.
    if (chip) {
      if (chip->id == ChipId::GH100 || chip->id == ChipId::GB100) {
        fp64_lanes_ = 64;
      } else if (chip->id == ChipId::GA100 || chip->id == ChipId::GV100) {
        fp64_lanes_ = 32;
      } else {
        fp64_lanes_ = 2;
      }
    }
  }

  /// Adds to `work`; `hertz` is the SM clock for what was sampled as a share of cycles.
  void add(const Sampled& sampled, double hertz, EnergyWork& work,
           std::vector<bool>& counted) const {
    auto of = [&](std::string_view metric) {
      const auto at = sampled.find(metric);
      return at == sampled.end() ? std::nan("") : at->second;
    };
    auto put = [&](std::string_view feature, double count) {
      const auto column = model_.column(feature);
      if (column >= work.size() || !(count >= 0)) return;
      work[column] += count;
      counted[column] = true;
    };
    double threads = 0;
    if (of("inst.executed"_metric) > 0)
      threads = of("inst.threads"_metric) / of("inst.executed"_metric);
    put("inst", of("inst.executed"_metric));
    put("pipe.alu", of("inst.alu"_metric) * threads);
    put("pipe.fma", of("inst.fma"_metric) * threads);
    put("pipe.xu", of("inst.xu"_metric) * threads);
    put("pipe.fp64", of("pipe.fp64"_metric) * hertz * sms_ * fp64_lanes_);
    put("tensor.cycle", of("tensor.active"_metric) * hertz * sms_);
    put("shared.access", 4 * of("shared.wavefronts"_metric));
    put("l1.wavefront", std::max(0.0, of("l1.wavefronts"_metric) - of("shared.wavefronts"_metric)));
    put("l1.fill", of("l1.fill_bytes"_metric) / 32);
    put("l2.load", of("l2.sm_reads"_metric));
    put("l2.store", of("l2.sm_writes"_metric));
    if (const double all = of("l2.sm_reads"_metric) + of("l2.sm_writes"_metric); all > 0) {
      put("l2.request", of("l2.sm_requests"_metric) * of("l2.sm_reads"_metric) / all);
      put("l2.store_request", of("l2.sm_requests"_metric) * of("l2.sm_writes"_metric) / all);
    }
    put("dram.read", of("dram.read"_metric) / 32);
    put("dram.write", of("dram.write"_metric) / 32);
    if (const double any_active = of("sm.active_any"_metric); any_active >= 0) {
      work[EnergyEvaluator::kActive] += any_active;
      counted[EnergyEvaluator::kActive] = true;
    }
  }

 private:
  const EnergyEvaluator& model_;
  double sms_ = 0, fp64_lanes_ = 0;
};

double mean_clock(const Capture& capture, std::uint32_t device, Interval span) {
  const Text id = capture.strings.find("clock.sm"_metric);
  if (id == Text::none) return 0;
  double sum = 0, count = 0, nearest = 0;
  each_counter_value(capture, {kAllTime.start, span.end}, {device, {id}},
                     [&](std::uint32_t, Text, Nanos start, Nanos, double value) {
                       if (!std::isfinite(value)) return;
                       if (start <= span.start) nearest = value;
                       if (start >= span.start) {
                         sum += value;
                         ++count;
                       }
                     });
  return count > 0 ? sum / count : nearest;
}

/// SM cycles over time: as sampled, else as the driver says.
double hertz_of(const Sampled& sampled, double seconds, double fallback) {
  const auto at = sampled.find("sm.cycles"_metric);
  return at != sampled.end() && at->second > 0 && seconds > 0 ? at->second / seconds : fallback;
}

bool is_ratio(const Capture& capture, Text metric) {
  const Metric* known = find_metric(capture.text(metric));
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
std::vector<double> highest_rates(const Capture& capture, std::uint32_t device,
                                  const std::vector<Text>& metrics) {
  struct Highest {
    double rate = -HUGE_VAL;
    bool ratio = false;
  };
  ByMetric<Highest> highest;
  auto of = [&](Text metric) -> Highest& {
    return highest.at(metric, [&] { return Highest{-HUGE_VAL, is_ratio(capture, metric)}; });
  };
  each_counter_value(capture, kAllTime, {device, metrics},
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

/// The rates of kernels as energy takes them. A rate is at most the highest of any sample, and
/// drawn towards the mean of all kernels as far as its doubt exceeds the spread between kernels:
/// what the samples do not tell apart then shares by time, and short kernels do not soak up noise,
/// which rates that cannot be negative invite.
class DrawnRates {
 public:
  DrawnRates(const Capture& capture, std::uint32_t device, const KernelRates& solved)
      : solved_(solved), highest_(highest_rates(capture, device, solved.metrics)) {
    for (std::size_t metric = 0; metric < solved.metrics.size(); ++metric)
      spread_.push_back(spread_of(metric));
  }
  struct Drawn {
    double rate = 0, doubt = 0;
  };
  Drawn of(std::size_t metric, std::size_t group) const {
    const double doubt = solved_.rates[metric][group].half_width / 1.96, noise = doubt * doubt;
    double own = noise > 0 ? spread_[metric].variance / (spread_[metric].variance + noise) : 1;
    return {own * bounded(metric, group) + (1 - own) * spread_[metric].mean,
            std::sqrt(own) * doubt};
  }

 private:
  struct Spread {
    double mean = 0, variance = 0;
  };
  double bounded(std::size_t metric, std::size_t group) const {
    return std::min(solved_.rates[metric][group].value, highest_[metric]);
  }
  Spread spread_of(std::size_t metric) const {
    double ns = 0, sum = 0, squares = 0;
    for (std::size_t group = 0; group < solved_.groups.size(); ++group) {
      const double weight = static_cast<double>(solved_.groups[group].ns),
                   rate = bounded(metric, group);
      ns += weight;
      sum += weight * rate;
      squares += weight * rate * rate;
    }
    if (ns <= 0) return {};
    return {sum / ns, std::max(0.0, squares / ns - sum / ns * (sum / ns))};
  }

  const KernelRates& solved_;
  std::vector<double> highest_;
  std::vector<Spread> spread_;
};

}  // namespace

SampledWindow sampled_window(const Capture& capture, std::uint32_t device, Interval span,
                             const EnergyEvaluator& model) {
  SampledWindow out;
  out.work = model.no_work();
  out.counted.assign(model.columns(), false);
  struct Sum {
    double value = 0;
    Nanos covered = 0, cut = 0;
    bool ratio = false, in_sms = false;
  };
  ByMetric<Sum> sums;
  // What the SMs counted in a sample that was cut is of a part of it, and scaled like what is
  // missing.
  const auto cut = cut_samples(capture, device, {&span, 1});
  each_counter_value(
      capture, span, {device, {}},
      [&](std::uint32_t, Text metric, Nanos start, Nanos duration, double value) {
        if (duration <= 0 || !std::isfinite(value)) return;
        const Nanos overlap = std::min(start + duration, span.end) - std::max(start, span.start);
        if (overlap <= 0) return;
        Sum& sum = sums.at(metric, [&] {
          return Sum{0, 0, 0, is_ratio(capture, metric), counted_in_sms(capture.text(metric))};
        });
        if (sum.in_sms && std::binary_search(cut.begin(), cut.end(), start)) {
          sum.cut += overlap;
          return;
        }
        sum.value += value * static_cast<double>(overlap) *
                     (sum.ratio ? 1e-9 : 1 / static_cast<double>(duration));
        sum.covered += overlap;
      });
  Sampled sampled;
  for (const auto& [metric, sum] : sums.all()) {
    if (sum.covered <= 0) continue;
    sampled.emplace(capture.text(metric), sum.value * static_cast<double>(span.length()) /
                                              static_cast<double>(sum.covered));
    if (capture.text(metric) == "sm.active_any"_metric)
      out.coverage =
          static_cast<double>(sum.covered + sum.cut) / static_cast<double>(span.length());
  }
  const double seconds = static_cast<double>(span.length()) * 1e-9;
  out.hertz = hertz_of(sampled, seconds, mean_clock(capture, device, span));
  Translation(capture, device, model).add(sampled, out.hertz, out.work, out.counted);
  return out;
}

KernelWork sampled_work(const Capture& capture, std::uint32_t device, const KernelRates& solved,
                        const EnergyEvaluator& model) {
  KernelWork out;
  out.per_ns = true;
  out.counted.assign(model.columns(), false);
  if (solved.metrics.empty()) return out;
  const DrawnRates drawn(capture, device, solved);
  const Translation translation(capture, device, model);
  const double clock = mean_clock(capture, device, {INT64_MIN, INT64_MAX});
  for (std::size_t group = 0; group < solved.groups.size(); ++group) {
    Sampled rates, higher;  // of one nanosecond; the same a standard error up
    for (std::size_t index = 0; index < solved.metrics.size(); ++index) {
      double unit = is_ratio(capture, solved.metrics[index]) ? 1e-9 : 1;
      const auto [rate, doubt] = drawn.of(index, group);
      rates.emplace(capture.text(solved.metrics[index]), rate * unit);
      higher.emplace(capture.text(solved.metrics[index]), (rate + doubt) * unit);
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
