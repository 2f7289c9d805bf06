// Losses of serving engines: which steps they run, and how full these are.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "analyze/findings/engine_steps.h"
#include "analyze/findings/rules.h"

namespace gf::trace_rules {
namespace {

constexpr std::size_t kFewestOfKind = 4;  // steps of a kind, to say anything of it

bool is_decode(const EngineStep& step) { return step.kind == StepKind::decode; }

std::string instead_of(Nanos one, Nanos other) {
  return fmt::format("{} instead of {}", say_time(one), say_time(other));
}

/// "33 to 60 tokens"; empty where a step does not say.
std::string sizes_of(const EngineSteps& steps) {
  std::int64_t least = INT64_MAX, most = 0;
  for (const auto* step : steps) {
    const auto tokens = step->run_tokens ? step->run_tokens : step->tokens;
    if (!tokens) return {};
    least = std::min(least, *tokens);
    most = std::max(most, *tokens);
  }
  if (least == most) return ", of " + plural(most, "token");
  return fmt::format(", of {} to {}", least, plural(most, "token"));
}

/// Idle time inside of steps, summed over the devices.
Nanos idle_in_steps(const Facts& facts, const EngineSteps& steps) {
  Nanos idle = 0;
  for (const auto& line : facts.context.devices)
    for (const auto* step : steps)
      idle += line.idle_in({step->start_ns, step->start_ns + step->duration_ns});
  return idle;
}

/// Nanoseconds that a token more makes a step longer, by least squares.
std::optional<double> each_token(const EngineSteps& steps) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  std::set<std::int64_t> sizes;
  for (const auto* step : steps) {
    const auto tokens = static_cast<double>(*step->run_tokens);
    const auto time = static_cast<double>(step->duration_ns);
    n += 1;
    x += tokens;
    y += time;
    xx += tokens * tokens;
    xy += tokens * time;
    sizes.insert(*step->run_tokens);
  }
  if (sizes.size() < 2) return std::nullopt;
  return (n * xy - x * y) / (n * xx - x * x);
}

}  // namespace

std::optional<Said> eager_decodes(const Facts& facts) {
  const auto graphs =
      steps_that(facts, [](const auto& step) { return is_decode(step) && step.graph; });
  const auto eager =
      steps_that(facts, [](const auto& step) { return is_decode(step) && !step.graph; });
  if (graphs.size() < kFewestOfKind || eager.size() < kFewestOfKind) return {};
  const Nanos with = middle_of(graphs), without = middle_of(eager);
  const Nanos gain = on_devices(facts, time_of(eager) - with * static_cast<Nanos>(eager.size()));
  if (facts.of_window(gain) < 0.02) return {};
  return Said{
      fmt::format("{} of {}{} run without a CUDA graph, {}. Capture graphs for their sizes, too.",
                  eager.size(), plural(eager.size() + graphs.size(), "decode step"),
                  sizes_of(eager), instead_of(without, with)),
      fmt::format("those with a graph{}", sizes_of(graphs)), gain};
}

std::optional<Said> graph_padding(const Facts& facts) {
  const auto padded = steps_that(facts, [](const EngineStep& step) {
    return is_decode(step) && step.graph && step.run_tokens && step.tokens &&
           *step.run_tokens >= *step.tokens;
  });
  if (padded.size() < kFewestOfKind) return {};
  std::int64_t run = 0, real = 0;
  for (const auto* step : padded) {
    run += *step->run_tokens;
    real += *step->tokens;
  }
  const double share = run > 0 ? static_cast<double>(run - real) / static_cast<double>(run) : 0;
  const auto slope = each_token(padded);
  if (share < 0.2 || !slope || *slope <= 0) return {};
  const auto gain = on_devices(facts, static_cast<Nanos>(*slope * static_cast<double>(run - real)));
  if (facts.of_window(gain) < 0.02) return {};
  return Said{
      fmt::format("{} of the tokens in decode steps are padding up to the sizes of CUDA graphs. "
                  "Capture graphs of more sizes, closer to the batches that come.",
                  say_share(share)),
      fmt::format("{} run for {} in {}; a token more takes {}", plural(run, "token"), real,
                  plural(padded.size(), "step"), say_time(static_cast<Nanos>(*slope))),
      gain};
}

std::optional<Said> small_decodes(const Facts& facts) {
  constexpr std::int64_t kSmall = 4;
  const auto steps =
      steps_that(facts, [](const auto& step) { return is_decode(step) && step.requests; });
  if (steps.size() < 2 * kFewestOfKind) return {};
  const Nanos time = time_of(steps);
  if (facts.of_window(on_devices(facts, time)) < 0.5) return {};
  std::vector<double> batches;
  for (const auto* step : steps) batches.push_back(static_cast<double>(*step->requests));
  const auto batch = static_cast<std::int64_t>(median(std::move(batches)));
  if (batch > kSmall) return {};
  return Said{
      fmt::format("A decode step holds {} (p50), and reads all weights for them: a step of more "
                  "requests takes little longer. Send more requests at once, raise the limit of "
                  "running requests, or draft tokens (speculative decoding).",
                  plural(batch, "request")),
      fmt::format("{} of decode steps, {} of the time", say_time(time),
                  say_share(facts.of_window(on_devices(facts, time))))};
}

std::optional<Said> prompts_block_decodes(const Facts& facts) {
  constexpr std::size_t kFew = 3;
  constexpr Nanos kTimes = 3;  // longer than a decode step
  const auto decode = steps_that(facts, is_decode);
  if (decode.size() < kFewestOfKind) return {};
  const Nanos usual = middle_of(decode);
  EngineSteps blocking;  // beside or between decodes of requests that wait for them
  EngineSteps prompts;
  std::int64_t ended = 0;
  bool running = false;
  for (const auto& step : facts.analysis.serving->steps) {
    if (step.kind == StepKind::prefill || step.kind == StepKind::chunked) {
      prompts.push_back(&step);
      ended += step.generated.value_or(0);
      continue;
    }
    if (running && step.decodes && *step.decodes > ended)
      blocking.insert(blocking.end(), prompts.begin(), prompts.end());
    if (step.kind == StepKind::mixed && step.decodes.value_or(0) > 0) blocking.push_back(&step);
    running = gives_tokens(step);
    prompts.clear();
    ended = 0;
  }
  std::erase_if(blocking,
                [&](const EngineStep* step) { return step->duration_ns < kTimes * usual; });
  if (blocking.size() < kFew) return {};
  const Nanos time = time_of(blocking);
  if (facts.of_window(on_devices(facts, time)) < 0.1) return {};
  // Where the GPU idles in them, it is not the prompts that take the time.
  if (2 * idle_in_steps(facts, blocking) > on_devices(facts, time)) return {};
  const bool mixed = std::ranges::any_of(
      blocking, [](const EngineStep* step) { return step->kind == StepKind::mixed; });
  return Said{
      fmt::format(
          "Prompts hold up requests that decode: {} of {}, where a decode step takes {}. {}",
          plural(blocking.size(), "step"), say_time(middle_of(blocking)), say_time(usual),
          mixed ? "Take fewer tokens of a prompt into a step."
                : "Cut prompts into chunks that run beside the decodes (chunked prefill), "
                  "or run them on other GPUs."),
      fmt::format("{} of such steps, {} of the time", say_time(time),
                  say_share(facts.of_window(on_devices(facts, time))))};
}

std::optional<Said> refused_drafts(const Facts& facts) {
  const auto steps = steps_that(facts, [](const EngineStep& step) {
    const auto tokens = step.tokens ? step.tokens : step.run_tokens;
    return step.kind == StepKind::speculative && step.generated && step.requests && tokens &&
           *tokens > *step.requests;
  });
  if (steps.size() < kFewestOfKind || facts.of_window(on_devices(facts, time_of(steps))) < 0.1)
    return {};
  std::int64_t drafted = 0, kept = 0;
  for (const auto* step : steps) {
    drafted += (step->tokens ? *step->tokens : *step->run_tokens) - *step->requests;
    kept += *step->generated - *step->requests;
  }
  const double refused = 1 - static_cast<double>(kept) / static_cast<double>(drafted);
  if (refused < 0.6) return {};
  return Said{
      fmt::format("{} of the tokens that drafts propose are refused. Draft fewer tokens a step, or "
                  "take a draft that is closer to the model.",
                  say_share(refused)),
      fmt::format("{} of {} kept in {}", std::max<std::int64_t>(0, kept),
                  plural(drafted, "drafted token"), plural(steps.size(), "step"))};
}

}  // namespace gf::trace_rules
