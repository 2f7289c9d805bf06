#include "analyze/ranks/job_energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace gf {

namespace {

/// Of a rank's own window in the job's, where the job's holds all ranks' windows.
constexpr double kNearlyAll = 0.95;

/// From the first start to the last end of the ranks' windows, if each has nearly all of that; else
/// the time that they share, because outside of it some rank's kernels are not known.
Interval common_window(const Job& job) {
  Interval all{INT64_MAX, INT64_MIN}, shared{INT64_MIN, INT64_MAX};
  Nanos shortest = INT64_MAX;
  for (std::size_t part = 0; part < job.parts.size(); ++part) {
    const RankClock& clock = job.clocks[part];
    if (!clock.known) continue;
    const RankPart& rank = job.parts[part];
    const Interval own{clock.common(rank.start_ns), clock.common(rank.start_ns + rank.span_ns)};
    all = {std::min(all.start, own.start), std::max(all.end, own.end)};
    shared = {std::max(shared.start, own.start), std::min(shared.end, own.end)};
    shortest = std::min(shortest, own.length());
  }
  if (shortest == INT64_MAX) return {};
  const auto enough = kNearlyAll * static_cast<double>(all.length());
  return static_cast<double>(shortest) >= enough ? all : shared;
}

/// Ranks whose clocks are known, and no time in which all of them were recorded.
bool shares_no_time(const Job& job) {
  const Interval common = common_window(job);
  return common.start >= common.end &&
         std::ranges::any_of(job.clocks, [](const RankClock& clock) { return clock.known; });
}

}  // namespace

std::vector<Interval> own_windows(const Job& job) {
  const Interval common = common_window(job);
  std::vector<Interval> windows;
  for (std::size_t part = 0; part < job.parts.size(); ++part) {
    const RankClock& clock = job.clocks[part];
    const RankPart& rank = job.parts[part];
    if (clock.known && common.start < common.end)
      windows.push_back({clock.own(common.start), clock.own(common.end)});
    else
      windows.push_back({rank.start_ns, rank.start_ns + rank.span_ns});
  }
  return windows;
}

namespace {

void add_to(std::optional<std::int64_t>& sum, std::optional<std::int64_t> value) {
  if (value) sum = sum.value_or(0) + *value;
}

/// The bounds of a row by its parts: what the model leaves open of each.
void bound_waiting(const EnergyRow& waiting, RankEnergy& rank) {
  rank.wait_ns = waiting.ns;
  rank.wait_nj = waiting.nj;
  if (waiting.parts.empty()) return;
  std::int64_t low = 0, high = 0;
  for (const auto& part : waiting.parts) {
    if (part.component == "rest") {  // who only waits may take none of it
      low += std::min<std::int64_t>(0, part.nj);
      high += std::max<std::int64_t>(0, part.nj);
      continue;
    }
    low += part.low_nj;
    high += part.high_nj;
  }
  rank.wait_low_nj = low;
  rank.wait_high_nj = high;
}

RankEnergy described_rank(const Job& job, std::size_t part, Interval window,
                          const MeasuredRank& measured) {
  const RankPart& about = job.parts[part];
  RankEnergy rank;
  rank.rank = about.rank;
  rank.host = about.host;
  rank.device = about.device;
  rank.source = about.source;
  rank.placed = job.clocks[part].known;
  rank.start_ns = window.start;
  rank.span_ns = window.length();
  if (!measured.energy) {
    rank.why_missing = measured.why_missing;
    return rank;
  }
  const DeviceEnergy& energy = *measured.energy;
  rank.measured_by = energy.source;
  rank.nj = energy.nj;
  rank.mean_watts = energy.mean_watts;
  rank.parts = energy.parts;
  if (energy.waiting) bound_waiting(*energy.waiting, rank);
  return rank;
}

/// Components by name in the order of the first rank that has them, the rest last.
std::vector<EnergyPart> summed_parts(const std::vector<RankEnergy>& ranks, std::int64_t total) {
  std::vector<EnergyPart> sums;
  for (const auto& rank : ranks) {
    if (!rank.nj) continue;
    if (rank.parts.empty()) return {};
    for (const auto& part : rank.parts) {
      auto at = std::ranges::find(sums, part.component, &EnergyPart::component);
      if (at == sums.end()) at = sums.insert(sums.end(), {part.component, 0, 0, 0, {}});
      at->nj += part.nj;
      at->low_nj += part.low_nj;
      at->high_nj += part.high_nj;
    }
  }
  std::ranges::stable_partition(sums, [](const auto& part) { return part.component != "rest"; });
  for (auto& part : sums)
    if (total > 0) part.share = static_cast<double>(part.nj) / static_cast<double>(total);
  return sums;
}

/// Steps by their number, which ranks count alike; the time outside of them last.
std::vector<JobStepEnergy> summed_steps(const Job& job, const std::vector<MeasuredRank>& ranks) {
  constexpr std::int64_t kOutside = INT64_MAX;
  std::map<std::int64_t, JobStepEnergy> steps;
  const auto add = [&](std::int64_t number, const RankStepEnergy& of_rank) {
    auto& step = steps[number];
    if (number != kOutside) step.step = number;
    step.nj += of_rank.nj;
    add_to(step.wait_nj, of_rank.wait_nj);
    step.longest_ns = std::max(step.longest_ns, of_rank.ns);
    step.ranks.push_back(of_rank);
  };
  for (std::size_t part = 0; part < ranks.size(); ++part) {
    if (!ranks[part].energy) continue;
    const DeviceEnergy& energy = *ranks[part].energy;
    const std::int64_t rank = job.parts[part].rank;
    if (energy.steps.empty()) {
      RankStepEnergy whole{rank, energy.span_ns, energy.nj, {}};
      if (energy.waiting) whole.wait_nj = energy.waiting->nj;
      add(kOutside, whole);
    }
    for (const auto& row : energy.steps) {
      std::int64_t number = kOutside;
      if (row.type == "step")
        std::from_chars(row.name.data(), row.name.data() + row.name.size(), number);
      add(number, {rank, row.ns, row.nj, row.wait_nj});
    }
  }
  std::vector<JobStepEnergy> out;
  for (auto& [number, step] : steps) out.push_back(std::move(step));
  if (out.size() == 1 && !out.front().step) out.clear();
  return out;
}

/// The mean of the steps that all measured ranks have.
std::optional<EnergyStepMean> mean_step(const JobEnergy& job, std::int64_t batch) {
  EnergyStepMean mean;
  std::int64_t nj = 0;
  Nanos ns = 0;
  for (const auto& step : job.steps) {
    if (!step.step || static_cast<std::int64_t>(step.ranks.size()) != job.measured_ranks) continue;
    ++mean.count;
    nj += step.nj;
    ns += step.longest_ns;
  }
  if (mean.count == 0) return std::nullopt;
  mean.joules = static_cast<double>(nj) * 1e-9 / static_cast<double>(mean.count);
  mean.seconds = static_cast<double>(ns) * 1e-9 / static_cast<double>(mean.count);
  mean.edp = mean.joules * mean.seconds;
  if (batch > 0) mean.joules_per_item = mean.joules / static_cast<double>(batch);
  return mean;
}

/// Ranks that split one model count the same tokens; of others it is not known which are whose.
void add_tokens(const JobFacts& facts, JobEnergy& job) {
  if (facts.serving.empty() || facts.serving.size() != facts.captures) return;
  if (job.measured_ranks != static_cast<std::int64_t>(job.ranks.size())) return;
  double joules = 0;
  for (const auto& serving : facts.serving) {
    if (!serving.generated || !serving.joules_per_token) return;
    if (*serving.generated != *facts.serving.front().generated) return;
    joules += *serving.joules_per_token;
  }
  job.tokens = facts.serving.front().generated;
  job.joules_per_token = joules;
}

/// Each kind once: the first rank's, and of how many ranks it is.
std::vector<EnergyWarning> gathered_warnings(const Job& job,
                                             const std::vector<MeasuredRank>& ranks) {
  std::vector<EnergyWarning> out;
  std::vector<std::pair<std::int64_t, std::int64_t>> of;  // the first rank, and how many
  for (std::size_t part = 0; part < ranks.size(); ++part) {
    if (!ranks[part].energy) continue;
    for (const auto& warning : ranks[part].energy->warnings) {
      const auto at = std::ranges::find(out, warning.code, &EnergyWarning::code);
      if (at != out.end()) {
        ++of[static_cast<std::size_t>(at - out.begin())].second;
        continue;
      }
      out.push_back(warning);
      of.emplace_back(job.parts[part].rank, 1);
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    auto about = fmt::format("rank {}", of[i].first);
    if (of[i].second > 1) about += fmt::format(" and {} more", of[i].second - 1);
    out[i].text = about + ": " + out[i].text;
  }
  return out;
}

/// A board that several ranks share has one sensor: its energy is the first rank's.
void count_boards_once(const Job& job, std::vector<MeasuredRank>& ranks) {
  std::map<std::string, std::int64_t> rank_of;
  for (std::size_t part = 0; part < ranks.size(); ++part) {
    auto& rank = ranks[part];
    if (!rank.energy || rank.uuid.empty()) continue;
    const auto [at, added] = rank_of.try_emplace(rank.uuid, job.parts[part].rank);
    if (added) continue;
    rank.energy.reset();
    rank.why_missing =
        fmt::format("shares its GPU with rank {}, whose energy is that of the board", at->second);
  }
}

}  // namespace

JobEnergy sum_job_energy(const Job& job, std::vector<MeasuredRank> ranks, const JobFacts& facts) {
  JobEnergy out;
  count_boards_once(job, ranks);
  out.world_size = job.world_size;
  out.missing_ranks = job.missing_ranks();
  out.quality = job.quality;
  out.window = facts.window;
  const auto windows = own_windows(job);
  for (std::size_t part = 0; part < ranks.size(); ++part) {
    RankEnergy rank = described_rank(job, part, windows[part], ranks[part]);
    if (rank.nj) {
      out.span_ns = std::max(out.span_ns, rank.span_ns);
      ++out.measured_ranks;
      out.nj += *rank.nj;
      out.mean_watts += *rank.mean_watts;
      out.wait_ns += rank.wait_ns;
      add_to(out.wait_nj, rank.wait_nj);
      add_to(out.wait_low_nj, rank.wait_low_nj);
      add_to(out.wait_high_nj, rank.wait_high_nj);
    }
    out.ranks.push_back(std::move(rank));
  }
  if (std::ranges::any_of(out.ranks, [](const RankEnergy& rank) {
        return rank.wait_nj && !rank.wait_low_nj;  // of a GPU without a model
      }))
    out.wait_low_nj = out.wait_high_nj = std::nullopt;
  for (auto& rank : out.ranks)
    if (rank.nj && out.nj > 0)
      rank.share = static_cast<double>(*rank.nj) / static_cast<double>(out.nj);
  out.parts = summed_parts(out.ranks, out.nj);
  out.steps = summed_steps(job, ranks);
  out.step = mean_step(out, facts.batch);
  add_tokens(facts, out);
  out.model = facts.model.model;
  out.model_gpu = facts.model.model_gpu;
  out.model_date = facts.model.model_date;
  out.gain_error = facts.model.gain_error;
  out.warnings = gathered_warnings(job, ranks);
  if (shares_no_time(job))
    out.warnings.insert(
        out.warnings.begin(),
        {std::string(kNoSharedTime),
         "the ranks share no time: each one's energy is of its own window, and their sum of no "
         "stretch of time. Give captures of the same time"});
  return out;
}

}  // namespace gf
