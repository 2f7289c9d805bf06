#include "analyze/ranks/stage_peers.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "analyze/collective_type.h"
#include "core/statistics.h"

namespace gf {

namespace {

/// Ranks that share groups in which all do the same are of one stage; those that pass data on to
/// each other are not.
std::vector<std::uint32_t> stages_of(const Job& job) {
  std::vector<std::uint32_t> stage(job.parts.size());
  std::iota(stage.begin(), stage.end(), 0U);
  std::set<std::pair<std::uint32_t, std::uint32_t>> linked;
  for (const auto& shared : job.shared)
    if (point_to_point(job.type_of(shared)))
      linked.insert({shared.arrivals.front().part, shared.arrivals.back().part});
  std::set<std::uint32_t> joined;
  for (const auto& shared : job.shared) {
    if (point_to_point(job.type_of(shared)) || !joined.insert(shared.group).second) continue;
    const auto& arrivals = shared.arrivals;
    const bool passes_on = std::ranges::any_of(linked, [&](const auto& pair) {
      auto takes_part = [&](std::uint32_t part) {
        return std::ranges::any_of(arrivals, [&](const auto& one) { return one.part == part; });
      };
      return takes_part(pair.first) && takes_part(pair.second);
    });
    if (passes_on) continue;
    for (const auto& arrival : arrivals) {
      const auto from = stage[arrival.part], to = stage[arrivals.front().part];
      std::ranges::replace(stage, from, to);
    }
  }
  return stage;
}

}  // namespace

StagePeers::StagePeers(const Job& job) : members_(job.parts.size()), of_(job.parts.size()) {
  constexpr Nanos kOneIn = 10;
  const auto stage = stages_of(job);
  const auto length = [&](std::uint32_t part) { return job.parts[part].span_ns; };
  for (std::uint32_t part = 0; part < stage.size(); ++part) members_[stage[part]].push_back(part);
  for (auto& members : members_) std::ranges::stable_sort(members, {}, length);
  for (std::uint32_t part = 0; part < stage.size(); ++part) {
    const auto& members = members_[stage[part]];
    const Nanos own = length(part), away = own / kOneIn;
    const auto from = std::ranges::lower_bound(members, own - away, {}, length),
               to = std::ranges::upper_bound(members, own + away, {}, length);
    of_[part] = {stage[part], static_cast<std::size_t>(from - members.begin()),
                 static_cast<std::size_t>(to - members.begin())};
  }
}

std::vector<double>& UsualOfPeers::sorted(std::uint32_t stage) {
  if (sorted_.empty()) {
    for (const auto& [part, own] : values_) sorted_[peers_.of_[part].stage].push_back(own);
    for (auto& [number, values] : sorted_) std::ranges::sort(values);
  }
  return sorted_[stage];
}

std::optional<double> UsualOfPeers::of(std::uint32_t part) {
  if (!peers_.any(part)) return {};
  const auto& [stage, from, to] = peers_.of_[part];
  const auto& members = peers_.members_[stage];
  if (to - from < members.size()) {
    std::vector<double> theirs;
    for (std::size_t i = from; i < to; ++i)
      if (members[i] != part) theirs.push_back(value(members[i]));
    return median(std::move(theirs));
  }
  // In order: those below 0, the zeros of parts without a value, the others; without its own.
  const auto& values = sorted(stage);
  const auto below =
      static_cast<std::size_t>(std::ranges::lower_bound(values, 0.0) - values.begin());
  const std::size_t zeros = members.size() - values.size();
  const auto place = [&](std::size_t i) { return i < below ? i : i + zeros; };
  const auto own = place(
      static_cast<std::size_t>(std::ranges::lower_bound(values, value(part)) - values.begin()));
  const auto at = [&](std::size_t i) {
    if (i >= own) ++i;
    if (i < below) return values[i];
    return i < below + zeros ? 0.0 : values[i - zeros];
  };
  // As median() works it out.
  const std::size_t count = members.size() - 1, low = (count - 1) / 2;
  if (count % 2 == 1) return at(low);
  return at(low) + 0.5 * (at(low + 1) - at(low));
}

}  // namespace gf
