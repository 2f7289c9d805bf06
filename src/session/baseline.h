// A version of a program, kept in a small file for later comparisons, so that these need none of
// its captures: all that `compare` takes of them, under a seal.
#pragma once

#include <string>

#include "analyze/compare/version.h"
#include "core/error.h"

namespace gf {

/// Errors: the file exists and is no baseline, or cannot be written.
Status write_baseline(const std::string& path, const ComparedVersion& version);

/// Errors: it is no baseline, is damaged, or was saved by another version of this program, which
/// may divide time in another way.
Result<ComparedVersion> read_baseline(const std::string& path);

}  // namespace gf
