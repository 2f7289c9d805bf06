#include "analyze/kernel_types.h"

#include <algorithm>

namespace gf {

std::vector<NamedTime> kernel_types_without_counters(const Analysis& analysis) {
  std::vector<NamedTime> types;
  for (const auto& device : analysis.devices)
    for (const auto& bar : device.waterfall) {
      if (bar.id != Bar::unknown) continue;
      for (const auto& part : bar.parts) {
        const auto same = std::ranges::find(types, part.name, &NamedTime::name);
        if (same == types.end())
          types.push_back(part);
        else
          same->ns += part.ns;
      }
    }
  std::ranges::stable_sort(types, std::ranges::greater{}, &NamedTime::ns);
  return types;
}

}  // namespace gf
