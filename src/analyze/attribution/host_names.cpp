#include "analyze/attribution/host_names.h"

#include <array>

#include "core/glob.h"

namespace gf {
namespace {

struct Rule {
  std::string_view pattern;  // glob
  std::uint8_t traits;
};

constexpr std::array kRules{
    Rule{"autograd::engine::evaluate_function: *", kBackward},
    Rule{"Optimizer.step*", kOptimizer},
    Rule{"Optimizer.zero_grad*", kOptimizer},
    Rule{"aten::_fused_*adam*", kOptimizer},
    Rule{"aten::_fused_sgd*", kOptimizer},
    Rule{"aten::_fused_adagrad*", kOptimizer},
    Rule{"*multi_tensor_adam*", kOptimizer},
    Rule{"nn.Module: *", kModule},
    Rule{"*CheckpointFunctionBackward*", kRecompute},
    Rule{"torch/utils/checkpoint.py(*): recompute_fn", kRecompute},
    Rule{"torch/utils/checkpoint.py(*): unpack_hook", kRecompute},
};

// Annotations that frameworks and step loops make: they say nothing of the model's structure.
constexpr std::array<std::string_view, 14> kNotAScope{"ProfilerStep*",
                                                      "Optimizer.*",
                                                      "enumerate(DataLoader)*",
                                                      "## *",
                                                      "*## Call CompiledFxGraph*",
                                                      "PyTorch Profiler*",
                                                      "nccl:*",
                                                      "gloo:*",
                                                      "c10d::*",
                                                      "DataParallel.*",
                                                      "DistributedDataParallel.*",
                                                      "Torch-Compiled Region*",
                                                      "autograd::*",
                                                      "[*]*"};

// "train 12", "step#3": a name that ends in a number after # or a blank counts iterations.
bool counts_iterations(std::string_view name) {
  const auto digits = name.find_last_not_of("0123456789");
  return digits != std::string_view::npos && digits + 1 < name.size() &&
         (name[digits] == '#' || name[digits] == ' ');
}

}  // namespace

std::uint8_t host_name_traits(std::string_view name) {
  std::uint8_t traits = 0;
  for (const auto& rule : kRules)
    if (glob_match(rule.pattern, name)) traits |= rule.traits;
  bool scope = !name.empty() && !traits && !counts_iterations(name);
  for (const auto pattern : kNotAScope) scope = scope && !glob_match(pattern, name);
  return traits | (scope ? kScope : 0);
}

}  // namespace gf
