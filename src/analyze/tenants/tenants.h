// Processes that share a device: how long each used it, and the part of its levels and joules that
// was theirs. docs/tenants.md gives the rules.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/context.h"
#include "analyze/result.h"
#include "analyze/tenants/presence.h"
#include "model/capture.h"

namespace gf {

// The energy of a device by the processes that used it.

struct TenantEnergy {
  bool known = false;
  std::vector<TenantPart> parts;  // joules, by process
  double rest = 0;                // what the device draws while no process is at work
  std::int64_t total_nj = 0;
};

/// Where power was measured over all of the spans in which every process was recorded.
TenantEnergy split_energy(const Capture& capture, std::uint32_t device, const Presence& presence,
                          const TenantSamples& samples);

/// One for each device with activities of several processes in its window.
std::vector<SharedDevice> measure_tenants(const Context& context);
/// True if there is such a device.
bool has_tenants(const Context& context);

/// The same of a capture without kernels: who holds memory on a device together with others, and
/// that their use cannot be told apart.
std::vector<SharedDevice> name_tenants(const Capture& capture);

/// Processes that held memory on a device (row of devices) and are not those that were recorded.
std::vector<std::int64_t> other_processes(const Capture& capture, std::uint32_t device);
/// True if the capture says who held memory on the device.
bool knows_processes(const Capture& capture, std::uint32_t device);

}  // namespace gf
