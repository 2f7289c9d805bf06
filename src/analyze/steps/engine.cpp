#include "analyze/steps/engine.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analyze/steps/engine_work.h"
#include "analyze/traits.h"
#include "core/statistics.h"
#include "core/strings.h"

namespace gf {

namespace {

constexpr std::size_t kFewestSteps = 4;
constexpr std::size_t kMostChoices = 8;  // of a step: drafts and the check of their tokens
constexpr double kUnlike = 10;           // times: no steps of one loop

Nanos end_of(const activities_table& rows, std::uint32_t row) {
  return rows.start_ns[row] + rows.duration_ns[row];
}

/// Copies to the host, by start.
std::vector<std::uint32_t> copies_to_host(const Capture& capture, std::uint32_t device) {
  const auto& rows = capture.activities;
  std::vector<std::uint32_t> copies;
  for (std::uint32_t row = 0; row < rows.size(); ++row)
    if (rows.copy[row] == CopyKind::device_to_host && rows.device[row] == device)
      copies.push_back(row);
  std::ranges::stable_sort(copies, {}, [&](std::uint32_t row) { return rows.start_ns[row]; });
  return copies;
}

}  // namespace

std::vector<EnginePass> engine_passes(const Capture& capture, const TokenChoices& choices) {
  const auto& rows = capture.activities;
  const auto& sequence = choices.sequence;
  const auto copies = copies_to_host(capture, sequence.device);
  const auto start_of = [&](std::uint32_t row) { return rows.start_ns[row]; };
  std::vector<EnginePass> passes;
  EnginePass pass;
  for (std::size_t i = 0; i < choices.positions.size(); ++i) {
    ++pass.choices;
    const Nanos chosen = rows.start_ns[sequence.rows[choices.positions[i]]];
    const auto copy = std::ranges::upper_bound(copies, chosen, {}, start_of);
    if (copy == copies.end()) break;
    const bool another =
        i + 1 < choices.positions.size() &&
        rows.start_ns[sequence.rows[choices.positions[i + 1]]] < rows.start_ns[*copy];
    if (another) continue;
    pass.copy = *copy;
    pass.end = static_cast<std::uint32_t>(
        std::ranges::upper_bound(sequence.rows, rows.start_ns[*copy], {}, start_of) -
        sequence.rows.begin());
    passes.push_back(pass);
    pass = {pass.end, 0, 0, kNoRow};
  }
  return passes;
}

namespace {

/// The most that at least one in twenty, and two, of the values reach.
std::size_t usual_most(std::vector<std::size_t> values) {
  std::ranges::sort(values, std::greater{});
  return values[std::min(values.size() - 1, std::max<std::size_t>(1, values.size() / 20))];
}

/// Start-up before a step, which chooses tokens too and fetches none, or runs other kernels.
void cut_start_up(const TokenChoices& choices, std::vector<EnginePass>& passes) {
  std::vector<std::size_t> counts, kernels;
  for (const auto& pass : passes) counts.push_back(pass.choices);
  const std::size_t most = usual_most(counts);
  for (auto& pass : passes) {
    if (pass.choices <= most) continue;
    const auto last = std::ranges::lower_bound(choices.positions, pass.end) - 1;
    pass.begin = *(last - static_cast<std::ptrdiff_t>(most)) + 1;
    pass.choices = most;
  }
  for (std::size_t i = 1; i < passes.size(); ++i)
    kernels.push_back(passes[i].end - passes[i].begin);
  const auto longest = static_cast<std::uint32_t>(std::ranges::max(kernels));
  auto& first = passes.front();
  first.begin = std::max(first.begin, first.end - std::min(first.end, longest));
}

/// Steps of passes that the host waits for: from the token before to this one; a step that follows
/// a pause begins as long before its work as others do.
std::vector<StepInfo> steps_of(const Capture& capture, const TokenChoices& choices,
                               const std::vector<EnginePass>& passes) {
  const auto& rows = capture.activities;
  std::vector<Nanos> begins;
  for (const auto& pass : passes)
    begins.push_back(rows.start_ns[choices.sequence.rows[pass.begin]]);
  std::vector<double> before;
  for (std::size_t i = 1; i < passes.size(); ++i)
    before.push_back(static_cast<double>(begins[i] - end_of(rows, passes[i - 1].copy)));
  const auto usual = static_cast<Nanos>(std::max(0.0, median(before)));
  std::vector<StepInfo> steps;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    Nanos start = begins[i];
    if (i > 0) {
      const Nanos token = end_of(rows, passes[i - 1].copy);
      const bool pause =
          begins[i] - token > static_cast<Nanos>(kUnlike) * std::max(usual, kNsPerMs);
      start = pause ? begins[i] - usual : token;
    }
    const Nanos end = end_of(rows, passes[i].copy);
    if (end <= start) continue;
    steps.push_back({static_cast<std::int64_t>(steps.size()), start, end - start, false});
  }
  return steps;
}

}  // namespace

TokenChoices find_token_choices(const Capture& capture, const Names& names) {
  bool chooses = false;
  for (std::uint32_t i = 0; i < capture.strings.size(); ++i) {
    if (names.host(Text{i}) & (host_is::optimizer_step | host_is::backward)) return {};
    chooses = chooses || names.kernel(Text{i}) & kernel_is::chooses_token;
  }
  if (!chooses) return {};
  TokenChoices choices;
  choices.sequence = kernel_sequence(capture);
  enum class Kind : std::uint8_t { other, update, token, attention };
  const auto kind_of = [&](Text name) {
    const NameWord is = names.kernel(name);
    if (is & kernel_is::updates) return Kind::update;
    if (is & kernel_is::chooses_token) return Kind::token;
    return is & kernel_is::attends ? Kind::attention : Kind::other;
  };
  bool attends = false;
  Kind before = Kind::other;
  for (std::uint32_t position = 0; position < choices.sequence.rows.size(); ++position) {
    const Kind kind = kind_of(capture.activities.name[choices.sequence.rows[position]]);
    if (kind == Kind::update) return {};
    attends = attends || kind == Kind::attention;
    if (kind == Kind::token && before != kind) choices.positions.push_back(position);
    before = kind;
  }
  if (!attends) return {};  // classes of inputs, one after the other
  return choices;
}

namespace {

/// True if the choices are of several processes: their streams may share a number.
bool of_processes(const Capture& capture, const std::vector<std::uint32_t>& launch,
                  const TokenChoices& choices) {
  std::optional<std::int64_t> one;
  for (const auto position : choices.positions) {
    const auto row = choices.sequence.rows[position];
    const auto call = row < launch.size() ? launch[row] : kNoRow;
    if (call == kNoRow || capture.api_calls.thread[call] >= capture.threads.size()) continue;
    const auto pid = capture.threads.pid[capture.api_calls.thread[call]];
    if (one.value_or(pid) != pid) return true;
    one = pid;
  }
  return false;
}

/// True if the host fetches the tokens of several steps together: as much work lies before each
/// choice of a pass, where that of a draft lies before some and the check of them before another.
bool several_steps(const TokenChoices& choices, const std::vector<EnginePass>& passes) {
  constexpr std::uint32_t kAlikeTenths = 10;  // tenths of the longest
  std::size_t several = 0, alike = 0;
  for (const auto& pass : passes) {
    if (pass.choices < 2) continue;
    ++several;
    std::uint32_t least = UINT32_MAX, most = 0, before = pass.begin;
    const auto first = std::ranges::lower_bound(choices.positions, pass.begin);
    for (auto at = first; at != choices.positions.end() && *at < pass.end; ++at) {
      least = std::min(least, *at - before);
      most = std::max(most, *at - before);
      before = *at;
    }
    alike += kAlikeTenths * (most - least) <= most;
  }
  return 2 * alike > passes.size() && 2 * several > passes.size();
}

/// True if tokens are chosen on other streams or devices as well, and not in these steps, as ranks
/// of one engine do.
bool others_choose(const Capture& capture, const Names& names, const KernelOrder& sequence,
                   const std::vector<StepInfo>& steps) {
  constexpr std::size_t kFewOf = 10;
  const auto& rows = capture.activities;
  const auto first = sequence.rows.front();
  std::vector<std::size_t> inside(steps.size());
  std::size_t all = 0;
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    if (rows.kind[row] != ActivityKind::kernel ||
        (rows.device[row] == rows.device[first] && rows.stream[row] == rows.stream[first]) ||
        !(names.kernel(rows.name[row]) & kernel_is::chooses_token))
      continue;
    ++all;
    const auto after = std::ranges::upper_bound(steps, rows.start_ns[row], {}, &StepInfo::start_ns);
    if (after != steps.begin()) ++inside[static_cast<std::size_t>(after - steps.begin()) - 1];
  }
  if (kFewOf * all < steps.size()) return false;
  std::map<std::size_t, std::size_t> counts;
  for (const auto count : inside) ++counts[count];
  const auto usual =
      std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
  return usual->first == 0 || kFewOf * usual->second < (kFewOf - 1) * steps.size();
}

}  // namespace

Steps find_engine_steps(const Capture& capture, const std::vector<std::uint32_t>& launch,
                        const Names& names, const TokenChoices& choices) {
  if (choices.positions.size() < kFewestSteps || of_processes(capture, launch, choices)) return {};
  auto passes = engine_passes(capture, choices);
  if (passes.size() < kFewestSteps) return {};
  cut_start_up(choices, passes);
  if (several_steps(choices, passes)) return {};
  std::size_t held = 0;
  std::vector<double> counts, kernels;
  for (const auto& pass : passes) {
    held += pass.choices;
    counts.push_back(static_cast<double>(pass.choices));
    kernels.push_back(static_cast<double>(pass.end - pass.begin));
  }
  const auto [fewest, most] = std::ranges::minmax(kernels);
  if (median(counts) > kMostChoices || 2 * held < choices.positions.size() || fewest < 1 ||
      most > kUnlike * fewest)
    return {};
  Steps found;
  found.source = "sampler";
  found.sign = "a choice of tokens and their copy to the host";
  found.confidence = static_cast<double>(held) / static_cast<double>(choices.positions.size());
  found.steps = steps_of(capture, choices, passes);
  if (found.steps.size() != passes.size()) return {};
  if (others_choose(capture, names, choices.sequence, found.steps)) found.engines = 2;
  auto learned = learn_engine_work(capture, launch, names, choices, passes);
  found.work = std::move(learned.work);
  found.kind_confidence = learned.confidence;
  keep_known_tokens(found);
  for (std::size_t i = 0; i < found.work.size(); ++i)
    found.work[i].host = {found.steps[i].start_ns,
                          found.steps[i].start_ns + found.steps[i].duration_ns};
  // The host prepared the first one before its work began.
  if (!found.work.empty()) found.work.front().host.start -= found.steps.front().duration_ns;
  return found;
}

bool contradicts_choices(const Capture& capture, const TokenChoices& choices,
                         const std::vector<StepInfo>& steps) {
  if (choices.positions.size() < kFewestSteps || steps.size() < 2) return false;
  const auto& rows = capture.activities;
  const auto choices_before = [&](Nanos time) {
    return std::ranges::lower_bound(choices.positions, time, {},
                                    [&](std::uint32_t position) {
                                      return rows.start_ns[choices.sequence.rows[position]];
                                    }) -
           choices.positions.begin();
  };
  double held = 0;
  std::vector<double> counts, lengths;
  for (const auto& step : steps) {
    const auto inside = static_cast<double>(choices_before(step.start_ns + step.duration_ns) -
                                            choices_before(step.start_ns));
    held += inside;
    counts.push_back(inside);
    lengths.push_back(static_cast<double>(step.duration_ns));
  }
  const auto unlike = [](const std::vector<double>& values) {
    const auto [least, most] = std::ranges::minmax(values);
    return most > kUnlike * std::max(least, 1.0);
  };
  return 2 * held < static_cast<double>(choices.positions.size()) || unlike(counts) ||
         unlike(std::vector(lengths.begin() + 1, lengths.end()));  // the first may be start-up
}

}  // namespace gf
