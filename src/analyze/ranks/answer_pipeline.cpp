#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "analyze/ranks/answer.h"
#include "analyze/ranks/identity.h"
#include "core/statistics.h"

namespace gf {

namespace {

/// How many, by sender and receiver.
using Messages = std::map<std::pair<std::int64_t, std::int64_t>, double>;

Messages messages_of(const Job& job) {
  Messages messages;
  for (const auto& shared : job.shared) {
    if (!point_to_point(job.type_of(shared))) continue;
    const auto& front = shared.arrivals.front();
    const auto& table = job.parts[front.part].collectives;
    const auto from = table.from_rank[front.row], to = table.to_rank[front.row];
    if (from >= 0 && to >= 0) ++messages[{from, to}];
  }
  return messages;
}

/// Of the ranks that messages tie together the most in one row; 0 where they close a circle, as
/// those that exchange parts of a sequence do.
std::int64_t longest_row(const Messages& messages) {
  std::map<std::int64_t, std::set<std::int64_t>> next;
  for (const auto& [pair, count] : messages) {
    next[pair.first].insert(pair.second);
    next[pair.second].insert(pair.first);
  }
  std::size_t most = 0;
  std::set<std::int64_t> seen;
  for (const auto& [rank, neighbours] : next) {
    if (neighbours.size() != 1 || !seen.insert(rank).second) continue;  // a row begins at its end
    std::size_t length = 1;
    for (auto at = rank; true; ++length) {
      const auto onward = std::ranges::find_if(
          next[at], [&](std::int64_t other) { return seen.insert(other).second; });
      if (onward == next[at].end()) break;
      at = *onward;
    }
    most = std::max(most, length);
  }
  return static_cast<std::int64_t>(most);
}

}  // namespace

PipelineUse pipeline_of(const JobView& view, const std::vector<RankUse>& ranks) {
  const Messages messages = messages_of(view.job);
  PipelineUse use;
  std::size_t steps = 0;
  for (const auto& part : view.job.parts) steps = std::max(steps, part.steps.size());
  const std::int64_t stages = longest_row(messages);
  if (stages < 2 || steps == 0) return use;
  std::vector<double> counts;
  for (const auto& [pair, count] : messages) counts.push_back(count / static_cast<double>(steps));
  Nanos waited = 0, span = 0;
  for (const auto& rank : ranks) {
    for (const auto& piece : rank.time)
      if (piece.part == "waiting") waited += piece.ns;
    span += rank.span_ns;
  }
  use.stages = stages;
  use.micro_batches = median(std::move(counts));
  const double row = static_cast<double>(stages - 1);
  if (span > 0) use.waiting = static_cast<double>(waited) / static_cast<double>(span);
  use.ideal = row / (use.micro_batches + row);
  return use;
}

}  // namespace gf
