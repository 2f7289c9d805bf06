// Identifies the rank and job of a capture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyze/context.h"
#include "analyze/ranks/names.h"
#include "model/capture.h"

namespace gf {

struct RankIdentity {
  std::int64_t rank = -1, world_size = -1;
  RankSource source = RankSource::order;
  std::string job, host;
};

/// From what the trace says of itself, the environment that the recorder noted (torchrun, Slurm,
/// Open MPI), or as a last resort the file's name.
RankIdentity identify_rank(const Capture& capture);

/// The number in a file name such as trace.rank3.json.gz, worker_12.pt.trace.json or rank-0_x.gpf.
std::optional<std::int64_t> rank_in_name(std::string_view path);

/// Digest of what a device did, which tells one recording from all others, whatever its file says
/// of the rank. Times of more than a few activities count from the first, so that a copy with
/// another clock has the same.
std::string content_of(const Capture& capture, const DeviceTimeline& line);

}  // namespace gf
