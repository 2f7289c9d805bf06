#include "analyze/energy/model_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "analyze/energy/json_fields.h"
#include "core/files.h"

namespace gf {

namespace {

constexpr const char* kAdvice =
    "write one with `gpufathom calibrate --points FILE -o FILE`, or use the shipped one";

void take(double& to, const JsonElement& from) {
  if (from.get_double().get(to)) to = std::nan("");
}
void take(int& to, const JsonElement& from) {
  std::int64_t number = 0;
  to = from.get_int64().get(number) ? 0 : static_cast<int>(number);
}
void take(bool& to, const JsonElement& from) {
  if (from.get_bool().get(to)) to = false;
}
void take(std::string& to, const JsonElement& from) {
  std::string_view text;
  to = from.get_string().get(text) ? std::string() : std::string(text);
}
template <Described T>
void take(T& to, const JsonElement& from);
template <class T>
void take(std::vector<T>& to, const JsonElement& from) {
  for (const auto& item : json_items(from)) take(to.emplace_back(), item);
}
/// Keys that are absent leave the member as it is.
template <Described T>
void take(T& to, const JsonElement& from) {
  T::fields([&](const char* name, auto member, const char*) {
    if (const auto found = json_field(from, name)) take(to.*member, *found);
  });
}

/// The defect that makes the numbers unusable, in words; empty when nothing does.
std::string defect(const EnergyModel& model) {
  auto bad = [](double value) { return !std::isfinite(value) || value < 0; };
  if (bad(model.static_w)) return "its static power is not valid";
  if (bad(model.active_w)) return "its active power is not valid";
  if (model.coefficients.empty()) return "it has no coefficients";
  for (const auto& coefficient : model.coefficients)
    if (coefficient.feature.empty() || bad(coefficient.picojoules))
      return fmt::format("its coefficient of {} is not valid",
                         coefficient.feature.empty() ? "an unnamed feature" : coefficient.feature);
  for (const auto& draw : model.draws)
    if (draw.size() != model.draw_columns.size())
      return fmt::format("a bootstrap draw has {} numbers for {} columns", draw.size(),
                         model.draw_columns.size());
  return {};
}

}  // namespace

Result<EnergyModel> parse_energy_model(std::string_view text, const std::string& path) {
  JsonReader reader;
  const auto file = reader.parse(text);
  if (!file)
    return fail("is not an energy model: the JSON is truncated or damaged", path, -1, kAdvice);
  const JsonElement whole = json_field(*file, "model").value_or(*file);
  const std::string schema = json_text(whole, "schema");
  if (!schema.starts_with("gpufathom.energy/"))
    return fail("is not an energy model of gpufathom", path, -1, kAdvice);
  EnergyModel model;
  if (schema != model.schema)
    return fail(fmt::format("is an energy model with layout {}; this program reads {}", schema,
                            model.schema),
                path, -1, "fit its points again, or update gpufathom");
  for (const char* key : {"static_w", "active_w", "coefficients"})
    if (!json_field(whole, key))
      return fail(fmt::format("is an energy model without {}", key), path, -1, kAdvice);
  take(model, whole);
  if (const auto what = defect(model); !what.empty())
    return fail("is an energy model that cannot be used: " + what, path, -1, kAdvice);
  return model;
}

Result<EnergyModelFile> read_energy_model(const std::string& path) {
  auto text = read_small_file(path);
  if (!text) {
    if (text.error().advice.empty())
      text.error().advice = "--model requires a file written by `gpufathom calibrate -o`";
    return tl::unexpected(text.error());
  }
  auto model = parse_energy_model(*text, path);
  if (!model) return tl::unexpected(model.error());
  return EnergyModelFile{path, std::move(*model)};
}

std::string energy_model_name(std::string_view product) {
  std::string name(product);
  for (char& letter : name)
    if (letter == ' ' || letter == '/') letter = '-';
  return name + ".energy.json";
}

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

/// The updates of the energy counter behind the first were once seen by a reading of everything,
/// and the first by itself: where several boards are read at once such a reading takes 20 ms, and a
/// run looked as much longer than it was. The first interval tells by how much, as the mean of all
/// runs.
void take_out_lag(std::vector<RawEnergyPoint>& points) {
  constexpr std::size_t kLeastEdges = 4, kLeastRuns = 8;
  constexpr double kMissed = 1.5;  // intervals: an update that nobody saw
  double lag = 0, runs = 0;
  for (const auto& point : points) {
    const auto& t = point.edge_t_s;
    if (t.size() < kLeastEdges) continue;
    const double later = (t.back() - t[1]) / static_cast<double>(t.size() - 2);
    double longest = 0;
    for (std::size_t i = 1; i < t.size(); ++i) longest = std::max(longest, t[i] - t[i - 1]);
    if (longest > kMissed * later) continue;
    lag += t[1] - later;
    ++runs;
  }
  if (runs < kLeastRuns || lag <= 0) return;
  lag /= runs;
  for (auto& point : points) {
    if (point.edge_t_s.size() < 2) continue;
    for (std::size_t i = 1; i < point.edge_t_s.size(); ++i) point.edge_t_s[i] -= lag;
    point.seconds -= lag;
  }
}

}  // namespace

Result<EnergyPointsFile> parse_energy_points(std::string content, const std::string& path) {
  EnergyPointsFile file;
  std::istringstream in(std::move(content));
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
  take_out_lag(file.points);
  return file;
}

Result<EnergyPointsFile> read_energy_points(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0) return EnergyPointsFile{};  // nothing was measured yet
  auto content = read_small_file(path);
  if (!content) return tl::unexpected(content.error());
  return parse_energy_points(std::move(*content), path);
}

}  // namespace gf
