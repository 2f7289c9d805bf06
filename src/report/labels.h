// Words for people: ids of levels, idle causes, waterfall bars and runtime phases as a report
// prints them. Those of causes, bars and phases come from their declaration (analyze/names/).
#pragma once

#include <span>
#include <string_view>

#include "analyze/names.h"

namespace gf {

struct Label {
  std::string_view id, text, short_text, meaning;
  std::string_view colour = {};  // variable of web/src/style/theme.css, where it has one
};

std::span<const Label> cause_labels();
std::span<const Label> bar_labels();
std::span<const Label> phase_labels();
/// Components of energy; those of pipes and tensor types by their family.
std::span<const Label> energy_labels();

/// The label of an idle cause, bar or runtime phase; each has one.
inline const Label& label_of(IdleReason cause) {
  return cause_labels()[static_cast<std::size_t>(cause)];
}
inline const Label& label_of(Bar bar) { return bar_labels()[static_cast<std::size_t>(bar)]; }
inline const Label& label_of(RuntimePhase phase) {
  return phase_labels()[static_cast<std::size_t>(phase)];
}

/// Labels of levels and other metrics, from the catalog; for an id that it lacks, the id itself.
Label label_of_metric(std::string_view id);

/// The entry of `id`, or one whose texts are the id itself.
Label label_of(std::span<const Label> labels, std::string_view id);

}  // namespace gf
