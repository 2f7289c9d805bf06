// Rules about the sizes of kernels and of their operands.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <vector>

#include "analyze/findings/around.h"
#include "analyze/findings/facts.h"
#include "analyze/findings/framework_terms.h"
#include "analyze/findings/rules.h"
#include "analyze/work/kernel_traits.h"

namespace gf::trace_rules {

/// Time in which kernels of few thread blocks leave SMs without a block, and the kernels behind it:
/// at each instant the blocks of all kernels that run fill SMs, so that what a neighbor fills is
/// not lost. Collectives use few blocks by design; a kernel of unknown size fills all.
class SmallGrids {
 public:
  explicit SmallGrids(const Facts& facts) {
    const Context& context = facts.context;
    std::size_t position = 0;
    for (const auto& line : context.devices) {
      for (std::size_t i = 0; i < line.rows.size(); ++i) {
        if (context.capture.activities.kind[line.rows[i]] != ActivityKind::kernel) continue;
        go_to(line.spans[i].start);
        begin(facts.kernels[position], facts.group_at(position), line.spans[i].end);
        ++position;
      }
      go_to(line.window.end);
    }
  }
  Nanos time = 0, lost = 0;

  TimeBy names(const Facts& facts) const {
    TimeBy names(facts);
    for (const auto* kernel : kernels_) names.add_kernel(*kernel, kernel->exclusive_ns);
    return names;
  }

 private:
  static constexpr double kAll = 1e6;  // of a device's SMs, so that sums are exact

  struct Running {
    Nanos end;
    std::int64_t blocks;
    bool small;
    bool operator>(const Running& other) const { return end > other.end; }
  };

  void begin(const KernelInstance& instance, const LaunchGroup& group, Nanos end) {
    Running kernel{end, static_cast<std::int64_t>(kAll), false};
    if (group.blocks_per_sm < 1) {
      kernel.blocks = std::llround(group.blocks_per_sm * kAll);
      kernel.small = group.type != LayerType::communication;
    }
    if (kernel.small) kernels_.push_back(&instance);
    blocks_ += kernel.blocks;
    small_ += kernel.small;
    running_.push(kernel);
  }
  void go_to(Nanos to) {
    while (!running_.empty() && running_.top().end <= to) {
      count_until(running_.top().end);
      blocks_ -= running_.top().blocks;
      small_ -= running_.top().small;
      running_.pop();
    }
    count_until(to);
  }
  void count_until(Nanos to) {
    const double empty = 1 - static_cast<double>(blocks_) / kAll;
    if (small_ > 0 && empty > 0) {
      time += to - now_;
      lost += static_cast<Nanos>(static_cast<double>(to - now_) * empty);
    }
    now_ = to;
  }

  std::vector<const KernelInstance*> kernels_;  // the small ones, of the context
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  Nanos now_ = 0;
  std::int64_t blocks_ = 0, small_ = 0;
};

namespace {

/// The share of its device's warp slots that a kernel can fill; 1 without data.
double filled(const Facts& facts, const LaunchGroup& group) {
  const double threads = group.blocks_per_sm * group.threads_of_block;
  if (std::isnan(threads)) return 1;
  constexpr double kThreadsOfAnSm = 2048;
  const auto known = facts.capture().devices.max_threads_per_sm[group.device];
  return std::min(1.0, threads / (known > 0 ? known : kThreadsOfAnSm));
}

}  // namespace

std::optional<Said> small_grids(const Facts& facts) {
  const SmallGrids& small = facts.small_grids();
  if (facts.of_kernels(small.lost) < 0.1 || facts.of_window(small.lost) < 0.02) return {};
  constexpr double kLaunch = 2000;  // ns that a kernel takes at any size
  const auto small_ones = facts.kernels_of([](const LaunchGroup& group) {
    return group.blocks_per_sm < 1 && group.type != LayerType::communication;
  });
  for (const auto [kernel, group] : small_ones) {
    const double least =
        group.blocks_per_sm + kLaunch / static_cast<double>(std::max<Nanos>(1, kernel.duration_ns));
    if (least < 1)
      facts.also_takes(kernel.activity,
                       {least, least + (1 - least) / 10, least + (1 - least) * 3 / 4});
  }
  return Said{
      fmt::format("{} of kernel time is in kernels with fewer thread blocks than the GPU has SMs, "
                  "which leaves part of the GPU idle. Use a larger batch, or run independent work "
                  "on another stream.",
                  say_share(facts.of_kernels(small.time))),
      fmt::format("{} in such kernels, at least {} of it on SMs without a block; most in {}",
                  say_time(small.time), say_time(small.lost), say_names(small.names(facts))),
      small.lost};
}

std::optional<Said> small_batch(const Facts& facts) {
  constexpr std::int64_t kFewestKernels = 20;  // fewer are no step
  const Nanos late = facts.late();
  if (facts.kernel_count < kFewestKernels || facts.of_window(late) < 0.3) return {};
  const SmallGrids& small = facts.small_grids();
  if (facts.of_kernels(small.lost) < 0.3) return {};
  double filled_ns = 0;
  for (std::size_t at = 0; at < facts.kernels.size(); ++at)
    filled_ns +=
        filled(facts, facts.group_at(at)) * static_cast<double>(facts.kernels[at].exclusive_ns);
  const auto gain = facts.window - static_cast<Nanos>(std::llround(filled_ns));
  return Said{
      "A step has too little work for the GPU: it is launch-bound, and kernels leave most of the "
      "GPU empty. Use a larger batch; the gain is in time per item.",
      fmt::format("launch-bound {} of the time; {} of kernel time on SMs without a block; achieved "
                  "occupancy {}",
                  say_share(facts.of_window(late)), say_share(facts.of_kernels(small.lost)),
                  say_share(filled_ns / static_cast<double>(facts.window))),
      gain};
}

std::optional<Said> room_in_memory(const Facts& facts) {
  if (facts.analysis.work.memory.empty()) return {};
  // Worth saying only where larger batches would fill idle parts.
  Nanos idle = 0;
  for (const auto& device : facts.analysis.devices) idle += device.idle_ns;
  if (facts.of_window(idle + facts.small_grids().lost) < 0.25) return {};
  constexpr double kMuchRoom = 0.4;
  const MemoryRoom* fullest = nullptr;  // a larger batch has to fit on every device
  double most = 0;
  for (const auto& room : facts.analysis.work.memory) {
    if (!room.capacity || *room.capacity <= 0) continue;
    const double held = static_cast<double>(room.peak) / static_cast<double>(*room.capacity);
    if (fullest && held <= most) continue;
    most = held;
    fullest = &room;
  }
  if (!fullest || most >= kMuchRoom) return {};
  std::string text = fmt::format(
      "At its peak {} of GPU memory is allocated: a larger batch, or several programs on one GPU, "
      "would fit.",
      say_share(most));
  std::string evidence =
      fmt::format("{} of {}", say_bytes(fullest->peak), say_bytes(*fullest->capacity));
  const auto& items = facts.analysis.work.throughput.items;
  constexpr std::int64_t kFar = 1000;  // times as many: what else grows by then is not known
  if (fullest->fitting_batch && fullest->growing && items && *items > 0 &&
      *fullest->fitting_batch / *items <= kFar) {
    text += fmt::format(" About {} a step would.", plural(*fullest->fitting_batch, "item"));
    evidence += fmt::format("; {} of it are activations and temporary memory of {} a step",
                            say_bytes(*fullest->growing), plural(*items, "item"));
  }
  return Said{text, evidence};
}

namespace {

/// True if all warps of a grid together fill under a quarter of the device: more work would raise
/// its occupancy, and other blocks would not.
bool few_warps(const Facts& facts, const LaunchGroup& group) {
  const Chip* chip = facts.levels.chip();
  if (!chip || chip->warps_per_sm <= 0 || std::isnan(group.threads_of_block)) return false;
  return group.blocks_per_sm * std::ceil(group.threads_of_block / 32) < 0.25 * chip->warps_per_sm;
}

/// Warps of as many blocks as an SM holds at once (CUDA C++ Programming Guide, Multiprocessor
/// Level), over those that it could hold, where the blocks' shared memory is what leaves fewest of
/// them. NaN where threads or registers do, as in kernels of libraries, and where a limit is not
/// known.
double occupancy_by_shared_memory(const Facts& facts, const LaunchGroup& group) {
  constexpr double kWarp = 32, kMostBlocks = 32, kRegisterUnit = 256, kReservedBytes = 1024;
  const auto& devices = facts.capture().devices;
  const Chip* chip = facts.levels.chip();
  const auto device = group.device;
  if (!chip || chip->warps_per_sm <= 0 || device == kNoRow || std::isnan(group.threads_of_block) ||
      group.registers < 0 || group.shared_bytes < 0 || devices.registers_per_sm[device] <= 0 ||
      devices.shared_bytes_per_sm[device] <= 0)
    return NAN;
  const double warps = std::ceil(group.threads_of_block / kWarp);
  const double registers =
      std::ceil(group.registers * kWarp / kRegisterUnit) * kRegisterUnit * warps;
  double blocks = std::min(kMostBlocks, std::floor(chip->warps_per_sm / warps));
  if (registers > 0)
    blocks = std::min(blocks, std::floor(devices.registers_per_sm[device] / registers));
  const auto shared = static_cast<double>(group.shared_bytes) + kReservedBytes;
  const double by_shared =
      std::floor(static_cast<double>(devices.shared_bytes_per_sm[device]) / shared);
  if (by_shared >= blocks) return NAN;
  return std::max(1.0, by_shared) * warps / chip->warps_per_sm;
}

}  // namespace

std::optional<Said> low_estimated_occupancy(const Facts& facts) {
  Nanos time = 0;
  bool of_launches = false;
  TimeBy names(facts);
  const auto low = facts.kernels_of([&](const LaunchGroup& group) {
    if (multiplies(group) || group.type == LayerType::communication) return false;
    double occupancy = group.occupancy();
    // No estimate is 0, as is one of a block an SM that fills it with its shared memory.
    if (!(occupancy > 0)) {
      occupancy = occupancy_by_shared_memory(facts, group);
      of_launches = of_launches || occupancy < 0.25;
    }
    return group.blocks_per_sm >= 1 && occupancy > 0 && occupancy < 0.25 &&
           !few_warps(facts, group);
  });
  for (const auto [kernel, group] : low) {
    time += kernel.exclusive_ns;
    names.add_kernel(kernel, kernel.exclusive_ns);
  }
  if (facts.of_kernels(time) < 0.2) return {};
  return Said{
      fmt::format(
          "{} of kernel time is in kernels with an occupancy below 25 %, which hides little memory "
          "latency. More threads per block, or fewer registers and less shared memory, raise it.",
          say_share(facts.of_kernels(time))),
      fmt::format("{} by {}; most in {}", say_time(time),
                  of_launches ? "the shared memory of their blocks" : "the profiler's estimate",
                  say_names(names))};
}

std::optional<Said> partial_warps(const Facts& facts) {
  constexpr double kWarp = 32;
  Found found(facts);
  double lost = 0, fewest = kWarp;
  const auto filled = [&](const LaunchGroup& group) {
    return group.threads_of_block / (std::ceil(group.threads_of_block / kWarp) * kWarp);
  };
  // A few blocks are told as such, and may have little to do.
  const auto partial = facts.kernels_of([&](const LaunchGroup& group) {
    return group.threads_of_block >= 1 && group.blocks_per_sm >= 1 && filled(group) <= 0.5;
  });
  for (const auto [kernel, group] : partial) {
    found.take(kernel);
    lost += (1 - filled(group)) * static_cast<double>(kernel.exclusive_ns);
    fewest = std::min(fewest, group.threads_of_block);
  }
  if (!found.claim(0.05)) return {};
  Said said{fmt::format("{} of kernel time is in kernels whose blocks leave half of their warps' "
                        "lanes empty or more ({} in a block). Launch blocks of 128 or 256 threads.",
                        found.share(), plural(static_cast<std::int64_t>(fewest), "thread")),
            fmt::format("{}, {} of them in lanes without a thread; most in {}", found.said(),
                        say_time(static_cast<Nanos>(lost)), say_names(found.operators))};
  said.gain_ns = static_cast<Nanos>(lost);
  return said;
}

std::optional<Said> odd_sizes(const Facts& facts) {
  Nanos products = 0, transforms = 0;
  TimeBy names(facts), operators(facts);
  const auto odd = facts.kernels_of([](const LaunchGroup& group) {
    return group.word & kernel_is::odd_length || work::loads_unaligned(group.word);
  });
  for (const auto [kernel, group] : odd) {
    const bool transform = group.word & kernel_is::odd_length;
    (transform ? transforms : products) += kernel.exclusive_ns;
    names.add_kernel(kernel, kernel.exclusive_ns);
    operators.add_operator(kernel, kernel.exclusive_ns);
  }
  const Nanos time = products + transforms;
  if (facts.of_kernels(time) < 0.05) return {};
  return Said{
      transforms > products
          ? fmt::format("{} of kernel time runs FFTs of lengths with a large prime factor, through "
                        "longer ones (Bluestein). Pad them to a power of two, or to a "
                        "product of 2, 3, 5 and 7.",
                        say_share(facts.of_kernels(time)))
          : fmt::format("{} of kernel time multiplies matrices whose sizes are not multiples "
                        "of 8, in kernels that load one or two elements at a time. Pad them "
                        "(widths, vocabulary, sequences) to multiples of 8, preferably 64.",
                        say_share(facts.of_kernels(time))),
      fmt::format("{}, most in {}; under {}", say_time(time), say_names(names),
                  say_names(operators)),
      time};
}

std::optional<Said> no_channels_last(const Facts& facts) {
  Nanos converting = 0, around = 0;
  std::int64_t count = 0;
  TimeBy names(facts);
  for (const auto [kernel, group] : facts.kernels_of(kernel_is::converts_layout)) {
    converting += kernel.exclusive_ns;
    ++count;
  }
  if (facts.of_kernels(converting) < 0.03) return {};
  const auto in_nchw = facts.kernels_of([](const LaunchGroup& group) {
    return (group.type == LayerType::normalisation || group.type == LayerType::pooling) &&
           !(group.word & (kernel_is::converts_layout | kernel_is::nhwc));
  });
  for (const auto [kernel, group] : in_nchw) {
    around += kernel.exclusive_ns;
    names.add_kernel(kernel, kernel.exclusive_ns);
  }
  return Said{
      fmt::format("{} of kernel time converts images between NCHW and NHWC, around convolutions "
                  "that require NHWC. Keep model and input in {}.",
                  say_share(facts.of_kernels(converting)),
                  terms_of_framework(facts.capture().framework).nhwc),
      fmt::format("{} in {}; {} of normalization and pooling in NCHW{}{}", say_time(converting),
                  plural(count, "conversion"), say_time(around), around > 0 ? ", most in " : "",
                  around > 0 ? say_names(names) : std::string{}),
      converting + around};
}

}  // namespace gf::trace_rules

const gf::trace_rules::SmallGrids& gf::TraceFacts::small_grids() const {
  return *shared_->small_grids.of(
      [&] { return std::make_shared<const trace_rules::SmallGrids>(*this); });
}
