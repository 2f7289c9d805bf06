// Steps without marks. A kernel (or a short run of kernels) that occurs once in every step cuts the
// sequence into segments that are alike. Every count of occurrences is tried as a number of steps;
// the shortest period whose segments are as much alike as those of the best one wins, which takes a
// step for a step and not two of them. That it is a step and no layer, something else must show
// (outer_loop.h). docs/steps.md explains the choice with examples.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analyze/host_threads.h"
#include "analyze/steps/equal_blocks.h"
#include "analyze/steps/outer_loop.h"
#include "analyze/steps/sequence_share.h"
#include "analyze/steps/steps.h"
#include "analyze/traits.h"
#include "model/capture.h"

namespace gf {

// Positions at which a step cannot begin: inside something that the host does as one.

class EnclosingSpans {
 public:
  EnclosingSpans(const Capture& capture, const std::vector<std::uint32_t>& launch,
                 const HostThreads& host, const Names& names);

  /// True when one graph launch, or one framework operation or module call, launched both
  /// activities.
  bool share(std::uint32_t activity, std::uint32_t other) const;

 private:
  struct Outermost {
    Nanos start, end;
  };
  const Capture& capture_;
  const std::vector<std::uint32_t>& launch_;
  std::vector<std::vector<Outermost>>
      by_thread_;  // by start; ends ascend too: what another span encloses is left out
};

EnclosingSpans::EnclosingSpans(const Capture& capture, const std::vector<std::uint32_t>& launch,
                               const HostThreads& host, const Names& names)
    : capture_(capture), launch_(launch), by_thread_(host.threads()) {
  const auto& ops = capture.host_ops;
  for (std::uint32_t thread = 0; thread < host.threads(); ++thread)
    for (auto row : host.ops(thread)) {
      // Marks of record_function hold a '#'; they, and plain Python functions, may well enclose a
      // whole loop of steps.
      bool one_thing = false;
      if (ops.kind[row] == HostKind::op) {
        one_thing = capture.text(ops.name[row]).find('#') == std::string_view::npos;
      } else {
        one_thing =
            ops.kind[row] == HostKind::python && names.host(ops.name[row]) & host_is::module;
      }
      const Nanos end = ops.start_ns[row] + ops.duration_ns[row];
      auto& spans = by_thread_[thread];
      if (one_thing && (spans.empty() || end > spans.back().end))
        spans.push_back({ops.start_ns[row], end});
    }
}

bool EnclosingSpans::share(std::uint32_t activity, std::uint32_t other) const {
  const auto& activities = capture_.activities;
  if (activities.correlation[activity] >= 0 &&
      activities.correlation[activity] == activities.correlation[other] &&
      activities.pid[activity] == activities.pid[other])
    return true;
  if (activity >= launch_.size() || other >= launch_.size() || launch_[activity] == kNoRow ||
      launch_[other] == kNoRow)
    return false;
  const auto& calls = capture_.api_calls;
  const auto thread = calls.thread[launch_[activity]];
  if (thread >= by_thread_.size() || thread != calls.thread[launch_[other]]) return false;
  const auto [first, last] =
      std::minmax({calls.start_ns[launch_[activity]], calls.start_ns[launch_[other]]});
  const auto& spans = by_thread_[thread];
  const auto span = std::upper_bound(
      spans.begin(), spans.end(), first,
      [](Nanos time, const Outermost& outermost) { return time < outermost.start; });
  return span != spans.begin() && (span - 1)->end > last;
}

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

bool same_length(std::size_t left, std::size_t right) {
  return static_cast<double>(std::max(left, right)) <=
         kSameLength * static_cast<double>(std::min(left, right));
}

std::size_t median_spacing(Positions positions) {
  std::vector<std::uint32_t> data;
  for (std::size_t i = 1; i < positions.size(); ++i)
    data.push_back(positions[i] - positions[i - 1]);
  // The lower one of two: a first step that tunes is longer, never shorter.
  const auto middle = data.begin() + static_cast<std::ptrdiff_t>((data.size() - 1) / 2);
  std::nth_element(data.begin(), middle, data.end());
  return *middle;
}

/// Mean distance of the spacings from their median, as a share of it; 0 is a perfect beat. The
/// first third may be warming up.
double irregularity(Positions positions, std::size_t median) {
  const auto middle = static_cast<double>(median);
  double away = 0;
  std::size_t count = 0;
  for (std::size_t i = 1 + (positions.size() - 1) / 3; i < positions.size(); ++i, ++count)
    away += std::abs(static_cast<double>(positions[i] - positions[i - 1]) - middle);
  return count == 0 ? 0 : away / static_cast<double>(count) / middle;
}

/// The part of a sequence that tokens at these positions explain as steps.
struct Coverage {
  bool tail = false;   // what follows the last one is a step: about as long as the others, neither
                       // cut off nor something else
  double covered = 0;  // share of the sequence inside steps
  std::size_t spacing = 0;  // median
  /// The share covered, less for an uneven beat.
  double worth(Positions positions) const {
    return covered * (1 - std::min(1.0, irregularity(positions, spacing)));
  }
};
Coverage coverage(Positions positions, const SequenceShare& share) {
  Coverage coverage;
  coverage.spacing = median_spacing(positions);
  const double tail = static_cast<double>(share.kernels() - positions.back()) /
                      static_cast<double>(coverage.spacing);
  coverage.tail = tail >= 0.9 && tail <= 1.1;
  std::size_t end = positions.back();
  if (coverage.tail) end = share.kernels();
  coverage.covered = share.of(positions.front(), end);
  return coverage;
}

/// A way to cut the sequence: segment i is [cut[i], cut[i + 1]).
struct Cut {
  std::vector<std::uint32_t> at;
  double alike = 0;  // least likeness of two neighbors in the last half
  Coverage extent;
  double worth = 0;
};

/// Share of kernels that two segments have in common, counted with repetition.
using Segment = std::pair<std::uint32_t, std::uint32_t>;
double likeness(const KernelOrder& sequence, Segment left, Segment right,
                std::vector<std::int32_t>& count) {
  std::size_t common = 0;
  for (auto i = left.first; i < left.second; ++i) ++count[sequence.ids[i]];
  for (auto i = right.first; i < right.second; ++i)
    if (count[sequence.ids[i]]-- > 0) ++common;
  for (const auto& [begin, end] : {left, right})
    for (auto i = begin; i < end; ++i) count[sequence.ids[i]] = 0;
  return 2.0 * static_cast<double>(common) /
         static_cast<double>(left.second - left.first + right.second - right.first);
}

Cut cut_at(const KernelOrder& sequence, const SequenceShare& share, Positions positions,
           std::vector<std::int32_t>& count) {
  Cut cut;
  cut.at.assign(positions.begin(), positions.end());
  const auto size = static_cast<std::uint32_t>(sequence.ids.size());
  cut.extent = coverage(positions, share);
  cut.worth = cut.extent.worth(positions);
  if (cut.extent.tail) cut.at.push_back(size);
  if (cut.at.size() < 3) return cut;
  std::vector<double> alike;
  for (std::size_t i = 2; i < cut.at.size(); ++i)
    alike.push_back(
        likeness(sequence, {cut.at[i - 2], cut.at[i - 1]}, {cut.at[i - 1], cut.at[i]}, count));
  alike.erase(alike.begin(), alike.begin() + static_cast<std::ptrdiff_t>(alike.size() / 2));
  cut.alike = *std::min_element(alike.begin(), alike.end());
  return cut;
}

/// True when most of these positions lie inside something that the host did as one, so that they
/// part layers, not steps.
bool parts_layers(const KernelOrder& sequence, const EnclosingSpans& enclosing,
                  Positions positions) {
  const std::size_t half = (positions.size() - 1) / 2;
  std::size_t inside = 0, outside = 0;
  for (auto item : positions.subspan(1)) {
    ++(enclosing.share(sequence.rows[item - 1], sequence.rows[item]) ? inside : outside);
    if (inside > half || outside > half) break;  // the others change nothing
  }
  return inside > half;
}

/// True when each of `later` comes after its partner and before the next one's.
bool alternate(Positions sooner, Positions later) {
  for (std::size_t i = 0; i < sooner.size(); ++i)
    if (later[i] < sooner[i] || (i + 1 < sooner.size() && later[i] >= sooner[i + 1])) return false;
  return true;
}

/// True when one has exactly one member between any two of the other, and the other way round: both
/// beat once a step.
bool interleave(Positions left, Positions right) {
  if (left.size() != right.size()) return false;
  if (right[0] >= left[0]) return alternate(left, right);
  for (std::size_t i = 0; i < left.size(); ++i)
    if (right[i] >= left[i] || (i > 0 && right[i] < left[i - 1])) return false;
  return true;
}

/// Median wait of the device's stream before the kernels at these positions.
Nanos median_wait(const Capture& capture, const KernelOrder& sequence, Positions positions) {
  std::vector<Nanos> waits;
  const auto& activities = capture.activities;
  for (auto item : positions)
    if (item > 0)
      waits.push_back(activities.start_ns[sequence.rows[item]] -
                      activities.start_ns[sequence.rows[item - 1]] -
                      activities.duration_ns[sequence.rows[item - 1]]);
  if (waits.empty()) return 0;
  std::nth_element(waits.begin(), waits.begin() + static_cast<std::ptrdiff_t>(waits.size() / 2),
                   waits.end());
  return waits[waits.size() / 2];
}

/// Starts of the copies to the sequence's device, in order.
std::vector<Nanos> input_copies(const Capture& capture, const KernelOrder& sequence) {
  const auto& activities = capture.activities;
  std::vector<Nanos> starts;
  for (std::uint32_t i = 0; i < activities.size(); ++i)
    if (activities.copy[i] == CopyKind::host_to_device && activities.device[i] == sequence.device)
      starts.push_back(activities.start_ns[i]);
  std::sort(starts.begin(), starts.end());
  return starts;
}

/// Copies to the device between two steps bring the input of the second one: it starts with them.
Nanos start_with_input(const Capture& capture, const KernelOrder& sequence,
                       const std::vector<Nanos>& copies, std::uint32_t position) {
  const auto& activities = capture.activities;
  const Nanos start = activities.start_ns[sequence.rows[position]];
  if (position == 0) return start;
  const auto previous = sequence.rows[position - 1];
  const auto copy =
      std::lower_bound(copies.begin(), copies.end(),
                       activities.start_ns[previous] + activities.duration_ns[previous]);
  return copy == copies.end() ? start : std::min(start, *copy);
}

using Choice = std::pair<double, Positions>;  // what it is worth
using StepPeriod = std::pair<Cut, Positions>;

/// For every number of occurrences the token that explains most of the sequence; those worth most
/// first.
std::vector<Choice> candidates_of(const KernelOrder& sequence, const SequenceShare& share,
                                  const EnclosingSpans& enclosing,
                                  std::span<const TokenPositions> tokens) {
  std::map<std::size_t, Choice> by_count;
  for (const auto& list : tokens)
    for (std::size_t token = 0; token < list.tokens(); ++token) {
      const Positions positions = list.at(token);
      if (positions.size() < 2) continue;
      const Coverage extent = coverage(positions, share);
      const auto known = by_count.find(positions.size());
      const double least = known == by_count.end() ? -1 : known->second.first;
      // Extents that cannot be worth more need no look.
      if (extent.covered < kLeastCovered || extent.covered <= least) continue;
      const double worth = extent.worth(positions);
      if (worth > least && !parts_layers(sequence, enclosing, positions))
        by_count.insert_or_assign(positions.size(), Choice{worth, positions});
    }
  std::vector<Choice> candidates;
  for (const auto& [count, candidate] : by_count) candidates.push_back(candidate);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& left, const auto& right) { return left.first > right.first; });
  if (candidates.size() > kCountsTried) candidates.resize(kCountsTried);
  return candidates;
}

/// The cuts whose segments are alike.
std::vector<StepPeriod> good_cuts(const KernelOrder& sequence, const SequenceShare& share,
                                  const std::vector<Choice>& candidates,
                                  std::vector<std::int32_t>& count) {
  std::vector<StepPeriod> cuts;
  for (const auto& [worth, period] : candidates) {
    Cut cut = cut_at(sequence, share, period, count);
    if (cut.alike >= kLeastAlike && cut.extent.covered >= kLeastCovered)
      cuts.push_back({std::move(cut), period});
  }
  return cuts;
}

/// The shortest of the cuts that are about as good as the best one; of those as short, the one
/// that explains most.
std::optional<StepPeriod> shortest_of(const std::vector<StepPeriod>& cuts) {
  double best = 0;
  for (const auto& cut : cuts) best = std::max(best, cut.first.alike);
  std::size_t shortest = SIZE_MAX;
  for (const auto& cut : cuts)
    if (cut.first.alike >= best - kAsGood) shortest = std::min(shortest, cut.first.extent.spacing);
  const StepPeriod* chosen = nullptr;
  for (const auto& cut : cuts)
    if (same_length(cut.first.extent.spacing, shortest) &&
        (!chosen || cut.first.worth > chosen->first.worth))
      chosen = &cut;
  if (!chosen) return {};
  return *chosen;
}

/// A token that beats with the chosen one: where the step may begin.
struct Phase {
  bool whole;
  Nanos wait;
  Positions at;
};

/// Captures are mostly taken from the start of a step to the end of one, so those that leave no
/// rest come first; among them the one that the device waits longest for.
bool likelier(const Phase& left, const Phase& right) {
  if (left.whole != right.whole) return left.whole;
  return left.wait != right.wait ? left.wait > right.wait : left.at.front() < right.at.front();
}

void add_steps(const Capture& capture, const KernelOrder& sequence, const Cut& cut,
               std::vector<StepInfo>& steps) {
  const auto& activities = capture.activities;
  const auto copies = input_copies(capture, sequence);
  for (std::size_t i = 0; i + 1 < cut.at.size(); ++i) {
    const Nanos start = start_with_input(capture, sequence, copies, cut.at[i]);
    Nanos end = INT64_MIN;
    if (cut.at[i + 1] < sequence.rows.size()) {
      end = start_with_input(capture, sequence, copies, cut.at[i + 1]);
    } else {
      for (auto at = cut.at[i]; at < sequence.rows.size(); ++at)
        end = std::max(end, activities.start_ns[sequence.rows[at]] +
                                activities.duration_ns[sequence.rows[at]]);
    }
    steps.push_back({static_cast<std::int64_t>(i), start, end - start, false});
  }
}

/// Segments that nothing shows to be steps: layers, or iterations of which the capture does not
/// tell.
BlockInfo describe_blocks(const Capture& capture, const OuterLoop& loop, const Cut& cut,
                          std::span<const StepInfo> segments) {
  std::vector<Nanos> durations;
  for (const auto& segment : segments) durations.push_back(segment.duration_ns);
  const Nanos first = durations.front();
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::nth_element(durations.begin(), middle, durations.end());
  BlockInfo blocks{static_cast<std::int64_t>(segments.size()),
                   static_cast<std::int64_t>(cut.extent.spacing), *middle,
                   std::string(loop.module_of(cut.at)), std::nullopt};
  // Loading libraries, kernels or a model takes this long at least; less is how a pass begins,
  // whose layers may be the equal blocks.
  constexpr Nanos kShortestStartUp = 10 * kNsPerMs, kTimesLonger = 3;
  constexpr std::size_t kMany = 4;
  if (segments.size() < kMany || !blocks.module.empty()) return blocks;
  const Nanos begin = segments[first > kTimesLonger * *middle ? 1 : 0].start_ns;
  if (begin - std::ranges::min(capture.activities.start_ns) >= kShortestStartUp)
    blocks.begin_ns = begin;
  return blocks;
}

/// Without a sign, blocks prove themselves where no framework tells what its layers are.
Steps unsigned_steps(const Capture& capture, const KernelOrder& sequence, const OuterLoop& loop,
                     const std::optional<StepPeriod>& period) {
  Steps found;
  if (!period) return found;
  const Cut& cut = period->first;
  std::vector<StepInfo> segments;
  add_steps(capture, sequence, cut, segments);
  if (!has_operations(capture))
    if (auto equal = find_equal_blocks(capture, sequence, cut.at, segments)) {
      if (are_steps(*equal)) {
        found.source = fmt::format("period:{} kernels", equal->kernels);
        found.confidence = cut.alike;
        found.sign = "equal kernels in order";
        found.steps = std::move(equal->blocks);
        return found;
      }
      found.loop = steady_loop(*equal);
    }
  found.blocks = describe_blocks(capture, loop, cut, segments);
  return found;
}

/// Without the segments at either end that neither show the sign nor are like the steps: start-up
/// that runs the kernel by which the sequence was cut.
Cut without_ends(const KernelOrder& sequence, const OuterLoop& loop, const OuterLoop::Sign& sign,
                 Cut cut, std::vector<std::int32_t>& count) {
  const auto stray = [&](std::size_t i, std::size_t like) {
    return likeness(sequence, {cut.at[i], cut.at[i + 1]}, {cut.at[like], cut.at[like + 1]}, count) <
               kLeastAlike &&
           !loop.shows(sign, std::span(cut.at).subspan(i, 2));
  };
  const std::size_t middle = cut.at.size() / 2;  // of a step
  std::size_t first = 0, last = cut.at.size() - 1;
  while (first + 1 < middle && stray(first, middle)) ++first;
  while (last > middle + 1 && stray(last - 1, middle)) --last;
  cut.at.erase(cut.at.begin() + static_cast<std::ptrdiff_t>(last) + 1, cut.at.end());
  cut.at.erase(cut.at.begin(), cut.at.begin() + static_cast<std::ptrdiff_t>(first));
  return cut;
}

}  // namespace

Steps find_period(const Capture& capture, const std::vector<std::uint32_t>& launch,
                  const HostThreads& host, const Names& names) {
  const KernelOrder sequence = kernel_sequence(capture);
  if (sequence.rows.size() < 4) return {};
  const EnclosingSpans enclosing(capture, launch, host, names);
  const TokenPositions tokens[] = {{sequence, kRunLengths[0]},
                                   {sequence, kRunLengths[1]},
                                   TokenPositions(graph_begins(capture, launch, sequence))};
  std::vector<std::int32_t> count(sequence.distinct, 0);
  const auto cuts_by = [&](const SequenceShare& share) {
    return good_cuts(sequence, share, candidates_of(sequence, share, enclosing, tokens), count);
  };
  const SequenceShare share(sequence);
  const auto cuts = cuts_by(share);
  const OuterLoop loop(capture, launch, host, names, sequence);
  std::vector<StepPeriod> shown;
  std::copy_if(cuts.begin(), cuts.end(), std::back_inserter(shown),
               [&](const StepPeriod& period) { return !loop.sign(period.first.at).what.empty(); });
  const auto chosen = shortest_of(shown);
  if (!chosen) {
    Steps found = unsigned_steps(capture, sequence, loop, shortest_of(cuts));
    if (!found.steps.empty() || has_operations(capture)) return found;
    // A start-up of many short kernels hides a loop that takes the time.
    Steps proven =
        unsigned_steps(capture, sequence, loop, shortest_of(cuts_by({capture, sequence})));
    return proven.steps.empty() ? found : proven;
  }
  std::vector<Phase> phases;
  for (const auto& list : tokens)
    for (std::size_t token = 0; token < list.tokens(); ++token) {
      const Positions positions = list.at(token);
      if (interleave(chosen->second, positions) && !parts_layers(sequence, enclosing, positions))
        phases.push_back({coverage(positions, share).covered >= kWhole,
                          median_wait(capture, sequence, positions), positions});
    }
  std::stable_sort(phases.begin(), phases.end(), likelier);
  Cut cut;
  for (const auto& phase : phases) {  // the chosen one is among them
    cut = cut_at(sequence, share, phase.at, count);
    if (cut.alike >= chosen->first.alike - kAsGood && cut.extent.covered >= kLeastCovered) break;
  }
  Steps found;
  found.source = fmt::format("period:{} kernels", cut.extent.spacing);
  found.confidence = cut.alike;
  const auto sign = loop.sign(chosen->first.at);
  found.sign = sign.what;
  cut = without_ends(sequence, loop, sign, std::move(cut), count);
  add_steps(capture, sequence, cut, found.steps);
  return found;
}

}  // namespace gf
