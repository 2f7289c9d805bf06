#include "analyze/utilization/sm_fill.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/intervals.h"
#include "model/levels.h"

namespace gf {

namespace {

constexpr double kWarp = 32;

/// The CUDA C++ Programming Guide's table of technical specifications by compute capability.
double most_blocks_of_sm(int major, int minor) {
  if (major == 7 && minor == 5) return 16;
  if (major == 8 && minor == 9) return 24;
  if (major == 8 && minor > 0) return 16;
  return major == 12 ? 24 : 32;
}

/// Warps of a block; 0 where its size is not known.
double warps_of_block(const Capture& capture, std::uint32_t activity) {
  const auto& rows = capture.activities;
  if (rows.block_x[activity] <= 0) return 0;
  const double threads = static_cast<double>(rows.block_x[activity]) *
                         std::max(rows.block_y[activity], 1) * std::max(rows.block_z[activity], 1);
  return std::ceil(threads / kWarp);
}

/// Blocks that an SM holds at once, by warps, registers and shared memory; 0 where a limit is not
/// known.
double resident_blocks(const Capture& capture, const Chip& chip, std::uint32_t activity,
                       double warps) {
  constexpr double kRegisterUnit = 256, kWarpUnit = 4, kReservedBytes = 1024;
  const auto& rows = capture.activities;
  const auto& devices = capture.devices;
  const auto device = rows.device[activity];
  if (rows.registers[activity] < 0 || rows.shared_bytes[activity] < 0 ||
      devices.registers_per_sm[device] <= 0 || devices.shared_bytes_per_sm[device] <= 0)
    return 0;
  double blocks =
      std::min(most_blocks_of_sm(chip.major, chip.minor), std::floor(chip.warps_per_sm / warps));
  const double registers = std::ceil(rows.registers[activity] * kWarp / kRegisterUnit) *
                           kRegisterUnit * std::ceil(warps / kWarpUnit) * kWarpUnit;
  if (registers > 0)
    blocks = std::min(blocks, std::floor(devices.registers_per_sm[device] / registers));
  const double reserved = chip.major >= 8 ? kReservedBytes : 0;
  const double shared = static_cast<double>(rows.shared_bytes[activity]) + reserved;
  if (shared > 0)
    blocks = std::min(
        blocks, std::floor(static_cast<double>(devices.shared_bytes_per_sm[device]) / shared));
  return std::max(1.0, blocks);  // it ran
}

}  // namespace

std::optional<SmFill> sm_fill(const Capture& capture, const Chip* chip, std::uint32_t activity) {
  const auto& rows = capture.activities;
  const auto device = rows.device[activity];
  const bool nvidia = chip && static_cast<std::size_t>(chip->id) < kChips;
  if (!nvidia || device == kNoRow || rows.grid_x[activity] <= 0) return std::nullopt;
  const double sms = capture.devices.sm_count[device];
  const double warps = warps_of_block(capture, activity);
  if (sms <= 0 || warps <= 0 || chip->warps_per_sm <= 0) return std::nullopt;
  const double resident = resident_blocks(capture, *chip, activity, warps);
  if (resident <= 0) return std::nullopt;
  const double blocks = static_cast<double>(rows.grid_x[activity]) *
                        std::max(rows.grid_y[activity], 1) * std::max(rows.grid_z[activity], 1);
  SmFill fill;
  fill.waves = blocks / (sms * resident);
  fill.occupancy_limit = std::min(1.0, resident * warps / chip->warps_per_sm);
  const double full = std::floor(fill.waves), all = std::ceil(fill.waves);
  const double rest = blocks - full * sms * resident;
  fill.sm_active_low = (full + std::min(1.0, rest / sms)) / all;
  fill.sm_active_high = std::min(1.0, blocks / sms);
  const double warps_of_device = sms * chip->warps_per_sm;
  fill.occupancy_low = std::min(1.0, blocks * warps / (all * warps_of_device));
  fill.occupancy_high = std::min(fill.occupancy_limit, blocks * warps / warps_of_device);
  return fill;
}

namespace {

constexpr std::size_t kMostSampled = 2048;

/// Sums over the kernels of a device, in nanoseconds.
struct FillSums {
  double sm_low = 0, sm_high = 0, occupancy_low = 0, occupancy_high = 0;
  double covered = 0, exclusive = 0, duration = 0;

  /// Kernels that overlap may fill different SMs: their high bounds add up, the low ones share the
  /// time.
  void add(const std::optional<SmFill>& fill, const KernelInstance& kernel) {
    const auto own = static_cast<double>(kernel.exclusive_ns);
    const auto whole = static_cast<double>(kernel.duration_ns);
    exclusive += own;
    duration += whole;
    if (!fill) {
      sm_high += whole;
      occupancy_high += whole;
      return;
    }
    covered += own;
    // Until its first blocks run and after its last ones a kernel takes time at any size.
    constexpr double kLaunch = 4000;  // ns; counters of short kernels show as much
    const double filled = own * std::max(0.0, 1 - kLaunch / std::max(whole, 1.0));
    sm_low += filled * fill->sm_active_low;
    occupancy_low += filled * fill->occupancy_low;
    sm_high += whole * fill->sm_active_high;
    occupancy_high += whole * fill->occupancy_high;
  }
  /// The same of all kernels that the looked-at ones stand for.
  void scale(double by_time) {
    for (double* sum :
         {&sm_low, &sm_high, &occupancy_low, &occupancy_high, &covered, &exclusive, &duration})
      *sum *= by_time;
  }
  void add(const FillSums& other) {
    sm_low += other.sm_low;
    sm_high += other.sm_high;
    occupancy_low += other.occupancy_low;
    occupancy_high += other.occupancy_high;
    covered += other.covered;
    exclusive += other.exclusive;
    duration += other.duration;
  }
};

/// `kernels`: those of one device.
FillSums sum_fill(const Capture& capture, const Chip* chip, std::span<const KernelInstance> kernels,
                  Nanos kernel_busy) {
  FillSums sums;
  const std::size_t looked_at = std::min(kMostSampled, kernels.size());
  for (std::size_t i = 0; i < looked_at; ++i) {
    // One of each equal part of the kernels, at a place that follows no period of the program.
    constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;
    const std::size_t begin = kernels.size() * i / looked_at,
                      end = kernels.size() * (i + 1) / looked_at;
    const auto& kernel = kernels[begin + (i * kGoldenRatio >> 32) % (end - begin)];
    sums.add(sm_fill(capture, chip, kernel.activity), kernel);
  }
  if (sums.exclusive > 0) sums.scale(static_cast<double>(kernel_busy) / sums.exclusive);
  return sums;
}

Level estimated_level(std::string_view id, double low, double high, const FillSums& sums,
                      Nanos busy, Nanos window) {
  const auto whole = static_cast<double>(window);
  Level level;
  level.id = id;
  level.estimated = true;
  level.low = low / whole;
  level.high = std::max(low, std::min(high, static_cast<double>(busy))) / whole;
  level.coverage = sums.covered / sums.exclusive;
  level.formula = "grid, block, registers and shared memory of launches over the chip's limits";
  return level;
}

/// Empty where most of the time is in kernels whose shape is not known.
std::vector<Level> levels_of(const FillSums& sums, Nanos busy, Nanos window) {
  constexpr double kLeastCovered = 0.5;
  if (window <= 0 || !(sums.exclusive > 0) || sums.covered < kLeastCovered * sums.exclusive)
    return {};
  return {
      estimated_level(id_of(KernelLevel::sm_active), sums.sm_low, sums.sm_high, sums, busy, window),
      estimated_level(id_of(KernelLevel::occupancy), sums.occupancy_low, sums.occupancy_high, sums,
                      busy, window)};
}

/// Takes the place of a level without a value, which keeps what to collect; new ones come last.
void put_estimates(std::vector<Level> estimates, std::vector<Level>& levels) {
  for (auto& estimate : estimates) {
    const auto at = std::ranges::find(levels, estimate.id, &Level::id);
    if (at == levels.end()) {
      levels.push_back(std::move(estimate));
    } else if (!at->value) {
      estimate.why_missing = std::move(at->why_missing);
      *at = std::move(estimate);
    }
  }
}

bool lacks_sm_active(const std::vector<Level>& levels) {
  const auto at = std::ranges::find(levels, id_of(KernelLevel::sm_active), &Level::id);
  return at != levels.end() && !at->value;
}

}  // namespace

EstimatedLevels levels_by_launches(const Context& context, const Chip* chip,
                                   const Analysis& analysis) {
  if (!lacks_sm_active(analysis.levels)) return {};
  const auto& device_of = context.capture.activities.device;
  EstimatedLevels estimated;
  FillSums all;
  Nanos all_busy = 0, all_window = 0;
  std::span<const KernelInstance> rest = context.kernels;  // in order of device
  for (const auto& line : context.devices) {
    const auto end = std::ranges::partition_point(rest, [&](const KernelInstance& kernel) {
      return device_of[kernel.activity] == line.device;
    });
    const auto own = rest.first(static_cast<std::size_t>(end - rest.begin()));
    rest = rest.subspan(own.size());
    const Nanos busy = line.kernel_busy_ns(), window = line.window.length();
    const auto sums = sum_fill(context.capture, chip, own, busy);
    estimated.devices.push_back(levels_of(sums, busy, window));
    all.add(sums);
    all_busy += busy;
    all_window += window;
  }
  estimated.all = levels_of(all, all_busy, all_window);
  return estimated;
}

void put(EstimatedLevels levels, Analysis& analysis) {
  put_estimates(std::move(levels.all), analysis.levels);
  const auto devices = std::min(levels.devices.size(), analysis.devices.size());
  for (std::size_t device = 0; device < devices; ++device)
    put_estimates(std::move(levels.devices[device]), analysis.devices[device].levels);
}

}  // namespace gf
