// A captured program with something changed: how long a step would take.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/context.h"
#include "analyze/replay/mendings.h"
#include "analyze/result.h"
#include "model/counter_values.h"

namespace gf {

#define GF_RESULTS "analyze/results/whatif.def"
#include "analyze/declare_results.inl"

/// The part that is removed, as --without names it.
enum class Without : std::uint8_t {
#define GF_WITHOUT(id, meaning) id,
#include "analyze/names/changes.def"
};
template <>
struct EnumNames<Without> {
  static constexpr const char* type = "Without";
  static constexpr auto names = std::to_array<std::string_view>({
#define GF_WITHOUT(id, meaning) #id,
#include "analyze/names/changes.def"
  });
};

struct FindingClaim {
  FindingId finding = {};
  std::string rule;  // of a team's own
  ClaimedTime time;
  /// As its row of an answer is named.
  std::string_view name() const { return rule.empty() ? name_of(finding) : rule; }
};

/// A finding of a custom rule, and the time that is gone once it is mended.
struct OwnFinding {
  Finding finding;
  ClaimedTime time;
};

struct WhatIfChanges {
  std::vector<Without> without;
  std::vector<With> with;              // kernels that are mended
  std::vector<FindingClaim> claims;    // what findings speak of is gone
  std::vector<std::string> operators;  // taken away, with what they launch: a part of their names
  const Product* gpu_as = nullptr;     // on this GPU, by the ceilings of both
  double link_bytes_per_s = 0;         // collectives on a link of this rate; 0: on their own
  bool graph = false;                  // all launches of a step as one CUDA graph
  double host = 1, gpu = 1, link = 1, batch = 1;  // times as fast; times as large
  double larger_batch = 1;  // likewise, but by itself and with what an item gains
  std::vector<std::pair<std::string, double>> kernels;  // part of their names, times as fast
  std::vector<double WhatIfChanges::*> asked;  // factors that make a row also where they are 1

  // As rows are named: of one graph, of a larger batch, and of all changes but that.
  static constexpr std::string_view kGraph = "graph", kLargerBatch = "larger batch",
                                    kTogether = "together";

  /// True if a factor makes a row.
  bool has(double WhatIfChanges::* factor) const;
  bool empty() const;
  void add(const WhatIfChanges& other);
};

/// Each change alone, and together where there are several; where none is asked the usual ones. A
/// larger batch comes last, and is part of nothing else: its gain is that of an item.
/// Only what was launched in `span` runs again. `works`: of the kernels, where those that the
/// context has are not meant. Errors: a capture without device activities, a name that nothing has.
Result<WhatIf> what_if(const Context& context, const WhatIfChanges& changes,
                       Interval span = kAllTime, const work::KernelWorks* works = nullptr);

/// A captured program that runs again and again, each time with other changes.
class ProgramReplay {
 public:
  /// Errors: a capture without device activities.
  static Result<ProgramReplay> of(const Context& context, Interval span,
                                  const work::KernelWorks* works);
  ProgramReplay(ProgramReplay&&) noexcept;
  ~ProgramReplay();

  /// As what_if().
  Result<WhatIf> answer(const WhatIfChanges& changes);
  /// The share of a step that all of them give in one run, about.
  double share_of(const WhatIfChanges& changes);
  /// The median gain, for such a share, of programs that made these changes.
  double middle_of(double share, const WhatIfChanges& changes) const;
  /// True if in each step the host waits for the device once less, at least.
  bool frees_host(const WhatIfChanges& changes);
  /// The replayed part and its graph, which another replay of it need not build again.
  ReplayedPart part() const;

 private:
  struct Parts;
  explicit ProgramReplay(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// A step with every set of the changes, of which there are up to kMostSwitches, or in large
/// captures kFewestSwitches.
inline constexpr std::size_t kMostSwitches = 8, kFewestSwitches = 6;
Result<WhatIfSwitches> what_if_switches(const Context& context, const WhatIfChanges& changes,
                                        Interval span);

}  // namespace gf
