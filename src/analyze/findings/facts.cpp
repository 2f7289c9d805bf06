#include "analyze/findings/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "core/text.h"
#include "model/metrics.h"

namespace gf {

TraceFacts::TraceFacts(const Context& given, const Analysis& answer,
                       const KernelLevels& kernel_levels)
    : context(given),
      analysis(answer),
      levels(kernel_levels),
      kernels(given.kernels),
      window(device_window(given)),
      launches_(launch_groups_of(given)) {
  for (const auto& line : given.devices) waiting += line.waiting_ns();
  for (const auto& device : answer.devices) kernel_busy += device.kernel_busy_ns;
  kernel_busy -= waiting;
  kernel_count = static_cast<std::int64_t>(kernels.size());
}

const HostTree& TraceFacts::tree() const {
  return shared_->tree.of([&] { return HostTree(context); });
}

const HostSiblings& TraceFacts::siblings() const {
  return shared_->siblings.of([&] { return HostSiblings(context); });
}

void TraceFacts::claim_activity(std::uint32_t activity) const {
  tell(activity);
  if (is_first_to_claim(activity)) latest_.activities.push_back(activity);
}

bool TraceFacts::is_first_to_claim(std::uint32_t activity) const {
  if (claimed_.kernels.empty()) claimed_.kernels.resize(capture().activities.size());
  const bool first = !claimed_.kernels[activity];
  claimed_.kernels[activity] = true;
  return first;
}

void TraceFacts::take_over(const TraceFacts& copy) const {
  for (const auto activity : copy.spoken_.activities) tell(activity);
  ClaimedTime claims = copy.take_claim();
  if (!copy.claimed_.kernels.empty())
    std::erase_if(claims.activities, [&](std::uint32_t activity) {
      return copy.claimed_.kernels[activity] && !is_first_to_claim(activity);
    });
  latest_ = std::move(claims);
}

Nanos TraceFacts::idle_in(const Intervals& spans) const {
  Nanos time = 0;
  for (const auto& line : context.devices) time += line.idle_in(spans);
  return time;
}

Nanos TraceFacts::claim_idle(Intervals spans, Goes goes) const {
  ask_others();
  spans = subtract(normalised(std::move(spans)), claimed_.host);
  const Nanos time = idle_in(spans);
  claimed_.host = unite(claimed_.host, spans);
  host_other_.reset();
  if (goes == Goes::with_host) latest_.host = unite(latest_.host, spans);
  return time;
}

Nanos TraceFacts::claim_late(const std::vector<std::uint32_t>& calls) const {
  const auto& table = capture().api_calls;
  Nanos held_up = 0;
  Intervals spans;
  for (const auto call : calls) {
    held_up += table.duration_ns[call];
    spans.push_back(span_of(table, call));
  }
  also_gone(std::move(spans));
  const Nanos lost = std::clamp<Nanos>(held_up, 0, late());
  claimed_.late += lost;
  return lost;
}

IdleCause TraceFacts::idle(IdleReason cause) const {
  ask_others();
  spoken_.reasons |= 1U << static_cast<unsigned>(cause);
  IdleCause sum;
  sum.cause = cause;
  std::vector<const IdleCause*> of_devices;
  for (const auto& device : analysis.devices)
    for (const auto& idle : device.idle)
      if (idle.cause == cause) of_devices.push_back(&idle);
  std::unordered_map<std::string_view, std::size_t> known;  // by name; of one device each is new
  for (const IdleCause* idle : of_devices) {
    sum.ns += idle->ns;
    sum.gaps += idle->gaps;
    if (of_devices.size() == 1) {
      sum.operators = idle->operators;
      break;
    }
    for (const auto& op : idle->operators) {
      const auto [at, fresh] = known.try_emplace(op.name, sum.operators.size());
      if (fresh)
        sum.operators.push_back(op);
      else
        sum.operators[at->second].ns += op.ns;
    }
  }
  if (!claimed_.host.empty()) take_claimed(sum);
  if (cause == IdleReason::launch_bound) sum.ns = std::max<Nanos>(0, sum.ns - claimed_.late);
  std::stable_sort(sum.operators.begin(), sum.operators.end(),
                   [](const auto& left, const auto& right) { return left.ns > right.ns; });
  return sum;
}

TraceFacts::SortedIdle TraceFacts::sort_idle() const {
  const std::size_t devices = context.devices.size();
  const auto place = [&](const IdlePiece& piece, std::size_t device) {
    return static_cast<std::size_t>(piece.reason) * devices + device;
  };
  SortedIdle idle;
  auto& [pieces, first] = idle;
  first.assign(kReasonsOfIdle * devices + 1, 0);
  for (std::size_t device = 0; device < devices; ++device)
    for (const auto& piece : context.devices[device].idle_pieces) ++first[place(piece, device) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  pieces.resize(first.back());
  auto next = first;
  for (std::size_t device = 0; device < devices; ++device) {
    const auto& all = context.devices[device].idle_pieces;
    for (std::size_t i = 0; i < all.size(); ++i)
      pieces[next[place(all[i], device)]++] = static_cast<std::uint32_t>(i);
  }
  return idle;
}

/// Takes what causes have claimed out of a sum, and out of its operators by what the host was in
/// for the longest part of each piece.
void TraceFacts::take_claimed(IdleCause& sum) const {
  std::unordered_map<std::string_view, Nanos> taken;
  for (const auto& piece : idle_pieces(sum.cause)) {
    const Nanos time = covered(claimed_.host, piece.span());
    if (time == 0) continue;
    sum.ns -= time;
    sum.gaps -= time == piece.span().length();
    if (piece.op != kNoRow) taken[capture().text(capture().host_ops.name[piece.op])] += time;
  }
  for (auto& op : sum.operators)
    if (const auto found = taken.find(op.name); found != taken.end()) op.ns -= found->second;
  std::erase_if(sum.operators, [](const NamedTime& op) { return op.ns <= 0; });
  sum.ns = std::max<Nanos>(0, sum.ns);
  sum.gaps = std::max<std::int64_t>(0, sum.gaps);
}

const TraceFacts::HostOther& TraceFacts::host_other() const {
  ask_others();
  if (host_other_) return *host_other_;
  // By value: clang 16 takes a nested struct for one that nothing constructs.
  HostOther& other = host_other_.emplace(HostOther{});
  Intervals pauses;  // shorter than a millisecond
  const auto& steps = context.window.all_steps;
  for (std::size_t device = 0; device < context.devices.size(); ++device) {
    Intervals stretches;
    for (const auto& piece : idle_pieces(IdleReason::host_other, device)) {
      if (covered(claimed_.host, piece.span()) > 0) continue;
      extend(stretches, piece.span());
    }
    for (const auto& stretch : stretches) {
      if (stretch.length() >= kNsPerMs) {
        other.elsewhere.push_back(stretch);
        continue;
      }
      other.between += stretch.length();
      // From one mark of a step to the next the profiler itself is at work.
      const auto step = std::ranges::lower_bound(steps, stretch.start, {}, &StepInfo::start_ns);
      const bool marked = step != steps.end() && step->start_ns <= stretch.end;
      if (stretch.length() >= kHostPause && !marked) pauses.push_back(stretch);
    }
  }
  constexpr std::size_t kMany = 8, kSome = 3;  // as in a loop; where they are long and take much
  Nanos longer = 0;
  std::size_t some = 0;
  for (const auto& pause : pauses)
    if (pause.length() >= kNsPerMs / 2) {
      longer += pause.length();
      ++some;
    }
  const bool often = pauses.size() >= kMany || (some >= kSome && of_window(longer) >= 0.1);
  if (often && of_window(total(other.elsewhere)) < 0.05)
    other.elsewhere.insert(other.elsewhere.end(), pauses.begin(), pauses.end());
  return other;
}

Nanos TraceFacts::late() const { return idle(IdleReason::launch_bound).ns + host_other().between; }

bool TraceFacts::knows_sm_active() const {
  return levels.has(KernelLevel::sm_active) ||
         std::ranges::any_of(analysis.levels, [](const Level& level) {
           return level.id == "sm.active"_metric && level.value.has_value();
         });
}

bool TraceFacts::repeats(const Intervals& spans, double share) const {
  if (window < 10 * kNsPerMs || context.devices.empty()) return true;
  Interval all = context.devices.front().window;
  for (const auto& line : context.devices) {
    if (line.window.length() <= 0) continue;
    all.start = std::min(all.start, line.window.start);
    all.end = std::max(all.end, line.window.end);
  }
  const Nanos middle = all.start + all.length() / 2;
  Nanos before = 0, after = 0;
  for (const auto& span : spans) {
    const Nanos length = std::min(span.end, all.end) - std::max(span.start, all.start);
    Nanos& half = span.start < middle ? before : after;
    half += std::max<Nanos>(0, length);
  }
  return of_window(2 * std::min(before, after)) >= share;
}

bool TraceFacts::in_steps(const Intervals& spans, double share) const {
  const auto& steps = analysis.window.steps;
  const auto pauses = normalised(spans);
  const auto with = std::ranges::count_if(steps, [&](const auto& step) {
    const Interval whole{step.start_ns, step.start_ns + step.duration_ns};
    return static_cast<double>(covered(pauses, whole)) >=
           share * static_cast<double>(step.duration_ns);
  });
  return with >= 2 && 2 * with >= static_cast<std::ptrdiff_t>(steps.size());
}

std::string shown(const std::string& name) {
  constexpr std::size_t kMost = 64;
  if (name.size() <= kMost) return name;
  return name.substr(0, kMost - 24) + ".." + name.substr(name.size() - 22);
}

std::string say_counts(const std::map<std::string_view, std::int64_t>& counts) {
  std::string text;
  for (const auto& [name, times] : counts)
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", times, name);
  return text;
}

std::string say_names(const std::vector<NamedTime>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i)
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", shown(names[i].name), say_time(names[i].ns));
  return text;
}

std::vector<NamedTime> TimeBy::largest() const {
  std::unordered_map<std::uint32_t, Nanos> by_operator, by_kernel;  // by text
  const Capture& capture = facts_.capture();
  for (const auto& [ns, activity, op] : times_)
    if (op == kNoRow)
      by_kernel[static_cast<std::uint32_t>(capture.activities.name[activity])] += ns;
    else
      by_operator[static_cast<std::uint32_t>(capture.host_ops.name[op])] += ns;
  std::map<std::string, Nanos> times;
  for (const auto& [id, ns] : by_operator) times[std::string(capture.text(Text{id}))] += ns;
  for (const auto& [id, ns] : by_kernel) times[short_kernel_name(capture.text(Text{id}))] += ns;
  return largest_of(times);
}

std::string say_names(const TimeBy& times) {
  times.tell();
  return say_names(times.largest());
}

}  // namespace gf
