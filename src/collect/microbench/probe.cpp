// What a calibration must know about the chip and its sensor: cache sizes by the latency of
// dependent loads, and how the power reading follows a load.
#include <algorithm>
#include <cmath>
#include <thread>

#include "collect/microbench/load.h"
#include "collect/microbench/run.h"

namespace gf::microbench {

Result<std::vector<LatencyPoint>> Runner::measure_latencies() {
  if (auto status = wake(); !status) return tl::unexpected(status.error());
  const Microbench* chase = find("l1_load");
  if (!chase) return fail("this chip has no pointer chase");
  auto compiled = kernel(*chase);
  if (!compiled) return tl::unexpected(compiled.error());
  constexpr double kMost = 1 << 30, kStep = 256;  // a warp reads 256 bytes a load
  auto buffer = cuda::Buffer::allocate(
      context_, std::min<std::size_t>(static_cast<std::size_t>(kMost), context_->free_bytes() / 2) &
                    ~std::size_t{255});
  if (!buffer) return tl::unexpected(buffer.error());

  std::vector<LatencyPoint> points;
  for (int quarter = 0; quarter <= 80; ++quarter) {
    const double wanted = std::round(1024 * std::exp2(quarter / 4.0) / kStep) * kStep;
    if (wanted > static_cast<double>(buffer->bytes())) break;
    std::uint64_t base = buffer->address(), sink = sink_->address(),
                  region = static_cast<std::uint64_t>(wanted), words = region / 8;
    std::uint32_t loops = 0, zero = 0;
    void* fill_args[] = {&base, &words, &words};
    void* args[] = {&base, &sink, &loops, &region, &zero};
    // Writing the chain leaves its tail, or all of it, in L2; L1 begins empty with every launch.
    const double steps = wanted / kStep;
    auto timed = [&](std::uint32_t blocks) -> Result<double> {
      if (auto status = fill_chain_->launch({sm_count_ * 8, 256, 0}, fill_args); !status)
        return tl::unexpected(status.error());
      auto begin = cuda::Event::create(context_), end = cuda::Event::create(context_);
      if (!begin || !end) return fail("cuEventCreate failed");
      loops = blocks;
      (void)begin->record();
      if (auto status = (*compiled)->launch({1, 32, 0}, args); !status)
        return tl::unexpected(status.error());
      (void)end->record();
      if (auto status = end->wait(); !status) return tl::unexpected(status.error());
      return end->seconds_since(*begin);
    };
    // The difference of two walks has neither launch nor first touch in it, where the region is
    // small enough for L1; a walk through more than L2 holds must not come round.
    const auto once = static_cast<std::uint32_t>(std::clamp(std::ceil(steps / 32), 64.0, 128.0));
    double best = 1e9;
    for (int round = 0; round < 3; ++round) {
      auto one = timed(once), two = timed(3 * once);
      if (!one) return tl::unexpected(one.error());
      if (!two) return tl::unexpected(two.error());
      best = std::min(best, (*two - *one) / (2.0 * once * chase->unroll));
    }
    points.push_back({"latency", wanted, best * 1e9});
  }
  return points;
}

Result<SensorStep> Runner::measure_sensor_step(double idle_s) {
  const Microbench* fma = find("fma_fp32");
  if (!fma) return fail("this chip has no kernel to load it with");
  auto compiled = kernel(*fma);
  if (!compiled) return tl::unexpected(compiled.error());
  std::uint64_t base = 0, sink = sink_->address(), per_warp = 0;
  std::uint32_t loops = 5000, zero = 0;  // a few milliseconds a launch
  void* args[] = {&base, &sink, &loops, &per_warp, &zero};
  const Plan shape = full(*fma);
  GpuReadingGroups only;
  only.energy = only.state = only.processes = false;
  std::this_thread::sleep_for(std::chrono::duration<double>(idle_s));
  SensorStep step;
  double last = nvml_->read(gpu_, only).power_instant_watts.value_or(std::nan(""));
  if (std::isnan(last)) return fail("no instantaneous power reading");
  step.before_w = last;
  const auto begin = Load::Clock::now();
  auto now = [&] { return std::chrono::duration<double>(Load::Clock::now() - begin).count(); };
  auto follow = [&](double until) {
    while (now() < until) {
      const auto watts = nvml_->read(gpu_, only).power_instant_watts;
      if (watts && *watts != last) {
        step.t_s.push_back(now());
        step.watts.push_back(last = *watts);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
  };
  {
    Load load(context_, **compiled, {shape.blocks, shape.threads, 0}, args);
    follow(0.7);
    if (auto status = load.stop(); !status) return tl::unexpected(status.error());
  }
  step.off_s = now();
  follow(step.off_s + 0.5);
  return step;
}

}  // namespace gf::microbench
