// The energy of a job of many ranks: their captures are read twice, once to find who waited for
// whom, then one after the other to be measured, so that never more than one is held.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/ranks/job_energy.h"
#include "core/error.h"
#include "core/progress.h"
#include "session/answer.h"
#include "session/ranks.h"

namespace gf {

struct JobEnergyQuestion {
  RankInputs ranks;
  InputOptions input;      // the power log, and how to read; its trace is not looked at
  std::string model;       // energy model, empty: the shipped one
  std::int64_t batch = 0;  // items of a step of the job, 0: not known
};

struct JobEnergyAnswer {
  JobEnergy energy;
  std::vector<std::string> left_out;  // files of a folder that are no captures
  std::vector<std::string> missing;   // why the answer is not whole, one sentence each
};

/// Errors: those of load_ranks() and of pairing ranks; a model that cannot be read or is of another
/// product; no rank whose energy is known.
Result<JobEnergyAnswer> measure_job_energy(const JobEnergyQuestion& question,
                                           const Progress& progress);

}  // namespace gf
