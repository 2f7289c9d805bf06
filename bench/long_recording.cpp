// Makes a recording of hours as `gpufathom record` writes one: 13 counters a thousand times a
// second in blocks of half a second, and the driver's sensors as rows. The GPU repeats one training
// step; counters and sensors are what its kernels cause, with noise. usage: long_recording FILE
// HOURS [WINDOW_S EVERY_S]: with the latter, kernels are recorded in windows (`--kernels --window
// --every`).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "model/file.h"

namespace {

using namespace gf;

constexpr Nanos kStart = 1'795'000'000 * kNsPerSecond, kSample = kNsPerMs, kBlock = 500 * kNsPerMs;
constexpr Nanos kGrain = 10 * kNsPerUs;

/// Rates are of one kernel running alone: shares, and units a nanosecond.
struct Counter {
  const char* id;
  bool ratio;
  double most;
};
constexpr Counter kCounters[] = {
    {"gpu.busy", true, 1},       {"sm.active_any", true, 1},   {"issue.active", true, 0.6},
    {"sm.occupancy", true, 0.8}, {"tensor.active", true, 0.7}, {"dram.active", true, 0.9},
    {"dram.read", false, 3000},  {"dram.write", false, 1800},  {"l1.sectors", false, 120},
    {"l1.hits", false, 30},      {"l2.sectors", false, 220},   {"pcie.rx", false, 0.3},
    {"pcie.tx", false, 0.1}};
constexpr std::size_t kCounterCount = std::size(kCounters);

/// One training step: kernels one after another with gaps, each of one of a few kinds.
struct Step {
  struct Kernel {
    Nanos start, end;
    std::size_t kind;
  };
  std::vector<Kernel> kernels;
  std::vector<std::vector<double>> rates;  // by kind, then counter
  std::vector<std::array<double, kCounterCount>>
      until;  // integral of the rates up to each grain of the step
  Nanos length = 0;

  explicit Step(std::mt19937_64& random) {
    std::uniform_real_distribution<double> share(0, 1);
    for (std::size_t kind = 0; kind < 24; ++kind) {
      auto& of = rates.emplace_back();
      for (const auto& c : kCounters)
        of.push_back(c.id == std::string_view("gpu.busy") ? 1 : c.most * share(random));
    }
    for (int k = 0; k < 400; ++k) {
      const Nanos start = length + static_cast<Nanos>(share(random) * 60) * kGrain / 10,
                  end = start + (5 + static_cast<Nanos>(share(random) * 60)) * kGrain;
      kernels.push_back({start, end, random() % rates.size()});
      length = end;
    }
    length = (length / kGrain + 2000) * kGrain;  // ends with 20 ms of the host's
    until.emplace_back();
    std::size_t at = 0;
    for (Nanos t = 0; t < length; t += kGrain) {
      auto sum = until.back();
      while (at < kernels.size() && kernels[at].end <= t) ++at;
      for (std::size_t i = at; i < kernels.size() && kernels[i].start < t + kGrain; ++i) {
        const auto overlap = static_cast<double>(std::min(kernels[i].end, t + kGrain) -
                                                 std::max(kernels[i].start, t));
        for (std::size_t c = 0; c < kCounterCount; ++c)
          sum[c] += rates[kernels[i].kind][c] * overlap;
      }
      until.push_back(sum);
    }
  }
  double integral(std::size_t counter, Nanos t) const {
    const Nanos within = t % length;
    const auto grain = static_cast<std::size_t>(within / kGrain);
    const double part = static_cast<double>(within % kGrain) / static_cast<double>(kGrain);
    return static_cast<double>(t / length) * until.back()[counter] +
           until[grain][counter] * (1 - part) + until[grain + 1][counter] * part;
  }
  double mean(std::size_t counter, Nanos from, Nanos to) const {
    return (integral(counter, to) - integral(counter, from)) / static_cast<double>(to - from);
  }
};

void add_row(Capture& c, Nanos start, Nanos duration, const char* metric, double value) {
  auto& t = c.counter_samples;
  const auto row = t.add();
  t.start_ns[row] = start, t.duration_ns[row] = duration, t.device[row] = 0,
  t.metric[row] = c.strings.intern(metric), t.value[row] = value;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5)
    return std::fprintf(stderr, "usage: long_recording FILE HOURS [WINDOW_S EVERY_S]\n"), 2;
  const auto length = static_cast<Nanos>(std::atof(argv[2]) * 3600e9),
             window = argc == 5 ? static_cast<Nanos>(std::atof(argv[3]) * 1e9) : 0,
             every = argc == 5 ? static_cast<Nanos>(std::atof(argv[4]) * 1e9) : 1;
  auto writer = CaptureWriter::create(argv[1]);
  if (!writer) return std::fprintf(stderr, "%s\n", writer.error().message().c_str()), 1;
  std::mt19937_64 random(20261121);
  std::normal_distribution<double> noise(0, 1);
  const Step step(random);
  Capture c;
  c.format = "gpufathom_record";
  c.path = argv[1];
  c.device_row(0);
  c.devices.name[0] = c.strings.intern("NVIDIA H200");
  c.devices.vendor[0] = c.strings.intern("nvidia");
  c.devices.compute_major[0] = 9, c.devices.compute_minor[0] = 0;
  c.set_metadata("record.interval_ns", std::to_string(kSample));
  SampleBlock block;
  block.device = 0;
  for (const auto& counter : kCounters) block.metrics.push_back(c.strings.intern(counter.id));
  std::vector<Text> names;
  for (std::size_t kind = 0; kind < step.rates.size(); ++kind)
    names.push_back(
        c.strings.intern("kernel_" + std::to_string(kind) + "(float*, float const*, int)"));
  double joules = 200'000;
  Nanos at = 0, next_kernels = 0;
  std::int64_t correlation = 0;
  for (Nanos t = 0; t < length; t += kBlock) {
    block.clear();
    for (; at < std::min(t + kBlock, length); at += kSample) {
      // Samples end a few clock ticks off the millisecond, and read a little off what happened.
      const auto jitter = [&](Nanos when) {
        return when +
               static_cast<Nanos>((static_cast<std::uint64_t>(when) * 0x9e3779b97f4a7c15u) >> 57);
      };
      const Nanos from = jitter(at), to = jitter(at + kSample);
      block.start_ns.push_back(kStart + from);
      block.end_ns.push_back(kStart + to);
      for (std::size_t k = 0; k < kCounterCount; ++k) {
        const double rate = std::max(0.0, step.mean(k, from, to) * (1 + 0.01 * noise(random)));
        block.values.push_back(static_cast<float>(
            kCounters[k].ratio ? std::min(rate, 1.0)
                               : std::round(rate * static_cast<double>(to - from))));
      }
    }
    c.sample_blocks.push_back(pack(block));
    for (Nanos s = t; s < std::min(t + kBlock, length); s += 100 * kNsPerMs) {
      const double watts = 120 + 500 * step.mean(1, s, s + 100 * kNsPerMs) + 4 * noise(random);
      joules += watts * 0.1;
      add_row(c, kStart + s, 0, "power.module", std::round(watts * 1000) / 1000);
      add_row(c, kStart + s, 0, "power.average", std::round(watts * 1000) / 1000);
      add_row(c, kStart + s, 0, "power.memory", std::round(watts * 250) / 1000);
    }
    if (t % kNsPerSecond == 0) {
      for (const auto& [metric, value] : {std::pair{"energy.module", joules},
                                          {"clock.sm", 1.98e9},
                                          {"clock.memory", 3.201e9},
                                          {"temperature.gpu", 57.0},
                                          {"clock.limits", 0.0},
                                          {"monitor.gpu", 1.0},
                                          {"monitor.memory", 0.4},
                                          {"memory.used", 4.39e9},
                                          {"host.cpu", 1.0},
                                          {"host.memory", 1.3e9}})
        add_row(c, kStart + t, 0, metric, value);
      for (const char* link : {"pcie.tx", "pcie.rx", "nvlink.tx", "nvlink.rx"})
        add_row(c, kStart + t, kNsPerSecond, link, 1e8 + 1e6 * noise(random));
    }
    for (; window > 0 && next_kernels + window <= t + kBlock; next_kernels += every) {
      const auto row = c.recording_windows.add();
      c.recording_windows.start_ns[row] = kStart + next_kernels,
      c.recording_windows.duration_ns[row] = window;
      for (Nanos begin = next_kernels / step.length * step.length; begin < next_kernels + window;
           begin += step.length) {
        if (begin >= next_kernels && begin + step.length <= next_kernels + window) {
          const auto mark = c.steps.add();
          c.steps.index[mark] = begin / step.length, c.steps.start_ns[mark] = kStart + begin,
          c.steps.duration_ns[mark] = step.length;
        }
        for (const auto& kernel : step.kernels) {
          if (begin + kernel.start < next_kernels || begin + kernel.end > next_kernels + window)
            continue;
          auto& a = c.activities;
          const auto k = a.add();
          a.start_ns[k] = kStart + begin + kernel.start,
          a.duration_ns[k] = kernel.end - kernel.start, a.device[k] = 0, a.stream[k] = 7,
          a.name[k] = names[kernel.kind];
          a.kind[k] = ActivityKind::kernel, a.correlation[k] = ++correlation, a.grid_x[k] = 132,
          a.grid_y[k] = a.grid_z[k] = 1, a.block_x[k] = 256, a.block_y[k] = a.block_z[k] = 1;
        }
      }
    }
    if (t + kBlock >= length)
      add_row(c, kStart + length, 0, "energy.module",
              joules);  // a recorder reads once more when it ends
    if ((t / kBlock) % 120 == 119 ||
        t + kBlock >=
            length)  // a minute in one transaction: the disk waits less than in a real recording
      if (const auto ok = writer->append(c); !ok)
        return std::fprintf(stderr, "%s\n", ok.error().message().c_str()), 1;
  }
}
