#include <algorithm>
#include <optional>
#include <unordered_map>

#include "analyze/collective_type.h"
#include "analyze/replay/mendings.h"
#include "analyze/timeline.h"
#include "model/chips.h"

namespace gf {

namespace {

// Collectives reached 45 to 66 % of the data sheet's rate on NVLink (docs/lab/ranks.md): as much of
// their time the bytes move, in the rest they wait for each other.
constexpr double kReached = 0.56;
constexpr std::int64_t kOneHost = 8;  // between hosts other links count

/// The part of a collective's time in which its bytes move: at least, and about. Empty where its
/// size is not known, or the rate of its link.
struct Moving {
  double least = 0, about = 0;
};
std::optional<Moving> moving(const Capture& capture, std::uint32_t row, double rate) {
  const auto& table = capture.collectives;
  const auto activity = table.activity[row];
  const auto nanos = static_cast<double>(capture.activities.duration_ns[activity]);
  auto type = collective_type(capture.text(table.name[row]));
  if (type == CollectiveType::other)
    type = collective_type(capture.text(capture.activities.name[activity]));
  const std::int64_t bytes = message_bytes(capture, row, type), ranks = table.group_size[row];
  if (bytes <= 0 || ranks < 2 || ranks > kOneHost || rate <= 0 || nanos <= 0) return std::nullopt;
  const double least = static_cast<double>(bytes) * bus_factor(type, ranks) / rate * 1e9 / nanos;
  if (least > 1) return std::nullopt;  // of another transfer, or on another link
  return Moving{least, std::min(1.0, least / kReached)};
}

}  // namespace

Mending mending_of_link(const Context& context, double times, double bytes_per_s) {
  const Capture& capture = context.capture;
  std::unordered_map<std::uint32_t, std::uint32_t> described;  // row of collectives by activity
  for (std::uint32_t row = 0; row < capture.collectives.size(); ++row)
    described.try_emplace(capture.collectives.activity[row], row);
  Mending mending;
  for (const auto& line : context.devices) {
    const double own = link_bytes_per_s(capture.text(capture.devices.name[line.device]));
    if (bytes_per_s > 0 && own <= 0) continue;
    const double longer = bytes_per_s > 0 ? own / bytes_per_s : 1 / times;
    for (const auto activity : collective_rows(context, line)) {
      const auto row = described.find(activity);
      std::optional<Moving> part;
      if (row != described.end()) part = moving(capture, row->second, own);
      if (!part && bytes_per_s > 0) continue;  // its link may be another
      auto taken = [&](double share) { return 1 + share * (longer - 1); };
      const double all = taken(1), least = part ? taken(part->least) : 1;
      mending.kernels.push_back(
          {activity,
           {std::min(all, least), part ? taken(part->about) : all, std::max(all, least)}});
    }
  }
  return mending;
}

}  // namespace gf
