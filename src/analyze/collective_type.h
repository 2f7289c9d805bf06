// Identifies a collective by the words that frameworks, libraries and kernels have for it.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyze/ranks/names.h"
#include "model/capture.h"

namespace gf {

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

}  // namespace gf
