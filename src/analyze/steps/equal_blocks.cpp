#include "analyze/steps/equal_blocks.h"

#include <algorithm>
#include <utility>

#include "core/statistics.h"

namespace gf {

namespace {

constexpr std::size_t kFewestEqual = 10;  // blocks
/// Loading libraries, kernels or a model takes this long at least; less is how a pass begins or
/// ends.
constexpr Nanos kShortestOnce = 10 * kNsPerMs;

/// [first, last) of the segments.
std::pair<std::size_t, std::size_t> longest_run(const KernelOrder& sequence,
                                                std::span<const std::uint32_t> cut) {
  const auto segment = [&](std::size_t i) {
    return std::span(sequence.ids).subspan(cut[i], cut[i + 1] - cut[i]);
  };
  std::pair<std::size_t, std::size_t> longest{0, 0};
  for (std::size_t first = 0, i = 0; i + 1 < cut.size(); ++i) {
    if (!std::ranges::equal(segment(first), segment(i))) first = i;
    if (i + 1 - first > longest.second - longest.first) longest = {first, i + 1};
  }
  return longest;
}

/// Blocks that load kernels or tune come first, and take far longer.
std::size_t loading(std::span<const StepInfo> run) {
  constexpr std::size_t kMost = 3;
  constexpr double kTimesLonger = 3;
  std::vector<double> durations;
  for (const auto& block : run) durations.push_back(static_cast<double>(block.duration_ns));
  const double usual = median(durations);
  std::size_t last = 0;
  for (std::size_t i = 0; i < std::min(kMost, run.size()); ++i)
    if (durations[i] > kTimesLonger * usual) last = i + 1;
  return last;
}

}  // namespace

std::optional<EqualBlocks> find_equal_blocks(const Capture& capture, const KernelOrder& sequence,
                                             std::span<const std::uint32_t> cut,
                                             std::span<const StepInfo> segments) {
  const auto [first, last] = longest_run(sequence, cut);
  if (last - first < kFewestEqual) return {};
  EqualBlocks found;
  const auto run = segments.subspan(first, last - first);
  found.blocks.assign(run.begin(), run.end());
  for (std::size_t i = 0; i < found.blocks.size(); ++i)
    found.blocks[i].index = static_cast<std::int64_t>(i);
  found.kernels = cut[first + 1] - cut[first];
  const auto& rows = capture.activities;
  Nanos begin = INT64_MAX, end = INT64_MIN, in_run = 0, on_device = 0;
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    begin = std::min(begin, Nanos{rows.start_ns[row]});
    end = std::max(end, rows.start_ns[row] + rows.duration_ns[row]);
    if (rows.kind[row] == ActivityKind::kernel && rows.device[row] == sequence.device)
      on_device += rows.duration_ns[row];
  }
  for (auto at = cut[first]; at < cut[last]; ++at) in_run += rows.duration_ns[sequence.rows[at]];
  found.most_work = 2 * in_run > on_device;
  found.before = found.blocks.front().start_ns - begin;
  found.all = end - begin;
  return found;
}

bool are_steps(const EqualBlocks& found) {
  constexpr std::size_t kSeveral = 4;   // kernels of one
  constexpr std::size_t kLayers = 200;  // no model has so many that are equal
  if (found.kernels < kSeveral) return false;
  const auto& last = found.blocks.back();
  const Nanos covered = last.start_ns + last.duration_ns - found.blocks.front().start_ns;
  return 2 * covered > found.all || (found.blocks.size() >= kLayers && found.most_work);
}

std::optional<Interval> steady_loop(const EqualBlocks& found) {
  if (!found.most_work) return {};
  const Nanos first = found.blocks.front().start_ns;
  const Nanos start = found.blocks[loading(found.blocks)].start_ns;
  const Nanos end = found.blocks.back().start_ns + found.blocks.back().duration_ns;
  const Nanos before = found.before + start - first, after = found.all - before - (end - start);
  if (std::max(before, after) < kShortestOnce) return {};
  return Interval{start, end};
}

}  // namespace gf
