#include "analyze/energy/points_file.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace gf {

namespace {

double number(const nlohmann::json& j, const char* name) {
  const auto at = j.find(name);
  return at != j.end() && at->is_number() ? at->get<double>() : std::nan("");
}

std::string text(const nlohmann::json& j, const char* name) {
  const auto at = j.find(name);
  return at != j.end() && at->is_string() ? at->get<std::string>() : std::string{};
}

std::int64_t integer(const nlohmann::json& j, const char* name) {
  const auto at = j.find(name);
  return at != j.end() && at->is_number_integer() ? at->get<std::int64_t>() : 0;
}

std::vector<double> numbers(const nlohmann::json& j, const char* name) {
  std::vector<double> list;
  if (const auto at = j.find(name); at != j.end() && at->is_array())
    for (const auto& v : *at)
      if (v.is_number()) list.push_back(v.get<double>());
  return list;
}

RawEnergyPoint point(const nlohmann::json& j) {
  RawEnergyPoint p;
  p.bench = text(j, "bench");
  p.threads = integer(j, "threads"), p.blocks = integer(j, "blocks"),
  p.repeat = integer(j, "repeat");
  p.seconds = number(j, "seconds"), p.energy_j = number(j, "energy_j");
  p.instant_w = number(j, "instant_w"), p.memory_w = number(j, "memory_w"),
  p.memory_end_w = number(j, "memory_end_w");
  p.sm_mhz = number(j, "sm_mhz"), p.temperature_c = number(j, "temperature_c"),
  p.throttled = number(j, "throttled");
  p.dropped = text(j, "dropped");
  p.loops_per_s = number(j, "loops_per_s"), p.warps = number(j, "warps"),
  p.active_sms = number(j, "active_sms");
  if (const auto edges = j.find("edges"); edges != j.end() && edges->is_array())
    for (const auto& e : *edges)
      if (e.is_object())
        p.edge_t_s.push_back(number(e, "t_s")), p.edge_energy_j.push_back(number(e, "energy_j"));
  return p;
}

}  // namespace

Result<EnergyPointsFile> read_energy_points(const std::string& path) {
  EnergyPointsFile file;
  std::ifstream in(path);
  std::string line;
  std::int64_t offset = 0;
  for (; std::getline(in, line); offset += static_cast<std::int64_t>(line.size()) + 1) {
    const auto j = nlohmann::json::parse(line, nullptr, false);
    if (!j.is_object())
      return fail("not a line of calibration points", path, offset, "remove the broken line");
    if (j.contains("gpu"))
      file.board = {text(j, "gpu"), text(j, "uuid"), text(j, "driver"), text(j, "date")};
    else if (const auto probe = text(j, "probe"); probe == "latency")
      file.latencies.push_back({number(j, "bytes"), number(j, "ns")});
    else if (probe == "sensor")
      file.sensor.push_back(
          {number(j, "off_s"), number(j, "before_w"), numbers(j, "t_s"), numbers(j, "watts")});
    else
      file.points.push_back(point(j));
  }
  return file;
}

}  // namespace gf
