// Kernel time, and the host time that is gone, once a program's kernels are mended:
// fused, padded, on tensor cores. An estimate with bounds; tests/oracle/whatif.py judges it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/context.h"
#include "analyze/names.h"
#include "core/intervals.h"

namespace gf {

namespace work {
struct KernelWorks;
}
struct Product;

/// The mending, as --with names it.
enum class With : std::uint8_t {
#define GF_WITH(id, meaning) id,
#include "analyze/names/changes.def"
};
template <>
struct EnumNames<With> {
  static constexpr const char* type = "With";
  static constexpr auto names = std::to_array<std::string_view>({
#define GF_WITH(id, meaning) #id,
#include "analyze/names/changes.def"
  });
};

/// Part of its time that a kernel takes: at best, about, and at worst. All 0: it is gone.
struct MendedTime {
  double best = 1, about = 1, worst = 1;
  bool gone() const { return worst == 0; }
  MendedTime& operator*=(const MendedTime& other) {
    best *= other.best;
    about *= other.about;
    worst *= other.worst;
    return *this;
  }
};

struct Mending {
  std::vector<std::pair<std::uint32_t, MendedTime>> kernels;  // rows of activities, each once
  std::unordered_map<std::uint32_t, Intervals> host;          // time that is gone, by thread
};

/// The subject of a finding with a named cause, and the time that is gone once it is mended.
struct ClaimedTime {
  Intervals host;                         // whatever a thread does in these, and its waits
  std::vector<std::uint32_t> activities;  // rows
  std::vector<std::pair<std::uint32_t, MendedTime>> changed;  // rows that take another time
  std::vector<std::uint32_t> merged;  // rows that are gone since others of `changed` do their work
  bool empty() const {
    return host.empty() && activities.empty() && changed.empty() && merged.empty();
  }
};

/// Covers kernels that begin in `span` or as long after it. Needs timelines, attribution and
/// layers. `works`: of the context's kernels.
Mending mending_of(const Context& context, const work::KernelWorks& works, With what,
                   Interval span);
/// The same on another GPU: each kernel by the ceiling that holds it, by data sheet.
Mending mending_of(const Context& context, const work::KernelWorks& works, const Product& gpu,
                   Interval span);
/// Collectives on a link so many `times` as fast, or with `bytes_per_s` a direction where that is
/// not 0: the part of their time in which bytes move, by their size and the data sheet.
Mending mending_of_link(const Context& context, double times, double bytes_per_s);
/// The claimed activities are gone, with the operations that launch nothing else, and the host's
/// time with the copies of that time.
Mending mending_of(const Context& context, const ClaimedTime& claimed, Interval span);

}  // namespace gf
