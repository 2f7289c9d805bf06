#include "analyze/utilization/use.h"

#include "analyze/kernels/kernels.h"
#include "analyze/layers/layers.h"
#include "analyze/utilization/levels.h"
#include "analyze/utilization/waterfall.h"

namespace gf {

void measure_levels(const Context& context, const KernelLevels& levels, Analysis& analysis) {
  if (levels.adjusted > 0)
    analysis.quality.push_back(
        {std::string(name_of(QualityCode::counters_disagree)), levels.adjusted,
         "kernels of the report with a ratio over 1 or over the level that bounds it, by more than "
         "2 % (counters of different passes); the bound is taken"});
  analysis.levels = ladder(context, context.devices, levels);
  for (std::size_t device = 0; device < context.devices.size() && device < analysis.devices.size();
       ++device) {
    analysis.devices[device].levels = ladder(context, {&context.devices[device], 1}, levels);
    analysis.devices[device].waterfall =
        waterfall(context, context.devices[device], analysis.devices[device], levels);
  }
}

void measure_layers(const Context& context, const KernelLevels& levels, Analysis& analysis) {
  auto layers = layer_tables(context, levels);
  analysis.layer_types = std::move(layers.types);
  analysis.layers = std::move(layers.layers);
  analysis.kernels = kernel_table(context, levels);
  analysis.tensor_curve = tensor_curve(context, levels);
}

void measure_utilization(const Context& context, const KernelLevels& levels, Analysis& analysis) {
  measure_layers(context, levels, analysis);
  measure_levels(context, levels, analysis);
}

}  // namespace gf
