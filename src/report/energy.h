// The answer of the verb `energy`: the energy section of an analysis, on its own.
#pragma once

#include <string>
#include <vector>

#include "analyze/result.h"
#include "report/text/format.h"

namespace gf {

struct EnergyReport {
  std::string schema = "gpufathom.energy_use/1";
  SourceInfo source;
  std::optional<SourceInfo> counters_source;
  std::vector<QualityNote> quality;
  WindowInfo window;
  EnergyUse energy;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("schema", &EnergyReport::schema, "name and version of this layout");
    visit("source", &EnergyReport::source, "the capture");
    visit("counters_source", &EnergyReport::counters_source,
          "the counter report, when there is one");
    visit("quality", &EnergyReport::quality, "damage and suspected errors");
    visit("window", &EnergyReport::window, "the span");
    visit("energy", &EnergyReport::energy, "where the joules went");
  }
};

/// For people, `rows` rows a table.
std::string energy_text(const EnergyReport& report, const TextStyle& style, std::size_t rows);

}  // namespace gf
