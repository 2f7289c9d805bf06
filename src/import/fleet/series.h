// Series of readings that a cluster's monitors keep: what each measures, of which GPU, and when.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "import/telemetry/log_devices.h"
#include "model/capture.h"

namespace gf::fleet {

/// The quantity of a series. Without a metric of the catalog it keeps its name and its values.
struct Measured {
  std::string metric;
  double factor = 1;
  bool by_value = false;  // a ratio or percent: percent where a value is above 1
  bool known = false;
};
Measured measured_by(std::string_view series);

/// The GPU of a reading, and whose it was.
struct Labels {
  std::string index, uuid, bus, instance, name, host, pod, job;
  std::string_view vendor = "nvidia";
};

class Readings {
 public:
  explicit Readings(Capture& capture) : c_(capture), devices_(capture) {}
  /// One value of a series. Several containers on one GPU repeat it: it counts once.
  void add(std::string_view series, const Labels& labels, Nanos time, double value);
  /// After the last: ratios are the means since the reading before, instants where there is one
  /// alone; zeros beside a busy GPU were not measured.
  void finish();

 private:
  struct Reading {
    Nanos time;
    std::uint32_t device;
    Text metric;
    double value;
  };
  std::uint32_t device(const Labels& labels);
  bool told_of_instance(Labels& labels, std::string_view metric);
  Nanos interval() const;
  void drop_parts();
  void settle_scales();
  void drop_unmeasured();
  void take_means_as_instants(Nanos interval);

  Capture& c_;
  telemetry::LogDevices devices_;
  std::vector<Reading> readings_;
  std::set<std::pair<std::uint32_t, Text>> by_value_;  // whose scale their values tell
  std::map<std::string, Measured> known_;
  std::map<std::uint32_t, std::string> parts_, wholes_;  // GPUs of MIG instances, and others
  std::set<std::uint32_t> seen_, pods_, jobs_;  // all, and those whose pod and job are known
  std::int64_t of_whole_ = 0, unmeasured_ = 0;  // readings that were told of MIG instances
};

}  // namespace gf::fleet
