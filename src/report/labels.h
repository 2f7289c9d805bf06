// Words for people: ids of levels, idle causes, waterfall bars and runtime phases as a report
// prints them. An id without an entry is printed as it is, so a new cause or level shows up before
// anybody has named it here.
#pragma once

#include <span>
#include <string_view>

namespace gf {

struct Label {
  std::string_view id, text, short_text, meaning;
};

std::span<const Label> level_labels();
std::span<const Label> cause_labels();
std::span<const Label> bar_labels();
std::span<const Label> phase_labels();
/// Components of energy; those of pipes and tensor types by their family.
std::span<const Label> energy_labels();

/// Metrics over time, levels included.
std::span<const Label> reading_labels();

/// The entry of `id`, or one whose texts are the id itself.
Label label_of(std::span<const Label> labels, std::string_view id);

}  // namespace gf
