// What a step of a run does on its device, by role: what is computed and in which phase, whatever
// the operators and kernels are called that do it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyze/names.h"
#include "core/time.h"

namespace gf {

struct Context;

/// Device work of one kind: the same operator, inputs, module and kernel.
struct RoleCall {
  std::string family;  // layer type, "MatMul (batched)", or "copy host to device"
  TrainingPhase phase = TrainingPhase::other;
  std::string name, shapes, module;  // of the operator
  std::string kernel;                // its short name
  bool is_kernel = true;
  bool fused = false;  // a compiler put several operators into it
  double ns = 0;       // over the window; of kernels exclusive time, which sums to kernel time
  double calls = 0;    // activities
  double host_ns = 0;  // of the host in their operators, each operator divided by its activities
  double bytes = 0;    // of copies
  double blocks = 0;   // thread blocks of kernels
};

/// A role before runs are matched.
using RoleKey = std::pair<std::string, TrainingPhase>;

struct RunRoles {
  std::vector<RoleCall> calls;
  std::vector<std::uint32_t> sequence;  // of `calls`: the step of median length, as launched
  std::map<RoleKey, std::vector<Nanos>> by_step;          // kernel time
  std::map<IdleReason, std::vector<Nanos>> idle_by_step;  // of all devices
  std::vector<Nanos> step_ns;
  std::map<std::string, double> weights;  // "linear 768x3072": uses in forward passes
  double named = 0;                       // share of the kernels whose operator is known
  std::map<std::string, double> host_ns;  // of the host by what it does, steps aside
  // Steps outside the window that are far longer than the others.
  std::size_t outliers = 0, all_steps = 0;
  Nanos outlier_ns = 0;     // what they take beyond the mean of the others
  std::string in_outliers;  // what the host did there for most of it; empty: nothing that is known
};

/// Needs timelines and attribution.
RunRoles run_roles(const Context& context);

}  // namespace gf
