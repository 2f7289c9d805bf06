// The parts that serving.cpp puts together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/context.h"
#include "analyze/energy/power_curve.h"
#include "analyze/result.h"
#include "analyze/steps/steps.h"
#include "core/intervals.h"

namespace gf::serving {

inline constexpr auto kStepKinds = EnumNames<StepKind>::names.size();

inline Interval span_of(const EngineStep& step) {
  return {step.start_ns, step.start_ns + step.duration_ns};
}

/// Lengths, each as often as it counts; nearest rank.
class Lengths {
 public:
  void add(Nanos length, std::int64_t times);
  bool empty() const { return all_.empty(); }
  /// Needs some.
  Nanos at(std::int64_t percent);

 private:
  std::vector<std::pair<Nanos, std::int64_t>> all_;
  std::int64_t count_ = 0;
  bool sorted_ = true;
};

/// Energy of all devices together; none where one of them has no readings, or several engines share
/// it.
class Joules {
 public:
  Joules(const Context& context, std::int64_t engines);
  std::optional<std::int64_t> nanojoules(Interval span) const;
  /// By place in EnumNames<StepKind>: what steps of a kind took, by least squares over the sensor's
  /// readings. Empty where these do not tell the kinds apart.
  std::vector<double> by_kind(const std::vector<EngineStep>& steps) const;

 private:
  std::vector<PowerCurve> curves_;
};

/// By kind, those that take most first.
std::vector<StepKindUse> use_by_kind(const Context& context, const std::vector<EngineStep>& steps,
                                     std::int64_t engines, const Joules& joules);

/// Marks of requests: inside these spans of the host, and of this thread; kNoRow: of any.
struct RequestMarks {
  std::vector<Interval> host;  // of each step its mark
  std::uint32_t thread = kNoRow;
};

/// Requests that marks name, by their first step. Steps get the tokens that their marks say were
/// kept of a draft.
std::vector<ServedRequest> served_requests(const Capture& capture, const RequestMarks& where,
                                           const Joules& joules, std::vector<EngineStep>& steps);

}  // namespace gf::serving
