#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

#include "analyze/steps/steps.h"
#include "core/lower_case.h"

namespace gf {

namespace {

constexpr std::string_view kProfilerStep = "ProfilerStep";

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_letter(char letter) { return std::isalpha(static_cast<unsigned char>(letter)) != 0; }

/// True when the last word of the family says "step", "iteration" or "token". Other text may stand
/// before it: train_step, my training step.
bool names_a_step(std::string_view family) {
  const std::string text = lower_case(family);
  for (std::string_view word : {"step", "iteration", "iter", "train", "step_num", "token"}) {
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
  // SGLang and vLLM: step[DECODE bs=8 toks=8].
  if (name.starts_with("step[") && name.ends_with("]"))
    return StepName{name.substr(0, 4), std::nullopt};
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
  const std::string text = lower_case(name);
  for (std::string_view whole :
       {"step", "train_step", "train step", "training_step", "training step", "iteration",
        "train_iteration", "training iteration", "inference_step", "inference step",
        "gpufathom.step"})
    if (text == whole) return StepName{name, std::nullopt};
  return std::nullopt;
}

StepMarks find_marks(const Capture& capture) {
  // Names are few against rows: look at each name once.
  struct Name {
    std::string_view family;
    std::optional<std::int64_t> number;
  };
  std::vector<std::uint32_t> known(capture.strings.size(), 0);
  std::vector<Name> names{{}};
  for (std::uint32_t i = 0; i < known.size(); ++i)
    if (auto step = parse_step_name(capture.text(Text{i}))) {
      known[i] = static_cast<std::uint32_t>(names.size());
      names.push_back({step->family, step->number});
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
        {names[id].number.value_or(-1), ops.start_ns[i], ops.start_ns[i] + ops.duration_ns[i]});
  }
  const std::pair<const std::pair<std::string_view, std::uint32_t>, std::vector<StepMark>>* best =
      nullptr;
  auto rank = [](const auto& entry) {
    Nanos covered = 0;
    for (const auto& mark : entry.second) covered += mark.end - mark.start;
    return std::tuple(entry.first.first == kProfilerStep, entry.second.size(), covered);
  };
  for (const auto& entry : by_family) {
    if (entry.first.first != kProfilerStep && entry.second.size() < 2)
      continue;  // one hand-written mark is no sequence of steps
    if (!best || rank(entry) > rank(*best)) best = &entry;
  }
  if (!best) return {};
  StepMarks found{std::string(best->first.first), capture.threads.pid[best->first.second],
                  best->first.second, best->second};
  auto& marks = found.marks;
  std::stable_sort(marks.begin(), marks.end(), [](const auto& left, const auto& right) {
    return std::tuple(left.start, -left.end) < std::tuple(right.start, -right.end);
  });
  // A mark nested in the one before it repeats that step (the same number twice) or is a part of
  // it.
  std::vector<StepMark> kept;
  for (const auto& mark : marks) {
    if (!kept.empty() && mark.end <= kept.back().end) continue;
    if (!kept.empty() && mark.number >= 0 && mark.number == kept.back().number) {
      kept.back().end = mark.end;
      continue;
    }
    kept.push_back(mark);
  }
  marks = std::move(kept);
  for (std::size_t i = 0; i < marks.size(); ++i)
    if (marks[i].number < 0) marks[i].number = static_cast<std::int64_t>(i);
  return found;
}

}  // namespace gf
