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
      for (const auto& counter : kCounters)
        of.push_back(counter.id == std::string_view("gpu.busy") ? 1 : counter.most * share(random));
    }
    for (int kernel = 0; kernel < 400; ++kernel) {
      const Nanos start = length + static_cast<Nanos>(share(random) * 60) * kGrain / 10,
                  end = start + (5 + static_cast<Nanos>(share(random) * 60)) * kGrain;
      kernels.push_back({start, end, random() % rates.size()});
      length = end;
    }
    length = (length / kGrain + 2000) * kGrain;  // ends with 20 ms of the host's
    until.emplace_back();
    std::size_t at = 0;
    for (Nanos time = 0; time < length; time += kGrain) {
      auto sum = until.back();
      while (at < kernels.size() && kernels[at].end <= time) ++at;
      for (std::size_t i = at; i < kernels.size() && kernels[i].start < time + kGrain; ++i) {
        const auto overlap = static_cast<double>(std::min(kernels[i].end, time + kGrain) -
                                                 std::max(kernels[i].start, time));
        for (std::size_t counter = 0; counter < kCounterCount; ++counter)
          sum[counter] += rates[kernels[i].kind][counter] * overlap;
      }
      until.push_back(sum);
    }
  }
  double integral(std::size_t counter, Nanos time) const {
    const Nanos within = time % length;
    const auto grain = static_cast<std::size_t>(within / kGrain);
    const double part = static_cast<double>(within % kGrain) / static_cast<double>(kGrain);
    return static_cast<double>(time / length) * until.back()[counter] +
           until[grain][counter] * (1 - part) + until[grain + 1][counter] * part;
  }
  double mean(std::size_t counter, Nanos from, Nanos to) const {
    return (integral(counter, to) - integral(counter, from)) / static_cast<double>(to - from);
  }
};

void add_row(Capture& capture, Nanos start, Nanos duration, const char* metric, double value) {
  auto& samples = capture.counter_samples;
  const auto row = samples.add();
  samples.start_ns[row] = start;
  samples.duration_ns[row] = duration;
  samples.device[row] = 0;
  samples.metric[row] = capture.strings.intern(metric);
  samples.value[row] = value;
}

/// Samples end a few clock ticks off the millisecond.
Nanos jitter(Nanos when) {
  return when + static_cast<Nanos>((static_cast<std::uint64_t>(when) * 0x9e3779b97f4a7c15u) >> 57);
}

/// The samples between two writes, made block by block.
class Recording {
 public:
  Recording(const char* path, Nanos length, Nanos window, Nanos every)
      : length_(length), window_(window), every_(every), step_(random_) {
    capture.format = "gpufathom_record";
    capture.path = path;
    capture.device_row(0);
    capture.devices.name[0] = capture.strings.intern("NVIDIA H200");
    capture.devices.vendor[0] = capture.strings.intern("nvidia");
    capture.devices.compute_major[0] = 9;
    capture.devices.compute_minor[0] = 0;
    capture.set_metadata("record.interval_ns", std::to_string(kSample));
    block_.device = 0;
    for (const auto& counter : kCounters)
      block_.metrics.push_back(capture.strings.intern(counter.id));
    for (std::size_t kind = 0; kind < step_.rates.size(); ++kind)
      names_.push_back(
          capture.strings.intern("kernel_" + std::to_string(kind) + "(float*, float const*, int)"));
  }

  void add_block(Nanos time) {
    add_counters(time);
    add_power(time);
    if (time % kNsPerSecond == 0) add_sensors(time);
    for (; window_ > 0 && next_kernels_ + window_ <= time + kBlock; next_kernels_ += every_)
      add_window(next_kernels_);
    // A recorder reads once more when it ends.
    if (time + kBlock >= length_) add_row(capture, kStart + length_, 0, "energy.module", joules_);
  }

  Capture capture;

 private:
  void add_counters(Nanos time) {
    block_.clear();
    for (; at_ < std::min(time + kBlock, length_); at_ += kSample) {
      const Nanos from = jitter(at_), to = jitter(at_ + kSample);
      block_.start_ns.push_back(kStart + from);
      block_.end_ns.push_back(kStart + to);
      for (std::size_t counter = 0; counter < kCounterCount; ++counter) {
        // They read a little off what happened.
        const double rate =
            std::max(0.0, step_.mean(counter, from, to) * (1 + 0.01 * noise_(random_)));
        double value = std::round(rate * static_cast<double>(to - from));
        if (kCounters[counter].ratio) value = std::min(rate, 1.0);
        block_.values.push_back(static_cast<float>(value));
      }
    }
    capture.sample_blocks.push_back(pack(block_));
  }

  void add_power(Nanos time) {
    constexpr Nanos kEvery = 100 * kNsPerMs;
    for (Nanos sample = time; sample < std::min(time + kBlock, length_); sample += kEvery) {
      const double watts = 120 + 500 * step_.mean(1, sample, sample + kEvery) + 4 * noise_(random_);
      joules_ += watts * 0.1;
      add_row(capture, kStart + sample, 0, "power.module", std::round(watts * 1000) / 1000);
      add_row(capture, kStart + sample, 0, "power.average", std::round(watts * 1000) / 1000);
      add_row(capture, kStart + sample, 0, "power.memory", std::round(watts * 250) / 1000);
    }
  }

  void add_sensors(Nanos time) {
    for (const auto& [metric, value] : {std::pair{"energy.module", joules_},
                                        {"clock.sm", 1.98e9},
                                        {"clock.memory", 3.201e9},
                                        {"temperature.gpu", 57.0},
                                        {"clock.limits", 0.0},
                                        {"monitor.gpu", 1.0},
                                        {"monitor.memory", 0.4},
                                        {"memory.used", 4.39e9},
                                        {"host.cpu", 1.0},
                                        {"host.memory", 1.3e9}})
      add_row(capture, kStart + time, 0, metric, value);
    for (const char* link : {"pcie.tx", "pcie.rx", "nvlink.tx", "nvlink.rx"})
      add_row(capture, kStart + time, kNsPerSecond, link, 1e8 + 1e6 * noise_(random_));
  }

  void add_window(Nanos from) {
    const auto row = capture.recording_windows.add();
    capture.recording_windows.start_ns[row] = kStart + from;
    capture.recording_windows.duration_ns[row] = window_;
    for (Nanos begin = from / step_.length * step_.length; begin < from + window_;
         begin += step_.length) {
      if (begin >= from && begin + step_.length <= from + window_) {
        const auto mark = capture.steps.add();
        capture.steps.index[mark] = begin / step_.length;
        capture.steps.start_ns[mark] = kStart + begin;
        capture.steps.duration_ns[mark] = step_.length;
      }
      for (const auto& kernel : step_.kernels)
        if (begin + kernel.start >= from && begin + kernel.end <= from + window_)
          add_kernel(kernel, begin);
    }
  }

  void add_kernel(const Step::Kernel& kernel, Nanos begin) {
    auto& activities = capture.activities;
    const auto row = activities.add();
    activities.start_ns[row] = kStart + begin + kernel.start;
    activities.duration_ns[row] = kernel.end - kernel.start;
    activities.device[row] = 0;
    activities.stream[row] = 7;
    activities.name[row] = names_[kernel.kind];
    activities.kind[row] = ActivityKind::kernel;
    activities.correlation[row] = ++correlation_;
    activities.grid_x[row] = 132;
    activities.grid_y[row] = activities.grid_z[row] = 1;
    activities.block_x[row] = 256;
    activities.block_y[row] = activities.block_z[row] = 1;
  }

  Nanos length_, window_, every_;
  std::mt19937_64 random_{20261121};
  std::normal_distribution<double> noise_{0, 1};
  Step step_;
  SampleBlock block_;
  std::vector<Text> names_;
  double joules_ = 200'000;
  Nanos at_ = 0, next_kernels_ = 0;
  std::int64_t correlation_ = 0;
};

int fail_with(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) {
    std::fprintf(stderr, "usage: long_recording FILE HOURS [WINDOW_S EVERY_S]\n");
    return 2;
  }
  const auto length = static_cast<Nanos>(std::atof(argv[2]) * 3600e9);
  Nanos window = 0, every = 1;
  if (argc == 5) {
    window = static_cast<Nanos>(std::atof(argv[3]) * 1e9);
    every = static_cast<Nanos>(std::atof(argv[4]) * 1e9);
  }
  auto writer = CaptureWriter::create(argv[1]);
  if (!writer) return fail_with(writer.error());
  Recording recording(argv[1], length, window, every);
  for (Nanos time = 0; time < length; time += kBlock) {
    recording.add_block(time);
    // A minute in one transaction: the disk waits less than in a real recording.
    if ((time / kBlock) % 120 == 119 || time + kBlock >= length)
      if (const auto ok = writer->append(recording.capture); !ok) return fail_with(ok.error());
  }
}
