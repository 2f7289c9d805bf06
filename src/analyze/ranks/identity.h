// Identifies the rank and job of a capture.
// Identifies a collective by the words that frameworks, libraries and kernels have for it.
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

/// By the framework's name ("allreduce", "_reduce_scatter_base") or the kernel's
/// ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(…)"); other when it says nothing.
CollectiveType collective_type(std::string_view name);

/// Bytes of an element of a type as Kineto spells it ("Float", "BFloat16"); 0 when unknown.
std::int64_t element_bytes(std::string_view dtype);

/// Bytes of the message of a row of capture.collectives; -1: not known.
std::int64_t message_bytes(const Capture& capture, std::uint32_t row, CollectiveType type);

/// No rank leaves such a collective before every rank has arrived, so its ends agree.
bool synchronises(CollectiveType type);

bool point_to_point(CollectiveType type);

/// Bytes that each link carries for one byte of the message, as nccl-tests counts bus bandwidth.
double bus_factor(CollectiveType type, std::int64_t ranks);

/// Digest of what a device did, which tells one recording from all others, whatever its file says
/// of the rank. Times of more than a few activities count from the first, so that a copy with
/// another clock has the same.
std::string content_of(const Capture& capture, const DeviceTimeline& line);

}  // namespace gf
