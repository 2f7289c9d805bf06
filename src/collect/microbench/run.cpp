#include "collect/microbench/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "collect/microbench/load.h"

namespace gf::microbench {

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point t) {
  return std::chrono::duration<double>(Clock::now() - t).count();
}

constexpr double kRiseSeconds =
    0.35;  // the sensor's rise time (75 to 120 ms) and the clocks' settling, with room
constexpr double kKernelSeconds = 0.02;  // one launch

/// Watches the board while something else keeps it busy.
class Watch {
 public:
  Watch(Nvml& nvml, const GpuInfo& gpu) : nvml_(nvml), gpu_(gpu) {}

  /// Follows the energy counter for `seconds` between two of its updates. Fills the power fields of
  /// `point`.
  Status follow(double seconds, Point& point) {
    auto first = next_edge(2.0);
    if (!first) return tl::unexpected(first.error());
    start_ = first->at;
    double power = 0, memory = 0, sm = 0, mem_clock = 0, temperature = 0, capped = 0;
    int n = 0, n_memory = 0;
    double last_memory = std::nan("");
    double last = first->joules;
    point.edges.push_back({0, 0});
    while (true) {
      GpuReadingGroups groups;
      groups.processes = false;
      groups.energy = true;
      const GpuReading r = nvml_.read(gpu_, groups);
      const auto now = Clock::now();
      if (r.lost) return fail("the GPU was lost while measuring");
      if (r.power_instant_watts) power += *r.power_instant_watts;
      if (r.power_memory_watts) memory += last_memory = *r.power_memory_watts, ++n_memory;
      if (r.sm_clock_mhz) sm += *r.sm_clock_mhz;
      if (r.memory_clock_mhz) mem_clock += *r.memory_clock_mhz;
      if (r.temperature_celsius) temperature += *r.temperature_celsius;
      constexpr std::uint64_t kCaps =
          0x4 | 0x8 | 0x20 | 0x40 |
          0x80;  // software power cap, hardware slowdown, thermal and brake reasons
      if (r.throttle_reasons && (*r.throttle_reasons & kCaps)) capped += 1;
      ++n;
      if (r.energy_joules && *r.energy_joules != last) {
        last = *r.energy_joules;
        point.edges.push_back(
            {std::chrono::duration<double>(now - start_).count(), last - first->joules});
        if (point.edges.back().t_s >= seconds) break;
      }
      if (std::chrono::duration<double>(now - start_).count() > seconds + 2)
        return fail("the energy counter stands still", {}, -1, "this board does not count energy");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    point.seconds = point.edges.back().t_s;
    point.energy_j = point.edges.back().energy_j;
    point.instant_w = power / n;
    point.memory_end_w = last_memory;
    point.memory_w = n_memory ? memory / n_memory : std::nan("");
    point.sm_mhz = sm / n;
    point.memory_mhz = mem_clock / n;
    point.temperature_c = temperature / n;
    point.throttled = capped / n;
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
      const auto r = nvml_.read(gpu_, only);
      if (!r.energy_joules)
        return fail("no energy counter", {}, -1,
                    "calibration needs a board that counts energy (Volta and newer)");
      if (before && *r.energy_joules != *before) return Seen{Clock::now(), *r.energy_joules};
      before = r.energy_joules;
    }
    return fail("the energy counter stands still", {}, -1, "this board does not count energy");
  }
  Nvml& nvml_;
  const GpuInfo& gpu_;
  Clock::time_point start_;
};

}  // namespace

Result<Runner> Runner::open(int device) {
  Runner r;
  auto nvml = Nvml::open();
  if (!nvml) return tl::unexpected(nvml.error());
  r.nvml_ = std::make_shared<Nvml>(std::move(*nvml));
  if (device < 0 || static_cast<std::size_t>(device) >= r.nvml_->gpus().size())
    return fail(fmt::format("no GPU number {}", device));
  r.gpu_ = r.nvml_->gpus()[static_cast<std::size_t>(device)];
  r.benches_ = microbenches({r.gpu_.compute_major * 10 + r.gpu_.compute_minor});
  return r;
}

Status Runner::choose(const std::vector<std::string>& only, const std::vector<std::string>& skip) {
  for (const auto* names : {&only, &skip})
    for (const auto& name : *names)
      if (!find(name)) return fail("no microbenchmark is called " + name);
  auto in = [](const std::vector<std::string>& names, const std::string& id) {
    return std::find(names.begin(), names.end(), id) != names.end();
  };
  std::erase_if(benches_, [&](const Microbench& b) {
    return (!only.empty() && !in(only, b.id)) || in(skip, b.id);
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
  for (const auto& b : benches_)
    if (b.id == id) return &b;
  return nullptr;
}

Plan Runner::full(const Microbench& b) const {
  Plan p;
  p.bench = b.id;
  p.threads = b.fixed_threads ? b.fixed_threads : 1024;
  // Chases need many warps to fill the memory; the others fill their unit with one block an SM.
  // Bulk copies have one warp a block and five blocks' landing space an SM.
  const unsigned per_sm = b.fixed_threads == 32         ? 5
                          : b.fixed_threads == 128      ? 3
                          : b.chase && !b.fixed_threads ? 2
                                                        : 1;
  p.blocks = sm_count_ * per_sm;
  return p;
}

Status Runner::wake() {
  if (context_) return {};
  auto c = cuda::Context::open(static_cast<int>(gpu_.index));
  if (!c) return tl::unexpected(c.error());
  auto sms = (*c)->attribute(cuda::Attribute::sm_count);
  if (!sms) return tl::unexpected(sms.error());
  auto sink = cuda::Buffer::allocate(*c, 4096);
  if (!sink) return tl::unexpected(sink.error());
  const ChipTraits chip{gpu_.compute_major * 10 + gpu_.compute_minor};
  auto chain = cuda::Kernel::compile(*c, chain_filler_ptx(chip), "fill_chain");
  if (!chain) return tl::unexpected(chain.error());
  auto random = cuda::Kernel::compile(*c, random_filler_ptx(chip), "fill_random");
  if (!random) return tl::unexpected(random.error());
  context_ = *c;
  sm_count_ = static_cast<unsigned>(*sms);
  sink_ = std::make_shared<cuda::Buffer>(std::move(*sink));
  fill_chain_ = std::make_shared<cuda::Kernel>(std::move(*chain));
  fill_random_ = std::make_shared<cuda::Kernel>(std::move(*random));
  return {};
}

Result<cuda::Kernel*> Runner::kernel(const Microbench& b) {
  if (auto s = wake(); !s) return tl::unexpected(s.error());
  auto& slot = kernels_[b.id];
  if (!slot) {
    auto k = cuda::Kernel::compile(context_, b.ptx, b.entry().c_str());
    if (!k) return fail(b.id + ": " + k.error().what);
    // Level-1 benchmarks want all of the array as cache, the shared-memory ones as shared memory.
    if (auto s = k->configure(b.shared_bytes, b.space == Space::l1                          ? 0
                                              : b.space == Space::shared || b.fixed_threads ? 100
                                                                                            : -1);
        !s)
      return tl::unexpected(s.error());
    slot = std::make_shared<cuda::Kernel>(std::move(*k));
  }
  return slot.get();
}

Status Runner::prepare(const Microbench& b) {
  if (b.bytes_per_warp == 0) return {};
  const std::string wanted = fmt::format("{}:{}",
                                         b.chase   ? "chain"
                                         : b.zeros ? "zeros"
                                                   : "random",
                                         b.chase ? b.bytes_per_warp : 0);
  if (wanted == prepared_) return {};
  if (!data_) {
    const std::uint64_t most = sm_count_ * 64ull << 20;  // 1 MiB for each warp of a full chip
    const std::uint64_t bytes =
        std::min<std::uint64_t>(most, context_->free_bytes() / 10 * 8) & ~((1ull << 20) - 1);
    auto buffer = cuda::Buffer::allocate(context_, bytes);
    if (!buffer) return tl::unexpected(buffer.error());
    data_ = std::make_shared<cuda::Buffer>(std::move(*buffer));
  }
  std::uint64_t base = data_->address(), words = data_->bytes() / (b.chase ? 8 : 4),
                per_warp = b.bytes_per_warp / 8;
  std::uint32_t seed = 0x51ed270b;
  if (b.zeros) {
    if (auto s = data_->fill32(0); !s) return s;
  } else {
    void* chain_args[] = {&base, &words, &per_warp};
    void* random_args[] = {&base, &words, &seed};
    if (auto s = (b.chase ? fill_chain_ : fill_random_)
                     ->launch({sm_count_ * 8, 256, 0}, b.chase ? chain_args : random_args);
        !s)
      return s;
  }
  prepared_ = wanted;
  return context_->synchronize();
}

Status Runner::launch_each_once(
    unsigned loops, const std::function<void(const Microbench&, unsigned, unsigned)>& tell) {
  for (const auto& b : benches_) {
    auto k = kernel(b);
    if (!k) return tl::unexpected(k.error());
    if (auto s = prepare(b); !s) return s;
    const Plan p = full(b);
    std::uint64_t base = data_ ? data_->address() : 0, sink = sink_->address(),
                  per_warp = b.bytes_per_warp;
    std::uint32_t n = loops, zero = 0;
    void* args[] = {&base, &sink, &n, &per_warp, &zero};
    tell(b, p.threads, p.blocks);
    if (auto s = (*k)->launch({p.blocks, p.threads, b.shared_bytes}, args); !s) return s;
    if (auto s = context_->synchronize(); !s) return fail(b.id + ": " + s.error().what);
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
  const Microbench* b = find(plan.bench);
  if (!b) {  // an idle reference
    if (auto s = watch.follow(plan.seconds, point); !s) return tl::unexpected(s.error());
    return point;
  }
  auto k = kernel(*b);
  if (!k) return tl::unexpected(k.error());
  if (auto s = prepare(*b); !s) return tl::unexpected(s.error());

  std::uint64_t base = data_ ? data_->address() : 0, sink = sink_->address(),
                per_warp = b->bytes_per_warp;
  std::uint32_t loops = 64, zero = 0;
  void* args[] = {&base, &sink, &loops, &per_warp, &zero};
  const cuda::Launch shape{plan.blocks, plan.threads, b->shared_bytes};
  auto event = [&] { return cuda::Event::create(context_); };

  // How many loops make one launch of the wanted length.
  for (int round = 0; round < 3; ++round) {
    auto a = event(), z = event();
    if (!a || !z) return fail("cuEventCreate failed");
    (void)a->record();
    if (auto s = (*k)->launch(shape, args); !s) return tl::unexpected(s.error());
    (void)z->record();
    if (auto s = z->wait(); !s) return fail(b->id + ": " + s.error().what);
    auto t = z->seconds_since(*a);
    if (!t) return tl::unexpected(t.error());
    loops = static_cast<std::uint32_t>(
        std::clamp(loops * kKernelSeconds / std::max(*t, 1e-6), 1.0, 4e9));
  }

  Load load(context_, **k, shape, args);
  std::this_thread::sleep_for(std::chrono::duration<double>(kRiseSeconds));
  const Status followed = watch.follow(plan.seconds, point);
  if (auto s = load.stop(); !s) return tl::unexpected(s.error());
  if (!followed) return tl::unexpected(followed.error());
  const auto rate = load.launches_per_second(
      watch.start(), watch.start() + std::chrono::duration_cast<Clock::duration>(
                                         std::chrono::duration<double>(point.seconds)));
  if (!rate) return fail(b->id + ": fewer than two launches ended inside the measured window");
  point.loops_per_s = *rate * loops;
  point.warps = plan.blocks * std::ceil(plan.threads / 32.0);
  point.active_sms = std::min(plan.blocks, sm_count_);
  return point;
}

}  // namespace gf::microbench
