// Causes of serving engines: what their steps, their launches and their copies tell.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyze/findings/around.h"
#include "analyze/findings/engine_steps.h"
#include "analyze/findings/facts.h"
#include "analyze/findings/rules.h"
#include "analyze/traits.h"

namespace gf::trace_rules {
namespace {

/// Calls of one operator, most of which are fast.
struct SlowCalls {
  Nanos usual = 0;  // of the others
  std::int64_t calls = 0;
  std::vector<Interval> slow;
};

/// Time that a call of an operator waits for the device or takes memory.
Nanos blocked_in(const Facts& facts, std::uint32_t op) {
  const auto& ops = facts.capture().host_ops;
  const auto& calls = facts.capture().api_calls;
  const auto rows = facts.context.host.calls(ops.thread[op]);
  const Nanos end = ops.start_ns[op] + ops.duration_ns[op];
  Nanos blocked = 0;
  for (auto at = std::ranges::lower_bound(rows, ops.start_ns[op], {},
                                          [&](std::uint32_t row) { return calls.start_ns[row]; });
       at != rows.end() && calls.start_ns[*at] < end; ++at)
    if (calls.kind[*at] == ApiKind::sync || calls.kind[*at] == ApiKind::memcpy ||
        calls.kind[*at] == ApiKind::alloc)
      blocked += calls.duration_ns[*at];
  return blocked;
}

constexpr Nanos kLongCall = 2 * kNsPerMs;  // no call that only launches takes as long

/// Operators in which the device idled that long, by name; the calls each once.
std::map<Text, std::vector<std::uint32_t>> long_calls(const Facts& facts) {
  const auto& ops = facts.capture().host_ops;
  std::map<Text, std::vector<std::uint32_t>> found;
  for (const auto& line : facts.context.devices)
    for (const auto& piece : line.idle_pieces)
      if (piece.span().length() >= kLongCall && piece.op != kNoRow &&
          ops.kind[piece.op] == HostKind::op && word_of_op(facts, piece.op) & host_is::scoped &&
          ops.duration_ns[piece.op] - blocked_in(facts, piece.op) >= kLongCall &&
          facts.tree().device[piece.op])
        found[ops.name[piece.op]].push_back(piece.op);
  for (auto& [name, rows] : found) {
    std::ranges::sort(rows);
    const auto again = std::ranges::unique(rows);
    rows.erase(again.begin(), again.end());
  }
  return found;
}

struct AllCalls {
  std::vector<double> times;
  std::map<Text, Nanos> first;  // by shapes
};

constexpr std::size_t kFewestSlow = 3;

/// All calls of the operators whose long ones are enough, in one pass.
std::map<Text, AllCalls> all_calls(const Facts& facts,
                                   const std::map<Text, std::vector<std::uint32_t>>& long_ones) {
  std::map<Text, AllCalls> found;
  for (const auto& [name, rows] : long_ones)
    if (rows.size() >= kFewestSlow) found[name];
  if (found.empty()) return found;
  const auto& ops = facts.capture().host_ops;
  for (std::uint32_t row = 0; row < ops.size(); ++row) {
    if (ops.kind[row] != HostKind::op) continue;
    const auto at = found.find(ops.name[row]);
    if (at == found.end()) continue;
    at->second.times.push_back(static_cast<double>(ops.duration_ns[row]));
    const auto [known, fresh] = at->second.first.try_emplace(ops.shapes[row], ops.start_ns[row]);
    if (!fresh) known->second = std::min(known->second, Nanos{ops.start_ns[row]});
  }
  return found;
}

/// None: too few, no rarer than fast ones, or of sizes that came before.
SlowCalls slow_calls(const Facts& facts, AllCalls all, const std::vector<std::uint32_t>& rows) {
  constexpr double kTimes = 20, kNew = 0.8;
  const auto& ops = facts.capture().host_ops;
  SlowCalls found;
  found.calls = static_cast<std::int64_t>(all.times.size());
  const double usual = median(std::move(all.times));
  found.usual = static_cast<Nanos>(usual);
  std::size_t told = 0, fresh = 0;
  for (const auto row : rows) {
    if (static_cast<double>(ops.duration_ns[row]) < kTimes * usual) continue;
    found.slow.push_back(span_of(ops, row));
    if (ops.shapes[row] == Text::none) continue;
    ++told;
    fresh += all.first.at(ops.shapes[row]) == ops.start_ns[row];
  }
  const bool rare = 2 * static_cast<std::int64_t>(found.slow.size()) < found.calls;
  if (!rare || found.slow.size() < kFewestSlow ||
      static_cast<double>(fresh) < kNew * static_cast<double>(told))
    found.slow.clear();
  return found;
}

bool runs_attention(const Facts& facts, Text operation) {
  return std::ranges::any_of(facts.groups(), [&](const LaunchGroup& group) {
    return group.operation == operation && group.type == LayerType::attention;
  });
}

}  // namespace

std::optional<Said> plans_for_shapes(const Facts& facts) {
  std::string which;
  Text most = Text::none;
  Intervals spans;
  Nanos longest = 0;
  const auto long_ones = long_calls(facts);
  for (auto& [name, all] : all_calls(facts, long_ones)) {
    const auto calls = slow_calls(facts, std::move(all), long_ones.at(name));
    if (calls.slow.empty()) continue;
    const auto operation = facts.capture().text(name);
    const Nanos time = total(calls.slow);
    which += fmt::format("{}{}: {} of {} calls take {}, the middle one {}",
                         which.empty() ? "" : "; ", operation, calls.slow.size(), calls.calls,
                         say_time(time), say_time(calls.usual));
    if (time > longest) most = name;
    longest = std::max(longest, time);
    spans.insert(spans.end(), calls.slow.begin(), calls.slow.end());
  }
  spans = normalised(std::move(spans));
  const Nanos idle = facts.idle_in(spans);
  if (facts.of_window(idle) < 0.05 || !facts.repeats(spans, 0.02)) return {};
  facts.also_gone(spans);
  const Nanos gain = facts.claim_idle(std::move(spans), Facts::Goes::alone);
  if (facts.of_window(gain) < 0.05) return {};
  return Said{
      fmt::format(
          "The GPU waits {} of the time while {} builds plans or loads kernels for sizes or "
          "strides that it had not met. Round sizes up to a few, run each of them once before, or "
          "use another implementation{}.",
          say_share(facts.of_window(gain)), facts.capture().text(most),
          facts.pytorch() && runs_attention(facts, most)
              ? " (torch.backends.cuda.enable_cudnn_sdp(False))"
              : ""),
      which, gain};
}

namespace {

/// True where the host prepares a step: it launches, does something of its own, or brings the
/// numbers of tokens. A copy of more has causes of its own.
bool of_scheduler(const Facts& facts, const IdlePiece& piece) {
  constexpr std::int64_t kLarge = 256 << 10;
  if (piece.reason == IdleReason::input)
    return piece.next != kNoRow && facts.capture().activities.bytes[piece.next] < kLarge;
  return piece.reason == IdleReason::host_other || piece.reason == IdleReason::launch_bound;
}

/// Idle time between the last kernel of one step and the first of the next, while the host does
/// something of its own; without pauses in which no request runs.
Intervals between_steps(const Facts& facts, const DeviceTimeline& line, const EngineSteps& steps,
                        std::vector<double>& lengths) {
  constexpr double kPause = 10;
  const auto& rows = facts.capture().activities;
  std::vector<Interval> kernels;
  for (std::size_t i = 0; i < line.rows.size(); ++i)
    if (rows.kind[line.rows[i]] == ActivityKind::kernel) kernels.push_back(line.spans[i]);
  Intervals regions;
  for (const auto* step : steps) {
    const auto first = std::ranges::lower_bound(kernels, step->start_ns, {}, &Interval::start);
    if (first == kernels.begin() || first == kernels.end()) continue;
    const Interval region{std::prev(first)->end, first->start};
    if (region.length() > 0 && (regions.empty() || region.start >= regions.back().end))
      regions.push_back(region);
  }
  std::vector<double> all;
  for (const auto& region : regions) all.push_back(static_cast<double>(region.length()));
  if (all.empty()) return {};
  const double usual = median(all);
  std::erase_if(regions, [&](const Interval& region) {
    return static_cast<double>(region.length()) >
           std::max(kPause * usual, static_cast<double>(10 * kNsPerMs));
  });
  Intervals spans;
  for (const auto& piece : line.idle_pieces) {
    if (!of_scheduler(facts, piece)) continue;
    const auto after = std::ranges::upper_bound(regions, piece.start, {}, &Interval::start);
    if (after == regions.begin()) continue;
    const Interval both{piece.start, std::min(piece.span().end, std::prev(after)->end)};
    if (both.end > both.start) spans.push_back(both);
  }
  spans = normalised(std::move(spans));
  for (const auto& region : regions) lengths.push_back(static_cast<double>(covered(spans, region)));
  return spans;
}

}  // namespace

std::optional<Said> scheduler_in_step(const Facts& facts) {
  constexpr std::size_t kFewest = 8;
  const auto steps = steps_that(facts, [](const EngineStep&) { return true; });
  if (steps.size() < kFewest) return {};
  Intervals spans;
  std::vector<double> lengths;
  for (const auto& line : facts.context.devices) {
    const auto more = between_steps(facts, line, steps, lengths);
    spans.insert(spans.end(), more.begin(), more.end());
  }
  if (lengths.empty() || median(lengths) < static_cast<double>(kHostPause)) return {};
  const auto usual = static_cast<Nanos>(median(lengths));
  spans = normalised(std::move(spans));
  const Nanos idle = facts.idle_in(spans);
  if (facts.of_window(idle) < 0.05 || !facts.in_steps(spans, 0.02)) return {};
  const Nanos gain = facts.claim_idle(std::move(spans));
  if (facts.of_window(gain) < 0.05) return {};
  return Said{
      fmt::format(
          "The GPU waits {} of the time between the engine's steps, {} each (p50): what schedules "
          "the next step and handles the tokens of the last one runs on the thread that launches. "
          "Move the tokenizer and the scheduler to another thread or process, or schedule the next "
          "step while this one runs.",
          say_share(facts.of_window(gain)), say_time(usual)),
      fmt::format("idle {} of {} between {}", say_time(gain), say_time(facts.window),
                  plural(steps.size(), "step")),
      gain};
}

namespace {

/// Of the steps that give tokens, those whose device chooses none, and where each copies the scores
/// of a vocabulary to the host: rows of activities.
std::vector<std::uint32_t> copies_of_scores(const Facts& facts, const EngineSteps& steps) {
  constexpr std::int64_t kScores = 1024;  // bytes of a request: a token takes 8
  const auto& rows = facts.capture().activities;
  std::vector<bool> chosen(steps.size(), false);
  std::vector<std::uint32_t> copies(steps.size(), kNoRow);
  for (const auto& line : facts.context.devices)
    for (const auto row : line.rows) {
      const bool kernel = rows.kind[row] == ActivityKind::kernel;
      if (!kernel && rows.copy[row] != CopyKind::device_to_host) continue;
      const auto after =
          std::ranges::upper_bound(steps, Nanos{rows.start_ns[row]}, {}, &EngineStep::start_ns);
      if (after == steps.begin()) continue;
      const auto at = static_cast<std::size_t>(after - steps.begin()) - 1;
      if (rows.start_ns[row] >= steps[at]->start_ns + steps[at]->duration_ns) continue;
      if (kernel) {
        if (facts.context.names.kernel(rows.name[row]) & kernel_is::chooses_token)
          chosen[at] = true;
      } else if (rows.bytes[row] >=
                 kScores * std::max<std::int64_t>(1, steps[at]->requests.value_or(1))) {
        copies[at] = row;
      }
    }
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (!chosen[i] && copies[i] != kNoRow) found.push_back(copies[i]);
  return found;
}

/// Idle time right behind activities.
Intervals idle_behind(const Facts& facts, const std::vector<std::uint32_t>& activities) {
  constexpr Nanos kRight = 10 * kNsPerUs;
  const auto& rows = facts.capture().activities;
  Intervals spans;
  for (const auto& line : facts.context.devices) {
    Intervals gaps;
    line.each_gap([&](Interval gap) { gaps.push_back(gap); });
    for (const auto row : activities) {
      const Nanos end = rows.start_ns[row] + rows.duration_ns[row];
      const auto idle = std::ranges::lower_bound(gaps, end, {}, &Interval::start);
      if (rows.device[row] == line.device && idle != gaps.end() && idle->start <= end + kRight)
        spans.push_back(*idle);
    }
  }
  return normalised(std::move(spans));
}

}  // namespace

std::optional<Said> host_sampling(const Facts& facts) {
  constexpr std::size_t kFewest = 4;
  const auto steps = steps_that(facts, gives_tokens);
  if (steps.size() < kFewest) return {};
  const auto copies = copies_of_scores(facts, steps);
  if (copies.size() < kFewest || 2 * copies.size() < steps.size()) return {};
  Nanos copying = 0;
  std::int64_t bytes = 0;
  for (const auto row : copies) {
    copying += facts.capture().activities.duration_ns[row];
    bytes += facts.capture().activities.bytes[row];
  }
  Intervals spans = idle_behind(facts, copies);
  const Nanos idle = facts.idle_in(spans);
  if (facts.of_window(idle + copying) < 0.05) return {};
  for (const auto row : copies) facts.claim_activity(row);
  const Nanos gain = copying + facts.claim_idle(std::move(spans));
  return Said{
      fmt::format("Tokens are chosen on the host: in {} of {} that give tokens the scores are "
                  "copied to it and the GPU waits, {} of the time. Choose them on the GPU (argmax, "
                  "multinomial or top-k kernels) and copy the tokens alone.",
                  copies.size(), plural(steps.size(), "step"), say_share(facts.of_window(gain))),
      fmt::format("{} copied in {}; idle {} behind the copies", say_bytes(bytes), say_time(copying),
                  say_time(gain - copying)),
      gain};
}

}  // namespace gf::trace_rules
