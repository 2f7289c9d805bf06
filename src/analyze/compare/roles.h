// The work of a step on its device, by role: what is computed and in which phase, whatever
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

  template <class Visit>
  static void fields(Visit&& visit) {
    visit("family", &RoleCall::family, "layer type or kind of copy");
    visit("phase", &RoleCall::phase, "phase");
    visit("name", &RoleCall::name, "operator");
    visit("shapes", &RoleCall::shapes, "sizes of its inputs");
    visit("module", &RoleCall::module, "its module");
    visit("kernel", &RoleCall::kernel, "short name of the kernel");
    visit("is_kernel", &RoleCall::is_kernel, "else a copy");
    visit("fused", &RoleCall::fused, "made by a compiler of several operators");
    visit("ns", &RoleCall::ns, "over the window");
    visit("calls", &RoleCall::calls, "activities");
    visit("host_ns", &RoleCall::host_ns, "of the host");
    visit("bytes", &RoleCall::bytes, "of copies");
    visit("blocks", &RoleCall::blocks, "thread blocks");
  }
};

/// A role before runs are matched.
using RoleKey = std::pair<std::string, TrainingPhase>;

/// The times of one capture's steps, in the order in which they ran.
struct RoleSteps {
  std::vector<Nanos> ns;                          // by the clock
  std::map<RoleKey, std::vector<Nanos>> kernels;  // kernel time
  std::map<IdleReason, std::vector<Nanos>> idle;  // of all devices

  template <class Visit>
  static void fields(Visit&& visit) {
    visit("ns", &RoleSteps::ns, "by the clock");
    visit("kernels", &RoleSteps::kernels, "kernel time by role");
    visit("idle", &RoleSteps::idle, "idle time by cause");
  }
};

struct RunRoles {
  std::vector<RoleCall> calls;
  std::vector<std::uint32_t> sequence;  // of `calls`: the step of median length, as launched
  RoleSteps steps;
  std::map<std::string, double> weights;  // "linear 768x3072": uses in forward passes
  double named = 0;                       // share of the kernels whose operator is known
  std::map<std::string, double> host_ns;  // of the host by what it does, steps aside
  // Steps outside the window that are far longer than the others.
  std::size_t outliers = 0, all_steps = 0;
  Nanos outlier_ns = 0;     // what they take beyond the mean of the others
  std::string in_outliers;  // what the host did there for most of it; empty: nothing that is known

  template <class Visit>
  static void fields(Visit&& visit) {
    visit("calls", &RunRoles::calls, "device work by role");
    visit("sequence", &RunRoles::sequence, "of `calls`, in a step");
    visit("steps", &RunRoles::steps, "by step");
    visit("weights", &RunRoles::weights, "uses of weights in forward passes");
    visit("named", &RunRoles::named, "share of kernels with an operator");
    visit("host_ns", &RunRoles::host_ns, "of the host by what it does");
    visit("outliers", &RunRoles::outliers, "steps far longer than the others");
    visit("all_steps", &RunRoles::all_steps, "steps");
    visit("outlier_ns", &RunRoles::outlier_ns, "what outliers take beyond the others");
    visit("in_outliers", &RunRoles::in_outliers, "what the host did there");
  }
};

/// Needs timelines and attribution.
RunRoles run_roles(const Context& context);

}  // namespace gf
