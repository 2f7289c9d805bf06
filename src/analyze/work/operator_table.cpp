#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyze/work/sections.h"

namespace gf::work {
namespace {

/// A measured sum holds only when every kernel of the row was counted.
void add_measured(std::optional<double>& sum, bool first, double value) {
  if (std::isnan(value)) {
    sum.reset();
  } else if (first) {
    sum = value;
  } else if (sum) {
    *sum += value;
  }
}

/// Of an operation of a compiled program, by what JAX calls the passes.
TrainingPhase phase_in_program(const Capture& capture, std::uint32_t program_op) {
  if (program_op == kNoRow) return TrainingPhase::none;
  const auto scope = capture.text(capture.program_ops.scope[program_op]);
  if (scope.find("transpose(jvp(") != scope.npos) return TrainingPhase::backward;
  return scope.find("jvp(") == scope.npos ? TrainingPhase::none : TrainingPhase::forward;
}

TrainingPhase phase_on_host(const Context& context, std::uint32_t op) {
  const auto& parent = context.attribution.op_parent;
  for (; op != kNoRow; op = op < parent.size() ? parent[op] : kNoRow) {
    const auto name = context.capture.text(context.capture.host_ops.name[op]);
    if (name.starts_with("autograd::engine::evaluate_function")) return TrainingPhase::backward;
    if (name.starts_with("Optimizer.step")) return TrainingPhase::optimizer;
  }
  return TrainingPhase::forward;
}

class Table {
 public:
  explicit Table(const Context& context, const KernelWorks& works)
      : context_(context), works_(works), phase_(works.calls.size(), TrainingPhase::none) {}

  std::vector<OperatorWork> rows() {
    for (std::size_t i = 0; i < works_.kernels.size(); ++i) take_phase(i);
    for (std::uint32_t call = 0; call < works_.calls.size(); ++call)
      if (works_.calls[call].in_window > 0) take_call(call);
    for (std::size_t i = 0; i < works_.kernels.size(); ++i) take_kernel(i);
    for (std::size_t row = 0; row < rows_.size(); ++row) rows_[row].module = main_module(row);
    std::stable_sort(rows_.begin(), rows_.end(), [](const auto& left, const auto& right) {
      return std::tuple(-left.ns, -left.product_flops, std::string_view(left.name)) <
             std::tuple(-right.ns, -right.product_flops, std::string_view(right.name));
    });
    return std::move(rows_);
  }

 private:
  void take_phase(std::size_t i) {
    const auto call = works_.kernels[i].call;
    if (call == kNoCall || phase_[call] != TrainingPhase::none) return;
    phase_[call] =
        static_cast<TrainingPhase>(context_.attribution.phase[context_.kernels[i].activity]);
  }

  void take_call(std::uint32_t number) {
    const KnownCall& call = works_.calls[number];
    auto& phase = phase_[number];
    if (const auto named = phase_in_program(context_.capture, call.program_op);
        named != TrainingPhase::none)
      phase = named;
    if (phase == TrainingPhase::none && call.program_op == kNoRow)
      phase = phase_on_host(context_, call.host_op);
    auto shapes = shapes_text(call.of->call);
    const auto [at, fresh] = row_of_.try_emplace(
        std::tuple(call.of->call.name, shapes, name_of(call.type), phase), rows_.size());
    if (fresh) {
      OperatorWork& row = rows_.emplace_back();
      modules_.emplace_back();
      row.name = call.of->call.name;
      row.family = call.of->rule->family;
      row.phase = phase;
      row.shapes = std::move(shapes);
      row.type = name_of(call.type == Element::none ? call.of->work.type : call.type);
    }
    row_of_call_.emplace(number, at->second);
    OperatorWork& row = rows_[at->second];
    ++row.calls;
    row.product_flops += call.in_window * call.of->work.flops;
    row.other_flops += call.in_window * call.of->work.other_flops;
    row.bytes += call.in_window * call.of->work.bytes;
  }

  void take_kernel(std::size_t i) {
    const KernelWork& kernel = works_.kernels[i];
    const auto at = row_of_call_.find(kernel.call);
    if (at == row_of_call_.end()) return;
    OperatorWork& row = rows_[at->second];
    const auto& counted = works_.counted;
    const auto activity = context_.kernels[i].activity;
    add_measured(row.measured_flops, row.kernels == 0, counted.tensor_operations(activity));
    add_measured(row.measured_bytes, row.kernels == 0, counted.memory_bytes(activity));
    ++row.kernels;
    row.ns += context_.kernels[i].exclusive_ns;
    modules_[at->second][context_.attribution.module[activity]] += context_.kernels[i].exclusive_ns;
  }

  std::string main_module(std::size_t row) const {
    std::uint32_t best = 0;
    Nanos most = 0;
    for (const auto& [module, ns] : modules_[row])
      if (ns > most) {
        best = module;
        most = ns;
      }
    return context_.attribution.modules[best];
  }

  const Context& context_;
  const KernelWorks& works_;
  std::vector<TrainingPhase> phase_;  // by call
  std::map<std::tuple<std::string_view, std::string, std::string_view, TrainingPhase>, std::size_t>
      row_of_;
  std::unordered_map<std::uint32_t, std::size_t> row_of_call_;
  std::vector<OperatorWork> rows_;
  std::vector<std::map<std::uint32_t, Nanos>> modules_;  // by row
};

}  // namespace

std::string shapes_text(const Call& call) {
  std::string text;
  std::size_t shown = 0;
  constexpr std::size_t kMost = 4;
  for (const auto* tensor : call.tensors()) {
    if (tensor->dims.empty()) continue;
    if (shown == kMost) {
      text += " ...";
      break;
    }
    if (shown++ > 0) text += " * ";
    text += fmt::format("{}", fmt::join(tensor->dims, "x"));
  }
  return text;
}

std::vector<OperatorWork> operator_table(const Context& context, const KernelWorks& works) {
  return Table(context, works).rows();
}

}  // namespace gf::work
