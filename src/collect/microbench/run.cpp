#include "collect/microbench/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "collect/live/live_sampler.h"
#include "collect/microbench/plan.h"
#include "collect/nvml/nvml.h"

namespace gf::microbench {

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point at) {
  return std::chrono::duration<double>(Clock::now() - at).count();
}

constexpr double kRiseSeconds =
    0.35;  // the sensor's rise time (75 to 120 ms) and the clocks' settling, with room
constexpr double kKernelSeconds = 0.02;  // one launch

/// Watches the board while something else keeps it busy.
class Watch {
 public:
  Watch(Nvml& nvml, const GpuInfo& gpu) : nvml_(nvml), gpu_(gpu) {}

  /// Follows the energy counter for `seconds` between two of its updates. Fills the power fields of
  /// `point`. All else is read in the first half of what lies between two updates: in the second
  /// the counter alone, so that each update is seen as promptly as the first, also where a reading
  /// of everything takes long (20 ms with four boards read at once).
  Status follow(double seconds, Point& point) {
    auto first = next_edge(2.0);
    if (!first) return tl::unexpected(first.error());
    start_ = first->at;
    double power = 0, memory = 0, sm = 0, mem_clock = 0, temperature = 0, capped = 0;
    int readings = 0, n_memory = 0;
    double last_memory = std::nan("");
    double quiet = 0;  // seconds in which no update is due
    point.edges.push_back({0, 0});
    while (true) {
      GpuReadingGroups groups;
      groups.energy = groups.processes = false;
      const GpuReading reading = nvml_.read(gpu_, groups);
      if (reading.lost) return fail("the GPU was lost while measuring");
      if (reading.power_instant_watts) power += *reading.power_instant_watts;
      if (reading.power_memory_watts) {
        memory += last_memory = *reading.power_memory_watts;
        ++n_memory;
      }
      if (reading.sm_clock_mhz) sm += *reading.sm_clock_mhz;
      if (reading.memory_clock_mhz) mem_clock += *reading.memory_clock_mhz;
      if (reading.temperature_celsius) temperature += *reading.temperature_celsius;
      constexpr std::uint64_t kCaps =
          0x4 | 0x8 | 0x20 | 0x40 |
          0x80;  // software power cap, hardware slowdown, thermal and brake reasons
      if (reading.throttle_reasons && (*reading.throttle_reasons & kCaps)) capped += 1;
      ++readings;
      if (seconds_since(start_) < point.edges.back().t_s + quiet) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      const auto next = next_edge(2.0);
      if (!next) return tl::unexpected(next.error());
      const double at = std::chrono::duration<double>(next->at - start_).count();
      quiet = (at - point.edges.back().t_s) / 2;
      point.edges.push_back({at, next->joules - first->joules});
      if (at >= seconds) break;
    }
    point.seconds = point.edges.back().t_s;
    point.energy_j = point.edges.back().energy_j;
    point.instant_w = power / readings;
    point.memory_end_w = last_memory;
    point.memory_w = n_memory ? memory / n_memory : std::nan("");
    point.sm_mhz = sm / readings;
    point.memory_mhz = mem_clock / readings;
    point.temperature_c = temperature / readings;
    point.throttled = capped / readings;
    return {};
  }
  Clock::time_point start() const { return start_; }

 private:
  struct Seen {
    Clock::time_point at;
    double joules;
  };
  Result<Seen> next_edge(double patience) {
    const auto begin = Clock::now();
    std::optional<double> before;
    GpuReadingGroups only;
    only.power = only.state = only.processes = false;
    while (seconds_since(begin) < patience) {
      const auto reading = nvml_.read(gpu_, only);
      if (!reading.energy_joules)
        return fail("no energy counter", {}, -1,
                    "calibration needs a board that counts energy (Volta and newer)");
      if (before && *reading.energy_joules != *before)
        return Seen{Clock::now(), *reading.energy_joules};
      before = reading.energy_joules;
    }
    return fail("the energy counter stands still", {}, -1, "this board does not count energy");
  }
  Nvml& nvml_;
  const GpuInfo& gpu_;
  Clock::time_point start_;
};

}  // namespace

Result<Runner> Runner::open(const std::string& device) {
  Runner runner;
  auto nvml = open_nvml();
  if (!nvml) return tl::unexpected(nvml.error());
  runner.nvml_ = std::move(*nvml);
  const auto chosen = select_devices(device, runner.nvml_->gpus());
  if (!chosen) return tl::unexpected(chosen.error());
  if (chosen->size() != 1)
    return fail(fmt::format("'{}' is not one GPU", device), {}, -1,
                "give its number as nvidia-smi counts, or its UUID");
  runner.gpu_ = runner.nvml_->gpus()[chosen->front()];
  runner.benches_ = microbenches({runner.gpu_.compute_major * 10 + runner.gpu_.compute_minor});
  return runner;
}

Status Runner::choose(const std::vector<std::string>& only, const std::vector<std::string>& skip) {
  for (const auto* names : {&only, &skip})
    for (const auto& name : *names)
      if (!find(name)) return fail("no microbenchmark is called " + name);
  auto in = [](const std::vector<std::string>& names, const std::string& id) {
    return std::find(names.begin(), names.end(), id) != names.end();
  };
  std::erase_if(benches_, [&](const Microbench& bench) {
    return (!only.empty() && !in(only, bench.id)) || in(skip, bench.id);
  });
  return {};
}

Status Runner::hold_clock(unsigned mhz) {
  auto lock = ClockLock::hold(*nvml_, gpu_, mhz);
  if (!lock) return tl::unexpected(lock.error());
  clock_ = std::make_shared<ClockLock>(std::move(*lock));
  return {};
}

std::string Runner::gpu_name() const { return gpu_.name; }
std::string Runner::gpu_uuid() const { return gpu_.uuid; }

const Microbench* Runner::find(const std::string& id) const {
  for (const auto& bench : benches_)
    if (bench.id == id) return &bench;
  return nullptr;
}

Plan Runner::full(const Microbench& bench) const {
  Plan plan;
  plan.bench = bench.id;
  plan.threads = bench.fixed_threads ? bench.fixed_threads : 1024;
  // Chases need many warps to fill the memory; the others fill their unit with one block an SM.
  // Bulk copies have one warp a block and five blocks' landing space an SM.
  unsigned per_sm = 1;
  if (bench.fixed_threads == 32) {
    per_sm = 5;
  } else if (bench.fixed_threads == 128) {
    per_sm = 3;
  } else if (bench.chase && !bench.fixed_threads) {
    per_sm = 2;
  }
  plan.blocks = sm_count_ * per_sm;
  return plan;
}

Status Runner::wake() {
  if (context_) return {};
  auto context = cuda::Context::open(gpu_.uuid);
  if (!context) return tl::unexpected(context.error());
  auto sms = (*context)->attribute(cuda::Attribute::sm_count);
  if (!sms) return tl::unexpected(sms.error());
  auto sink = cuda::Buffer::allocate(*context, 4096);
  if (!sink) return tl::unexpected(sink.error());
  const ChipTraits chip{gpu_.compute_major * 10 + gpu_.compute_minor};
  auto chain = cuda::Kernel::compile(*context, chain_filler_ptx(chip), "fill_chain");
  if (!chain) return tl::unexpected(chain.error());
  auto random = cuda::Kernel::compile(*context, random_filler_ptx(chip), "fill_random");
  if (!random) return tl::unexpected(random.error());
  context_ = *context;
  sm_count_ = static_cast<unsigned>(*sms);
  sink_ = std::make_shared<cuda::Buffer>(std::move(*sink));
  fill_chain_ = std::make_shared<cuda::Kernel>(std::move(*chain));
  fill_random_ = std::make_shared<cuda::Kernel>(std::move(*random));
  return {};
}

Result<cuda::Kernel*> Runner::kernel(const Microbench& bench) {
  if (auto status = wake(); !status) return tl::unexpected(status.error());
  auto& slot = kernels_[bench.id];
  if (!slot) {
    auto kernel = cuda::Kernel::compile(context_, bench.ptx, bench.entry().c_str());
    if (!kernel) return fail(bench.id + ": " + kernel.error().what);
    // Level-1 benchmarks want all of the array as cache, the shared-memory ones as shared memory.
    if (auto status = kernel->configure(bench.shared_bytes,
                                        bench.space == Space::l1                              ? 0
                                        : bench.space == Space::shared || bench.fixed_threads ? 100
                                                                                              : -1);
        !status)
      return tl::unexpected(status.error());
    slot = std::make_shared<cuda::Kernel>(std::move(*kernel));
  }
  return slot.get();
}

std::vector<std::string> Runner::leave_out_refused() {
  std::vector<std::string> refused;
  std::erase_if(benches_, [&](const Microbench& bench) {
    const auto compiled = kernel(bench);
    if (!compiled) refused.push_back(compiled.error().what);
    return !compiled;
  });
  return refused;
}

Status Runner::prepare(const Microbench& bench) {
  if (bench.bytes_per_warp == 0) return {};
  const std::string wanted = fmt::format("{}:{}",
                                         bench.chase   ? "chain"
                                         : bench.zeros ? "zeros"
                                                       : "random",
                                         bench.chase ? bench.bytes_per_warp : 0);
  if (wanted == prepared_) return {};
  if (!data_) {
    const std::uint64_t most = sm_count_ * 64ull << 20;  // 1 MiB for each warp of a full chip
    const std::uint64_t bytes =
        std::min<std::uint64_t>(most, context_->free_bytes() / 10 * 8) & ~((1ull << 20) - 1);
    auto buffer = cuda::Buffer::allocate(context_, bytes);
    if (!buffer) return tl::unexpected(buffer.error());
    data_ = std::make_shared<cuda::Buffer>(std::move(*buffer));
  }
  std::uint64_t base = data_->address(), words = data_->bytes() / (bench.chase ? 8 : 4),
                per_warp = bench.bytes_per_warp / 8;
  std::uint32_t seed = 0x51ed270b;
  if (bench.zeros) {
    if (auto status = data_->fill32(0); !status) return status;
  } else {
    void* chain_args[] = {&base, &words, &per_warp};
    void* random_args[] = {&base, &words, &seed};
    if (auto status = (bench.chase ? fill_chain_ : fill_random_)
                          ->launch({sm_count_ * 8, 256, 0}, bench.chase ? chain_args : random_args);
        !status)
      return status;
  }
  prepared_ = wanted;
  return context_->synchronize();
}

Status Runner::launch_each_once(
    unsigned loops, const std::function<void(const Microbench&, unsigned, unsigned)>& tell) {
  for (const auto& bench : benches_) {
    auto compiled = kernel(bench);
    if (!compiled) return tl::unexpected(compiled.error());
    if (auto status = prepare(bench); !status) return status;
    const Plan plan = full(bench);
    std::uint64_t base = data_ ? data_->address() : 0, sink = sink_->address(),
                  per_warp = bench.bytes_per_warp;
    std::uint32_t repeats = loops, zero = 0;
    void* args[] = {&base, &sink, &repeats, &per_warp, &zero};
    tell(bench, plan.threads, plan.blocks);
    if (auto status = (*compiled)->launch({plan.blocks, plan.threads, bench.shared_bytes}, args);
        !status)
      return status;
    if (auto status = context_->synchronize(); !status)
      return fail(bench.id + ": " + status.error().what);
  }
  return {};
}

Result<Point> Runner::measure(const Plan& plan) {
  Point point;
  point.bench = plan.bench;
  point.threads = plan.threads;
  point.blocks = plan.blocks;
  point.repeat = plan.repeat;
  point.unix_s =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  Watch watch(*nvml_, gpu_);
  const Microbench* bench = find(plan.bench);
  if (!bench) {  // an idle reference
    if (auto status = watch.follow(plan.seconds, point); !status)
      return tl::unexpected(status.error());
    return point;
  }
  auto compiled = kernel(*bench);
  if (!compiled) return tl::unexpected(compiled.error());
  if (auto status = prepare(*bench); !status) return tl::unexpected(status.error());

  std::uint64_t base = data_ ? data_->address() : 0, sink = sink_->address(),
                per_warp = bench->bytes_per_warp;
  std::uint32_t loops = 64, zero = 0;
  void* args[] = {&base, &sink, &loops, &per_warp, &zero};
  const cuda::Launch shape{plan.blocks, plan.threads, bench->shared_bytes};
  auto event = [&] { return cuda::Event::create(context_); };

  // Finds the number of loops for a launch of the wanted length.
  for (int round = 0; round < 3; ++round) {
    auto begin = event(), end = event();
    if (!begin || !end) return fail("cuEventCreate failed");
    (void)begin->record();
    if (auto status = (*compiled)->launch(shape, args); !status)
      return tl::unexpected(status.error());
    (void)end->record();
    if (auto status = end->wait(); !status) return fail(bench->id + ": " + status.error().what);
    auto seconds = end->seconds_since(*begin);
    if (!seconds) return tl::unexpected(seconds.error());
    loops = static_cast<std::uint32_t>(
        std::clamp(loops * kKernelSeconds / std::max(*seconds, 1e-6), 1.0, 4e9));
  }

  Load load(context_, **compiled, shape, args);
  std::this_thread::sleep_for(std::chrono::duration<double>(kRiseSeconds));
  const Status followed = watch.follow(plan.seconds, point);
  if (auto status = load.stop(); !status) return tl::unexpected(status.error());
  if (!followed) return tl::unexpected(followed.error());
  const auto rate = load.launches_per_second(
      watch.start(), watch.start() + std::chrono::duration_cast<Clock::duration>(
                                         std::chrono::duration<double>(point.seconds)));
  if (!rate) return fail(bench->id + ": fewer than two launches ended inside the measured window");
  point.loops_per_s = *rate * loops;
  point.warps = plan.blocks * std::ceil(plan.threads / 32.0);
  point.active_sms = std::min(plan.blocks, sm_count_);
  return point;
}

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

Result<double> Runner::best_rate(const Microbench& bench, double seconds, int launches) {
  auto compiled = kernel(bench);
  if (!compiled) return tl::unexpected(compiled.error());
  if (auto status = prepare(bench); !status) return tl::unexpected(status.error());
  const Plan plan = full(bench);
  std::uint64_t base = data_ ? data_->address() : 0, sink = sink_->address(),
                per_warp = bench.bytes_per_warp;
  std::uint32_t loops = 64, zero = 0;
  void* args[] = {&base, &sink, &loops, &per_warp, &zero};
  auto begin = cuda::Event::create(context_), end = cuda::Event::create(context_);
  if (!begin) return tl::unexpected(begin.error());
  if (!end) return tl::unexpected(end.error());
  auto timed = [&]() -> Result<double> {
    if (auto status = begin->record(); !status) return tl::unexpected(status.error());
    if (auto status = (*compiled)->launch({plan.blocks, plan.threads, bench.shared_bytes}, args);
        !status)
      return tl::unexpected(status.error());
    if (auto status = end->record(); !status) return tl::unexpected(status.error());
    if (auto status = end->wait(); !status) return tl::unexpected(status.error());
    return end->seconds_since(*begin);
  };
  constexpr int kRounds = 3;  // until a launch takes about as long as asked
  for (int round = 0; round < kRounds; ++round) {
    const auto took = timed();
    if (!took) return fail(bench.id + ": " + took.error().what);
    loops =
        static_cast<std::uint32_t>(std::clamp(loops * seconds / std::max(*took, 1e-6), 1.0, 4e9));
  }
  double best = 0;
  for (int launch = 0; launch < launches; ++launch) {
    const auto took = timed();
    if (!took) return fail(bench.id + ": " + took.error().what);
    if (*took > 0) best = std::max(best, loops / *took);
  }
  return best;
}

Result<Runner::LinkRates> Runner::measure_link(std::size_t bytes, int copies) {
  if (auto status = wake(); !status) return tl::unexpected(status.error());
  auto host = cuda::HostBuffer::allocate(context_, bytes);
  if (!host) return tl::unexpected(host.error());
  auto device = cuda::Buffer::allocate(context_, bytes);
  if (!device) return tl::unexpected(device.error());
  auto begin = cuda::Event::create(context_), end = cuda::Event::create(context_);
  if (!begin) return tl::unexpected(begin.error());
  if (!end) return tl::unexpected(end.error());
  LinkRates rates;
  for (int copy = 0; copy < 2 * copies; ++copy) {
    const bool up = copy % 2 == 0;
    if (auto status = begin->record(); !status) return tl::unexpected(status.error());
    if (auto status =
            up ? device->upload(host->data(), bytes) : device->download(host->data(), bytes);
        !status)
      return tl::unexpected(status.error());
    if (auto status = end->record(); !status) return tl::unexpected(status.error());
    if (auto status = end->wait(); !status) return tl::unexpected(status.error());
    const auto took = end->seconds_since(*begin);
    if (!took) return tl::unexpected(took.error());
    double& best = up ? rates.to_device : rates.to_host;
    if (*took > 0) best = std::max(best, static_cast<double>(bytes) / *took);
  }
  return rates;
}

}  // namespace gf::microbench
