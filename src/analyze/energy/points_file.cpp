#include "analyze/energy/points_file.h"

#include <unistd.h>

#include <sstream>

#include "analyze/energy/json_fields.h"
#include "core/read_file.h"

namespace gf {

namespace {

std::vector<double> numbers(const JsonElement& line, const char* name) {
  std::vector<double> list;
  for (const auto& item : json_items(line, name))
    if (double number = 0; !item.get_double().get(number)) list.push_back(number);
  return list;
}

RawEnergyPoint point(const JsonElement& line) {
  RawEnergyPoint point;
  point.bench = json_text(line, "bench");
  point.threads = json_integer(line, "threads");
  point.blocks = json_integer(line, "blocks");
  point.repeat = json_integer(line, "repeat");
  point.seconds = json_number(line, "seconds");
  point.energy_j = json_number(line, "energy_j");
  point.instant_w = json_number(line, "instant_w");
  point.memory_w = json_number(line, "memory_w");
  point.memory_end_w = json_number(line, "memory_end_w");
  point.sm_mhz = json_number(line, "sm_mhz");
  point.temperature_c = json_number(line, "temperature_c");
  point.throttled = json_number(line, "throttled");
  point.dropped = json_text(line, "dropped");
  point.loops_per_s = json_number(line, "loops_per_s");
  point.warps = json_number(line, "warps");
  point.active_sms = json_number(line, "active_sms");
  for (const auto& edge : json_items(line, "edges")) {
    if (!edge.is_object()) continue;
    point.edge_t_s.push_back(json_number(edge, "t_s"));
    point.edge_energy_j.push_back(json_number(edge, "energy_j"));
  }
  return point;
}

}  // namespace

Result<EnergyPointsFile> read_energy_points(const std::string& path) {
  EnergyPointsFile file;
  if (::access(path.c_str(), F_OK) != 0) return file;  // nothing has been measured yet
  auto content = read_small_file(path);
  if (!content) return tl::unexpected(content.error());
  std::istringstream in(std::move(*content));
  JsonReader reader;
  std::string line;
  std::int64_t offset = 0;
  for (; std::getline(in, line); offset += static_cast<std::int64_t>(line.size()) + 1) {
    const auto parsed = reader.parse(line);
    if (!parsed || !parsed->is_object())
      return fail("not a line of calibration points", path, offset, "remove the broken line");
    const auto& object = *parsed;
    const std::string probe = json_text(object, "probe");
    if (json_field(object, "gpu"))
      file.board = {json_text(object, "gpu"), json_text(object, "uuid"),
                    json_text(object, "driver"), json_text(object, "date")};
    else if (probe == "latency")
      file.latencies.push_back({json_number(object, "bytes"), json_number(object, "ns")});
    else if (probe == "sensor")
      file.sensor.push_back({json_number(object, "off_s"), json_number(object, "before_w"),
                             numbers(object, "t_s"), numbers(object, "watts")});
    else
      file.points.push_back(point(object));
  }
  return file;
}

}  // namespace gf
