// Which rank of which job a capture is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace gf
