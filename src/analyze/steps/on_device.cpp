#include <algorithm>

#include "analyze/steps/steps.h"

namespace gf {

namespace {

/// What the device did for each mark.
struct MarkWork {
  std::vector<Nanos> first;       // start of the first kernel launched in it
  std::vector<Nanos> first_copy;  // start of the first activity of any kind
  std::vector<Nanos> last;        // end of the last activity
  std::vector<Nanos> last_kernel;

  explicit MarkWork(std::size_t marks)
      : first(marks, INT64_MAX),
        first_copy(marks, INT64_MAX),
        last(marks, INT64_MIN),
        last_kernel(marks, INT64_MIN) {}

  /// A copy that fetches the next batch ahead is not the work that the step begins with.
  Nanos begins(std::size_t mark) const {
    return first[mark] != INT64_MAX ? first[mark] : first_copy[mark];
  }
};

MarkWork work_of_marks(const Capture& capture, const std::vector<std::uint32_t>& launch,
                       const StepMarks& marks) {
  const auto& all = marks.marks;
  MarkWork work(all.size());
  const auto& activities = capture.activities;
  const auto& calls = capture.api_calls;
  for (std::uint32_t a = 0; a < launch.size(); ++a) {
    if (launch[a] == kNoRow) continue;
    const auto thread = calls.thread[launch[a]];
    const bool of_process = marks.pid < 0 || thread >= capture.threads.size() ||
                            capture.threads.pid[thread] == marks.pid;
    if (!of_process) continue;
    const Nanos at = calls.start_ns[launch[a]];
    // Where marks overlap, a launch belongs to the one that began last.
    auto mark = std::upper_bound(all.begin(), all.end(), at,
                                 [](Nanos t, const StepMark& m) { return t < m.start; });
    if (mark == all.begin() || at >= (--mark)->end) continue;
    const auto i = static_cast<std::size_t>(mark - all.begin());
    const Nanos start = activities.start_ns[a], end = start + activities.duration_ns[a];
    work.first_copy[i] = std::min(work.first_copy[i], start);
    work.last[i] = std::max(work.last[i], end);
    if (activities.kind[a] != ActivityKind::kernel) continue;
    work.first[i] = std::min(work.first[i], start);
    work.last_kernel[i] = std::max(work.last_kernel[i], end);
  }
  return work;
}

/// When the device had done what was launched before the first mark (or had begun before it).
Nanos earlier_work(const Capture& capture, const std::vector<std::uint32_t>& launch, Nanos mark) {
  Nanos end = INT64_MIN;
  const auto& a = capture.activities;
  for (std::uint32_t i = 0; i < launch.size(); ++i) {
    const bool known = launch[i] != kNoRow;
    const Nanos begun = known ? capture.api_calls.start_ns[launch[i]] : a.start_ns[i];
    if (begun < mark) end = std::max(end, a.start_ns[i] + a.duration_ns[i]);
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
    if (steps.empty()) free_at = earlier_work(capture, launch, all[i].start);
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
