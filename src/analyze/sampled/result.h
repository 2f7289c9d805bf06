// What counter samples alone say of a run: how levels and readings went over time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/describe.h"
#include "core/time.h"

namespace gf {

/// One metric over the window. Counts are given as rates, a second.
struct SampledReading {
  std::string id, unit;
  std::optional<double> mean, low, high;  // mean weighted by time
  std::optional<double> total;            // of counts
  std::vector<double> values;             // means of the buckets; NaN: no data
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("id", &SampledReading::id, "metric id");
    visit("unit", &SampledReading::unit,
          "unit of mean, low, high and values; of a count the unit a second");
    visit("mean", &SampledReading::mean, "mean over the time that has data");
    visit("low", &SampledReading::low, "lowest sample");
    visit("high", &SampledReading::high, "highest sample");
    visit("total", &SampledReading::total, "of a count: the sum over the window");
    visit("values", &SampledReading::values, "mean of each bucket of time; null: no data");
  }
};

struct SampledDevice {
  std::int64_t id = 0;
  std::string name, source;  // pm_sampling, gpm, dcgm, nvml
  std::int64_t samples = 0;
  Nanos sample_ns = 0, covered_ns = 0;
  std::optional<double> step_ns, step_confidence;
  std::vector<SampledReading> readings;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("id", &SampledDevice::id, "device number");
    visit("name", &SampledDevice::name, "product name");
    visit("source", &SampledDevice::source,
          "finest source of its levels: pm_sampling, gpm, dcgm or nvml");
    visit("samples", &SampledDevice::samples, "samples of the first level");
    visit("sample_ns", &SampledDevice::sample_ns, "mean length of one");
    visit("covered_ns", &SampledDevice::covered_ns, "time of the window that they cover");
    visit("step_ns", &SampledDevice::step_ns, "period of the device's activity; null: none found");
    visit("step_confidence", &SampledDevice::step_confidence, "its normalised autocorrelation");
    visit("readings", &SampledDevice::readings, "metrics over time");
  }
};

struct SampledUse {
  Nanos start_ns = 0, bucket_ns = 0;
  std::vector<SampledDevice> devices;  // those that worked in the window, or all when none did
  std::vector<SampledReading> host;
  std::int64_t idle_devices = 0;  // recorded, and without work
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("start_ns", &SampledUse::start_ns, "start of the first bucket");
    visit("bucket_ns", &SampledUse::bucket_ns, "length of a bucket");
    visit("devices", &SampledUse::devices, "each device's samples");
    visit("host", &SampledUse::host, "the program's processes");
    visit("idle_devices", &SampledUse::idle_devices, "devices that were recorded and never worked");
  }
};

}  // namespace gf
