#include "analyze/device_use.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "analyze/ranks/names.h"
#include "analyze/timeline.h"
#include "analyze/window.h"

namespace gf {

std::vector<DeviceUse> measure_devices(const Context& context) {
  std::vector<DeviceUse> devices;
  const Capture& capture = context.capture;
  for (const auto& line : context.devices) {
    DeviceUse use;
    use.id = capture.devices.id[line.device];
    use.name = capture.text(capture.devices.name[line.device]);
    use.start_ns = line.window.start;
    use.span_ns = line.window.length();
    use.busy_ns = total(line.busy);
    use.copy_only_ns = total(line.copying);
    use.kernel_busy_ns = use.busy_ns - use.copy_only_ns;
    use.idle_ns = use.span_ns - use.busy_ns;
    use.gpu_events = static_cast<std::int64_t>(line.rows.size());
    for (std::size_t i = 0; i < line.rows.size(); ++i) {
      if (capture.activities.kind[line.rows[i]] != ActivityKind::kernel) continue;
      ++use.kernels;
      use.kernel_time_sum_ns += line.spans[i].length();
    }
    devices.push_back(std::move(use));
  }
  return devices;
}

bool is_one_activity_each(const std::vector<DeviceUse>& devices) {
  return !devices.empty() && std::ranges::all_of(devices, [](const DeviceUse& device) {
    return device.gpu_events == 1 && device.busy_ns == device.span_ns;
  });
}

namespace {

struct Piece {
  Interval span;
  std::size_t row;
};

/// Each row's part of the waiting time, in order of start.
std::vector<Piece> pieces_of(const Intervals& waits, const Intervals& waiting) {
  std::vector<Piece> pieces;
  for (std::size_t row = 0; row < waits.size(); ++row) {
    const Interval& wait = waits[row];
    auto at = std::ranges::partition_point(
        waiting, [&](const Interval& span) { return span.end <= wait.start; });
    for (; wait.length() > 0 && at != waiting.end() && at->start < wait.end; ++at)
      pieces.push_back({{std::max(at->start, wait.start), std::min(at->end, wait.end)}, row});
  }
  std::ranges::stable_sort(pieces, {}, [](const Piece& piece) { return piece.span.start; });
  return pieces;
}

}  // namespace

DeviceWaiting device_waiting(const Capture& capture, const DeviceTimeline& line,
                             const JobWaiting& job) {
  DeviceWaiting out;
  out.ns.assign(line.rows.size(), 0);
  Intervals waits, beside;
  for (std::size_t i = 0; i < line.rows.size(); ++i) {
    const Interval span = line.spans[i];
    const KernelWait* wait = job.of(line.rows[i]);
    Nanos until = span.start;
    if (wait)
      until =
          std::clamp(capture.activities.start_ns[line.rows[i]] + wait->ns, span.start, span.end);
    waits.push_back({span.start, until});
    beside.push_back({until, span.end});
  }
  out.spans = subtract(normalised(waits), normalised(std::move(beside)));
  const auto pieces = pieces_of(waits, out.spans);
  Intervals spans;
  for (const auto& piece : pieces) spans.push_back(piece.span);
  const auto shares = exclusive_times(spans);
  std::map<std::int64_t, Nanos> by_rank;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    out.ns[pieces[i].row] += shares[i];
    by_rank[job.of(line.rows[pieces[i].row])->rank] += shares[i];
  }
  for (const auto& [rank, ns] : by_rank)
    if (ns > 0) out.ranks.push_back({fmt::format("rank {}", rank), ns});
  std::ranges::stable_sort(out.ranks, std::greater{}, &NamedTime::ns);
  return out;
}

namespace {

/// The largest loss of one side of a gap: an idle cause by its pieces, or copies beside no kernel.
std::pair<std::string_view, Nanos> largest_loss_in(const Context& context, Interval side) {
  std::map<std::string_view, Nanos> losses;
  for (const auto& line : context.devices) {
    for (const auto& piece : line.idle_pieces)
      losses[name_of(piece.reason)] += std::max<Nanos>(
          0, std::min(piece.span().end, side.end) - std::max(piece.start, side.start));
    losses[name_of(Bar::copy)] += covered(line.copying, side);
  }
  const auto most =
      std::ranges::max_element(losses, {}, [](const auto& entry) { return entry.second; });
  if (most == losses.end() || most->second <= 0) return {};
  return *most;
}

}  // namespace

std::optional<DenseSpan> dense_span(const Context& context) {
  const Interval window{context.window.start_ns, context.window.end_ns};
  Intervals idle{window};
  // A gap of more than half of the window lies in one such member of each device.
  for (const auto& line : context.devices) {
    Intervals long_ones;
    line.each_gap([&](Interval one) {
      if (one.length() > window.length() / 2) long_ones.push_back(one);
    });
    idle = intersect(idle, long_ones);
  }
  const auto gap = std::ranges::max_element(idle, {}, &Interval::length);
  if (context.devices.empty() || gap == idle.end() || gap->length() <= window.length() / 2)
    return {};
  auto busy_in = [&](Interval side) {
    Nanos busy = 0;
    for (const auto& line : context.devices) busy += line.kernel_busy_in(side);
    return busy;
  };
  Interval side{window.start, gap->start};
  const Interval after{gap->end, window.end};
  if (busy_in(after) > busy_in(side)) side = after;
  if (busy_in(side) == 0) return {};
  DenseSpan dense;
  dense.gap_ns = gap->length();
  dense.start_ns = side.start;
  dense.duration_ns = side.length();
  dense.kernel_busy = static_cast<double>(busy_in(side)) / static_cast<double>(side.length()) /
                      static_cast<double>(context.devices.size());
  const auto [loss, loss_ns] = largest_loss_in(context, side);
  dense.loss = loss;
  dense.loss_ns = loss_ns;
  if (loss_ns > 0)
    dense.loss_share = static_cast<double>(loss_ns) / static_cast<double>(side.length()) /
                       static_cast<double>(context.devices.size());
  const Nanos first = extent(context.capture, context.chosen).start;
  dense.window = fmt::format("{}:{}", side.start - first, side.end - first);
  return dense;
}

std::optional<OutsideSteps> outside_steps(const Context& context) {
  const Capture& capture = context.capture;
  const WindowInfo& window = context.window;
  const bool loop = window.kind == WindowKind::stable && window.all_steps.empty();
  if ((window.kind != WindowKind::steps && !loop) || capture.recording_windows.size() > 1)
    return {};
  std::size_t inside = 0;
  for (const auto* lines : {&context.devices, &context.others})
    for (const auto& line : *lines) inside += line.rows.size();
  if (inside == capture.activities.size()) return {};
  // Steps that the window leaves out are steps all the same.
  Interval steps{window.start_ns, window.end_ns};
  if (!loop)
    steps = {window.all_steps.front().start_ns,
             window.all_steps.back().start_ns + window.all_steps.back().duration_ns};
  const Interval whole = extent(capture, context.chosen);
  const Intervals around = subtract({whole}, {steps});
  if (total(around) <= steps.length()) return {};
  const auto& activities = capture.activities;
  Intervals kernels, others, allocating;
  for (std::size_t row = 0; row < activities.size(); ++row) {
    if (!context.chosen.has(activities.device[row])) continue;
    const Interval span = span_of(activities, row);
    (activities.kind[row] == ActivityKind::kernel ? kernels : others).push_back(span);
  }
  const auto& calls = capture.api_calls;
  for (std::size_t row = 0; row < calls.size(); ++row)
    if (calls.kind[row] == ApiKind::alloc) allocating.push_back(span_of(calls, row));
  kernels = intersect(normalised(std::move(kernels)), around);
  others = subtract(intersect(normalised(std::move(others)), around), kernels);
  allocating =
      subtract(subtract(intersect(normalised(std::move(allocating)), around), kernels), others);
  return OutsideSteps{total(around), total(kernels), total(others), total(allocating)};
}

std::vector<QualityNote> doubts_about_job(const JobWaiting& waiting) {
  std::vector<QualityNote> notes = waiting.job.quality;
  if (const auto& missing = waiting.job.missing_ranks; !missing.empty())
    notes.push_back(
        {std::string(kMissingRanks), static_cast<std::int64_t>(missing.size()),
         fmt::format("of {} ranks these have no file: {}; waiting for them is not separated",
                     waiting.job.world_size, fmt::join(missing, ", "))});
  return notes;
}

}  // namespace gf
