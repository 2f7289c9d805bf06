// Finds the measured ceilings that belong to a capture's GPU.
#pragma once

#include <optional>
#include <string>

#include "analyze/work/ceilings.h"
#include "core/error.h"
#include "model/capture.h"

namespace gf::cli {

/// The file of `path`, or the one shipped for the capture's first named GPU when `path` is empty:
/// empty when there is none. Errors: the file cannot be read or holds no ceilings; it was measured
/// on another product.
Result<std::optional<CeilingsFile>> find_ceilings(const std::string& path, const Capture& capture);

}  // namespace gf::cli
