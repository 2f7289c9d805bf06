// Runs one microbenchmark in steady state and measures its energy between two updates of the
// board's counter.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "collect/cuda/driver.h"
#include "collect/microbench/kernels.h"
#include "collect/nvml/nvml.h"
#include "core/describe.h"
#include "core/error.h"

namespace gf::microbench {

/// One run of a microbenchmark.
struct Plan {
  std::string bench;     // id of a microbenchmark, or "asleep", "context" for the idle references
  unsigned threads = 0;  // a block
  unsigned blocks = 0;
  double seconds = 1.2;  // measured, after the rise time
  int repeat = 0;
};

/// One reading of the energy counter at the moment it changed.
struct Edge {
  double t_s = 0;       // since the start of the measured window
  double energy_j = 0;  // since the start of the measured window
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("t_s", &Edge::t_s, "seconds since the window's start");
    visit("energy_j", &Edge::energy_j, "joules since the window's start");
  }
};

/// One measurement. Averages are over the measured window.
struct Point {
  std::string bench;
  std::int64_t threads = 0, blocks = 0, repeat = 0;
  double unix_s = 0;     // when
  double seconds = 0;    // length of the window, between two counter updates
  double energy_j = 0;   // counter
  double instant_w = 0;  // mean of the instantaneous power readings, for comparison
  double memory_w = 0;   // the board's own memory power, NaN without
  double memory_end_w =
      0;  // the same at the end: boards average it over one second, which the load then fills
  double sm_mhz = 0, memory_mhz = 0, temperature_c = 0;
  double throttled = 0;     // share of readings with a power or thermal cap
  double loops_per_s = 0;   // loops of the kernel, all warps in step
  double warps = 0;         // resident warps
  double active_sms = 0;    // SMs with a block
  std::vector<Edge> edges;  // every counter update inside the window
  std::string dropped;      // why the fit does not use it; empty when it does
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("bench", &Point::bench, "microbenchmark");
    visit("threads", &Point::threads, "threads a block");
    visit("blocks", &Point::blocks, "blocks");
    visit("repeat", &Point::repeat, "number of the run");
    visit("unix_s", &Point::unix_s, "when, seconds since 1970");
    visit("seconds", &Point::seconds, "measured window");
    visit("energy_j", &Point::energy_j, "energy of the window by the board's counter");
    visit("instant_w", &Point::instant_w, "mean instantaneous power");
    visit("memory_w", &Point::memory_w, "mean power of the memory scope");
    visit("memory_end_w", &Point::memory_end_w, "power of the memory scope at the end");
    visit("sm_mhz", &Point::sm_mhz, "mean SM clock");
    visit("memory_mhz", &Point::memory_mhz, "mean memory clock");
    visit("temperature_c", &Point::temperature_c, "mean temperature");
    visit("throttled", &Point::throttled, "share of readings under a cap");
    visit("loops_per_s", &Point::loops_per_s, "kernel loops a second");
    visit("warps", &Point::warps, "resident warps");
    visit("active_sms", &Point::active_sms, "SMs with a block");
    visit("edges", &Point::edges, "counter updates");
    visit("dropped", &Point::dropped, "why the fit leaves it out");
  }
};

/// Time of one dependent load, in a region of so many bytes that were touched before.
struct LatencyPoint {
  std::string probe = "latency";
  double bytes = 0, ns = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("probe", &LatencyPoint::probe, "kind");
    visit("bytes", &LatencyPoint::bytes, "region");
    visit("ns", &LatencyPoint::ns, "time of one load");
  }
};

/// Readings of instantaneous power around a load that began at 0 and ended at `off_s`:
/// every change of it.
struct SensorStep {
  std::string probe = "sensor";
  double off_s = 0, before_w = 0;
  std::vector<double> t_s, watts;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("probe", &SensorStep::probe, "kind");
    visit("off_s", &SensorStep::off_s, "end of the load");
    visit("before_w", &SensorStep::before_w, "reading before the load");
    visit("t_s", &SensorStep::t_s, "when the reading changed");
    visit("watts", &SensorStep::watts, "to what");
  }
};

class Runner {
 public:
  /// Finds the board; touches nothing on it, so that it can still be measured asleep.
  /// `device`: one GPU, as select_devices() takes it.
  static Result<Runner> open(const std::string& device);
  /// Keeps only these microbenchmarks (all when none is named), less those to skip. Errors: a name
  /// that none has.
  Status choose(const std::vector<std::string>& only, const std::vector<std::string>& skip);
  /// Holds the SM clock until the runner ends. Errors: those of ClockLock.
  Status hold_clock(unsigned mhz);
  /// Makes a context on the GPU. Everything but the reference "asleep" needs it.
  Status wake();
  /// Compiles every microbenchmark, and leaves those out that the driver does not take: their
  /// names, and why.
  std::vector<std::string> leave_out_refused();
  /// Measures one point. Errors: the driver refuses, the energy counter does not move.
  Result<Point> measure(const Plan& plan);
  /// Loops a second of all warps in step: the best of several launches of about `seconds` each,
  /// timed on the device. Wants neither counters nor energy.
  Result<double> best_rate(const Microbench& bench, double seconds, int launches);
  /// Bytes a second of copies between the device and page-locked memory of the host, the best of
  /// several.
  struct LinkRates {
    double to_device = 0, to_host = 0;
  };
  Result<LinkRates> measure_link(std::size_t bytes, int copies);
  /// Launches every microbenchmark once with a known number of loops, for a counter profiler to
  /// look at.
  Status launch_each_once(
      unsigned loops,
      const std::function<void(const Microbench&, unsigned threads, unsigned blocks)>& tell);
  /// Latency of a load against the size of the region, 1 kB to 1 GB: where it jumps, a cache ends.
  Result<std::vector<LatencyPoint>> measure_latencies();
  /// The power reading's answer to a load after `idle_s` of rest.
  Result<SensorStep> measure_sensor_step(double idle_s);
  const std::vector<Microbench>& benches() const { return benches_; }
  const Microbench* find(const std::string& id) const;
  /// The shape that fills the chip.
  Plan full(const Microbench& bench) const;
  unsigned sm_count() const { return sm_count_; }
  std::string gpu_name() const;
  std::string gpu_uuid() const;
  std::string driver_version() const { return nvml_->driver_version(); }

 private:
  Runner() = default;
  Result<cuda::Kernel*> kernel(const Microbench& bench);
  Status prepare(const Microbench& bench);
  std::shared_ptr<cuda::Context> context_;
  std::shared_ptr<Nvml> nvml_;
  GpuInfo gpu_;
  std::shared_ptr<ClockLock> clock_;  // before nvml_ goes
  std::vector<Microbench> benches_;
  std::map<std::string, std::shared_ptr<cuda::Kernel>> kernels_;
  std::shared_ptr<cuda::Kernel> fill_chain_, fill_random_;
  std::shared_ptr<cuda::Buffer> data_, sink_;
  std::string prepared_;  // what `data_` holds
  unsigned sm_count_ = 0;
};

}  // namespace gf::microbench
