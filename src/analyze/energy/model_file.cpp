#include "analyze/energy/model_file.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace gf {

namespace {

using nlohmann::json;

constexpr const char* kAdvice =
    "write one with `gpufathom calibrate --points FILE -o FILE`, or use the shipped one";

void take(double& to, const json& j) { to = j.is_number() ? j.get<double>() : std::nan(""); }
void take(int& to, const json& j) { to = j.is_number() ? j.get<int>() : 0; }
void take(bool& to, const json& j) { to = j.is_boolean() && j.get<bool>(); }
void take(std::string& to, const json& j) {
  to = j.is_string() ? j.get<std::string>() : std::string();
}
template <Described T>
void take(T& to, const json& j);
template <class T>
void take(std::vector<T>& to, const json& j) {
  if (j.is_array())
    for (const auto& item : j) take(to.emplace_back(), item);
}
/// Keys that are absent leave the member as it is.
template <Described T>
void take(T& to, const json& j) {
  if (!j.is_object()) return;
  T::fields([&](const char* name, auto member, const char*) {
    if (const auto at = j.find(name); at != j.end()) take(to.*member, *at);
  });
}

/// What makes the numbers unusable, in words; empty when nothing does.
std::string defect(const EnergyModel& m) {
  auto bad = [](double v) { return !std::isfinite(v) || v < 0; };
  if (bad(m.static_w)) return "its static power is no power";
  if (bad(m.active_w)) return "its active power is no power";
  if (m.coefficients.empty()) return "it holds no coefficients";
  for (const auto& c : m.coefficients)
    if (c.feature.empty() || bad(c.picojoules))
      return fmt::format("its coefficient of {} is no energy",
                         c.feature.empty() ? "an unnamed feature" : c.feature);
  for (const auto& d : m.draws)
    if (d.size() != m.draw_columns.size())
      return fmt::format("a bootstrap draw has {} numbers for {} columns", d.size(),
                         m.draw_columns.size());
  return {};
}

}  // namespace

Result<EnergyModel> parse_energy_model(std::string_view text, const std::string& path) {
  json file;
  try {
    file = json::parse(text);
  } catch (const json::parse_error& e) {
    return fail("is no energy model: the JSON breaks off or is damaged", path,
                static_cast<std::int64_t>(e.byte), kAdvice);
  }
  const json& j = file.is_object() && file.contains("model") ? file["model"] : file;
  const std::string schema = j.is_object() && j.contains("schema") && j["schema"].is_string()
                                 ? j["schema"].get<std::string>()
                                 : std::string();
  if (!schema.starts_with("gpufathom.energy/"))
    return fail("is no energy model of gpufathom", path, -1, kAdvice);
  EnergyModel model;
  if (schema != model.schema)
    return fail(fmt::format("is an energy model of layout {}, and this program reads {}", schema,
                            model.schema),
                path, -1, "fit its points again, or use a newer gpufathom");
  for (const char* key : {"static_w", "active_w", "coefficients"})
    if (!j.contains(key))
      return fail(fmt::format("is an energy model without {}", key), path, -1, kAdvice);
  take(model, j);
  if (const auto what = defect(model); !what.empty())
    return fail("is an energy model that cannot be used: " + what, path, -1, kAdvice);
  return model;
}

std::string energy_model_name(std::string_view product) {
  std::string name(product);
  for (char& c : name)
    if (c == ' ' || c == '/') c = '-';
  return name + ".energy.json";
}

}  // namespace gf
