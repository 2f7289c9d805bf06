#include "analyze/energy/model.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/statistics.h"

namespace gf {

const std::vector<EnergyFeature>& energy_features() {
  static const std::vector<EnergyFeature> list{
      {"inst", "warp instruction", "instructions issued, in addition to their operation",
       "smsp__inst_executed.sum"},
      {"pipe.fma", "thread operation", "multiply-add pipe: FP32, integer multiply and some adds",
       "smsp__thread_inst_executed_pipe_fma_pred_on.sum + -1 * "
       "smsp__thread_inst_executed_pipe_fma_type_fp16_pred_on.sum | "
       "smsp__thread_inst_executed_pipe_fma_pred_on.sum"},
      {"pipe.fp16", "thread operation",
       "packed FP16 and bf16, on the multiply-add pipe and elsewhere",
       "smsp__thread_inst_executed_pipe_fma_type_fp16_pred_on.sum + 32 * "
       "smsp__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum"},
      {"pipe.alu", "thread operation",
       "arithmetic-logic pipe: integer, logic, comparison, conversion",
       "smsp__thread_inst_executed_pipe_alu_pred_on.sum"},
      {"pipe.fp64", "thread operation", "FP64 pipe",
       "smsp__thread_inst_executed_pipe_fp64_pred_on.sum"},
      {"pipe.xu", "thread operation", "special functions and wide conversions",
       "smsp__thread_inst_executed_pipe_xu_pred_on.sum"},
      {"tensor.bf16.wgmma", "floating-point operation",
       "warpgroup matrix operation on bf16, without the reads of shared memory",
       "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32.sum"},
      {"tensor.bf16.mma", "floating-point operation",
       "warp matrix operation on bf16, operands in registers",
       "sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32.sum"},
      {"tensor.fp16.wgmma", "floating-point operation",
       "warpgroup matrix operation on fp16, without the reads of shared memory",
       "sm__ops_path_tensor_op_hgmma_src_fp16.sum"},
      {"tensor.fp16.mma", "floating-point operation",
       "warp matrix operation on fp16, operands in registers",
       "sm__ops_path_tensor_op_hmma_src_fp16.sum"},
      {"tensor.tf32.wgmma", "floating-point operation",
       "warpgroup matrix operation on tf32, without the reads of shared memory",
       "sm__ops_path_tensor_op_hgmma_src_tf32_dst_fp32.sum"},
      {"tensor.tf32.mma", "floating-point operation",
       "warp matrix operation on tf32, operands in registers",
       "sm__ops_path_tensor_op_hmma_src_tf32_dst_fp32.sum"},
      {"tensor.fp8", "floating-point operation", "matrix operation on fp8",
       "sm__ops_path_tensor_src_fp8.sum"},
      {"tensor.int8.wgmma", "integer operation", "warpgroup matrix operation on int8, likewise",
       "sm__ops_path_tensor_op_igmma_src_int8.sum"},
      {"tensor.int8.mma", "integer operation", "warp matrix operation on int8",
       "sm__ops_path_tensor_op_imma_src_int8.sum"},
      {"tensor.fp64", "floating-point operation", "warp matrix operation on FP64",
       "sm__ops_path_tensor_src_fp64.sum"},
      {"shared.load", "access of 32 bytes",
       "shared-memory read, operands of matrix operations included",
       "4 * l1tex__data_pipe_lsu_wavefronts_mem_shared.sum + -4 * "
       "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
      {"shared.store", "access of 32 bytes", "shared-memory write",
       "4 * l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
      {"l1.wavefront", "wavefront", "pass of a global access through the L1 data stage",
       "l1tex__data_pipe_lsu_wavefronts.sum + -1 * l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
      {"l1.load", "access of 32 bytes", "global load looked up in L1",
       "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
      {"tma.load", "access of 32 bytes", "bulk copy into shared memory",
       "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum"},
      {"l2.load", "access of 32 bytes", "read looked up in L2, in addition to L1",
       "lts__t_sectors_srcunit_tex_op_read.sum"},
      {"l2.request", "request",
       "read request to L2 of up to four accesses, in addition to their accesses",
       "lts__t_requests_srcunit_tex_op_read.sum"},
      {"l2.store", "access of 32 bytes", "write to L2, its way through L1 included",
       "lts__t_sectors_srcunit_tex_op_write.sum"},
      {"l2.store_request", "request",
       "write request to L2 of up to four accesses, in addition to their accesses",
       "lts__t_requests_srcunit_tex_op_write.sum"},
      {"l2.atomic", "access of 32 bytes", "atomic operations in L2, their way through L1 included",
       "lts__t_sectors_srcunit_tex_op_atom.sum + lts__t_sectors_srcunit_tex_op_red.sum"},
      {"dram.read", "access of 32 bytes",
       "read from DRAM, in addition to L2; the way between the partitions of L2 included",
       "dram__sectors_read.sum"},
      {"dram.write", "access of 32 bytes", "write to DRAM, in addition to L2",
       "dram__sectors_write.sum"},
      {"dram.awake", "nanosecond", "time in which DRAM is at work, from its accesses and the time",
       ""},
  };
  return list;
}

bool on_chip(std::string_view feature) { return !feature.starts_with("dram."); }

double dram_awake_ns(double accesses, double seconds) {
  constexpr double kAwakeRate = 6.25e9;  // accesses a second
  return 1e9 * std::clamp(accesses / kAwakeRate, 0.0, seconds);
}

namespace {

constexpr double kPico = 1e-12;

constexpr double kNormal = 1.96;  // 97.5 % quantile of the normal distribution

/// Types that programs mix, so that a cycle of unknown type is one of them: kernels on integers and
/// FP64 are known by their names.
bool is_mixed(TensorType type) { return type != TensorType::int8 && type != TensorType::fp64; }

/// The place of a component in a report: from what is always there, over the units that compute,
/// outwards to the memory.
int place_of(std::string_view component) {
  static constexpr std::string_view order[] = {
      "static", "active", "instructions", "pipe.", "tensor", "shared", "l1", "tma", "l2", "dram"};
  for (std::size_t i = 0; i < std::size(order); ++i)
    if (component.starts_with(order[i])) return static_cast<int>(i);
  return static_cast<int>(std::size(order));
}

}  // namespace

std::string energy_component(std::string_view feature) {
  if (feature == "inst") return "instructions";
  if (feature == "tensor.cycle") return "tensor";
  const auto first = feature.find('.');
  const auto group = feature.substr(0, first);
  if (first == std::string_view::npos || (group != "pipe" && group != "tensor"))
    return std::string(group);
  return std::string(feature.substr(0, feature.find('.', first + 1)));
}

EnergyEvaluator::EnergyEvaluator(const EnergyModel& model, const Chip* chip) : model_(model) {
  names_ = {"static_w", "active_w", "per_celsius_w"};
  joules_ = {model.static_w, model.active_w, model.per_celsius_w};
  low_ = {model.static_low, model.active_low, model.per_celsius_w};
  high_ = {model.static_high, model.active_high, model.per_celsius_w};
  std::vector<std::pair<std::size_t, double>> tensor, shared,
      fill;  // column, and how many of it one of the stand-in is
  for (const auto& coefficient : model.coefficients) {
    if (chip && coefficient.picojoules > 0 && coefficient.feature.starts_with("tensor.") &&
        !coefficient.feature.ends_with(".mma"))
      for (const auto& path : tensor_paths())
        if (path.chip == chip->id && is_mixed(path.type) &&
            energy_component(coefficient.feature) == "tensor." + std::string(name_of(path.type)))
          tensor.emplace_back(names_.size(), path.dense_ops);
    if (chip && coefficient.picojoules > 0 &&
        (coefficient.feature == "shared.load" || coefficient.feature == "shared.store"))
      shared.emplace_back(names_.size(), 1);
    if (chip && coefficient.picojoules > 0 &&
        (coefficient.feature == "l1.load" || coefficient.feature == "tma.load"))
      fill.emplace_back(names_.size(), 1);
    names_.push_back(coefficient.feature);
    joules_.push_back(coefficient.picojoules * kPico);
    low_.push_back((std::isfinite(coefficient.low) ? coefficient.low : coefficient.picojoules) *
                   kPico);
    high_.push_back((std::isfinite(coefficient.high) ? coefficient.high : coefficient.picojoules) *
                    kPico);
  }
  add_draws();
  add_stand_in("tensor.cycle", tensor);
  add_stand_in("shared.access", shared);
  add_stand_in("l1.fill", fill);
  std::vector<std::string> of{"static", "active", "static"};
  for (std::size_t i = kFeatures; i < names_.size(); ++i) of.push_back(energy_component(names_[i]));
  order_components(of);
}

void EnergyEvaluator::add_draws() {
  for (const auto& draw : model_.draws) {
    auto row = joules_;  // what a draw does not name stays as it is
    for (std::size_t i = 0; i < draw.size(); ++i) {
      const auto at = static_cast<std::size_t>(
          std::find(names_.begin(), names_.end(), model_.draw_columns[i]) - names_.begin());
      if (at < row.size()) row[at] = draw[i] * (at < kFeatures ? 1 : kPico);
    }
    draws_.push_back(std::move(row));
  }
}

void EnergyEvaluator::bring_to_clock(double sm_mhz) {
  const double factor = model_.voltage.energy_factor(sm_mhz);
  for (std::size_t i = 0; i < joules_.size(); ++i) {
    if (i == kStatic || i == kWarmth || !on_chip(names_[i])) continue;
    joules_[i] *= factor;
    low_[i] *= factor;
    high_[i] *= factor;
    for (auto& draw : draws_) draw[i] *= factor;
  }
}

void EnergyEvaluator::add_stand_in(const std::string& name,
                                   const std::vector<std::pair<std::size_t, double>>& kinds) {
  if (kinds.empty()) return;
  double mean = 0, low = HUGE_VAL, high = 0;
  for (const auto& [column, times] : kinds) {
    mean += joules_[column] * times / static_cast<double>(kinds.size());
    low = std::min(low, low_[column] * times);
    high = std::max(high, high_[column] * times);
  }
  names_.push_back(name);
  joules_.push_back(mean);
  low_.push_back(low);
  high_.push_back(high);
  // The kind is not known: the draws take turns.
  for (std::size_t draw = 0; draw < draws_.size(); ++draw)
    draws_[draw].push_back(draws_[draw][kinds[draw % kinds.size()].first] *
                           kinds[draw % kinds.size()].second);
}

void EnergyEvaluator::order_components(const std::vector<std::string>& of) {
  components_ = of;
  std::sort(components_.begin(), components_.end(), [](const auto& left, const auto& right) {
    return std::tuple(place_of(left), left) < std::tuple(place_of(right), right);
  });
  components_.erase(std::unique(components_.begin(), components_.end()), components_.end());
  for (const auto& call : of)
    component_.push_back(static_cast<std::size_t>(
        std::find(components_.begin(), components_.end(), call) - components_.begin()));
}

std::size_t EnergyEvaluator::column(std::string_view feature) const {
  return static_cast<std::size_t>(std::find(names_.begin() + kFeatures, names_.end(), feature) -
                                  names_.begin());
}

void EnergyEvaluator::derive(EnergyWork& work, double seconds) const {
  const auto awake = column(kDramAwake);
  if (awake >= work.size()) return;
  double accesses = 0;
  for (const char* feature : {"dram.read", "dram.write"})
    if (const auto at = column(feature); at < work.size()) accesses += work[at];
  work[awake] = dram_awake_ns(accesses, seconds);
}

std::vector<double> EnergyEvaluator::by_component(const EnergyWork& work) const {
  std::vector<double> sums(components_.size(), 0.0);
  for (std::size_t i = 0; i < joules_.size(); ++i) sums[component_[i]] += joules_[i] * work[i];
  return sums;
}

void EnergyEvaluator::allow_for_spread(bool same_board, bool sampled) {
  const EnergySpread& spread = model_.spread;
  dynamic_spread_ = sampled ? spread.form_sampled : spread.form;
  if (same_board) return;
  dynamic_spread_ = root_of_squares(dynamic_spread_, spread.gain);
  dram_spread_ = spread.dram;
  static_spread_ = spread.idle;
}

/// Uncertainty that the calibration runs leave.
template <class Keep>
Interval95 EnergyEvaluator::bootstrap_over(const EnergyWork& work, Keep keep, double value) const {
  Interval95 plain;
  for (std::size_t i = 0; i < joules_.size(); ++i) {
    if (!keep(i)) continue;
    const double one = low_[i] * work[i], other = high_[i] * work[i];
    plain.low += std::min(one, other);
    plain.high += std::max(one, other);
  }
  if (draws_.empty()) return {std::min(plain.low, value), std::max(plain.high, value)};
  std::vector<double> sums;
  sums.reserve(draws_.size());
  for (const auto& draw : draws_) {
    double sum = 0;
    for (std::size_t i = 0; i < draw.size(); ++i)
      if (keep(i)) sum += draw[i] * work[i];
    sums.push_back(sum);
  }
  return {std::min(quantile(sums, .025), value), std::max(quantile(sums, .975), value)};
}

template <class Keep>
Interval95 EnergyEvaluator::interval_over(const EnergyWork& work, Keep keep) const {
  double fixed = 0, dynamic = 0, dram = 0;
  for (std::size_t i = 0; i < joules_.size(); ++i) {
    if (!keep(i)) continue;
    const double joules = joules_[i] * work[i];
    if (i == kStatic || i == kWarmth) {
      fixed += joules;
    } else {
      dynamic += joules;
      if (!on_chip(names_[i])) dram += joules;
    }
  }
  const double value = fixed + dynamic;
  const Interval95 runs = bootstrap_over(work, keep, value);
  // Independent of the runs, and of each other. Deviations of logarithms: half as much up as down
  // is not the same number of joules.
  const auto open = [&](double sign) {
    const auto part = [&](double joules, double spread) {
      return std::abs(joules) * std::abs(std::expm1(sign * kNormal * spread));
    };
    return std::hypot(part(fixed, static_spread_), part(dynamic, dynamic_spread_),
                      part(dram, dram_spread_));
  };
  return {value - root_of_squares(value - runs.low, open(-1)),
          value + root_of_squares(runs.high - value, open(+1))};
}

Interval95 EnergyEvaluator::interval(const EnergyWork& work, std::size_t component) const {
  return interval_over(work, [&](std::size_t i) { return component_[i] == component; });
}

Interval95 EnergyEvaluator::interval_of_sum(const EnergyWork& work) const {
  return interval_over(work, [](std::size_t) { return true; });
}

}  // namespace gf
