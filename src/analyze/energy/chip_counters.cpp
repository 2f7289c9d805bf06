#include "analyze/energy/chip_counters.h"

#include <algorithm>

#include "analyze/energy/model.h"
#include "analyze/energy/work.h"

namespace gf {

namespace {

using namespace chip_sets;

/// Features that not every chip can count by itself. Without a row: every chip from Volta on.
struct Exception {
  std::string_view feature;
  ChipSet chips;  // that have its counters
  std::string_view into, why;
};
constexpr std::string_view kOnePath = "one counter counts all paths of a type";
constexpr Exception kExceptions[] = {
    {"pipe.fp16", bit(GH100), "pipe.fma", "its operations are not told from those of fp32"},
    {"tensor.bf16.wgmma", bit(GH100), "tensor.bf16.mma", kOnePath},
    {"tensor.fp16.wgmma", bit(GH100), "tensor.fp16.mma", kOnePath},
    {"tensor.tf32.wgmma", bit(GH100), "tensor.tf32.mma", kOnePath},
    {"tensor.int8.wgmma", bit(GH100), "tensor.int8.mma", kOnePath},
    {"tma.load", kHopper, "l1.load", "the chip has no bulk copies"},
    {"dram.read", without(kAll, bit(GB202)), "dram.write", "reads and writes have one counter"},
};

const Exception* exception_of(std::string_view feature) {
  for (const auto& row : kExceptions)
    if (row.feature == feature) return &row;
  return nullptr;
}

/// True if a chip's tensor cores take the type that the name of a feature says.
bool lacks_type(ChipId chip, std::string_view feature) {
  for (const auto& tensor : kTensorFeatures)
    if (energy_component(tensor.feature) == energy_component(feature))
      return tensor_path(chip, tensor.type) == nullptr;
  return false;
}

/// "a + b" of the catalogue as "a.sum + b.sum".
std::string with_sums(std::string_view counters) {
  std::string out;
  while (!counters.empty()) {
    const auto plus = counters.find(" + ");
    out += (out.empty() ? "" : " + ") + std::string(counters.substr(0, plus)) + ".sum";
    counters = plus == std::string_view::npos ? std::string_view{} : counters.substr(plus + 3);
  }
  return out;
}

/// The counter expression of a feature on a chip; empty where it does not.
std::string expression_of(ChipId chip, const EnergyFeature& feature) {
  if (const auto* row = exception_of(feature.id); row && (row->chips & bit(chip)) == 0) return {};
  std::string_view expression = feature.counters;
  if (feature.id == std::string_view("dram.write") && chip == ChipId::GB202)
    return "dram__sectors.sum";
  if (chip != ChipId::GH100)
    for (const auto& tensor : kTensorFeatures)
      if (tensor.feature == feature.id) {
        const auto* path = tensor_path(chip, tensor.type);
        return path ? with_sums(path->counters) : std::string();
      }
  // The alternative without the counters of an exception.
  const auto bar = expression.find(" | ");
  if (bar != std::string_view::npos)
    expression = chip == ChipId::GH100 ? expression.substr(0, bar) : expression.substr(bar + 3);
  return std::string(expression);
}

}  // namespace

std::vector<std::string> tensor_expressions(TensorType type) {
  std::vector<std::string> all;
  for (const auto& path : tensor_paths())
    if (path.type == type)
      if (auto text = with_sums(path.counters);
          std::find(all.begin(), all.end(), text) == all.end())
        all.push_back(std::move(text));
  // The longest first: a sum that is whole is not taken for a part of it.
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& one, const auto& other) { return one.size() > other.size(); });
  return all;
}

ChipEnergyCounters energy_counters_of(ChipId chip) {
  ChipEnergyCounters out;
  for (const auto& feature : energy_features()) {
    if (std::string_view(feature.counters).empty()) continue;
    const std::string expression = expression_of(chip, feature);
    for (auto& name : counters_in(expression)) out.names.push_back(std::move(name));
    if (!expression.empty()) continue;
    if (const auto* row = exception_of(feature.id);
        row && (row->chips & bit(chip)) == 0 && !lacks_type(chip, feature.id))
      out.merged.push_back({feature.id, row->into, row->why});
    else
      out.merged.push_back({feature.id, {}, "the chip has no such unit"});
  }
  std::sort(out.names.begin(), out.names.end());
  out.names.erase(std::unique(out.names.begin(), out.names.end()), out.names.end());
  return out;
}

}  // namespace gf
