#include "analyze/ranks/tie_clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <numeric>

namespace gf {

namespace {

/// Joined sets with path halving.
class Sets {
 public:
  explicit Sets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t of(std::size_t item) {
    for (; parent_[item] != item; item = parent_[item]) parent_[item] = parent_[parent_[item]];
    return item;
  }
  bool join(std::size_t left, std::size_t right) {
    const auto first = of(left), second = of(right);
    parent_[second] = first;
    return first != second;
  }

 private:
  std::vector<std::size_t> parent_;
};

/// Standard error of an offset, near enough to order ties by.
double error_of(const ClockFit& fit) {
  return static_cast<double>(fit.residual + 1) / static_cast<double>(fit.pairs);
}

/// Both directions of the ties of a spanning forest of least error.
std::vector<std::vector<const ClockEdge*>> forest(std::size_t parts,
                                                  std::vector<ClockEdge>& edges) {
  std::stable_sort(edges.begin(), edges.end(), [](const ClockEdge& left, const ClockEdge& right) {
    return error_of(left.fit) < error_of(right.fit);
  });
  Sets sets(parts);
  std::vector<std::vector<const ClockEdge*>> ties(parts);
  for (const auto& edge : edges) {
    if (!sets.join(edge.first, edge.other)) continue;
    ties[edge.first].push_back(&edge);
    ties[edge.other].push_back(&edge);
  }
  return ties;
}

/// The clock of the edge's other end, when that of `known` is tied.
RankClock beyond(const Job& job, const ClockEdge& edge, std::uint32_t known) {
  const RankClock& clock = job.clocks[known];
  const Nanos first_zero = job.parts[edge.first].start_ns;
  const Nanos other_zero = job.parts[edge.other].start_ns;
  RankClock out;
  out.known = true;
  const bool forward = known == edge.first;
  // The same instant on both clocks.
  const Nanos on_first = first_zero + edge.fit.about;
  const Nanos on_other = other_zero + edge.fit.about + edge.fit.offset;
  const Nanos here = forward ? on_first : on_other, there = forward ? on_other : on_first;
  out.about = there;
  out.offset = there - clock.common(here);
  out.drift = clock.drift + (forward ? edge.fit.drift : -edge.fit.drift);
  out.residual = std::max(clock.residual, edge.fit.residual);
  return out;
}

}  // namespace

void tie_clocks(Job& job, std::vector<ClockEdge> edges) {
  if (job.parts.empty()) return;
  const auto ties = forest(job.parts.size(), edges);
  // The largest set of tied ranks that holds the lowest rank counts; usually all.
  std::uint32_t root = 0;
  while (root + 1 < ties.size() && ties[root].empty()) ++root;
  if (ties[root].empty()) root = 0;
  job.clocks[root].known = true;
  job.clocks[root].about = job.parts[root].start_ns;
  std::deque<std::uint32_t> reached{root};
  while (!reached.empty()) {
    const auto here = reached.front();
    reached.pop_front();
    for (const ClockEdge* edge : ties[here]) {
      const auto there = edge->first == here ? edge->other : edge->first;
      if (job.clocks[there].known) continue;
      job.clocks[there] = beyond(job, *edge, here);
      reached.push_back(there);
    }
  }
}

namespace {

/// Adds how many collectives each member can share with another at most: a trace that was cut has
/// few.
void add_most_in_common(const JobGroup& group, std::vector<std::size_t>& met) {
  std::size_t most = 0, second = 0;
  for (const auto& member : group.members) {
    const std::size_t count = member.collectives.size();
    second = std::max(second, std::min(most, count));
    most = std::max(most, count);
  }
  for (const auto& member : group.members) {
    const std::size_t count = member.collectives.size();
    met[member.part] += std::min(count, count == most ? second : most);
  }
}

}  // namespace

Status all_of_one_run(Job& job) {
  std::vector<std::size_t> shared(job.parts.size(), 0), met(job.parts.size(), 0);
  for (const auto& one : job.shared)
    for (const auto& arrival : one.arrivals) ++shared[arrival.part];
  for (const auto& group : job.groups) add_most_in_common(group, met);
  std::int64_t alone = 0;
  for (std::size_t i = 0; i < job.parts.size(); ++i) {
    const bool few = met[i] >= 8 && 4 * shared[i] < met[i];
    if (few)
      return fail(fmt::format("shares its process groups with other ranks, but of its {} "
                              "collectives only {} fit theirs: it is of another run, or of another "
                              "time of the same run",
                              met[i], shared[i]),
                  job.parts[i].source, -1, "give files that the ranks wrote at the same time");
    if (job.parts.size() > 1 && shared[i] == 0) ++alone;
  }
  if (alone > 0)
    job.note("no_shared_collectives", alone,
             "ranks without a collective that another rank shows too: their clocks are not tied to "
             "the others', and nothing is said of their waiting");
  return {};
}

}  // namespace gf
