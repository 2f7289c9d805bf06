#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "analyze/work/kernel_work.h"
#include "core/order.h"

namespace gf::work {
namespace {

/// A rule that has nothing to work out.
constexpr Rule rule_of_family(WorkFamily family) { return {"", family, nullptr}; }
constexpr Rule kRules[] = {
    rule_of_family(WorkFamily::product),     rule_of_family(WorkFamily::convolution),
    rule_of_family(WorkFamily::attention),   rule_of_family(WorkFamily::reduction),
    rule_of_family(WorkFamily::elementwise), rule_of_family(WorkFamily::data_movement)};

const Rule* rule_of_kind(std::string_view kind) {
  for (const auto& rule : kRules)
    if (name_of(rule.family) == kind) return &rule;
  return nullptr;
}

/// Operations or bytes that a program can have.
bool plausible(double value) {
  constexpr double kMost = 1e24;
  return value >= 0 && value <= kMost;
}

/// False when the products are not what the operation says that they sum to.
bool read_products(std::string_view text, Work& work) {
  double sum = 0;
  for (const auto& numbers : number_lists_of(text)) {
    if (numbers.size() != 4 || !std::ranges::all_of(numbers, plausible)) return false;
    work.products.push_back({numbers[0], numbers[1], numbers[2], numbers[3]});
    sum += work.products.back().flops();
  }
  constexpr double kRounding = 1e-9;
  return std::abs(sum - work.flops) <= kRounding * work.flops;
}

}  // namespace

const CallWork* ProgramWork::of(std::uint32_t row) {
  if (row == kNoRow) return nullptr;
  const auto [known, fresh] = known_.try_emplace(row, nullptr);
  if (fresh) known->second = make(row);
  return known->second;
}

const CallWork* ProgramWork::make(std::uint32_t row) {
  const auto& ops = capture_.program_ops;
  const Rule* rule = rule_of_kind(capture_.text(ops.kind[row]));
  if (!rule) return nullptr;
  Work work;
  work.flops = ops.product_flops[row];
  work.recomputed = std::isnan(ops.recomputed_flops[row]) ? 0 : ops.recomputed_flops[row];
  work.other_flops = ops.other_flops[row];
  work.bytes = ops.bytes[row];
  work.type = element_named(capture_.text(ops.type[row]));
  const bool good = plausible(work.flops) && plausible(work.recomputed) &&
                    work.recomputed <= work.flops && plausible(work.other_flops) &&
                    plausible(work.bytes);
  if (!good || !read_products(capture_.text(ops.products[row]), work)) return nullptr;
  CallWork call;
  call.rule = rule;
  call.call.name = capture_.text(ops.target[row]);
  for (auto& tensor : tensors_of(capture_.text(ops.shapes[row]), work.type))
    call.call.inputs.push_back({.tensors = {std::move(tensor)}});
  call.work = std::move(work);
  works_.shared.push_back(std::move(call));
  return &works_.shared.back();
}

std::vector<std::uint32_t> find_program_calls(const Capture& capture, KernelWorks& works) {
  const auto& activities = capture.activities;
  std::vector<std::uint32_t> call_of(activities.size(), kNoCall);
  if (capture.program_ops.empty()) return call_of;
  std::vector<std::uint32_t> kernels;
  for (std::uint32_t row = 0; row < activities.size(); ++row)
    if (activities.kind[row] == ActivityKind::kernel && activities.program_op[row] != kNoRow)
      kernels.push_back(row);
  const auto place = [&](std::uint32_t row) {
    return std::tuple(activities.device[row], activities.stream[row], activities.start_ns[row],
                      row);
  };
  sort_nearly_ordered(kernels.begin(), kernels.end(), [&](std::uint32_t left, std::uint32_t right) {
    return place(left) < place(right);
  });
  works.calls.reserve(kernels.size());  // at most; room that stays untouched costs nothing
  ProgramWork programs(capture, works);
  std::vector<Text> names;  // of the call's kernels
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto row = kernels[i];
    const auto* work = programs.of(activities.program_op[row]);
    if (!work) continue;
    const auto before = i > 0 ? kernels[i - 1] : kNoRow;
    constexpr std::size_t kMostKernels = 64;  // of one call
    const bool goes_on = before != kNoRow && activities.device[before] == activities.device[row] &&
                         activities.stream[before] == activities.stream[row] &&
                         activities.program_op[before] == activities.program_op[row] &&
                         names.size() < kMostKernels &&
                         std::ranges::find(names, activities.name[row]) == names.end();
    if (!goes_on) {
      names.clear();
      works.calls.push_back({.program_op = activities.program_op[row], .of = work});
    }
    names.push_back(activities.name[row]);
    call_of[row] = static_cast<std::uint32_t>(works.calls.size() - 1);
  }
  return call_of;
}

}  // namespace gf::work
