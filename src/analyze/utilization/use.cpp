#include "analyze/utilization/use.h"

#include "analyze/kernels/kernels.h"
#include "analyze/layers/layers.h"
#include "analyze/utilization/levels.h"
#include "analyze/utilization/waterfall.h"

namespace gf {

LevelSections measure_levels(const Context& context, const KernelLevels& levels,
                             const std::vector<DeviceUse>& devices) {
  LevelSections sections;
  if (levels.adjusted > 0)
    sections.disagreement = {
        std::string(name_of(QualityCode::counters_disagree)), levels.adjusted,
        "kernels of the report with a ratio over 1 or over the level that bounds it, by more than "
        "2 % (counters of different passes); the bound is used"};
  sections.levels = ladder(context, context.devices, levels);
  for (std::size_t device = 0; device < devices.size(); ++device)
    sections.devices.push_back(
        {ladder(context, {&context.devices[device], 1}, levels),
         waterfall(context, context.devices[device], devices[device], levels)});
  return sections;
}

KernelSections measure_layers(const Context& context, const KernelLevels& levels) {
  auto layers = layer_tables(context, levels);
  return {std::move(layers.types), std::move(layers.layers), kernel_table(context, levels),
          tensor_curve(context, levels)};
}

void put(KernelSections sections, Analysis& analysis) {
  analysis.layer_types = std::move(sections.layer_types);
  analysis.layers = std::move(sections.layers);
  analysis.kernels = std::move(sections.kernels);
  analysis.tensor_curve = std::move(sections.tensor_curve);
}

void put(LevelSections sections, Analysis& analysis) {
  if (sections.disagreement) analysis.quality.push_back(std::move(*sections.disagreement));
  analysis.levels = std::move(sections.levels);
  for (std::size_t device = 0; device < sections.devices.size(); ++device) {
    analysis.devices[device].levels = std::move(sections.devices[device].levels);
    analysis.devices[device].waterfall = std::move(sections.devices[device].waterfall);
  }
}

}  // namespace gf
