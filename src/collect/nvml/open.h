// Opening the driver where a driver that hangs must not hang the program.
#pragma once

#include <memory>

#include "collect/nvml/nvml.h"

namespace gf {

/// Nvml::open() with a deadline. Gives up after half a minute, and at once when `wake_fd` (a
/// signalfd, say; -1: none) can be read.
Result<std::shared_ptr<Nvml>> open_nvml(int wake_fd = -1);

/// The error of a driver that has not answered for `limit`, asked for `what`.
Error no_answer(Nanos limit, const std::string& what);

}  // namespace gf
