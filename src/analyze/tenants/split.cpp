#include "analyze/tenants/split.h"

#include <algorithm>

namespace gf {

TenantSplit split_amount(const PresenceShare& share, double amount, double most) {
  TenantSplit out;
  out.parts.resize(share.even.size());
  if (share.active <= 0) {
    out.rest = {amount, amount, amount};
    return out;
  }
  const auto active = static_cast<double>(share.active);
  const double fastest = std::max(most, amount / active);
  for (std::size_t process = 0; process < out.parts.size(); ++process) {
    auto& part = out.parts[process];
    const double alone = share.alone[process];
    part.value = amount * share.even[process] / active;
    part.high = std::min(amount, fastest * (alone + share.joint[process]));
    part.low = std::clamp(amount - fastest * (active - alone), 0.0, part.value);
    part.high = std::max(part.high, part.value);
  }
  return out;
}

}  // namespace gf
