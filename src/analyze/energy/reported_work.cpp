#include <cmath>

#include "analyze/energy/counts.h"
#include "analyze/energy/work.h"

namespace gf {

KernelWork reported_work(const Capture& capture, const std::vector<std::uint32_t>& report_row,
                         const EnergyEvaluator& model) {
  KernelWork out;
  out.counted.assign(model.columns(), false);
  for (const auto& counters : counters_by_kernel(capture)) {
    EnergyWork work = model.no_work();
    for (const auto& [feature, count] : energy_counts(counters)) {
      const auto column = model.column(feature);
      if (column >= work.size()) continue;
      work[column] = std::max(0.0, count);
      out.counted[column] = true;
    }
    double active = std::nan("");
    auto of = [&](const char* name) {
      const auto at = counters.find(name);
      return at == counters.end() ? std::nan("") : at->second;
    };
    // SMs with work; sub-partitions with work, where a report has only those, are a lower bound of
    // it.
    for (const auto& [some, all] :
         {std::pair{"sm__cycles_active.sum", "sm__cycles_elapsed.sum"},
          std::pair{"sm__cycles_active.avg", "sm__cycles_elapsed.max"},
          std::pair{"smsp__cycles_active.sum", "smsp__cycles_elapsed.sum"},
          std::pair{"smsp__cycles_active.avg", "smsp__cycles_elapsed.avg"}})
      if (std::isnan(active) && of(all) > 0) active = std::min(1.0, of(some) / of(all));
    if (!std::isnan(active)) out.counted[EnergyEvaluator::kActive] = true;
    out.rows.push_back(std::move(work));
    out.active.push_back(active);
  }
  out.row_of = report_row;
  return out;
}

}  // namespace gf
