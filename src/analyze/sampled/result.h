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
  static constexpr auto fields() {
    using R = SampledReading;
    return std::tuple{
        field("id", &R::id, "metric id"),
        field("unit", &R::unit, "unit of mean, low, high and values; of a count the unit a second"),
        field("mean", &R::mean, "mean over the time that has data"),
        field("low", &R::low, "lowest sample"),
        field("high", &R::high, "highest sample"),
        field("total", &R::total, "of a count: the sum over the window"),
        field("values", &R::values, "mean of each bucket of time; null: no data")};
  }
};

struct SampledDevice {
  std::int64_t id = 0;
  std::string name, source;  // pm_sampling, gpm, dcgm, nvml
  std::int64_t samples = 0;
  Nanos sample_ns = 0, covered_ns = 0;
  std::optional<double> step_ns, step_confidence;
  std::vector<SampledReading> readings;
  static constexpr auto fields() {
    using D = SampledDevice;
    return std::tuple{
        field("id", &D::id, "device number"),
        field("name", &D::name, "product name"),
        field("source", &D::source, "finest source of its levels: pm_sampling, gpm, dcgm or nvml"),
        field("samples", &D::samples, "samples of the first level"),
        field("sample_ns", &D::sample_ns, "mean length of one"),
        field("covered_ns", &D::covered_ns, "time of the window that they cover"),
        field("step_ns", &D::step_ns, "period of the device's activity; null: none found"),
        field("step_confidence", &D::step_confidence, "its normalised autocorrelation"),
        field("readings", &D::readings, "metrics over time")};
  }
};

struct SampledUse {
  Nanos start_ns = 0, bucket_ns = 0;
  std::vector<SampledDevice> devices;  // those that worked in the window, or all when none did
  std::vector<SampledReading> host;
  std::int64_t idle_devices = 0;  // recorded, and without work
  static constexpr auto fields() {
    using S = SampledUse;
    return std::tuple{
        field("start_ns", &S::start_ns, "start of the first bucket"),
        field("bucket_ns", &S::bucket_ns, "length of a bucket"),
        field("devices", &S::devices, "each device's samples"),
        field("host", &S::host, "the program's processes"),
        field("idle_devices", &S::idle_devices, "devices that were recorded and never worked")};
  }
};

}  // namespace gf
