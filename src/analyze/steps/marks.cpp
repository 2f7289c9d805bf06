#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <tuple>

#include "analyze/steps/engine_marks.h"
#include "analyze/steps/steps.h"
#include "analyze/traits.h"
#include "analyze/vocabulary.h"
#include "core/text.h"

namespace gf {

namespace {

constexpr std::string_view kProfilerStep = "ProfilerStep";

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_letter(char letter) { return std::isalpha(static_cast<unsigned char>(letter)) != 0; }

/// True when the last word of the family says "step", "iteration" or "token". Other text may stand
/// before it: train_step, my training step.
bool names_a_step(std::string_view family) {
  constexpr std::array<std::string_view, 6> kWords{"step",  "iteration", "iter",
                                                   "train", "step_num",  "token"};
  if (family.empty()) return false;
  const auto last = static_cast<char>(std::tolower(static_cast<unsigned char>(family.back())));
  // Most names end otherwise, and cost no copy.
  if (std::ranges::none_of(kWords, [&](auto word) { return word.back() == last; })) return false;
  const std::string text = lower_case(family);
  for (const std::string_view word : kWords) {
    if (text.size() < word.size() ||
        text.compare(text.size() - word.size(), word.size(), word) != 0)
      continue;
    if (text.size() == word.size() || !is_letter(text[text.size() - word.size() - 1]) ||
        family == kProfilerStep)
      return true;
  }
  return false;
}

}  // namespace

std::optional<StepName> parse_step_name(std::string_view name) {
  if (auto mark = parse_engine_mark(name)) return mark;
  const std::string_view whole_name = name;
  if (name.ends_with(']') && name.find('[') != name.npos) name.remove_suffix(1);  // step[12]
  std::size_t digits = name.size();
  while (digits > 0 && is_digit(name[digits - 1])) --digits;
  std::string_view family = name.substr(0, digits);
  while (!family.empty() &&
         std::string_view("#:=_- ([").find(family.back()) != std::string_view::npos)
    family.remove_suffix(1);
  if (digits < name.size()) {
    if (name.size() - digits > 18 || !names_a_step(family)) return std::nullopt;
    std::int64_t number = 0;
    for (char letter : name.substr(digits)) number = number * 10 + (letter - '0');
    return StepName{family, number};
  }
  // One text for every step is common in hand-written marks; only texts that say nothing else
  // count.
  name = whole_name;
  const std::string text = lower_case(name);
  for (std::string_view whole :
       {"step", "train_step", "train step", "training_step", "training step", "iteration",
        "train_iteration", "training iteration", "inference_step", "inference step",
        "gpufathom.step"})
    if (text == whole) return StepName{name, std::nullopt};
  return std::nullopt;
}

namespace {

bool is_warm_up(std::string_view family) {
  return lower_case(family).find("warm") != std::string::npos;
}

/// True if work is launched after the last of these marks: what they warmed up for.
bool launches_behind(const Capture& capture, const std::vector<StepMark>& marks) {
  Nanos end = INT64_MIN;
  for (const auto& mark : marks) end = std::max(end, mark.end);
  const auto& calls = capture.api_calls;
  for (std::uint32_t row = 0; row < calls.size(); ++row)
    if (calls.start_ns[row] >= end &&
        (calls.kind[row] == ApiKind::launch || calls.kind[row] == ApiKind::graph_launch))
      return true;
  return false;
}

/// Ranges that were pushed one after the other and popped together, if at all: each number ends
/// where the next one begins, and the last takes no longer than the longest before it. `marks` come
/// by start.
void end_with_the_next(std::vector<StepMark>& marks) {
  constexpr Nanos kTogether = kNsPerMs;
  for (std::size_t i = 1; i < marks.size(); ++i)
    if (marks[i].number < 0 || marks[i].number != marks[i - 1].number + 1 ||
        marks[i].start <= marks[i - 1].start || marks[i].end < marks[i - 1].end - kTogether ||
        marks[i].end > marks[i - 1].end)
      return;
  if (marks.size() < 2 || marks.back().start >= marks.front().end) return;
  Nanos longest = 0;
  for (std::size_t i = 1; i < marks.size(); ++i) {
    marks[i - 1].end = marks[i].start;
    longest = std::max(longest, marks[i].start - marks[i - 1].start);
  }
  marks.back().end = std::min(marks.back().end, marks.back().start + longest);
}

/// True if a name says that the program trains.
bool trains(const Capture& capture) {
  const Names names(capture);
  for (std::uint32_t i = 0; i < capture.strings.size(); ++i)
    if (names.host(Text{i}) & (host_is::optimizer_step | host_is::backward)) return true;
  return false;
}

/// Makes one mark of those around the passes of the models of a step: what proposes tokens belongs
/// to the check of them that follows, what the draft's model does afterwards to the mark before it.
/// A draft's pass may have no name of its own: beside checks, the target decodes in these alone,
/// and the second of two equal marks of prompts is the draft's.
void join_passes(std::vector<StepMark>& marks) {
  const auto checks = [](const StepMark& mark) {
    return mark.work && mark.work->pass == ModelPass::target &&
           mark.work->kind == StepKind::speculative;
  };
  const auto is = [](const StepMark& mark, StepKind kind) {
    return mark.work && mark.work->kind == kind;
  };
  const bool checked = std::ranges::any_of(marks, checks);
  const bool named = std::ranges::any_of(marks, [](const StepMark& mark) {
    return mark.work && mark.work->pass == ModelPass::draft && mark.work->kind == StepKind::decode;
  });
  if (!checked) return;
  std::vector<StepMark> joined;
  Interval proposed{0, 0};  // the draft of the next check; empty: none
  bool paired = false;      // the newest mark of prompts has that of its draft
  for (const auto& mark : marks) {
    const bool prompts = is(mark, StepKind::prefill);
    const bool second = !named && prompts && !paired && !joined.empty() && proposed.end == 0 &&
                        is(joined.back(), StepKind::prefill) &&
                        joined.back().work->requests == mark.work->requests &&
                        joined.back().work->tokens == mark.work->tokens;
    const bool draft = second || (mark.work && mark.work->pass == ModelPass::draft);
    const bool proposes = is(mark, StepKind::decode) && (draft || !named);
    if (proposes) {
      if (proposed.end == 0) proposed.start = mark.start;
      proposed.end = mark.end;
    } else if (draft && !joined.empty()) {
      joined.back().end = mark.end;
      paired = paired || prompts;
    } else {
      if (proposed.end != 0 && !checks(mark) && !joined.empty()) joined.back().end = proposed.end;
      joined.push_back(mark);
      if (proposed.end != 0 && checks(mark)) joined.back().start = proposed.start;
      proposed = {0, 0};
      paired = false;
    }
  }
  if (proposed.end != 0 && !joined.empty()) joined.back().end = proposed.end;
  marks = std::move(joined);
}

/// True if two threads mark the steps of one engine, as its ranks do: the same works at the same
/// time, but for some at the beginning and the end. Both by start.
bool same_steps(const std::vector<StepMark>& left, const std::vector<StepMark>& right) {
  constexpr std::ptrdiff_t kMostApart = 8;
  constexpr double kNearlyAll = 0.9;
  const auto alike = [](const StepMark& one, const StepMark& other) {
    return one.start < other.end && other.start < one.end && one.work && other.work &&
           one.work->kind == other.work->kind && one.work->requests == other.work->requests &&
           one.work->tokens == other.work->tokens;
  };
  const auto fewer = static_cast<double>(std::min(left.size(), right.size()));
  for (std::ptrdiff_t apart = -kMostApart; apart <= kMostApart; ++apart) {
    std::size_t same = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const auto other = static_cast<std::ptrdiff_t>(i) + apart;
      same += other >= 0 && other < static_cast<std::ptrdiff_t>(right.size()) &&
              alike(left[i], right[static_cast<std::size_t>(other)]);
    }
    if (static_cast<double>(same) >= kNearlyAll * fewer) return true;
  }
  return false;
}

bool by_start(const StepMark& left, const StepMark& right) {
  return std::tuple(left.start, -left.end) < std::tuple(right.start, -right.end);
}

/// Numbers that come twice, as where an engine starts again, are no numbers of steps.
void number_by_place(std::vector<StepMark>& marks) {
  std::set<std::int64_t> seen;
  const bool again = std::ranges::any_of(marks, [&](const auto& mark) {
    return mark.number >= 0 && !seen.insert(mark.number).second;
  });
  for (std::size_t i = 0; i < marks.size(); ++i)
    if (again || marks[i].number < 0) marks[i].number = static_cast<std::int64_t>(i);
}

}  // namespace

StepMarks find_marks(const Capture& capture) {
  // Names are few against rows: look at each name once.
  std::vector<std::uint32_t> known(capture.strings.size(), 0);
  std::vector<StepName> names{{}};
  for (std::uint32_t i = 0; i < known.size(); ++i)
    if (auto step = parse_step_name(capture.text(Text{i}))) {
      known[i] = static_cast<std::uint32_t>(names.size());
      names.push_back(*step);
    }
  if (names.size() == 1) return {};
  std::map<std::pair<std::string_view, std::uint32_t>, std::vector<StepMark>>
      by_family;  // and thread
  const auto& ops = capture.host_ops;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    const auto id = known[static_cast<std::uint32_t>(ops.name[i])];
    if (id == 0 || ops.kind[i] == HostKind::python || ops.thread[i] >= capture.threads.size())
      continue;
    by_family[{names[id].family, ops.thread[i]}].push_back(
        {names[id].number.value_or(-1), ops.start_ns[i], ops.start_ns[i] + ops.duration_ns[i],
         names[id].work});
  }
  const auto engines = [](const auto& entry) { return entry.second.front().work.has_value(); };
  // An engine whose steps a profiler counts as well; prompts within the steps of a training are no
  // steps of their own.
  const bool serves =
      std::ranges::any_of(by_family, engines) && (by_family.size() == 1 || !trains(capture));
  const std::pair<const std::pair<std::string_view, std::uint32_t>, std::vector<StepMark>>* best =
      nullptr;
  auto rank = [&](const auto& entry) {
    Nanos covered = 0;
    for (const auto& mark : entry.second) covered += mark.end - mark.start;
    return std::tuple(serves && engines(entry), entry.first.first == kProfilerStep,
                      entry.second.size(), covered);
  };
  for (auto& entry : by_family) {
    std::stable_sort(entry.second.begin(), entry.second.end(), by_start);
    if (is_warm_up(entry.first.first) && launches_behind(capture, entry.second)) continue;
    if (entry.first.first != kProfilerStep && entry.second.size() < 2 && !entry.second.front().work)
      continue;  // one hand-written mark is no sequence of steps
    if (!best || rank(entry) > rank(*best)) best = &entry;
  }
  if (!best) return {};
  StepMarks found{std::string(best->first.first), capture.threads.pid[best->first.second],
                  best->first.second, best->second};
  if (engines(*best))
    for (const auto& entry : by_family)
      found.engines += engines(entry) && entry.first.second != best->first.second &&
                       !same_steps(best->second, entry.second);
  auto& marks = found.marks;
  end_with_the_next(marks);
  // A mark nested in the one before it repeats that step (the same number twice) or is a part of
  // it. Each of an engine's is a step, whatever its number.
  std::vector<StepMark> kept;
  for (const auto& mark : marks) {
    if (!kept.empty() && mark.end <= kept.back().end) continue;
    if (!kept.empty() && !mark.work && mark.number >= 0 && mark.number == kept.back().number) {
      kept.back().end = mark.end;
      continue;
    }
    kept.push_back(mark);
  }
  marks = std::move(kept);
  join_passes(marks);
  number_by_place(marks);
  return found;
}

namespace {

/// The device's work for each mark.
struct MarkWork {
  std::vector<Nanos> first;       // start of the first kernel launched in it
  std::vector<Nanos> first_copy;  // start of the first activity of any kind
  std::vector<Nanos> last;        // end of the last activity
  std::vector<Nanos> last_kernel;
  std::vector<bool> devices;  // that worked for any mark, and the unknown one

  MarkWork(std::size_t marks, std::size_t devices_known)
      : first(marks, INT64_MAX),
        first_copy(marks, INT64_MAX),
        last(marks, INT64_MIN),
        last_kernel(marks, INT64_MIN),
        devices(devices_known + 1, false) {}

  std::size_t place_of(std::uint32_t device) const {
    return std::min<std::size_t>(device, devices.size() - 1);
  }

  /// A copy that fetches the next batch ahead is not the work that the step begins with.
  Nanos begins(std::size_t mark) const {
    return first[mark] != INT64_MAX ? first[mark] : first_copy[mark];
  }
};

MarkWork work_of_marks(const Capture& capture, const std::vector<std::uint32_t>& launch,
                       const StepMarks& marks) {
  const auto& all = marks.marks;
  MarkWork work(all.size(), capture.devices.size());
  const auto& activities = capture.activities;
  const auto& calls = capture.api_calls;
  for (std::uint32_t a = 0; a < launch.size(); ++a) {
    if (launch[a] == kNoRow) continue;
    const auto thread = calls.thread[launch[a]];
    const bool of_process = marks.pid < 0 || thread >= capture.threads.size() ||
                            capture.threads.pid[thread] == marks.pid;
    if (!of_process || (marks.engines > 1 && thread != marks.thread)) continue;
    const Nanos at = calls.start_ns[launch[a]];
    // Where marks overlap, a launch belongs to the one that began last.
    auto mark = std::upper_bound(all.begin(), all.end(), at,
                                 [](Nanos t, const StepMark& m) { return t < m.start; });
    if (mark == all.begin() || at >= (--mark)->end) continue;
    const auto i = static_cast<std::size_t>(mark - all.begin());
    const Nanos start = activities.start_ns[a], end = start + activities.duration_ns[a];
    work.devices[work.place_of(activities.device[a])] = true;
    work.first_copy[i] = std::min(work.first_copy[i], start);
    work.last[i] = std::max(work.last[i], end);
    if (activities.kind[a] != ActivityKind::kernel) continue;
    work.first[i] = std::min(work.first[i], start);
    work.last_kernel[i] = std::max(work.last_kernel[i], end);
  }
  return work;
}

/// When the devices of the marks had done what was launched before the first of them that launched
/// anything. A profiler that begins while the host is ahead records kernels without their launches:
/// they are earlier work where they start before that mark's own (`begins`).
Nanos earlier_work(const Capture& capture, const std::vector<std::uint32_t>& launch,
                   const MarkWork& work, Nanos mark, Nanos begins) {
  Nanos end = INT64_MIN;
  const auto& a = capture.activities;
  for (std::uint32_t i = 0; i < launch.size(); ++i) {
    const bool earlier =
        launch[i] != kNoRow ? capture.api_calls.start_ns[launch[i]] < mark : a.start_ns[i] < begins;
    if (earlier && work.devices[work.place_of(a.device[i])])
      end = std::max(end, a.start_ns[i] + a.duration_ns[i]);
  }
  return end;
}

}  // namespace

std::vector<StepInfo> steps_on_device(const Capture& capture,
                                      const std::vector<std::uint32_t>& launch,
                                      const StepMarks& marks) {
  const auto& all = marks.marks;
  const MarkWork work = work_of_marks(capture, launch, marks);
  std::vector<StepInfo> steps;
  Nanos free_at = INT64_MIN;  // the device had done what earlier marks launched
  Nanos end = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Nanos begins = work.begins(i);
    if (begins == INT64_MAX) continue;  // a mark that launched nothing is no step of the device
    if (steps.empty()) free_at = earlier_work(capture, launch, work, all[i].start, begins);
    const Nanos start = std::min(begins, std::max(all[i].start, free_at));
    if (!steps.empty() && start <= steps.back().start_ns)
      continue;  // ran before its predecessor: not a sequence
    if (!steps.empty()) steps.back().duration_ns = start - steps.back().start_ns;
    steps.push_back({all[i].number, start, 0, false});
    const bool kernels = work.last_kernel[i] != INT64_MIN;
    free_at = std::max(free_at, kernels ? work.last_kernel[i] : work.last[i]);
    end = std::max(work.last[i], all[i].end);
  }
  if (!steps.empty()) steps.back().duration_ns = end - steps.back().start_ns;
  return steps;
}

}  // namespace gf
