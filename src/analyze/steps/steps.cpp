#include "analyze/steps/steps.h"

#include <algorithm>
#include <numeric>

namespace gf {

namespace {

/// Steps that the source itself numbered (a recorder, a device's step line): each lasts until the
/// next one starts.
std::vector<StepInfo> recorded_steps(const Capture& capture) {
  const auto& table = capture.steps;
  std::vector<std::uint32_t> order(table.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return table.start_ns[a] < table.start_ns[b]; });
  std::vector<StepInfo> steps;
  for (auto row : order) {
    if (!steps.empty() && table.start_ns[row] == steps.back().start_ns) continue;
    if (!steps.empty()) steps.back().duration_ns = table.start_ns[row] - steps.back().start_ns;
    steps.push_back({table.index[row], table.start_ns[row], table.duration_ns[row], false});
  }
  return steps;
}

}  // namespace

Steps find_steps(const Capture& capture, const std::vector<std::uint32_t>& launch,
                 const HostThreads& host) {
  Steps found;
  if (!capture.steps.empty()) {
    const auto name = capture.text(capture.steps.name[0]);
    found.steps = recorded_steps(capture);
    found.source =
        "marks:" + (name.empty() ? std::string("steps of the source") : std::string(name));
  } else if (const StepMarks marks = find_marks(capture); !marks.marks.empty()) {
    found.steps = steps_on_device(capture, launch, marks);
    found.source = "marks:" + marks.family;
  }
  if (found.steps.empty()) found = find_period(capture, launch, host);
  if (const auto stable = first_stable(found.steps))
    for (std::size_t i = *stable; i < found.steps.size(); ++i) found.steps[i].stable = true;
  return found;
}

}  // namespace gf
