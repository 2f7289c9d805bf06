// The answers of the verbs as text for a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyze/context.h"
#include "analyze/energy/clocks.h"
#include "analyze/ranks/job_energy.h"
#include "analyze/replay/what_if.h"
#include "analyze/result.h"
#include "analyze/work/result.h"
#include "model/record_summary.h"
#include "report/energy_cost.h"
#include "report/text/format.h"

namespace gf {

/// One screen: headline, the first three recommendations, levels, and the parts that
/// full_text() has more of; a brief analysis may have left out some of these.
std::string short_text(const Analysis& analysis, const TextStyle& style,
                       const OmittedParts& omitted = {});

/// Everything; tables show `rows` rows at most.
std::string full_text(const Analysis& analysis, const TextStyle& style, std::size_t rows = 12);

// The predicted effect of changes, as text.

std::string what_if_text(const WhatIf& answer, const TextStyle& style);

// The text of `gpufathom work`.

/// The account of peak x time, operators, roofline, copies, memory and stall reasons, as far as
/// they are known; at most `rows` rows of each table.
std::string work_text(const WorkUse& work, const TextStyle& style, std::size_t rows);

// The answer of the verb `energy`: the energy section of an analysis, on its own.

struct EnergyReport {
  std::string schema = "gpufathom.energy_use/1";
  SourceInfo source;
  std::optional<SourceInfo> counters_source;
  std::vector<QualityNote> quality;
  WindowInfo window;
  EnergyUse energy;
  std::vector<EnergyCost> costs;
  std::vector<ClockSweep> sweep;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("schema", &EnergyReport::schema, "name and version of this layout");
    visit("source", &EnergyReport::source, "the capture");
    visit("counters_source", &EnergyReport::counters_source,
          "the counter report, when there is one");
    visit("quality", &EnergyReport::quality, "damage and suspected errors");
    visit("window", &EnergyReport::window, "the span");
    visit("energy", &EnergyReport::energy, "where the joules went");
    visit("costs", &EnergyReport::costs, "by the factors of --price and --co2; empty without");
    visit("sweep", &EnergyReport::sweep, "other SM clocks, predicted, with --sweep");
  }
};

/// The same of a job of several ranks.
struct JobEnergyReport {
  std::string schema = "gpufathom.job_energy/1";
  JobEnergy job;
  std::vector<EnergyCost> costs;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("schema", &JobEnergyReport::schema, "name and version of this layout");
    visit("job", &JobEnergyReport::job, "joules of the job, its ranks and its steps");
    visit("costs", &JobEnergyReport::costs, "by the factors of --price and --co2; empty without");
  }
};

/// For people, `rows` rows a table.
std::string job_energy_text(const JobEnergyReport& report, const TextStyle& style,
                            std::size_t rows);

/// For people, `rows` rows a table.
std::string energy_text(const EnergyReport& report, const TextStyle& style, std::size_t rows);

// The summary that `record` prints when the program has ended.

std::string record_summary_text(const RecordSummary& summary, const TextStyle& style);

}  // namespace gf
