#include "analyze/serving/serving.h"

#include <algorithm>
#include <array>
#include <vector>

#include "analyze/serving/parts.h"

namespace gf {

namespace serving {

void Lengths::add(Nanos length, std::int64_t times) {
  if (times <= 0) return;
  all_.emplace_back(length, times);
  count_ += times;
  sorted_ = false;
}

Nanos Lengths::at(std::int64_t percent) {
  if (!sorted_) std::ranges::sort(all_);
  sorted_ = true;
  std::int64_t left = (count_ * percent + 99) / 100;
  for (const auto& [length, times] : all_)
    if ((left -= times) <= 0) return length;
  return all_.back().first;
}

}  // namespace serving

namespace {

using serving::Lengths;
using serving::span_of;

bool has_decodes(const EngineStep& step) {
  return step.kind == StepKind::decode || step.kind == StepKind::mixed ||
         step.kind == StepKind::speculative;
}

/// The steps of the window, and the spans of their marks.
struct Inside {
  std::vector<EngineStep> steps;
  serving::RequestMarks marks;
};
Inside steps_inside(const WindowInfo& window, const Steps& steps) {
  Inside inside;
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    const StepInfo& step = steps.steps[i];
    const EngineWork& work = steps.work[i];
    // A mark may begin before the window's first activity, and end behind the last one.
    const Nanos middle = step.start_ns + step.duration_ns / 2;
    if (step.role == StepRole::start_up || middle < window.start_ns || middle >= window.end_ns)
      continue;
    inside.steps.push_back({step.index, step.start_ns, step.duration_ns, work.kind, work.run_tokens,
                            work.tokens, work.requests, work.decodes, work.generated, work.graph});
    inside.marks.host.push_back(work.host);
  }
  if (steps.engines > 1) inside.marks.thread = steps.thread;
  return inside;
}

/// Times between two tokens of a request: each request that goes on had its last token from the
/// step before that gave one to those that decode, or from the prompts that ended since. None
/// where a step does not say how many go on.
Lengths between_tokens(const std::vector<EngineStep>& steps) {
  Lengths lengths;
  std::vector<std::pair<Nanos, std::int64_t>> begun;  // prompts that ended since
  std::optional<Nanos> before;
  for (const auto& step : steps) {
    const Nanos end = span_of(step).end;
    if (step.kind == StepKind::chunked) continue;
    if (step.kind == StepKind::prefill && step.generated) {
      begun.emplace_back(end, *step.generated);
      continue;
    }
    if ((step.kind != StepKind::decode && step.kind != StepKind::mixed) || !step.decodes) return {};
    std::int64_t left = *step.decodes;
    for (auto since = begun.rbegin(); since != begun.rend(); ++since) {
      const auto times = std::min(left, since->second);
      lengths.add(end - since->first, times);
      left -= times;
    }
    if (before) lengths.add(end - *before, left);
    begun.clear();
    before = end;
  }
  return lengths;
}

struct Percentiles {
  std::optional<Nanos> p50, p90, p99;
};
Percentiles percentiles(Lengths lengths) {
  if (lengths.empty()) return {};
  return {lengths.at(50), lengths.at(90), lengths.at(99)};
}

void put_batches(Serving& serving) {
  Lengths batch;
  for (const auto& step : serving.steps) {
    if (!has_decodes(step)) continue;
    if (!step.requests) return;
    batch.add(*step.requests, 1);
  }
  if (batch.empty()) return;
  serving.batch_p50 = batch.at(50);
  serving.batch_most = batch.at(100);
}

void put_tokens(const serving::Joules& joules, Serving& serving) {
  const Interval span{serving.steps.front().start_ns, span_of(serving.steps.back()).end};
  serving.duration_ns = span.length();
  if (serving.engines > 1) return;
  std::int64_t generated = 0;
  for (const auto& step : serving.steps) {
    if (!step.generated) return;
    generated += *step.generated;
  }
  serving.generated = generated;
  if (span.length() <= 0) return;
  const auto count = static_cast<double>(generated);
  serving.tokens_per_second = count * kNsPerSecond / static_cast<double>(span.length());
  if (const auto energy = joules.nanojoules(span); energy && generated > 0)
    serving.joules_per_token = static_cast<double>(*energy) * 1e-9 / count;
}

/// The cost of prompts for the requests that decode beside them.
void put_mixed(Serving& serving) {
  const auto median_of = [&](StepKind kind) -> std::optional<Nanos> {
    const auto use = std::ranges::find(serving.kinds, kind, &StepKindUse::kind);
    if (use == serving.kinds.end()) return std::nullopt;
    return use->p50_ns;
  };
  const auto mixed = median_of(StepKind::mixed), decode = median_of(StepKind::decode);
  if (mixed && decode) serving.mixed_longer_ns = *mixed - *decode;
}

}  // namespace

std::optional<Serving> measure_serving(const Context& context, const Steps& steps) {
  if (std::ranges::all_of(steps.work,
                          [](const EngineWork& work) { return work.kind == StepKind::unknown; }))
    return std::nullopt;
  auto inside = steps_inside(context.window, steps);
  if (inside.steps.empty()) return std::nullopt;
  Serving serving;
  serving.source = steps.source;
  serving.engines = steps.engines;
  serving.kind_confidence = steps.kind_confidence;
  serving.steps = std::move(inside.steps);
  const serving::Joules joules(context, serving.engines);
  serving.requests = serving::served_requests(context.capture, inside.marks, joules, serving.steps);
  serving.kinds = serving::use_by_kind(context, serving.steps, serving.engines, joules);
  put_tokens(joules, serving);
  put_batches(serving);
  put_mixed(serving);
  const auto between = percentiles(between_tokens(serving.steps));
  serving.between_p50_ns = between.p50;
  serving.between_p90_ns = between.p90;
  serving.between_p99_ns = between.p99;
  Lengths first;
  for (const auto& request : serving.requests)
    if (request.first_token_ns) first.add(*request.first_token_ns, 1);
  const auto until = percentiles(std::move(first));
  serving.first_p50_ns = until.p50;
  serving.first_p90_ns = until.p90;
  serving.first_p99_ns = until.p99;
  return serving;
}

}  // namespace gf
