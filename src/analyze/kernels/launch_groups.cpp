#include "analyze/kernels/launch_groups.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace gf {
namespace {

using Words = std::array<std::uint64_t, sizeof(Launch) / sizeof(std::uint64_t)>;

/// Numbers the launches of a context by a table of the groups themselves: open addressing, by the
/// hash of what their launches share.
class LaunchGrouper {
 public:
  explicit LaunchGrouper(const Context& context)
      : context_(context), rows_(context.capture.activities), slots_(1024, kFree) {}

  LaunchGroups run() {
    result_.of.reserve(context_.kernels.size());
    for (const KernelInstance& kernel : context_.kernels) {
      const auto number = number_of(kernel.activity);
      result_.of.push_back(number);
      result_.groups[number].exclusive_ns += kernel.exclusive_ns;
      ++result_.groups[number].kernels;
    }
    return std::move(result_);
  }

 private:
  static constexpr std::uint32_t kFree = kNoRow;

  Launch launch(std::uint32_t row) const {
    return {.shared_bytes = rows_.shared_bytes[row],
            .occupancy_bits = std::bit_cast<std::uint64_t>(rows_.occupancy[row]),
            .name = rows_.name[row],
            .operation = operation_of(context_, row),
            .program_op = rows_.program_op[row],
            .device = rows_.device[row],
            .grid_x = rows_.grid_x[row],
            .grid_y = rows_.grid_y[row],
            .grid_z = rows_.grid_z[row],
            .block_x = rows_.block_x[row],
            .block_y = rows_.block_y[row],
            .block_z = rows_.block_z[row],
            .registers = rows_.registers[row],
            .type = context_.attribution.layer[row],
            .phase = static_cast<TrainingPhase>(context_.attribution.phase[row])};
  }

  std::uint32_t number_of(std::uint32_t row) {
    const Launch own = launch(row);
    const auto words = std::bit_cast<Words>(own);
    std::uint64_t hash = 0;
    for (const auto word : words) hash = (std::rotl(hash, 23) ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
    std::size_t at = hash & (slots_.size() - 1);
    for (; slots_[at] != kFree; at = (at + 1) & (slots_.size() - 1))
      if (std::bit_cast<Words>(Launch(result_.groups[slots_[at]])) == words) return slots_[at];
    const auto number = slots_[at] = static_cast<std::uint32_t>(result_.groups.size());
    result_.groups.push_back({own, 0, 0, context_.names.kernel(own.name),
                              blocks_per_sm(context_.capture, row),
                              threads_of_block(context_.capture, row)});
    hashes_.push_back(hash);
    if (hashes_.size() * 2 > slots_.size()) grow();
    return number;
  }

  void grow() {
    slots_.assign(2 * slots_.size(), kFree);
    for (std::uint32_t number = 0; number < hashes_.size(); ++number) {
      std::size_t at = hashes_[number] & (slots_.size() - 1);
      while (slots_[at] != kFree) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = number;
    }
  }

  const Context& context_;
  const activities_table& rows_;
  LaunchGroups result_;
  std::vector<std::uint64_t> hashes_;  // by group
  std::vector<std::uint32_t> slots_;   // groups
};

}  // namespace

std::shared_ptr<const LaunchGroups> launch_groups_of(const Context& context) {
  if (context.launch_groups) return context.launch_groups;
  return std::make_shared<const LaunchGroups>(LaunchGrouper(context).run());
}

bool can_use_tensor_cores(LayerType type) {
  return type == LayerType::convolution || type == LayerType::matmul ||
         type == LayerType::attention || type == LayerType::recurrent;
}

double blocks_per_sm(const Capture& capture, std::uint32_t activity) {
  const auto& rows = capture.activities;
  const auto device = rows.device[activity];
  std::int64_t sms = -1;
  if (device != kNoRow) sms = capture.devices.sm_count[device];
  if (sms <= 0 || rows.grid_x[activity] <= 0) return NAN;
  return static_cast<double>(rows.grid_x[activity]) * std::max(rows.grid_y[activity], 1) *
         std::max(rows.grid_z[activity], 1) / static_cast<double>(sms);
}

double threads_of_block(const Capture& capture, std::uint32_t activity) {
  const auto& rows = capture.activities;
  if (rows.block_x[activity] <= 0) return NAN;
  return static_cast<double>(rows.block_x[activity]) * std::max(rows.block_y[activity], 1) *
         std::max(rows.block_z[activity], 1);
}

}  // namespace gf
