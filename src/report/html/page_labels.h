// Words for the page: what labels.h and the catalogue of metrics say, as JSON.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/labels.h"

namespace gf {

struct PageLabel {
  std::string id, text, short_text, meaning;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("id", &PageLabel::id, "id");
    visit("text", &PageLabel::text, "for people");
    visit("short_text", &PageLabel::short_text, "for a column");
    visit("meaning", &PageLabel::meaning, "one sentence");
  }
};

struct PageLabels {
  std::vector<PageLabel> levels, causes, bars, phases, energy, readings;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("levels", &PageLabels::levels, "levels of the ladder");
    visit("causes", &PageLabels::causes, "idle causes");
    visit("bars", &PageLabels::bars, "bars of the waterfall");
    visit("phases", &PageLabels::phases, "runtime phases");
    visit("energy", &PageLabels::energy, "components of energy");
    visit("readings", &PageLabels::readings, "metrics over time");
  }
};

/// Labels with their meanings; the catalogue knows metrics best.
std::vector<PageLabel> page_labels(std::span<const Label> labels);
/// Of all levels.
std::vector<PageLabel> level_page_labels();

}  // namespace gf
