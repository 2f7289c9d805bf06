// The answer of the verb `energy`: the energy section of an analysis, on its own.
#pragma once

#include <string>
#include <vector>

#include "analyze/result.h"
#include "report/text/style.h"

namespace gf {

struct EnergyReport {
  std::string schema = "gpufathom.energy_use/1";
  SourceInfo source;
  std::optional<SourceInfo> counters_source;
  std::vector<QualityNote> quality;
  WindowInfo window;
  EnergyUse energy;
  static constexpr auto fields() {
    using E = EnergyReport;
    return std::tuple{
        field("schema", &E::schema, "name and version of this layout"),
        field("source", &E::source, "the capture"),
        field("counters_source", &E::counters_source, "the counter report, when there is one"),
        field("quality", &E::quality, "damage and doubts"),
        field("window", &E::window, "the span"),
        field("energy", &E::energy, "where the joules went")};
  }
};

/// For people, `rows` rows a table.
std::string energy_text(const EnergyReport& report, const TextStyle& style, std::size_t rows);

}  // namespace gf
