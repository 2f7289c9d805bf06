// Communication that no table of names knows, by what else the capture shows of it.
#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "analyze/attribution/attribution.h"
#include "analyze/layers/layers.h"
#include "analyze/traits.h"

namespace gf {
namespace {

bool has_other_ranks(const Capture& capture) {
  if (!capture.collectives.empty()) return true;
  for (const std::string_view key :
       {"distributedInfo.world_size", "job.world_size", "nccl.world_size"})
    if (const auto size = capture.metadata_value(key); !size.empty() && size != "0" && size != "1")
      return true;
  return false;
}

/// Links are slower than memory: what feeds them leaves most SMs to others.
bool has_few_blocks(const Capture& capture, std::uint32_t activity) {
  constexpr std::int64_t kUnknownSms = 132, kShare = 4;
  const auto& rows = capture.activities;
  const auto device = rows.device[activity];
  const std::int64_t known = device == kNoRow ? -1 : capture.devices.sm_count[device];
  const std::int64_t blocks = std::int64_t{rows.grid_x[activity]} *
                              std::max(rows.grid_y[activity], 1) *
                              std::max(rows.grid_z[activity], 1);
  return blocks > 0 && blocks * kShare <= (known > 0 ? known : kUnknownSms);
}

using Stream = std::pair<std::uint32_t, std::int64_t>;  // of a device

/// Streams on which kernels that are known communicate, and next to nothing else.
class CommunicationStreams {
 public:
  CommunicationStreams(const Capture& capture, const std::vector<LayerType>& layers) {
    const auto& rows = capture.activities;
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
      if (rows.kind[row] != ActivityKind::kernel || layers[row] == LayerType::other) continue;
      auto& [known, others] = time_[{rows.device[row], rows.stream[row]}];
      (layers[row] == LayerType::communication ? known : others) += rows.duration_ns[row];
    }
  }
  bool holds(const Stream& stream) const {
    constexpr Nanos kLeast = 50;  // times what else runs there
    const auto at = time_.find(stream);
    if (at == time_.end()) return false;
    return at->second.first > 0 && at->second.second * kLeast <= at->second.first;
  }

 private:
  std::map<Stream, std::pair<Nanos, Nanos>> time_;
};

}  // namespace

void find_unnamed_communication(const Capture& capture, const Names& names,
                                const Attribution& attribution, std::vector<LayerType>& layers) {
  if (!has_other_ranks(capture)) return;
  constexpr Nanos kLong = 10'000;  // what sorts tokens on the device itself is shorter
  const CommunicationStreams streams(capture, layers);
  const auto& rows = capture.activities;
  const auto& ops = capture.host_ops;
  Inherited inside(attribution);
  auto sent_by_operation = [&](std::uint32_t row) {
    return inside.of(attribution.op[row], [&](std::uint32_t outside, std::uint32_t op) {
      // Alone the words say too little: routing inside one device has the same.
      const bool sends = names.host(ops.name[op]) & host_is::exchanges;
      return outside == 1 || (ops.kind[op] == HostKind::op && sends) ? 1u : 0u;
    }) == 1;
  };
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    if (rows.kind[row] != ActivityKind::kernel || layers[row] != LayerType::other) continue;
    if (!has_few_blocks(capture, row)) continue;
    if (streams.holds({rows.device[row], rows.stream[row]}) ||
        (rows.duration_ns[row] >= kLong && sent_by_operation(row)))
      layers[row] = LayerType::communication;
  }
}

}  // namespace gf
