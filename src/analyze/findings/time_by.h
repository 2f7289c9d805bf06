// Time by operator and by kernel, for the evidence of findings.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/findings/facts.h"
#include "model/kernel_name.h"

namespace gf {

/// Exclusive time by the operator or the name of each kernel.
class TimeBy {
 public:
  explicit TimeBy(const TraceFacts& facts) : facts_(facts) {}
  void add_kernel(const KernelInstance& kernel_instance, Nanos ns) {
    by_kernel_[static_cast<std::uint32_t>(facts_.kernel_name(kernel_instance))] += ns;
  }
  void add_operator(const KernelInstance& kernel_instance, Nanos ns) {
    const auto op = facts_.context.attribution.op[kernel_instance.activity];
    if (op == kNoRow)
      add_kernel(kernel_instance, ns);
    else
      by_operator_[static_cast<std::uint32_t>(facts_.capture().host_ops.name[op])] += ns;
  }
  /// Largest first; kernels by their short names.
  std::vector<NamedTime> largest() const {
    std::map<std::string, Nanos> times;
    for (const auto& [id, ns] : by_operator_)
      times[std::string(facts_.capture().text(static_cast<Text>(id)))] += ns;
    for (const auto& [id, ns] : by_kernel_)
      times[short_kernel_name(facts_.capture().text(static_cast<Text>(id)))] += ns;
    std::vector<NamedTime> all;
    for (const auto& [name, ns] : times) all.push_back({name, ns});
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& left, const auto& right) { return left.ns > right.ns; });
    return all;
  }

 private:
  const TraceFacts& facts_;
  std::unordered_map<std::uint32_t, Nanos> by_operator_, by_kernel_;
};

}  // namespace gf
