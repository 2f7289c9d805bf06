// The rule about other work of the host, and the place of it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/findings/facts.h"
#include "analyze/findings/place.h"
#include "analyze/findings/rules.h"
#include "analyze/traits.h"
#include "core/format.h"
#include "core/statistics.h"
#include "core/text.h"
#include "core/time.h"

namespace gf::trace_rules {
namespace {

/// The place of the host: "after Optimizer.step#AdamW.step, before aten::zero_", of the operations
/// of the thread that launches what comes next; empty where none is known.
std::string place_of(const Facts& facts, const Interval& stretch, std::uint32_t next) {
  const auto& ops = facts.capture().host_ops;
  const auto& parent = facts.context.attribution.op_parent;
  if (next == kNoRow || facts.context.launches[next] == kNoRow) return {};
  const auto thread = facts.capture().api_calls.thread[facts.context.launches[next]];
  const auto rows = facts.context.host.ops(thread);
  auto end_of = [&](std::uint32_t row) { return ops.start_ns[row] + ops.duration_ns[row]; };
  auto tells = [&](std::uint32_t row) {
    return ops.kind[row] == HostKind::op ||
           (ops.kind[row] == HostKind::annotation &&
            !(facts.context.names.host(ops.name[row]) & host_is::step));
  };
  /// The outermost operation or mark that ended before, or begins after, the stretch.
  auto outermost = [&](std::uint32_t row, auto&& beside) {
    for (auto up = parent[row]; up != kNoRow; up = parent[up])
      if (tells(up) && beside(up)) row = up;
    return facts.capture().text(ops.name[row]);
  };
  auto at = std::ranges::upper_bound(rows, stretch.start, {},
                                     [&](std::uint32_t row) { return ops.start_ns[row]; });
  std::string_view before, after;
  const Nanos middle = stretch.start + stretch.length() / 2;
  for (auto row = at; row != rows.begin() && before.empty();)
    if (--row; tells(*row) && end_of(*row) <= middle)
      before = outermost(*row, [&](std::uint32_t up) { return end_of(up) <= middle; });
  for (; at != rows.end() && after.empty(); ++at)
    if (tells(*at) && ops.start_ns[*at] >= middle)
      after = outermost(*at, [&](std::uint32_t up) { return ops.start_ns[up] >= middle; });
  std::string text;
  if (!before.empty()) text = fmt::format("after {}", before);
  if (!after.empty()) text += fmt::format("{}before {}", text.empty() ? "" : ", ", after);
  return text;
}

}  // namespace

std::pair<std::string, Nanos> most_elsewhere(const Facts& facts, const Intervals& stretches) {
  struct Place {
    Nanos time = 0, longest = 0;
    const IdlePiece* piece = nullptr;  // the longest
  };
  std::map<std::string, Place> places;
  for (const auto& piece : facts.idle_pieces(IdleReason::host_other))
    if (const Nanos time = covered(stretches, piece.span()); time > 0) {
      auto& place = places[place_of(facts, piece.span(), piece.next)];
      place.time += time;
      if (time > place.longest) place.piece = &piece;
      place.longest = std::max(place.longest, time);
    }
  if (places.empty()) return {};
  auto nowhere = places.extract("");  // beside no operator: only frames or marks tell
  if (places.empty()) return {where_is(facts, *nowhere.mapped().piece), 0};
  const auto most =
      std::ranges::max_element(places, {}, [](const auto& one) { return one.second.time; });
  return {most->first + where_is(facts, *most->second.piece), most->second.time};
}

namespace {

/// Pauses that end in one kernel.
struct BeforeKernel {
  Text kernel = Text::none;
  Nanos time = 0;
  std::vector<double> waits;    // by launch
  std::uint32_t last = kNoRow;  // that waited
  std::int64_t launches = 0;
};

/// The kernel that most of the time comes before, past what is set or copied for it; none where no
/// kernel has half of it.
BeforeKernel most_before(const Facts& facts, const Intervals& stretches) {
  std::map<Text, BeforeKernel> kernels;
  Nanos all = 0;
  const auto& rows = facts.capture().activities;
  for (std::size_t device = 0; device < facts.context.devices.size(); ++device) {
    const auto& line = facts.context.devices[device].rows;
    for (const auto& piece : facts.idle_pieces(IdleReason::host_other, device)) {
      const Nanos time = covered(stretches, piece.span());
      if (time <= 0) continue;
      all += time;
      const auto after = std::ranges::lower_bound(
          line, piece.span().end, {}, [&](std::uint32_t row) { return rows.start_ns[row]; });
      const auto next = std::find_if(after, line.end(), [&](std::uint32_t row) {
        return rows.kind[row] == ActivityKind::kernel;
      });
      if (next == line.end()) continue;
      auto& before = kernels[rows.name[*next]];
      before.time += time;
      if (before.last != *next) before.waits.push_back(0);  // what is set for it waited first
      before.waits.back() += static_cast<double>(time);
      before.last = *next;
    }
  }
  for (auto& [name, before] : kernels) {
    if (before.time * 2 <= all) continue;
    before.kernel = name;
    for (const LaunchGroup& group : facts.groups())
      if (group.name == name) before.launches += group.kernels;
    return before;
  }
  return {};
}

/// True if a few launches of the kernel wait long, as those do whose plan or code is built first.
bool seldom_and_long(const BeforeKernel& before) {
  constexpr std::size_t kFewest = 3;
  constexpr double kLong = 2 * kNsPerMs;
  return before.waits.size() >= kFewest &&
         static_cast<std::int64_t>(5 * before.waits.size()) < before.launches &&
         median(before.waits) >= kLong;
}

/// True if the longest pause, of a capture of one or two steps, comes between two of them: the same
/// kernels end before and behind it, about as many.
bool between_two_steps(const Facts& facts, const Intervals& pauses) {
  constexpr std::size_t kFewKernels = 20;
  if (facts.analysis.window.steps.size() > 2 || pauses.empty()) return false;
  const Interval longest = *std::ranges::max_element(pauses, {}, &Interval::length);
  std::vector<Text> before, after;
  for (const auto& kernel : facts.kernels)
    (facts.capture().activities.start_ns[kernel.activity] < longest.end ? before : after)
        .push_back(facts.kernel_name(kernel));
  const std::size_t fewer = std::min(before.size(), after.size());
  if (fewer < kFewKernels || fewer * 5 < std::max(before.size(), after.size()) * 4) return false;
  std::size_t same = 0;
  for (std::size_t i = 1; i <= fewer; ++i)
    same += before[before.size() - i] == after[after.size() - i];
  return same * 20 >= fewer * 19;
}

}  // namespace

std::optional<Said> host_bound(const Facts& facts) {
  const auto elsewhere = facts.host_other().elsewhere;
  const Nanos time = total(elsewhere);
  if (facts.of_window(time) < 0.05) return {};
  constexpr std::int64_t kHandful = 8;  // kernels: with fewer, what else the program does is all
  const bool one_pass = facts.kernel_count > kHandful && facts.much_of_one_pass(time);
  if (!facts.repeats(elsewhere, 0.02) && !facts.in_steps(elsewhere, 0.02) && !one_pass &&
      !between_two_steps(facts, elsewhere))
    return {};
  const auto stretches = normalised(elsewhere);
  const auto [place, there] = most_elsewhere(facts, stretches);
  std::string where;
  if (there > 0)
    where = fmt::format("; {} {}, with no operator in it", say_time(there), place);
  else if (!place.empty())
    where = fmt::format(",{}", place);
  std::string evidence =
      fmt::format("idle {} of {} in {}{}", say_time(time), say_time(facts.window),
                  plural(elsewhere.size(), "pause"), behind(facts.idle(IdleReason::host_other)));
  std::string typical;
  // Without operators a kernel tells the place; beside them only one that tells the cause.
  if (place.empty() || (there > 0 && 2 * there < time)) {
    const auto before = most_before(facts, stretches);
    const bool tells = seldom_and_long(before);
    if (before.launches > 0 && (place.empty() || tells)) {
      const auto kernel = short_kernel_name(facts.capture().text(before.kernel));
      where = fmt::format(", {} of it before {}", say_time(before.time), kernel);
      evidence += fmt::format("; {} of {} launches of {} wait, the middle one {}",
                              before.waits.size(), format_count(before.launches), kernel,
                              say_time(static_cast<Nanos>(median(before.waits))));
    }
    if (tells)
      typical =
          " That few of a kernel's launches wait so long is typical of plans or code built for "
          "a size not met before: round sizes up to a few, or run each of them once before.";
  }
  facts.also_gone(elsewhere);
  return Said{
      fmt::format("The GPU waits {} of the time while the host does work other than launching "
                  "kernels{}. Move that work off the launching thread, to the GPU, or after the "
                  "launches of the step.{}",
                  say_share(facts.of_window(time)), where, typical),
      evidence, time};
}

}  // namespace gf::trace_rules
