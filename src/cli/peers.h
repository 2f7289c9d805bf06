// The captures of a job's other ranks, beside the one that is analysed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/ranks/job_waiting.h"
#include "cli/options.h"
#include "core/progress.h"
#include "session/load_capture.h"

namespace gf::cli {

/// `--ranks`.
void add_peers_option(Verb& verb, std::vector<std::string>& peers);

/// What the peers tell of the capture, read from `input`; nothing when none are asked for. Files
/// that cannot be read are said on standard error, and in the answer's quality.
Result<std::optional<JobWaiting>> find_waiting(const std::vector<std::string>& peers,
                                               const InputOptions& input, const Capture& capture,
                                               const Progress& progress);

}  // namespace gf::cli
