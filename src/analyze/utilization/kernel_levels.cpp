#include "analyze/utilization/kernel_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/text.h"
#include "model/vendor.h"

namespace gf {
namespace {

constexpr std::string_view kCommon =
    "gpu__time_duration.sum,smsp__cycles_elapsed.sum,smsp__cycles_active.sum,smsp__issue_active."
    "sum,sm__pipe_tensor_cycles_active.sum,"
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed,sm__inst_executed_pipe_tensor."
    "sum";

std::string flops_counters(const Chip* chip) {
  std::string list;
  for (const auto& path : tensor_paths()) {
    if (!chip || path.chip != chip->id) continue;
    std::string_view rest = path.counters;
    while (!rest.empty()) {
      const auto plus = rest.find(" + ");
      list += fmt::format("{}{}.sum", list.empty() ? "" : ",", rest.substr(0, plus));
      if (plus == std::string_view::npos) {
        rest = std::string_view{};
      } else {
        rest = rest.substr(plus + 3);
      }
    }
  }
  return list;
}

}  // namespace

std::string counters_for(KernelLevel level, const Chip* chip) {
  if (level == KernelLevel::tensor_flops) {
    const auto list = flops_counters(chip);
    if (list.empty()) return "sm__ops_path_tensor_src_*.sum,smsp__cycles_elapsed.sum";
    return list + ",smsp__cycles_elapsed.sum";
  }
  for (const auto& formula : level_formulas()) {
    if (formula.level != level || (chip && !(formula.chips & bit(chip->id))) ||
        (!chip && formula.chips != kEveryChip))
      continue;
    std::string list;
    std::set<std::string_view> named;
    for (const std::string_view sum : {formula.numerator, formula.denominator})
      each_term(sum, [&](std::string_view name, bool) {
        if (named.insert(name).second) list += fmt::format("{}{}", list.empty() ? "" : ",", name);
      });
    return list;
  }
  return {};
}

bool nsight_compute_helps(const Capture& capture) {
  const Vendor vendor = vendor_of(capture);
  return vendor == Vendor::nvidia || vendor == Vendor::unknown;
}

std::string ncu_command(const Chip* chip, std::int64_t kernels_of_step) {
  std::string metrics(kCommon);
  if (chip && (chip_sets::kDataCentreBlackwell & bit(chip->id)))
    metrics += ",sm__inst_executed_pipe_tc.sum";
  if (const auto flops = flops_counters(chip); !flops.empty()) metrics += fmt::format(",{}", flops);
  constexpr int kWarmUpSteps = 5;
  std::string which;
  if (kernels_of_step > 0) {
    which = fmt::format("--launch-skip {} --launch-count {}", kWarmUpSteps * kernels_of_step,
                        kernels_of_step);
  } else {
    which = std::string("--launch-count 2000");
  }
  return fmt::format(
      "ncu {} --clock-control none --cache-control none --metrics {} --csv --page raw --log-file "
      "counters.csv python train.py",
      which, metrics);
}

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The counters that some formula uses.
std::unordered_set<std::string> wanted_counters() {
  std::unordered_set<std::string> names;
  for (const auto& formula : level_formulas()) {
    each_term(formula.numerator, [&](std::string_view name, bool) { names.emplace(name); });
    each_term(formula.denominator, [&](std::string_view name, bool) { names.emplace(name); });
  }
  for (const auto& path : tensor_paths())
    each_term(path.counters,
              [&](std::string_view name, bool) { names.insert(fmt::format("{}.sum", name)); });
  return names;
}

/// Counter values by metric name and report row; a metric is looked up in the table once, when a
/// formula asks for it.
class Counters {
 public:
  explicit Counters(const Capture& capture) : rows_(capture.report_kernels.size()) {
    const auto& counters = capture.kernel_counters;
    // Only names that formulas can ask for: a report can hold thousands of others.
    const auto wanted = wanted_counters();
    std::unordered_map<std::uint32_t, int> slots;
    for (std::size_t i = 0; i < counters.size(); ++i) {
      if (counters.kernel[i] >= rows_ || std::isnan(counters.value[i])) continue;
      const auto id = static_cast<std::uint32_t>(counters.metric[i]);
      auto [slot, fresh] = slots.try_emplace(id, -1);
      if (fresh) {
        const auto name = capture.text(counters.metric[i]);
        if (wanted.contains(std::string(name))) {
          slot->second = static_cast<int>(values_.size());
          by_name_.emplace(name, values_.size());
          values_.emplace_back(rows_, kNaN);
        }
      }
      if (slot->second >= 0)
        values_[static_cast<std::size_t>(slot->second)][counters.kernel[i]] = counters.value[i];
    }
  }
  const std::vector<double>* find(std::string_view name) const {
    const auto at = by_name_.find(name);
    if (at == by_name_.end()) return nullptr;
    return &values_[at->second];
  }
  void add(std::string_view name, std::vector<double> values) {
    by_name_.emplace(name, values_.size());
    values_.push_back(std::move(values));
  }
  std::size_t rows() const { return rows_; }

 private:
  std::size_t rows_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::vector<std::vector<double>> values_;
};

struct Term {
  const std::vector<double>* values;
  bool optional;
  double of(std::size_t kernel) const {
    return optional && std::isnan((*values)[kernel]) ? 0 : (*values)[kernel];
  }
};

/// The terms of "a + b + [c]"; empty when a term without brackets is missing.
std::vector<Term> terms(const Counters& counters, std::string_view expression) {
  std::vector<Term> found;
  bool missing = false;
  each_term(expression, [&](std::string_view name, bool optional) {
    const auto* values = counters.find(name);
    missing = missing || (!values && !optional);
    if (values) found.push_back({values, optional});
  });
  if (missing) found.clear();
  return found;
}

double sum(const std::vector<Term>& terms, std::size_t kernel) {
  double total = 0;
  for (const auto& term : terms) total += term.of(kernel);
  return total;
}

/// Peak bytes that device memory could have moved in each report kernel.
std::vector<double> peak_bytes(const Capture& capture) {
  const auto& kernels = capture.report_kernels;
  std::vector<double> bytes(kernels.size(), kNaN);
  double rate = kNaN;
  for (std::size_t i = 0; i < capture.devices.size(); ++i)
    if (const auto* product =
            find_product(capture.text(capture.devices.name[i]), capture.devices.sm_count[i]);
        product && product->dram_bytes_per_s > 0) {
      rate = static_cast<double>(product->dram_bytes_per_s);
      break;
    }
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = rate * kernels.duration_ns[i] * 1e-9;
  return bytes;
}

using Ratios = std::array<std::vector<double>, kKernelLevels>;

/// Fills the formula's level for the kernels that have its counters and no value yet: formulas come
/// in order of preference. True when it gave a value.
bool apply_formula(const Counters& counters, const LevelFormula& formula, Ratios& ratios) {
  const auto numerator = terms(counters, formula.numerator);
  const auto denominator = terms(counters, formula.denominator);
  if (numerator.empty() || (!formula.denominator.empty() && denominator.empty())) return false;
  const auto& times = ratios[static_cast<std::size_t>(KernelLevel::sm_active)];
  if (!formula.times.empty() && times.empty()) return false;
  auto& column = ratios[static_cast<std::size_t>(formula.level)];
  bool used = false;
  for (std::size_t kernel = 0; kernel < counters.rows(); ++kernel) {
    if (!column.empty() && !std::isnan(column[kernel])) continue;
    double value = sum(numerator, kernel);
    if (!denominator.empty()) {
      const double whole = sum(denominator, kernel);
      if (!(whole > 0)) continue;
      value /= whole;
    }
    value *= formula.factor;
    if (!formula.times.empty()) value *= times[kernel];
    if (std::isnan(value)) continue;
    if (column.empty()) column.assign(counters.rows(), kNaN);
    column[kernel] = value;
    used = true;
  }
  return used;
}

/// Operations of each input type over what the tensor cores could do of it, dense, in the SM cycles
/// that elapsed; empty when no kernel has them.
std::vector<double> tensor_flops(const Counters& counters, const Chip* chip,
                                 const std::vector<double>& elapsed) {
  std::vector<double> column;
  for (const auto& path : tensor_paths()) {
    if (!chip || path.chip != chip->id) continue;
    std::string names;  // each counter's .sum; a type that is missing counts nothing
    each_term(path.counters, [&](std::string_view name, bool) {
      names += fmt::format("{}[{}.sum]", names.empty() ? "" : " + ", name);
    });
    for (const auto& [operations, optional] : terms(counters, names)) {
      if (column.empty()) column.assign(counters.rows(), kNaN);
      for (std::size_t kernel = 0; kernel < column.size(); ++kernel) {
        const double possible = path.dense_ops * elapsed[kernel] / 4;
        if (std::isnan((*operations)[kernel]) || !(possible > 0)) continue;
        if (std::isnan(column[kernel])) column[kernel] = 0;
        column[kernel] += (*operations)[kernel] / possible;
      }
    }
  }
  return column;
}

/// tensor.issue without that of kernels which only do packed arithmetic in the tensor pipe; empty
/// where that does not run there, or is not known to.
std::vector<double> matrix_issue(const Chip* chip, const std::vector<double>& issued,
                                 const std::vector<double>& active) {
  std::vector<double> column;
  if (!chip || chip->id != ChipId::GH100 || issued.empty() || active.empty()) return column;
  for (std::size_t kernel = 0; kernel < issued.size(); ++kernel) {
    const bool known = !std::isnan(issued[kernel]) && !std::isnan(active[kernel]);
    const bool multiplies = active[kernel] >= kMatrixCycles * issued[kernel];
    column.push_back(!known ? kNaN : multiplies ? issued[kernel] : 0);
  }
  return column;
}

/// Holds the ratios in 0..1 and in the order of the ladder; how many kernels gave way by over 2 %.
std::int64_t hold_order(std::size_t kernels, Ratios& ratios) {
  std::vector<bool> gave_way(kernels, false);
  auto hold = [&](KernelLevel level, const std::vector<double>* above) {
    auto& column = ratios[static_cast<std::size_t>(level)];
    for (std::size_t kernel = 0; kernel < column.size(); ++kernel) {
      if (std::isnan(column[kernel])) continue;
      double most = 1;
      if (above && kernel < above->size() && !std::isnan((*above)[kernel])) most = (*above)[kernel];
      if (column[kernel] > most * 1.02 + 1e-4) gave_way[kernel] = true;
      column[kernel] = std::clamp(column[kernel], 0.0, most);
    }
  };
  for (std::size_t rung = 0; rung < kKernelLevels; ++rung) {
    const auto level = static_cast<KernelLevel>(rung);
    hold(level, nullptr);
    for (auto above = bound_of(level); above; above = bound_of(*above))
      hold(level, &ratios[static_cast<std::size_t>(*above)]);
  }
  return std::count(gave_way.begin(), gave_way.end(), true);
}

}  // namespace

const Chip* chip_of(const Capture& capture) {
  for (std::size_t i = 0; i < capture.devices.size(); ++i)
    if (const auto* chip =
            find_chip(capture.text(capture.devices.name[i]), capture.devices.compute_major[i],
                      capture.devices.compute_minor[i]))
      return chip;
  return nullptr;
}

KernelLevels::KernelLevels(const Capture& capture, const Matching& matching)
    : chip_(chip_of(capture)),
      report_helps_(nsight_compute_helps(capture)),
      report_row_(matching.report_row) {
  if (capture.report_kernels.empty()) return;
  Counters counters(capture);
  counters.add("peak bytes", peak_bytes(capture));
  const Chip* chip = chip_;
  const ChipSet here = chip ? bit(chip->id) : ChipSet{0};
  for (const auto& formula : level_formulas()) {
    if (formula.chips != kEveryChip && !(formula.chips & here))
      continue;  // an unknown chip gets only what holds on all
    auto& text = formula_[static_cast<std::size_t>(formula.level)];
    if (apply_formula(counters, formula, ratio_) && text.empty()) text = formula.text;
  }
  if (const auto* elapsed = counters.find("smsp__cycles_elapsed.sum")) {
    cycles_ = *elapsed;
    auto& column = ratio_[static_cast<std::size_t>(KernelLevel::tensor_flops)];
    column = tensor_flops(counters, chip, cycles_);
    if (!column.empty())
      formula_[static_cast<std::size_t>(KernelLevel::tensor_flops)] =
          "sum over types of sm__ops_path_tensor_src_* / (dense operations a cycle and SM * "
          "smsp__cycles_elapsed.sum / 4)";
  }
  const auto column = [&](KernelLevel level) -> auto& {
    return ratio_[static_cast<std::size_t>(level)];
  };
  column(KernelLevel::matrix_issue) =
      matrix_issue(chip, column(KernelLevel::tensor_issue), column(KernelLevel::tensor_active));
  if (!column(KernelLevel::matrix_issue).empty())
    formula_[static_cast<std::size_t>(KernelLevel::matrix_issue)] = fmt::format(
        "tensor.issue of kernels with tensor.active >= {} * tensor.issue", kMatrixCycles);
  adjusted = hold_order(counters.rows(), ratio_);
}

double KernelLevels::upper(std::uint32_t activity, KernelLevel level) const {
  double most = 1;
  auto lower_to = [&](KernelLevel above) {
    const double ratio = of(activity, above);
    if (!std::isnan(ratio)) most = std::min(most, ratio);
  };
  for (auto above = bound_of(level); above; above = bound_of(*above)) lower_to(*above);
  return most;
}

}  // namespace gf
