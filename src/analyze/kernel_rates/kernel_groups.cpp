#include "analyze/kernel_rates/kernel_groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace gf {

namespace {

void order_by_time(KernelGroups& out) {
  std::vector<std::uint32_t> order(out.groups.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto left, auto right) {
    return out.groups[left].ns > out.groups[right].ns;
  });
  std::vector<std::uint32_t> place(order.size());
  std::vector<KernelGroup> sorted;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(out.groups[order[i]]);
  }
  out.groups = std::move(sorted);
  for (auto& group : out.group_of)
    if (group != kNoRow) group = place[group];
}

}  // namespace

KernelGroups group_kernels(const Capture& capture, std::uint32_t device) {
  using Key = std::tuple<Text, I32, I32, I32, I32, I32, I32>;
  const auto& activities = capture.activities;
  KernelGroups out;
  std::map<Key, std::uint32_t> known;
  out.group_of.assign(activities.size(), kNoRow);
  for (std::uint32_t row = 0; row < activities.size(); ++row) {
    if (activities.kind[row] != ActivityKind::kernel || activities.device[row] != device) continue;
    const auto [it, added] =
        known.try_emplace(Key{activities.name[row], activities.grid_x[row], activities.grid_y[row],
                              activities.grid_z[row], activities.block_x[row],
                              activities.block_y[row], activities.block_z[row]},
                          static_cast<std::uint32_t>(out.groups.size()));
    if (added) out.groups.push_back({row, 0, 0});
    auto& group = out.groups[it->second];
    ++group.instances;
    group.ns += activities.duration_ns[row];
    out.group_of[row] = it->second;
  }
  order_by_time(out);
  return out;
}

}  // namespace gf
