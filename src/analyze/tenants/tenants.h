// Who used a device that several processes share, for how long, and what of its levels and joules
// was theirs. docs/tenants.md gives the rules.
#pragma once

#include "analyze/context.h"
#include "analyze/result.h"

namespace gf {

/// One for each device with activities of several processes in its window.
std::vector<SharedDevice> measure_tenants(const Context& context);

/// The same of a capture without kernels: who holds memory on a device together with others, and
/// that their use cannot be told apart.
std::vector<SharedDevice> name_tenants(const Capture& capture);

/// Processes that held memory on a device (row of devices) and are not those that were recorded.
std::vector<std::int64_t> other_processes(const Capture& capture, std::uint32_t device);
/// Whether the capture says who held memory on the device.
bool knows_processes(const Capture& capture, std::uint32_t device);

}  // namespace gf
