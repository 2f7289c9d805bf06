#include "analyze/ranks/ranks.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/ranks/answer.h"

namespace gf {

namespace {

std::vector<std::int64_t> missing(const Job& job, std::int64_t world_size) {
  std::vector<std::int64_t> ranks;
  std::size_t at = 0;
  for (std::int64_t rank = 0; rank < world_size; ++rank) {
    while (at < job.parts.size() && job.parts[at].rank < rank) ++at;
    if (at == job.parts.size() || job.parts[at].rank != rank) ranks.push_back(rank);
  }
  return ranks;
}

std::int64_t size_of_world(const Job& job) {
  std::int64_t size = -1;
  for (const auto& part : job.parts) size = std::max(size, part.world_size);
  // A number from a broken file is no reason to list ranks for hours.
  constexpr std::int64_t kMost = 1'000'000;
  return size <= kMost ? size : -1;
}

Nanos span_of(const std::vector<RankUse>& ranks) {
  Nanos begin = INT64_MAX, end = INT64_MIN;
  for (const auto& rank : ranks) {
    if (!rank.offset_ns) continue;
    begin = std::min(begin, rank.start_ns);
    end = std::max(end, rank.start_ns + rank.span_ns);
  }
  return end > begin ? end - begin : 0;
}

/// What was said of single captures, each code once.
void add_quality(const Job& job, JobRanks& answer) {
  answer.quality = job.quality;
  for (const auto& part : job.parts)
    for (const auto& note : part.quality) {
      const auto same =
          std::find_if(answer.quality.begin(), answer.quality.end(),
                       [&](const QualityNote& known) { return known.code == note.code; });
      if (same != answer.quality.end())
        same->count += note.count;
      else
        answer.quality.push_back(
            {note.code, note.count, fmt::format("rank {}: {}", part.rank, note.detail)});
    }
  std::int64_t unmatched = 0;
  for (const auto& rank : answer.ranks) unmatched += rank.collectives - rank.matched;
  if (unmatched > 0 && answer.ranks.size() > 1)
    answer.quality.push_back(
        {"unmatched_collectives", unmatched,
         "collectives that only one of the files shows: waiting in them is not told apart"});
}

}  // namespace

Result<WorkedJob> work_out(std::vector<RankPart> parts, unsigned workers) {
  if (parts.empty()) return fail("there is no rank to analyse");
  auto job = join_parts(std::move(parts));
  if (!job) return tl::unexpected(job.error());
  if (auto paired = pair_collectives(*job, workers); !paired) return tl::unexpected(paired.error());
  WorkedJob worked{std::move(*job), {}, {}};
  worked.splits = split_waiting(worked.job);
  worked.charges = charge_waiting(worked.job, worked.splits);
  return worked;
}

JobRanks answer_of(const JobView& view, const RanksOptions& options) {
  JobRanks answer;
  answer.world_size = size_of_world(view.job);
  answer.missing_ranks = missing(view.job, answer.world_size);
  answer.ranks = rank_uses(view);
  answer.groups = group_uses(view);
  answer.stragglers = stragglers(view);
  answer.falling_behind = falling_behind(view, answer.stragglers);
  answer.steps = rank_steps(view);
  answer.rates = collective_rates(view);
  answer.critical_path = critical_path(view);
  answer.collectives_matched = static_cast<std::int64_t>(view.job.shared.size());
  answer.collectives = collective_rows(view, options.max_collectives);
  answer.span_ns = span_of(answer.ranks);
  add_quality(view.job, answer);
  return answer;
}

Result<JobRanks> analyze_ranks(std::vector<RankPart> parts, const RanksOptions& options) {
  const auto worked = work_out(std::move(parts), options.workers);
  if (!worked) return tl::unexpected(worked.error());
  return answer_of(worked->view(), options);
}

}  // namespace gf
