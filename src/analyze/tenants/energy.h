// The energy of a device by the processes that used it.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/tenants/presence.h"
#include "model/capture.h"

namespace gf {

struct TenantEnergy {
  bool known = false;
  std::vector<TenantPart> parts;  // joules, by process
  double rest = 0;                // what the device draws while no process is at work
  std::int64_t total_nj = 0;
};

/// Where power was measured over all of the spans in which every process was recorded.
TenantEnergy split_energy(const Capture& capture, std::uint32_t device, const Presence& presence,
                          const TenantSamples& samples);

}  // namespace gf
