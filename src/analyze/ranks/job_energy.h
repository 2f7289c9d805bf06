// The energy of a job of several ranks over one window: of each rank, of waiting, of each step.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/ranks/answer.h"
#include "analyze/result.h"
#include "core/intervals.h"

namespace gf {

#define GF_RESULTS "analyze/results/job_energy.def"
#include "analyze/declare_results.inl"

/// The caveat of a job whose ranks share no time.
inline constexpr std::string_view kNoSharedTime = "no_shared_time";

/// The window of each part on its own clock: the job's, of the ranks whose clock is known; a part's
/// own where its clock is not, or where the ranks share no time.
std::vector<Interval> own_windows(const Job& job);

/// The energy of a rank, as far as it was measured.
struct MeasuredRank {
  std::optional<DeviceEnergy> energy;  // over its window of own_windows()
  std::string why_missing;             // where there is none
  std::string uuid;                    // of its board; empty: not known
};

/// Facts of a job that its energy is shared by or told with.
struct JobFacts {
  std::int64_t batch = 0;        // items of a step of the job; 0: not known
  std::string window;            // as --window names it
  EnergyUse model;               // that the energies are by; its devices are not looked at
  std::vector<Serving> serving;  // of each capture that has it
  std::size_t captures = 0;      // with energy
};

/// Pure: adds the ranks up, `ranks` by part of the job. Every sum is exact. A board that several
/// ranks share counts once.
JobEnergy sum_job_energy(const Job& job, std::vector<MeasuredRank> ranks, const JobFacts& facts);

}  // namespace gf
