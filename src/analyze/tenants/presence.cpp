#include "analyze/tenants/presence.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string_view>
#include <utility>

#include "analyze/kernel_rates/align_samples.h"
#include "analyze/sampled/levels.h"
#include "model/counter_values.h"
#include "model/levels.h"
#include "model/metrics.h"

namespace gf {

namespace {

/// When one process was recorded; everything where the capture has no windows of it.
Intervals recorded(const Capture& capture, std::int64_t pid, Interval window) {
  const auto& windows = capture.recording_windows;
  Intervals out;
  for (std::size_t i = 0; i < windows.size(); ++i)
    if (windows.pid[i] == pid)
      out.push_back({windows.start_ns[i], end_of(windows.start_ns[i], windows.duration_ns[i])});
  if (out.empty()) return {window};
  return clip(normalised(std::move(out)), window);
}

std::vector<PresencePiece> cut(const std::vector<Intervals>& active, const Intervals& known) {
  // When a process next begins or ends: the starts and ends of its spans, one after the other.
  std::vector<Nanos> next(active.size());
  std::vector<std::size_t> passed(active.size(), 0);
  const auto find_next = [&](std::size_t process) {
    const std::size_t span = passed[process] / 2;
    if (span == active[process].size())
      next[process] = INT64_MAX;
    else
      next[process] =
          passed[process] % 2 == 0 ? active[process][span].start : active[process][span].end;
  };
  for (std::size_t process = 0; process < active.size(); ++process) find_next(process);
  std::vector<PresencePiece> pieces;
  std::size_t spans = 0;
  for (const auto& of_process : active) spans += of_process.size();
  pieces.reserve(2 * spans + known.size());
  std::uint64_t who = 0;
  for (const auto& span : known) {
    Nanos at = span.start;
    for (;;) {
      const auto first = std::ranges::min_element(next);
      const Nanos edge = *first;
      if (edge > span.end || edge == INT64_MAX) break;
      if (edge > at) pieces.push_back({{at, edge}, who});
      at = std::max(at, edge);
      const auto process = static_cast<std::size_t>(first - next.begin());
      who ^= std::uint64_t{1} << process;
      ++passed[process];
      find_next(process);
    }
    if (at < span.end) pieces.push_back({{at, span.end}, who});
  }
  return pieces;
}

}  // namespace

Presence find_presence(const Capture& capture, const DeviceTimeline& timeline) {
  const auto& activities = capture.activities;
  struct Work {
    Intervals spans;
    std::int64_t kernels = 0;
  };
  std::map<std::int64_t, Work> by_pid;
  std::pair<std::int64_t, Work*> last{-1, nullptr};  // neighbours mostly are of one process
  for (std::size_t i = 0; i < timeline.rows.size(); ++i) {
    const auto row = timeline.rows[i];
    const std::int64_t pid = activities.pid[row];
    if (pid < 0) continue;
    if (pid != last.first) last = {pid, &by_pid[pid]};
    extend(last.second->spans, timeline.spans[i]);
    last.second->kernels += activities.kind[row] == ActivityKind::kernel;
  }
  Presence out;
  out.known = {timeline.window};
  for (const auto& [pid, work] : by_pid) {
    out.pids.push_back(pid);
    out.kernels.push_back(work.kernels);
    out.known = intersect(out.known, recorded(capture, pid, timeline.window));
  }
  if (out.pids.size() < 2 || out.pids.size() > Presence::kMost || out.known.empty()) return out;
  std::vector<Intervals> active;
  const bool always = out.known == Intervals{timeline.window};
  for (auto& [pid, work] : by_pid)
    active.push_back(always ? std::move(work.spans) : intersect(work.spans, out.known));
  out.pieces = cut(active, out.known);
  return out;
}

PresenceShare PresenceReader::share_of(Interval span) {
  const auto count = presence_.pids.size();
  PresenceShare out{span.length(), 0, std::vector<double>(count, 0), std::vector<double>(count, 0),
                    std::vector<double>(count, 0)};
  const auto& pieces = presence_.pieces;
  while (first_ < pieces.size() && pieces[first_].span.end <= span.start) ++first_;
  for (std::size_t at = first_; at < pieces.size() && pieces[at].span.start < span.end; ++at) {
    const auto who = pieces[at].who;
    if (who == 0) continue;
    const Nanos inside =
        std::min(pieces[at].span.end, span.end) - std::max(pieces[at].span.start, span.start);
    const int together = std::popcount(who);
    out.active += inside;
    for (std::size_t process = 0; process < count; ++process) {
      if (!(who >> process & 1)) continue;
      const auto length = static_cast<double>(inside);
      if (together == 1) {
        out.alone[process] += length;
      } else {
        out.joint[process] += length;
      }
      out.even[process] += length / together;
    }
  }
  return out;
}

TenantSplit split_amount(const PresenceShare& share, double amount, double most) {
  TenantSplit out;
  out.parts.resize(share.even.size());
  if (share.active <= 0) {
    out.rest = {amount, amount, amount};
    return out;
  }
  const auto active = static_cast<double>(share.active);
  const double fastest = std::max(most, amount / active);
  for (std::size_t process = 0; process < out.parts.size(); ++process) {
    auto& part = out.parts[process];
    const double alone = share.alone[process];
    part.value = amount * share.even[process] / active;
    part.high = std::min(amount, fastest * (alone + share.joint[process]));
    part.low = std::clamp(amount - fastest * (active - alone), 0.0, part.value);
    part.high = std::max(part.high, part.value);
  }
  return out;
}

namespace {

/// Metrics of a device's work: its levels and traffic; gpu.busy is what the activities themselves
/// say.
std::vector<std::string_view> metrics_of_work() {
  std::vector<std::string_view> ids;
  for (const LevelRow& row : kLevelRows) {
    if (row.place == LevelPlace::window || row.place == LevelPlace::of_accesses) continue;
    ids.push_back(row.id);
    if (!row.stand_in.empty()) ids.push_back(row.stand_in);
  }
  ids.insert(ids.end(), {"dram.read"_metric, "dram.write"_metric});
  return ids;
}
/// Clocks of samples and kernels lie some milliseconds apart where they cannot be laid over each
/// other: in means of so long that matters little.
constexpr Nanos kBlock = 100 * kNsPerMs;

bool of_work(std::string_view id) { return std::ranges::count(metrics_of_work(), id) > 0; }

TenantSamples sample_by_sample(const Capture& capture, std::uint32_t device,
                               const Intervals& known) {
  const auto all = align_samples(capture, device);
  TenantSamples out;
  out.aligned = true;
  std::vector<std::size_t> kept;
  for (std::size_t metric = 0; metric < all.metrics.size(); ++metric)
    if (of_work(capture.text(all.metrics[metric]))) kept.push_back(metric);
  for (const auto metric : kept) out.metrics.push_back(all.metrics[metric]);
  for (const auto& row : all.rows) {
    if (kept.empty() || !holds(known, row.span)) continue;
    auto& added = out.rows.emplace_back(TenantSamples::Row{row.span, {}});
    for (const auto metric : kept) added.rates.push_back(row.values[metric]);
  }
  return out;
}

TenantSamples block_by_block(const Capture& capture, std::uint32_t device, const Intervals& known) {
  struct Sum {
    double amount = 0;
    Nanos covered = 0;
  };
  TenantSamples out;
  CounterFilter filter{device, {}};
  for (const auto id : metrics_of_work())
    if (const Text metric = capture.strings.find(id); metric != Text::none)
      filter.metrics.push_back(metric);
  if (filter.metrics.empty()) return out;
  out.metrics = filter.metrics;
  std::map<Nanos, std::vector<Sum>> blocks;
  const Interval all{known.front().start, known.back().end};
  each_counter_value(
      capture, all, filter,
      [&](std::uint32_t, Text metric, Nanos start, Nanos duration, double value) {
        if (duration <= 0) return;
        auto& sums = blocks[(start + duration / 2) / kBlock];
        sums.resize(out.metrics.size());
        const auto at = static_cast<std::size_t>(
            std::find(out.metrics.begin(), out.metrics.end(), metric) - out.metrics.begin());
        const bool count = is_count(capture.text(metric));
        sums[at].amount += count ? value : value * static_cast<double>(duration);
        sums[at].covered += duration;
      });
  for (const auto& [number, sums] : blocks) {
    const Interval span{number * kBlock, (number + 1) * kBlock};
    const bool whole = std::all_of(sums.begin(), sums.end(),
                                   [](const Sum& sum) { return sum.covered >= kBlock / 2; });
    if (!whole || !holds(known, span)) continue;
    auto& added = out.rows.emplace_back(TenantSamples::Row{span, {}});
    for (const auto& sum : sums)
      added.rates.push_back(sum.amount / static_cast<double>(sum.covered));
  }
  return out;
}

}  // namespace

TenantSamples tenant_samples(const Capture& capture, std::uint32_t device, const Intervals& known) {
  if (!holds_counter_values(capture)) return {};
  auto out = sample_by_sample(capture, device, known);
  if (out.rows.empty()) out = block_by_block(capture, device, known);
  return out;
}

}  // namespace gf
