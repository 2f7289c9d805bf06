#include "analyze/ranks/split_waiting.h"

#include <algorithm>

namespace gf {

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
