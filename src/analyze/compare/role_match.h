// The roles of several runs under common names: a rename (cuDNN's batch norm in place of the native
// one, a kernel with another tile, one fused kernel in place of five) is the same role.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analyze/compare/compare.h"
#include "analyze/compare/measured_run.h"

namespace gf {

/// Steps that the times of a run are of: 1 where they are of the window.
std::int64_t parts_of(const Comparison& comparison, std::size_t run);
/// The largest of these, up or down.
Nanos largest(const std::vector<Nanos>& values);
std::vector<Nanos> changes_of(const std::vector<Nanos>& values);

/// Places of two sequences that belong together, in order: the shortest edit script (Myers, O(n
/// d)). Empty where more than `most` insertions and deletions are needed.
std::optional<std::vector<std::pair<std::size_t, std::size_t>>> align(
    std::span<const std::uint32_t> left, std::span<const std::uint32_t> right, std::size_t most);

class RoleMatch {
 public:
  struct Role {
    std::string name;
    TrainingPhase phase;
    bool is_kernel;
  };
  /// Totals of a step.
  struct Sum {
    double ns = 0, calls = 0, host_ns = 0;
  };

  RoleMatch(const Comparison& comparison, const std::vector<RunDetails>& details);

  const std::vector<Role>& roles() const { return roles_; }
  std::size_t role_of(std::size_t run, std::size_t call) const { return role_of_[run][call]; }
  const Sum& sum(std::size_t run, std::size_t role) const { return sums_[run][role]; }
  double steps(std::size_t run) const { return steps_[run]; }
  /// Kernel time of a role in each of a capture's steps.
  StepTimes by_step(const RoleSteps& steps, std::size_t role) const;
  /// Calls of the first run's step and of `run`'s that belong together; empty where the sequences
  /// are too unlike, and what share of both steps that is.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> paired(std::size_t run) const;
  double alike(std::size_t run) const;

  std::vector<ComparedRole> table(const Comparison& comparison) const;

 private:
  void choose_names(const std::vector<RunDetails>& details);
  std::string family_of(const RoleCall& call) const;
  TrainingPhase phase_of(const RoleCall& call, std::string_view family) const;
  std::size_t role_number(const RoleCall& call);
  void name_joined(const std::vector<RunDetails>& details);

  const std::vector<RunDetails>& details_;
  bool joins_passes_ = false, joins_attention_ = false, joins_phases_ = false;
  std::vector<double> steps_;
  std::vector<Role> roles_;
  std::map<std::tuple<std::string, TrainingPhase, bool>, std::size_t> number_;
  std::vector<std::vector<std::size_t>> role_of_;  // by run and call
  std::vector<std::vector<Sum>> sums_;             // by run and role
};

/// The largest added times beyond noise, and the common factor if all kernels changed alike.
struct Culprits {
  std::vector<ComparedCulprit> named;
  std::optional<double> common_ratio;
};
Culprits find_culprits(const Comparison& comparison, const std::vector<RunDetails>& details,
                       const RoleMatch& match, const std::vector<MeasuredVersion>& versions,
                       std::size_t run);

}  // namespace gf
