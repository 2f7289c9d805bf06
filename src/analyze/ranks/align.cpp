#include "analyze/ranks/align.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

namespace gf {

namespace {

constexpr Nanos kLoose = 100 * kNsPerUs;  // ends of one collective differ by less, as measured
constexpr Nanos kTight = 60 * kNsPerUs;
constexpr Nanos kSameOrder = 25 * kNsPerUs;  // deviation at which equal lanes need no more proof
constexpr double kDrift = 20e-6;             // of clocks without a fit

/// Room for drift over the length of a lane.
Nanos drift_room(const Lane& lane) {
  const Nanos span = lane.end.back() - lane.end.front();
  return std::min<Nanos>(static_cast<Nanos>(kDrift * static_cast<double>(span)), kNsPerMs);
}

ClockFit fit_of(const Lane& first, const Lane& other, const std::vector<std::int64_t>& partner) {
  std::vector<ClockPair> pairs;
  for (std::size_t i = 0; i < partner.size(); ++i)
    if (partner[i] >= 0)
      pairs.push_back(
          {first.end[i], other.end[static_cast<std::size_t>(partner[i])] - first.end[i]});
  return fit_clock(std::move(pairs));
}

std::optional<Alignment> same_order(const Lane& first, const Lane& other) {
  if (first.end.size() != other.end.size()) return {};
  Alignment found;
  for (std::size_t i = 0; i < first.end.size(); ++i) {
    if (!compatible(first.what[i], other.what[i])) return {};
    found.partner.push_back(static_cast<std::int64_t>(i));
  }
  found.clock = fit_of(first, other, found.partner);
  found.pairs = first.end.size();
  found.by_order = true;
  if (found.clock.residual > kSameOrder) return {};
  return found;
}

/// Some collectives of a lane, in stretches over all of it.
std::vector<std::size_t> anchors_of(const Lane& lane) {
  constexpr std::size_t kStretches = 4, kLength = 24;
  std::vector<std::size_t> anchors;
  const std::size_t size = lane.end.size();
  if (size <= kStretches * kLength) {
    for (std::size_t i = 0; i < size; ++i) anchors.push_back(i);
    return anchors;
  }
  for (std::size_t stretch = 0; stretch < kStretches; ++stretch) {
    const std::size_t begin = stretch * (size - kLength) / (kStretches - 1);
    for (std::size_t i = 0; i < kLength; ++i) anchors.push_back(begin + i);
  }
  return anchors;
}

/// Offsets that many compatible pairs agree on, the most frequent first.
std::vector<Nanos> likely_offsets(const Lane& first, const Lane& other) {
  std::vector<Nanos> differences;
  for (const std::size_t anchor : anchors_of(first))
    for (std::size_t j = 0; j < other.end.size(); ++j)
      if (compatible(first.what[anchor], other.what[j]))
        differences.push_back(other.end[j] - first.end[anchor]);
  std::sort(differences.begin(), differences.end());
  const Nanos width = kLoose + drift_room(first);
  struct Peak {
    std::size_t votes;
    Nanos offset;
  };
  std::vector<Peak> peaks;
  for (std::size_t from = 0, to = 0; from < differences.size(); ++from) {
    while (to < differences.size() && differences[to] - differences[from] <= width) ++to;
    const Peak peak{to - from, differences[from + (to - from) / 2]};
    if (!peaks.empty() && peak.offset - peaks.back().offset <= width) {
      if (peak.votes > peaks.back().votes) peaks.back() = peak;
    } else {
      peaks.push_back(peak);
    }
  }
  std::stable_sort(peaks.begin(), peaks.end(),
                   [](const Peak& left, const Peak& right) { return left.votes > right.votes; });
  constexpr std::size_t kTried = 6;
  std::vector<Nanos> offsets;
  for (std::size_t i = 0; i < std::min(kTried, peaks.size()); ++i)
    offsets.push_back(peaks[i].offset);
  return offsets;
}

/// The nearest compatible end within `tolerance`, in order: no collective is used twice.
std::vector<std::int64_t> partners(const Lane& first, const Lane& other, const ClockFit& clock,
                                   Nanos tolerance) {
  std::vector<std::int64_t> partner(first.end.size(), -1);
  std::size_t next = 0;
  for (std::size_t i = 0; i < first.end.size(); ++i) {
    const Nanos expected = first.end[i] + clock.at(first.end[i]);
    while (next < other.end.size() && other.end[next] < expected - tolerance) ++next;
    Nanos best = tolerance + 1;
    for (std::size_t j = next; j < other.end.size() && other.end[j] <= expected + tolerance; ++j) {
      const Nanos distance = std::abs(other.end[j] - expected);
      if (distance >= best || !compatible(first.what[i], other.what[j])) continue;
      best = distance;
      partner[i] = static_cast<std::int64_t>(j);
    }
    if (partner[i] >= 0) next = static_cast<std::size_t>(partner[i]) + 1;
  }
  return partner;
}

Alignment follow(const Lane& first, const Lane& other, Nanos offset) {
  Alignment found;
  found.clock.offset = offset;
  found.partner = partners(first, other, found.clock, kLoose + drift_room(first));
  found.clock = fit_of(first, other, found.partner);
  constexpr Nanos kDeviations = 8;
  found.partner =
      partners(first, other, found.clock, std::max(kTight, kDeviations * found.clock.residual));
  found.clock = fit_of(first, other, found.partner);
  found.pairs = found.clock.pairs;
  return found;
}

bool better(const Alignment& left, const Alignment& right, Nanos near) {
  if (left.pairs != right.pairs) return left.pairs > right.pairs;
  const bool same = std::abs(left.clock.residual - right.clock.residual) <= 5 * kNsPerUs;
  if (!same) return left.clock.residual < right.clock.residual;
  return std::abs(left.clock.offset - near) < std::abs(right.clock.offset - near);
}

}  // namespace

bool compatible(const Signature& left, const Signature& right) {
  if (left.type != right.type) return false;
  if (left.type == CollectiveType::all_to_all) return true;  // ranks may send different amounts
  if (left.bytes >= 0 && right.bytes >= 0) return left.bytes == right.bytes;
  return left.kernel == right.kernel;
}

Alignment align(const Lane& first, const Lane& other, Nanos near) {
  Alignment best;
  best.partner.assign(first.end.size(), -1);
  if (first.end.empty() || other.end.empty()) return best;
  if (auto found = same_order(first, other)) return std::move(*found);
  std::vector<Alignment> tried;
  for (const Nanos offset : likely_offsets(first, other))
    tried.push_back(follow(first, other, offset));
  for (auto& candidate : tried)
    if (candidate.pairs > 0 && (best.pairs == 0 || better(candidate, best, near))) best = candidate;
  for (const auto& candidate : tried)
    if (std::abs(candidate.clock.offset - best.clock.offset) > kLoose &&
        10 * candidate.pairs >= 9 * best.pairs &&
        candidate.clock.residual <= 2 * best.clock.residual + kNsPerUs)
      best.doubtful = true;
  return best;
}

namespace {

Nanos middle(std::vector<Nanos> values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  if (values.size() % 2 == 1) return *half;
  const Nanos below = *std::max_element(values.begin(), half);
  return below + (*half - below) / 2;
}

/// Median of the slopes between pairs half of the time apart (Siegel and Theil's idea at n pairs).
double slope_of(const std::vector<ClockPair>& pairs) {
  std::vector<double> slopes;
  const std::size_t half = pairs.size() / 2;
  for (std::size_t i = 0; i + half < pairs.size(); ++i) {
    const auto& early = pairs[i];
    const auto& late = pairs[i + half];
    if (late.at <= early.at) continue;
    slopes.push_back(static_cast<double>(late.difference - early.difference) /
                     static_cast<double>(late.at - early.at));
  }
  if (slopes.empty()) return 0;
  const auto at = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), at, slopes.end());
  return *at;
}

void settle(const std::vector<ClockPair>& pairs, ClockFit& fit) {
  fit.offset = 0;
  std::vector<Nanos> rest;
  for (const auto& pair : pairs) rest.push_back(pair.difference - fit.at(pair.at));
  fit.offset = middle(rest);
  for (auto& value : rest) value = std::abs(value - fit.offset);
  fit.residual = middle(std::move(rest));
}

}  // namespace

ClockFit fit_clock(std::vector<ClockPair> pairs) {
  ClockFit fit;
  fit.pairs = pairs.size();
  if (pairs.empty()) return fit;
  std::sort(pairs.begin(), pairs.end(), [](const ClockPair& left, const ClockPair& right) {
    return left.at != right.at ? left.at < right.at : left.difference < right.difference;
  });
  fit.about = pairs.front().at + (pairs.back().at - pairs.front().at) / 2;
  settle(pairs, fit);
  constexpr std::size_t kFewest = 8;    // for a slope
  constexpr double kCertain = 4;        // standard errors
  constexpr double kSpread = 1.4826;    // of a normal distribution, from its median deviation
  constexpr double kWorstDrift = 1e-3;  // of two clocks that are being set, 500 ppm each
  const double span = static_cast<double>(pairs.back().at - pairs.front().at);
  if (pairs.size() < kFewest || span <= 0) return fit;
  ClockFit sloped = fit;
  sloped.drift = slope_of(pairs);
  settle(pairs, sloped);
  const double error = kSpread * static_cast<double>(std::max<Nanos>(sloped.residual, 1)) *
                       std::sqrt(12.0 / static_cast<double>(pairs.size())) * 1.6 / span;
  if (std::abs(sloped.drift) > kCertain * error && std::abs(sloped.drift) < kWorstDrift)
    return sloped;
  return fit;
}

}  // namespace gf
