// What the rules of findings look at, worked out once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/context.h"
#include "analyze/layers/layer_type.h"
#include "analyze/result.h"
#include "analyze/utilization/instances.h"
#include "analyze/utilization/kernel_levels.h"

namespace gf {

struct TraceFacts {
  const Context& context;
  const Analysis& analysis;
  const KernelLevels& levels;
  std::vector<KernelInstance> kernels;
  Nanos window = 0;       // summed over devices
  Nanos kernel_busy = 0;  // likewise
  std::int64_t kernel_count = 0;

  TraceFacts(const Context& context, const Analysis& analysis, const KernelLevels& levels);

  const Capture& capture() const { return context.capture; }
  std::string_view kernel_name(const KernelInstance& k) const {
    return capture().text(capture().activities.name[k.activity]);
  }
  LayerType type(const KernelInstance& k) const {
    return static_cast<LayerType>(context.attribution.layer[k.activity]);
  }
  bool pytorch() const { return capture().framework == "pytorch"; }
  /// Idle time with a cause, over all devices, with the operators behind it; zero when there is
  /// none.
  IdleCause idle(IdleReason cause) const;
  double of_window(Nanos ns) const {
    return window > 0 ? static_cast<double>(ns) / static_cast<double>(window) : 0;
  }
  double of_kernels(Nanos ns) const {
    return kernel_busy > 0 ? static_cast<double>(ns) / static_cast<double>(kernel_busy) : 0;
  }
};

/// "12.3 ms", "45 %" as sentences need them.
std::string say_time(Nanos ns);
std::string say_share(double share);
/// "1 gap", "2 852 gaps".
std::string say_count(std::int64_t n, std::string_view noun);
/// "115.6 MB", powers of ten.
std::string say_bytes(std::int64_t bytes);
/// The first names of a list with their times: "aten::item 1.2 ms, aten::copy_ 300 us".
std::string say_names(const std::vector<NamedTime>& names, std::size_t most = 3);

}  // namespace gf
