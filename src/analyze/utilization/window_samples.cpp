#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analyze/kernel_rates/kernel_rates.h"
#include "analyze/kernel_rates/sample_reader.h"
#include "analyze/sampled/levels.h"
#include "analyze/tenants/tenants.h"
#include "analyze/utilization/waterfall.h"
#include "core/apportion.h"
#include "core/format.h"
#include "model/chips.h"
#include "model/kernel_name.h"
#include "model/metrics.h"
#include "model/quality.h"

namespace gf {

namespace {

/// Counters of kernels that cover so much of kernel time need no help.
constexpr double kWhole = 0.95;
/// Share of the window by which samples must show more work than was recorded.
constexpr double kMissing = 0.05;
/// Around a kernel the GPU's front end is at work, so that short gaps count as busy: 1.4 us in
/// recordings of an H200.
constexpr Nanos kFrontEnd = 2 * kNsPerUs;
constexpr std::int64_t kLeastSamples = 20;

/// Offset between samples and kernels, and whether that is known.
struct Shift {
  Nanos ns = 0;
  bool known = false;
};

Shift shift_of(const Context& context, std::uint32_t device) {
  const auto* rates = context.options.kernel_rates;
  if (!rates || device >= rates->size() || (*rates)[device].metrics.empty()) return {};
  return {(*rates)[device].shift_ns, true};
}

std::vector<SampledSeries> series_of(const Context& context, std::uint32_t device, Interval span,
                                     std::span<const std::string_view> ids) {
  CounterFilter wanted{device, {}};
  for (const auto id : ids)
    if (const Text metric = context.capture.strings.find(id); metric != Text::none)
      wanted.metrics.push_back(metric);
  if (wanted.metrics.empty() || span.length() <= 0) return {};
  return collect_series(context.capture, span, span.length(), wanted)[device];
}

Interval on_sample_clock(Interval span, Shift shift) {
  return {span.start - shift.ns, span.end - shift.ns};
}

/// The part of a device's window in which all that it did was recorded, as far as it goes.
Interval recorded_part(const Capture& capture, Interval window) {
  const auto& windows = capture.recording_windows;
  if (windows.empty()) return window;
  Intervals recorded;
  for (std::size_t i = 0; i < windows.size(); ++i)
    recorded.push_back({windows.start_ns[i], end_of(windows.start_ns[i], windows.duration_ns[i])});
  Interval longest{0, 0};
  for (const auto& part : clip(normalised(std::move(recorded)), window))
    if (part.length() > longest.length()) longest = part;
  return longest;
}

/// The time that the recorded work of a span keeps the GPU busy.
Nanos explained_time(const DeviceTimeline& line, Interval span) {
  Nanos sum = covered(line.busy, span);
  for (const auto& piece : line.idle_pieces) {
    const Nanos length = std::min(piece.span().end, span.end) - std::max(piece.start, span.start);
    if (length <= 0) continue;
    if (piece.reason == IdleReason::kernel_gap)
      sum += length;
    else
      sum += std::min(length, kFrontEnd);
  }
  return sum;
}

/// The kernel after which most of the idle time lies; empty where no one stands out.
std::string kernel_before_gaps(const Context& context, const DeviceTimeline& line) {
  const auto& activities = context.capture.activities;
  std::map<Text, Nanos> after;
  std::size_t row = 0;
  std::uint32_t last = kNoRow;
  Nanos latest = INT64_MIN;
  line.each_gap([&](Interval gap) {
    for (; row < line.rows.size() && line.spans[row].start < gap.end; ++row)
      if (line.spans[row].end >= latest) {
        latest = line.spans[row].end;
        last = line.rows[row];
      }
    if (last != kNoRow && activities.kind[last] == ActivityKind::kernel && gap.length() > kFrontEnd)
      after[activities.name[last]] += gap.length();
  });
  const auto most = std::ranges::max_element(
      after, [](const auto& left, const auto& right) { return left.second < right.second; });
  if (most == after.end() || 2 * most->second < line.idle_ns()) return {};
  return short_kernel_name(context.capture.text(most->first));
}

/// A code that says that kernels of this capture are missing; empty: none does.
std::string_view says_missing(const Capture& capture) {
  for (std::size_t i = 0; i < capture.quality.size(); ++i)
    if (const auto code = capture.text(capture.quality.code[i]);
        code == name_of(QualityCode::no_kernel) || code == name_of(QualityCode::kernels_taken) ||
        code == name_of(QualityCode::dropped_kernels) || code == name_of(QualityCode::no_time))
      return code;
  return {};
}

/// The most SMs that recorded kernels can have kept at work, over a span and of all SMs: a kernel
/// of one block leaves all but one idle.
double most_sms(const Context& context, const DeviceTimeline& line, Interval span) {
  const Capture& capture = context.capture;
  const auto& activities = capture.activities;
  const double sms = capture.devices.sm_count[line.device];
  double busy = 0;
  for (std::size_t i = 0; i < line.rows.size(); ++i) {
    const auto row = line.rows[i];
    const Nanos length =
        std::min(line.spans[i].end, span.end) - std::max(line.spans[i].start, span.start);
    if (length <= 0 || activities.kind[row] != ActivityKind::kernel) continue;
    const double blocks = static_cast<double>(activities.grid_x[row]) *
                          std::max(activities.grid_y[row], 1) * std::max(activities.grid_z[row], 1);
    const bool known = sms > 0 && blocks > 0;
    busy += static_cast<double>(length) * (known ? std::min(1.0, blocks / sms) : 1);
  }
  return busy / static_cast<double>(span.length());
}

/// The number of recorded contexts that take turns on a device without MPS, where that explains why
/// it is active and no kernel runs: no more SMs are at work than its kernels can account for. 0: it
/// does not.
std::size_t contexts_in_turns(const Context& context, const DeviceTimeline& line, Interval span,
                              Interval sampled, double explained) {
  const Capture& capture = context.capture;
  if (capture.metadata_value("record.mps") == "yes" || !says_missing(capture).empty()) return 0;
  std::set<std::pair<std::int64_t, std::int64_t>> contexts;
  for (const auto row : line.rows)
    if (capture.activities.kind[row] == ActivityKind::kernel)
      contexts.insert({capture.activities.pid[row], capture.activities.context[row]});
  if (contexts.size() < 2) return 0;
  constexpr std::string_view kSms[] = {"sm.active_any"_metric, "sm.active"_metric};
  const auto series = series_of(context, line.device, sampled, std::span(kSms));
  if (series.empty()) return 0;
  const double most = std::min(explained, most_sms(context, line, span));
  for (const auto& each : series)
    if (const auto mean = each.mean(false); !mean || *mean > most) return 0;
  return contexts.size();
}

/// Facts of the capture about who else could have worked.
std::string suspects(const Context& context, const DeviceTimeline& line,
                     const std::vector<std::int64_t>& others) {
  const Capture& capture = context.capture;
  if (!others.empty())
    return fmt::format("Other processes held memory on it: {}", fmt::join(others, ", "));
  if (const auto code = says_missing(capture); !code.empty())
    return fmt::format("Kernels that were launched and not recorded are part of it ({})", code);
  std::set<std::int64_t> contexts;
  for (const auto row : line.rows) contexts.insert(capture.activities.context[row]);
  if (contexts.size() > 1)
    return fmt::format("Its process uses {} contexts, of which some may not have been recorded",
                       contexts.size());
  constexpr std::string_view kOwn =
      "kernels that the device launches by itself (dynamic parallelism, graphs launched from "
      "kernels) or another context of the same process, which were not recorded";
  if (knows_processes(capture, line.device))
    return fmt::format("No other process held memory on it, so that it is {}", kOwn);
  return fmt::format("It is another process, or {}", kOwn);
}

/// Takes time from idle causes, unexplained gaps first.
void take_from_idle(Nanos ns, DeviceUse& use) {
  use.idle_ns -= ns;
  const auto take = [](IdleCause& cause, Nanos part) {
    const double left = static_cast<double>(cause.ns - part) / static_cast<double>(cause.ns);
    for (auto* names : {&cause.operators, &cause.modules})
      for (auto& name : *names) name.ns = static_cast<Nanos>(static_cast<double>(name.ns) * left);
    cause.ns -= part;
  };
  for (auto& cause : use.idle) {
    if (cause.cause != IdleReason::unexplained || cause.ns == 0) continue;
    const Nanos part = std::min(cause.ns, ns);
    take(cause, part);
    ns -= part;
  }
  std::vector<double> rest;
  for (const auto& cause : use.idle) rest.push_back(static_cast<double>(cause.ns));
  const auto parts = apportion(ns, rest);
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i] > 0) take(use.idle[i], parts[i]);
  std::erase_if(use.idle, [](const IdleCause& cause) { return cause.ns == 0; });
}

void find_unrecorded_work(const Context& context, const DeviceTimeline& line, DeviceUse& use,
                          std::vector<QualityNote>& quality) {
  const Interval span = recorded_part(context.capture, line.window);
  const Shift shift = shift_of(context, line.device);
  constexpr std::string_view kBusy[] = {"gpu.busy"_metric};
  const auto series =
      series_of(context, line.device, on_sample_clock(span, shift), std::span(kBusy));
  if (series.empty() || series.front().samples < kLeastSamples ||
      static_cast<double>(series.front().covered) < kWhole * static_cast<double>(span.length()))
    return;
  const auto length = static_cast<double>(span.length());
  const double worked = std::min(*series.front().mean(false), 1.0),
               explained = static_cast<double>(explained_time(line, span)) / length;
  double room = kMissing;
  if (!shift.known) room += static_cast<double>(kShiftReach) / length;
  if (worked - explained <= room) return;
  const Nanos missing = std::min<Nanos>(std::llround((worked - explained) * length), use.idle_ns);
  const auto others = other_processes(context.capture, line.device);
  use.unrecorded_ns = missing;
  take_from_idle(missing, use);
  if (others.empty())
    if (const auto turns =
            contexts_in_turns(context, line, span, on_sample_clock(span, shift), explained);
        turns > 0) {
      quality.push_back(
          {std::string(name_of(QualityCode::contexts_take_turns)), 1,
           fmt::format("GPU {}: its samples show it active {} of the time, and kernels and copies "
                       "explain {}: for {} it switches between {} contexts that take turns on it",
                       use.id, say_share(worked), say_share(explained), say_time(missing), turns)});
      return;
    }
  std::string after = kernel_before_gaps(context, line);
  if (!after.empty()) after = ", most of it after " + after;
  auto code = QualityCode::work_not_recorded;
  if (!others.empty()) code = QualityCode::work_of_others;
  quality.push_back(
      {std::string(name_of(code)), 1,
       fmt::format("GPU {}: its samples show work {} of the time, and recorded kernels and copies "
                   "explain {}: {} of work {} not in the capture{}. {}",
                   use.id, say_share(worked), say_share(explained), say_time(missing),
                   others.empty() ? "is" : "of others is", after,
                   suspects(context, line, others))});
}

/// True if samples answer for a device: its kernels' counters were solved from them, or leave
/// levels open.
bool samples_answer(const Capture& capture, const DeviceUse& use,
                    const std::vector<Level>& sampled) {
  if (use.unrecorded_ns > 0 || has_solved_counters(capture)) return true;
  return std::ranges::any_of(sampled, [&](const Level& level) {
    if (level.id == "gpu.busy"_metric) return false;
    const auto known = std::ranges::find(use.levels, level.id, &Level::id);
    return known == use.levels.end() || !known->value || known->coverage.value_or(0) < kWhole;
  });
}

/// A level that kernels' counters gave, below one that samples gave.
void hold_below(std::string_view above, std::string_view below, std::vector<Level>& levels) {
  const auto bound = std::ranges::find(levels, above, &Level::id);
  const auto level = std::ranges::find(levels, below, &Level::id);
  if (bound == levels.end() || level == levels.end() || !bound->high || !level->value) return;
  for (auto* value : {&level->value, &level->low, &level->high})
    *value = std::min(value->value_or(0), *bound->high);
}

/// Puts the sampled rungs where the ladder has them; those beside it go to its end.
void put_levels(std::vector<Level> sampled, DeviceUse& use) {
  for (auto& level : sampled) {
    if (level.id == "gpu.busy"_metric) continue;
    const auto place = std::ranges::find(use.levels, level.id, &Level::id);
    if (place == use.levels.end())
      use.levels.push_back(std::move(level));
    else
      *place = std::move(level);
  }
  for (std::size_t rung = 0; rung < kKernelLevels; ++rung)
    if (const auto level = static_cast<KernelLevel>(rung); bound_of(level))
      hold_below(row_of(level).bound, id_of(level), use.levels);
  if (use.unrecorded_ns <= 0) return;
  auto& busy = use.levels.front();
  busy.value = busy.low = busy.high = static_cast<double>(use.kernel_busy_ns + use.unrecorded_ns) /
                                      static_cast<double>(use.span_ns);
  busy.formula = "union of kernel intervals, and sampled work that was not recorded / window";
}

void add_part(std::string_view name, Nanos ns, std::vector<NamedTime>& parts) {
  if (ns <= 0) return;
  const auto at = std::ranges::find_if(parts, [&](const NamedTime& part) { return part.ns < ns; });
  parts.insert(at, {std::string(name), ns});
}

/// Makes parts sum to less than they did, in proportion.
void shrink(std::vector<NamedTime>& parts, Nanos ns) {
  std::vector<double> weights;
  for (const auto& part : parts) weights.push_back(static_cast<double>(part.ns));
  const auto whole = apportion(ns, weights);
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i].ns = whole[i];
  std::erase_if(parts, [](const NamedTime& part) { return part.ns == 0; });
}

/// Shares out the time that no kernel's counters cover: what samples hold of each bar beyond what
/// kernels with counters have there.
void share_unknown(const SampledMeans& means, double covered, DeviceUse& use) {
  std::array<WaterfallBar*, kKernelBars.size()> bars{};
  Nanos kernels = 0;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const auto bar = std::ranges::find(use.waterfall, kKernelBars[i], &WaterfallBar::id);
    if (bar == use.waterfall.end()) return;
    bars[i] = &*bar;
    kernels += bar->ns;
  }
  WaterfallBar& unknown = *bars.back();
  const Nanos shared = std::llround(static_cast<double>(unknown.ns) * covered);
  const auto split = sampled_split(
      means, static_cast<double>(kernels) / static_cast<double>(std::max<Nanos>(use.span_ns, 1)));
  std::vector<double> room;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double had = bars[i] == &unknown ? 0 : static_cast<double>(bars[i]->ns);
    room.push_back(std::max(split[i] * static_cast<double>(kernels) - had, 0.0));
  }
  if (std::ranges::all_of(room, [](double ns) { return ns == 0; })) return;
  const auto more = apportion(shared, room);
  const std::array<double, 2> whose{static_cast<double>(unknown.ns - use.unrecorded_ns),
                                    static_cast<double>(use.unrecorded_ns)};
  for (std::size_t i = 0; i + 1 < bars.size(); ++i) {
    bars[i]->ns += more[i];
    const auto parts = apportion(more[i], whose);
    for (auto* named : {&bars[i]->parts, &bars[i]->kernels}) {
      add_part("kernels not separated", parts[0], *named);
      add_part(kUnrecordedWork, parts[1], *named);
    }
  }
  unknown.ns = unknown.ns - shared + more.back();
  shrink(unknown.parts, unknown.ns);
  shrink(unknown.kernels, unknown.ns);
}

bool add_sampled_levels(const Context& context, const DeviceTimeline& line, DeviceUse& use) {
  const auto ids = sampled_rung_metrics();
  const Shift shift = shift_of(context, line.device);
  const auto series = series_of(context, line.device, on_sample_clock(line.window, shift), ids);
  const double busy = static_cast<double>(use.kernel_busy_ns + use.unrecorded_ns) /
                      static_cast<double>(std::max<Nanos>(use.span_ns, 1));
  auto [levels, means] = sampled_ladder(context.capture, series, use.span_ns, busy);
  if (std::isnan(means.active) || !samples_answer(context.capture, use, levels)) return false;
  double covered = 0;
  for (const auto& level : levels)
    if (level.id == "sm.active"_metric) covered = level.coverage.value_or(0);
  put_levels(std::move(levels), use);
  share_unknown(means, covered, use);
  return true;
}

}  // namespace

UnrecordedWork leave_unrecorded_work(const Context& context, std::vector<DeviceUse> devices) {
  UnrecordedWork work{std::move(devices), {}};
  if (!holds_counter_values(context.capture)) return work;
  for (std::size_t device = 0; device < context.devices.size(); ++device)
    find_unrecorded_work(context, context.devices[device], work.devices[device], work.quality);
  return work;
}

SampledLevels add_sampled_levels(const Context& context, std::vector<DeviceUse> devices) {
  SampledLevels sampled{std::move(devices), {}};
  if (!holds_counter_values(context.capture)) return sampled;
  bool added = false;
  for (std::size_t device = 0; device < context.devices.size(); ++device)
    added = add_sampled_levels(context, context.devices[device], sampled.devices[device]) || added;
  if (added) sampled.levels = join_ladders(sampled.devices);
  return sampled;
}

}  // namespace gf
