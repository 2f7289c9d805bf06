#include <algorithm>
#include <array>
#include <cmath>
#include <protozero/pbf_writer.hpp>
#include <utility>
#include <vector>

#include "model/metrics.h"
#include "report/json.h"
#include "report/openmetrics.h"
#include "report/serving_series.h"

namespace gf {

namespace {

// Field numbers of opentelemetry.proto.
constexpr int kResourceMetrics = 1, kResource = 1, kScopeMetrics = 2, kAttributes = 1;
constexpr int kScope = 1, kMetrics = 2, kScopeName = 1;
constexpr int kKey = 1, kValue = 2, kText = 1;
constexpr int kName = 1, kDescription = 2, kUnit = 3, kGauge = 5, kSum = 7;
constexpr int kPoints = 1, kTemporality = 2, kMonotonic = 3, kCumulative = 2;
constexpr int kTime = 3, kAsDouble = 4, kPointAttributes = 7;

using Attributes = std::vector<std::pair<std::string, std::string>>;

void add_attributes(protozero::pbf_writer& into, int field, const Attributes& attributes) {
  for (const auto& [key, value] : attributes) {
    if (value.empty()) continue;
    protozero::pbf_writer pair(into, static_cast<protozero::pbf_tag_type>(field));
    pair.add_string(kKey, key);
    protozero::pbf_writer any(pair, kValue);
    std::string valid;  // a process may call itself anything
    append_utf8(valid, value);
    any.add_string(kText, valid);
  }
}

/// The OpenTelemetry name and unit of a metric of the catalog.
struct Convention {
  std::string_view id;          // of the catalog
  std::string_view name;        // semantic convention
  std::string_view key, value;  // one attribute more
  bool adds_up = false;         // over GPUs, as memory does
};
constexpr std::array kConventions{
    Convention{"gpu.busy"_metric, "hw.gpu.utilization", "hw.gpu.task", "general"},
    Convention{"monitor.encoder"_metric, "hw.gpu.utilization", "hw.gpu.task", "encoder"},
    Convention{"monitor.decoder"_metric, "hw.gpu.utilization", "hw.gpu.task", "decoder"},
    Convention{"memory.used"_metric, "hw.gpu.memory.usage", "", "", true},
    Convention{"memory.total"_metric, "hw.gpu.memory.limit", "", "", true},
    Convention{"pcie.rx"_metric, "hw.gpu.io", "network.io.direction", "receive"},
    Convention{"pcie.tx"_metric, "hw.gpu.io", "network.io.direction", "transmit"},
    Convention{"power.module"_metric, "hw.power", "", ""},
    Convention{"energy.module"_metric, "hw.energy", "", ""},
    Convention{"temperature.gpu"_metric, "hw.temperature", "hw.sensor_location", "gpu"},
    Convention{"temperature.memory"_metric, "hw.temperature", "hw.sensor_location", "memory"},
};

const Convention* convention_of(std::string_view id) {
  for (const auto& convention : kConventions)
    if (convention.id == id) return &convention;
  return nullptr;
}

std::string name_in_otlp(const Metric& metric) {
  if (const Convention* convention = convention_of(metric.id)) return std::string(convention->name);
  return "gpufathom." + std::string(metric.id);
}

/// As UCUM spells it.
std::string unit_in_otlp(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> known{
      {{"ratio", "1"},
       {"bytes", "By"},
       {"ns", "ns"},
       {"watts", "W"},
       {"joules", "J"},
       {"hertz", "Hz"},
       {"celsius", "Cel"}}};
  for (const auto& [ours, theirs] : known)
    if (ours == unit) return std::string(theirs);
  return "{" + std::string(unit) + "}";
}

/// The GPU, and whose work it does where all of its processes agree.
Attributes attributes_of(const LiveGpu& gpu) {
  Attributes attributes{{"hw.id", gpu.uuid},
                        {"hw.name", gpu.name},
                        {"hw.type", "gpu"},
                        {"gpufathom.gpu", std::to_string(gpu.index)},
                        {"gpufathom.mig_instance", gpu.instance}};
  for (const std::string key :
       {"job.id", "job.name", "job.user", "job.rank", "kubernetes.namespace", "kubernetes.pod"}) {
    const bool pod = key.starts_with("kubernetes.");
    attributes.push_back(
        {pod ? "k8s." + key.substr(11) + ".name" : "gpufathom." + key, common_job_value(gpu, key)});
  }
  return attributes;
}

class Request {
 public:
  explicit Request(const LiveTable& table) : table_(table) {}

  std::string write() const {
    std::string out;
    protozero::pbf_writer request(out);
    protozero::pbf_writer resource_metrics(request, kResourceMetrics);
    {
      protozero::pbf_writer resource(resource_metrics, kResource);
      add_attributes(resource, kAttributes,
                     {{"host.name", table_.host},
                      {"service.name", "gpufathom-monitor"},
                      {"hw.driver_version", table_.driver}});
    }
    protozero::pbf_writer scope_metrics(resource_metrics, kScopeMetrics);
    {
      protozero::pbf_writer scope(scope_metrics, kScope);
      scope.add_string(kScopeName, "gpufathom");
    }
    std::vector<std::string> written;
    for (const auto& metric : metrics()) {
      std::string name = name_in_otlp(metric);
      if (std::find(written.begin(), written.end(), name) != written.end()) continue;
      add(scope_metrics, metric, name);
      written.push_back(std::move(name));
    }
    add_held(scope_metrics);
    for (const auto& series : serving_series(table_)) add(scope_metrics, series);
    return out;
  }

 private:
  struct Point {
    const LiveGpu* gpu;
    const Convention* convention;
    double value;
  };

  /// The points of all metrics of the catalog with one name.
  std::vector<Point> points_of(const std::string& name) const {
    std::vector<Point> points;
    for (const auto& metric : metrics()) {
      if (name_in_otlp(metric) != name) continue;
      for (const auto& gpu : table_.gpus) {
        const auto& values = is_counter(metric) ? gpu.totals : gpu.values;
        const auto found = values.find(std::string(metric.id));
        if (found != values.end() && !std::isnan(found->second))
          points.push_back({&gpu, convention_of(metric.id), found->second});
      }
    }
    return points;
  }

  static bool is_counter(const Metric& metric) { return metric.openmetrics.ends_with("_total"); }

  void add(protozero::pbf_writer& into, const Metric& metric, const std::string& name) const {
    const auto points = points_of(name);
    if (points.empty()) return;
    const Convention* convention = convention_of(metric.id);
    const bool adds_up = is_counter(metric) || (convention && convention->adds_up);
    protozero::pbf_writer out(into, kMetrics);
    out.add_string(kName, name);
    out.add_string(kDescription, std::string(metric.definition));
    out.add_string(kUnit, unit_in_otlp(metric.unit));
    protozero::pbf_writer data(out, adds_up ? kSum : kGauge);
    for (const auto& point : points) add_point(data, point);
    if (!adds_up) return;
    data.add_enum(kTemporality, kCumulative);
    data.add_bool(kMonotonic, is_counter(metric));
  }

  void add_held(protozero::pbf_writer& into) const {
    protozero::pbf_writer out(into, kMetrics);
    out.add_string(kName, "gpufathom.held_idle");
    out.add_string(kDescription, "For how long processes have held memory while nothing ran.");
    out.add_string(kUnit, "s");
    protozero::pbf_writer data(out, kGauge);
    for (const auto& gpu : table_.gpus)
      if (gpu.held_idle_seconds >= 0) add_point(data, {&gpu, nullptr, gpu.held_idle_seconds});
  }

  static void add(protozero::pbf_writer& into, const ServingSeries& series) {
    protozero::pbf_writer out(into, kMetrics);
    out.add_string(kName, "gpufathom.serving." + std::string(series.name));
    out.add_string(kDescription, std::string(series.help));
    out.add_string(kUnit, std::string(series.unit));
    protozero::pbf_writer data(out, kGauge);
    for (const auto& given : series.points) {
      protozero::pbf_writer point(data, kPoints);
      point.add_fixed64(kTime, static_cast<std::uint64_t>(given.program->time_ns));
      point.add_double(kAsDouble, given.value);
      add_attributes(point, kPointAttributes,
                     {{"gpufathom.process.pid", std::to_string(given.program->pid)},
                      {"process.executable.name", given.program->name},
                      {"gpufathom.step.kind", given.kind},
                      {"quantile", given.quantile}});
    }
  }

  static void add_point(protozero::pbf_writer& into, const Point& given) {
    protozero::pbf_writer point(into, kPoints);
    point.add_fixed64(kTime, static_cast<std::uint64_t>(given.gpu->time_ns));
    point.add_double(kAsDouble, given.value);
    Attributes attributes = attributes_of(*given.gpu);
    if (given.convention && !given.convention->key.empty())
      attributes.push_back(
          {std::string(given.convention->key), std::string(given.convention->value)});
    add_attributes(point, kPointAttributes, attributes);
  }

  const LiveTable& table_;
};

}  // namespace

std::string otlp_metrics(const LiveTable& table) { return Request(table).write(); }

}  // namespace gf
