// Steps without marks. A kernel (or a short run of kernels) that occurs once in every step cuts the
// sequence into segments that are alike. Every count of occurrences is tried as a number of steps;
// the shortest period whose segments are as much alike as those of the best one wins, which takes a
// step for a step and not two of them, nor one of its layers: layers are alike only until the step
// ends. docs/steps.md explains the choice with examples.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/steps/enclosing_spans.h"
#include "analyze/steps/kernel_sequence.h"
#include "analyze/steps/steps.h"

namespace gf {

namespace {

constexpr double kLeastAlike = 0.7;  // below this, segments are not repetitions of one thing
constexpr double kAsGood = 0.05;     // periods this close to the best one are as good
constexpr double kSameLength =
    1.4;  // periods that differ by less are one period, give or take some kernels
constexpr double kLeastCovered = 0.5;  // share of the sequence that the steps must explain
constexpr double kWhole =
    0.99;  // steps that leave no more than this of the sequence begin and end with it
constexpr std::size_t kCountsTried =
    32;  // numbers of steps looked at, those that explain most first
constexpr std::size_t kRunLengths[] = {1, 4};

using Positions = std::span<const std::uint32_t>;

bool same_length(std::size_t a, std::size_t b) {
  return static_cast<double>(std::max(a, b)) <= kSameLength * static_cast<double>(std::min(a, b));
}

std::size_t median_spacing(Positions p) {
  std::vector<std::uint32_t> d;
  for (std::size_t i = 1; i < p.size(); ++i) d.push_back(p[i] - p[i - 1]);
  // The lower one of two: a first step that tunes is longer, never shorter.
  const auto middle = d.begin() + static_cast<std::ptrdiff_t>((d.size() - 1) / 2);
  std::nth_element(d.begin(), middle, d.end());
  return *middle;
}

/// Mean distance of the spacings from their median, as a share of it; 0 is a perfect beat. The
/// first third may be warming up.
double irregularity(Positions p) {
  const auto middle = static_cast<double>(median_spacing(p));
  double away = 0;
  std::size_t n = 0;
  for (std::size_t i = 1 + (p.size() - 1) / 3; i < p.size(); ++i, ++n)
    away += std::abs(static_cast<double>(p[i] - p[i - 1]) - middle);
  return n == 0 ? 0 : away / static_cast<double>(n) / middle;
}

/// How much of a sequence of n kernels tokens at these positions explain as steps.
struct Coverage {
  bool tail = false;   // what follows the last one is a step: about as long as the others, neither
                       // cut off nor something else
  double covered = 0;  // share of the sequence inside steps
  double worth = 0;    // the same, less for an uneven beat
};
Coverage coverage(Positions p, std::size_t n) {
  Coverage c;
  const double tail = static_cast<double>(n - p.back()) / static_cast<double>(median_spacing(p));
  c.tail = tail >= 0.9 && tail <= 1.1;
  c.covered = static_cast<double>((c.tail ? n : p.back()) - p.front()) / static_cast<double>(n);
  c.worth = c.covered * (1 - std::min(1.0, irregularity(p)));
  return c;
}

/// A way to cut the sequence: segment i is [cut[i], cut[i + 1]).
struct Cut {
  std::vector<std::uint32_t> at;
  double alike = 0;  // least likeness of two neighbours in the last half
  Coverage extent;
  std::size_t length = 0;  // median segment
};

/// Share of kernels that two neighbouring segments have in common, counted with repetition.
double likeness(const KernelSequence& s, std::uint32_t a, std::uint32_t b, std::uint32_t end,
                std::vector<std::int32_t>& count) {
  std::size_t common = 0;
  for (auto i = a; i < b; ++i) ++count[s.ids[i]];
  for (auto i = b; i < end; ++i)
    if (count[s.ids[i]]-- > 0) ++common;
  for (auto i = a; i < end; ++i) count[s.ids[i]] = 0;
  return 2.0 * static_cast<double>(common) / static_cast<double>(end - a);
}

Cut cut_at(const KernelSequence& s, Positions p, std::vector<std::int32_t>& count) {
  Cut cut;
  cut.at.assign(p.begin(), p.end());
  cut.length = median_spacing(p);
  const auto n = static_cast<std::uint32_t>(s.ids.size());
  cut.extent = coverage(p, n);
  if (cut.extent.tail) cut.at.push_back(n);
  if (cut.at.size() < 3) return cut;
  std::vector<double> alike;
  for (std::size_t i = 2; i < cut.at.size(); ++i)
    alike.push_back(likeness(s, cut.at[i - 2], cut.at[i - 1], cut.at[i], count));
  alike.erase(alike.begin(), alike.begin() + static_cast<std::ptrdiff_t>(alike.size() / 2));
  cut.alike = *std::min_element(alike.begin(), alike.end());
  return cut;
}

/// True when most of these positions lie inside something that the host did as one, so that they
/// part layers, not steps.
bool parts_layers(const KernelSequence& s, const EnclosingSpans& enclosing, Positions p) {
  std::size_t inside = 0;
  for (auto i : p.subspan(1)) inside += enclosing.share(s.rows[i - 1], s.rows[i]);
  return 2 * inside > p.size() - 1;
}

/// True when q has exactly one member between any two of p, and the other way round: both beat once
/// a step.
bool interleave(Positions p, Positions q) {
  if (p.size() != q.size()) return false;
  const bool first = q[0] >= p[0];
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (first ? q[i] < p[i] || (i + 1 < p.size() && q[i] >= p[i + 1])
              : q[i] >= p[i] || (i > 0 && q[i] < p[i - 1]))
      return false;
  }
  return true;
}

/// Median wait of the device's stream before the kernels at these positions.
Nanos median_wait(const Capture& capture, const KernelSequence& s, Positions p) {
  std::vector<Nanos> waits;
  const auto& a = capture.activities;
  for (auto i : p)
    if (i > 0)
      waits.push_back(a.start_ns[s.rows[i]] - a.start_ns[s.rows[i - 1]] -
                      a.duration_ns[s.rows[i - 1]]);
  if (waits.empty()) return 0;
  std::nth_element(waits.begin(), waits.begin() + static_cast<std::ptrdiff_t>(waits.size() / 2),
                   waits.end());
  return waits[waits.size() / 2];
}

/// Starts of the copies to the sequence's device, in order.
std::vector<Nanos> input_copies(const Capture& capture, const KernelSequence& s) {
  const auto& a = capture.activities;
  std::vector<Nanos> starts;
  for (std::uint32_t i = 0; i < a.size(); ++i)
    if (a.copy[i] == CopyKind::host_to_device && a.device[i] == s.device)
      starts.push_back(a.start_ns[i]);
  std::sort(starts.begin(), starts.end());
  return starts;
}

/// Copies to the device between two steps bring the input of the second one: it starts with them.
Nanos start_with_input(const Capture& capture, const KernelSequence& s,
                       const std::vector<Nanos>& copies, std::uint32_t position) {
  const auto& a = capture.activities;
  const Nanos start = a.start_ns[s.rows[position]];
  if (position == 0) return start;
  const auto previous = s.rows[position - 1];
  const auto copy = std::lower_bound(copies.begin(), copies.end(),
                                     a.start_ns[previous] + a.duration_ns[previous]);
  return copy == copies.end() ? start : std::min(start, *copy);
}

}  // namespace

Steps find_period(const Capture& capture, const std::vector<std::uint32_t>& launch,
                  const HostThreads& host) {
  const KernelSequence s = kernel_sequence(capture);
  if (s.rows.size() < 4) return {};
  const EnclosingSpans enclosing(capture, launch, host);
  const TokenPositions tokens[] = {{s, kRunLengths[0]}, {s, kRunLengths[1]}};
  // The token that explains most stands for all that occur as often.
  std::map<std::size_t, std::pair<double, Positions>> by_count;
  for (const auto& list : tokens)
    for (std::size_t t = 0; t < list.tokens(); ++t) {
      const Positions p = list.at(t);
      if (p.size() < 2) continue;
      const Coverage extent = coverage(p, s.ids.size());
      if (extent.covered < kLeastCovered || parts_layers(s, enclosing, p)) continue;
      const auto [at, added] = by_count.try_emplace(p.size(), extent.worth, p);
      if (!added && extent.worth > at->second.first) at->second = {extent.worth, p};
    }
  std::vector<std::pair<double, Positions>> candidates;
  for (const auto& [count, candidate] : by_count) candidates.push_back(candidate);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& x, const auto& y) { return x.first > y.first; });
  if (candidates.size() > kCountsTried) candidates.resize(kCountsTried);
  std::vector<std::int32_t> count(s.distinct, 0);
  std::vector<std::pair<Cut, Positions>> cuts;
  double best = 0;
  for (const auto& [worth, p] : candidates) {
    Cut cut = cut_at(s, p, count);
    if (cut.alike < kLeastAlike || cut.extent.covered < kLeastCovered) continue;
    best = std::max(best, cut.alike);
    cuts.push_back({std::move(cut), p});
  }
  const std::pair<Cut, Positions>* chosen = nullptr;
  std::size_t shortest = SIZE_MAX;
  for (const auto& c : cuts)
    if (c.first.alike >= best - kAsGood) shortest = std::min(shortest, c.first.length);
  for (const auto& c : cuts)
    if (same_length(c.first.length, shortest) &&
        (!chosen || c.first.extent.worth > chosen->first.extent.worth))
      chosen = &c;
  if (!chosen) return {};
  // Any kernel that beats with the chosen one could begin the step. Captures are mostly taken from
  // the start of a step to the end of one, so those that leave no rest come first; among them the
  // one that the device waits longest for.
  struct Phase {
    bool whole;
    Nanos wait;
    Positions at;
  };
  std::vector<Phase> phases;
  for (const auto& list : tokens)
    for (std::size_t t = 0; t < list.tokens(); ++t)
      if (const Positions p = list.at(t); p.size() == chosen->second.size() &&
                                          interleave(chosen->second, p) &&
                                          !parts_layers(s, enclosing, p))
        phases.push_back(
            {coverage(p, s.ids.size()).covered >= kWhole, median_wait(capture, s, p), p});
  std::stable_sort(phases.begin(), phases.end(), [](const Phase& x, const Phase& y) {
    return x.whole != y.whole ? x.whole
           : x.wait != y.wait ? x.wait > y.wait
                              : x.at.front() < y.at.front();
  });
  Cut cut;
  for (const auto& phase : phases) {  // the chosen one is among them
    cut = cut_at(s, phase.at, count);
    if (cut.alike >= chosen->first.alike - kAsGood && cut.extent.covered >= kLeastCovered) break;
  }
  Steps found;
  found.source = fmt::format("period:{} kernels", cut.length);
  found.confidence = cut.alike;
  const auto& a = capture.activities;
  const auto copies = input_copies(capture, s);
  for (std::size_t i = 0; i + 1 < cut.at.size(); ++i) {
    const Nanos start = start_with_input(capture, s, copies, cut.at[i]);
    Nanos end = 0;
    if (cut.at[i + 1] < s.rows.size()) {
      end = start_with_input(capture, s, copies, cut.at[i + 1]);
    } else {
      end = INT64_MIN;
      for (auto k = cut.at[i]; k < s.rows.size(); ++k)
        end = std::max(end, a.start_ns[s.rows[k]] + a.duration_ns[s.rows[k]]);
    }
    found.steps.push_back({static_cast<std::int64_t>(i), start, end - start, false});
  }
  return found;
}

}  // namespace gf
