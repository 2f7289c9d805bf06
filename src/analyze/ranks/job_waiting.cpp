#include "analyze/ranks/job_waiting.h"

#include <algorithm>

#include "analyze/ranks/answer.h"
#include "analyze/ranks/measure_rank.h"

namespace gf {

namespace {

bool same_capture(const RankPart& left, const RankPart& right) {
  return left.device_id == right.device_id && left.start_ns == right.start_ns &&
         left.span_ns == right.span_ns && left.events == right.events && left.bytes == right.bytes;
}

/// The place of the last arrival before one left; its own where nobody came after it.
std::size_t waited_for(const WaitSplit& split, std::size_t place) {
  const WaitSplit::One& own = split.ranks[place];
  std::size_t last = place;
  for (std::size_t i = 0; i < split.ranks.size(); ++i) {
    const Nanos start = split.ranks[i].start;
    if (start < own.start + own.duration && start > split.ranks[last].start) last = i;
  }
  return last;
}

/// By part of the job: the place among the capture's own parts, or -1.
std::vector<std::int64_t> places_of(const std::vector<RankPart>& own, const Job& job) {
  std::vector<std::int64_t> places;
  for (const auto& part : job.parts) {
    const auto at = std::ranges::find_if(
        own, [&](const RankPart& candidate) { return same_capture(candidate, part); });
    places.push_back(at == own.end() ? -1 : at - own.begin());
  }
  return places;
}

bool shares_a_collective(const Job& job, const std::vector<std::int64_t>& places) {
  return std::ranges::any_of(job.shared, [&](const SharedCollective& shared) {
    return std::ranges::any_of(shared.arrivals,
                               [&](const Arrival& arrival) { return places[arrival.part] >= 0; });
  });
}

std::vector<KernelWait> waits_of(const WorkedJob& worked, const std::vector<std::int64_t>& places,
                                 const std::vector<CollectiveRows>& rows) {
  std::vector<KernelWait> waits;
  for (std::size_t number = 0; number < worked.job.shared.size(); ++number) {
    const auto& arrivals = worked.job.shared[number].arrivals;
    const WaitSplit& split = worked.splits[number];
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      const auto own = places[arrivals[i].part];
      if (own < 0 || split.ranks[i].wait <= split.doubt) continue;
      const auto& late = worked.job.parts[arrivals[waited_for(split, i)].part];
      waits.push_back(
          {rows[static_cast<std::size_t>(own)][arrivals[i].row], split.ranks[i].wait, late.rank});
    }
  }
  std::ranges::sort(waits, {}, &KernelWait::activity);
  return waits;
}

}  // namespace

Result<std::optional<JobWaiting>> waiting_in(const WorkedJob& worked, const Capture& capture,
                                             std::string_view devices, std::string_view window) {
  std::vector<CollectiveRows> rows;
  const auto own = measure_ranks(capture, &rows, devices, window);
  if (!own) return tl::unexpected(own.error());
  const auto places = places_of(*own, worked.job);
  if (!shares_a_collective(worked.job, places)) return std::nullopt;
  return JobWaiting{waits_of(worked, places, rows), {}};
}

Result<JobWaiting> find_job_waiting(const Capture& capture, std::vector<RankPart> peers,
                                    unsigned workers) {
  std::vector<CollectiveRows> rows;
  const auto own = measure_ranks(capture, &rows);
  if (!own) return tl::unexpected(own.error());
  std::erase_if(peers, [&](const RankPart& peer) {
    return std::ranges::any_of(*own,
                               [&](const RankPart& part) { return same_capture(part, peer); });
  });
  if (own->size() + peers.size() < 2)
    return fail("is the only rank given: which rank it waited for is unknown", capture.path, -1,
                "give the captures of the other ranks, or their folder");
  std::vector<RankPart> parts = *own;
  std::ranges::move(peers, std::back_inserter(parts));
  auto stages = split_stages(std::move(parts));
  if (!stages) return tl::unexpected(stages.error());
  const auto stage = std::ranges::find_if(*stages, [&](const RankStage& one) {
    return std::ranges::any_of(
        one.parts, [&](const RankPart& part) { return same_capture(part, own->front()); });
  });
  const auto worked = work_out(std::move(*stage), workers);
  if (!worked) return tl::unexpected(worked.error());
  const auto places = places_of(*own, worked->job);
  if (!shares_a_collective(worked->job, places))
    return fail("shares no collective with the given ranks", capture.path, -1,
                "give the files that the ranks of one run wrote at the same time");
  return JobWaiting{waits_of(*worked, places, rows), answer_of(worked->view(), {})};
}

namespace {

void split(WaitSplit& out) {
  std::vector<Nanos> starts;
  for (const auto& one : out.ranks) starts.push_back(one.start);
  std::sort(starts.begin(), starts.end());
  for (auto& one : out.ranks) {
    const Nanos end = one.start + one.duration;
    const auto after = std::lower_bound(starts.begin(), starts.end(), end);
    const Nanos last = after == starts.begin() ? one.start : *(after - 1);
    one.wait = std::clamp<Nanos>(last - one.start, 0, one.duration);
    out.wait += one.wait;
  }
  for (std::size_t i = 1; i < out.ranks.size(); ++i) {
    if (out.ranks[i].start > out.ranks[out.last].start) out.last = i;
    if (out.ranks[i].wait > out.ranks[out.waited_most].wait) out.waited_most = i;
  }
  out.second = out.last == 0 ? 1 : 0;
  for (std::size_t i = 0; i < out.ranks.size(); ++i)
    if (i != out.last && out.ranks[i].start > out.ranks[out.second].start) out.second = i;
  out.margin = out.ranks[out.last].start - out.ranks[out.second].start;
}

}  // namespace

std::vector<WaitSplit> split_waiting(const Job& job) {
  std::vector<WaitSplit> splits;
  splits.reserve(job.shared.size());
  for (const auto& shared : job.shared) {
    WaitSplit out;
    for (const auto& arrival : shared.arrivals) {
      const auto& table = job.parts[arrival.part].collectives;
      const RankClock& clock = job.clocks[arrival.part];
      out.ranks.push_back({clock.common(table.start_ns[arrival.row]),
                           table.duration_ns[arrival.row], 0, table.exposed_ns[arrival.row]});
      out.doubt = std::max(out.doubt, clock.residual);
    }
    const auto size = job.groups[shared.group].size;
    out.whole = size < 0 || static_cast<std::size_t>(size) == shared.arrivals.size();
    split(out);
    splits.push_back(std::move(out));
  }
  return splits;
}

}  // namespace gf
