#include "model/launches.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/order.h"
#include "model/captured_calls.h"

namespace gf {

namespace {

bool starts_work(ApiKind kind) {
  return kind == ApiKind::launch || kind == ApiKind::graph_launch || kind == ApiKind::memcpy ||
         kind == ApiKind::memset;
}

/// Calls by correlation. Sources count correlations upwards with holes, so that pages of an array,
/// made where there are calls, are both small and fast; numbers that are scattered beyond that are
/// sorted, as are further calls that share a number. Of those, one a process is kept, the one that
/// join_launches would choose: a file that repeats its numbers costs no more than another.
class CallIndex {
 public:
  explicit CallIndex(const Capture& capture) : capture_(capture), calls_(capture.api_calls) {
    const auto count = static_cast<std::uint32_t>(calls_.size());
    std::int64_t high = -1;
    low_ = INT64_MAX;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::int64_t correlation = calls_.correlation[i];
      if (correlation < 0) continue;
      low_ = std::min(low_, correlation);
      high = std::max(high, correlation);
    }
    if (high < 0) return;
    if (static_cast<std::uint64_t>(high - low_) / static_cast<std::uint64_t>(kPage) <
        count + 1024ull) {
      page_.assign(static_cast<std::size_t>(high - low_) / kPage + 1, kNoRow);
      std::uint32_t pages = 0;
      for (std::uint32_t i = 0; i < count; ++i)
        if (calls_.correlation[i] >= 0)
          if (auto& page = page_[static_cast<std::size_t>(calls_.correlation[i] - low_) / kPage];
              page == kNoRow)
            page = pages++;
      first_.assign(pages * kPage, kNoRow);
      for (std::uint32_t i = 0; i < count; ++i) {
        if (calls_.correlation[i] < 0) continue;
        const auto at = static_cast<std::size_t>(calls_.correlation[i] - low_);
        auto& first = first_[page_[at / kPage] * kPage + at % kPage];
        if (first == kNoRow)
          first = i;
        else
          sorted_.push_back(i);
      }
    } else {
      for (std::uint32_t i = 0; i < count; ++i)
        if (calls_.correlation[i] >= 0) sorted_.push_back(i);
    }
    keep_one_a_process();
  }

  std::int64_t pid_of(std::uint32_t call) const {
    const auto& threads = capture_.threads;
    if (calls_.thread[call] < threads.size()) return threads.pid[calls_.thread[call]];
    return -1;
  }

  /// f(row) for calls with this correlation: the first, then of each process the best of the
  /// others.
  template <class F>
  void each(std::int64_t correlation, F&& apply) const {
    if (!page_.empty()) {
      const auto at = static_cast<std::uint64_t>(correlation) - static_cast<std::uint64_t>(low_);
      if (correlation < low_ || at / kPage >= page_.size() || page_[at / kPage] == kNoRow) return;
      const auto first = first_[page_[at / kPage] * kPage + at % kPage];
      if (first == kNoRow) return;
      apply(first);
    }
    auto at = std::lower_bound(sorted_.begin(), sorted_.end(), correlation,
                               [&](auto row, auto call) { return calls_.correlation[row] < call; });
    for (; at != sorted_.end() && calls_.correlation[*at] == correlation; ++at) apply(*at);
  }

 private:
  void keep_one_a_process() {
    sort_nearly_ordered(sorted_.begin(), sorted_.end(),
                        [&](auto left, auto right) { return rank(left) < rank(right); });
    const auto same = [&](auto left, auto right) {
      return calls_.correlation[left] == calls_.correlation[right] && pid_of(left) == pid_of(right);
    };
    sorted_.erase(std::unique(sorted_.begin(), sorted_.end(), same), sorted_.end());
  }

  /// Calls that start work before others of their process, then by row.
  std::tuple<std::int64_t, std::int64_t, bool, std::uint32_t> rank(std::uint32_t call) const {
    return {calls_.correlation[call], pid_of(call), !starts_work(calls_.kind[call]), call};
  }

  static constexpr std::size_t kPage = 64;
  const Capture& capture_;
  const api_calls_table& calls_;
  std::int64_t low_ = 0;
  std::vector<std::uint32_t> page_,
      first_;  // page of a block of correlations; first call by page and correlation
  std::vector<std::uint32_t>
      sorted_;  // by rank: further calls with a number that has one; without pages, all
};

}  // namespace

bool waits_for_device(std::string_view call) {
  return call.find("DeviceSynchronize") != call.npos || call == "cuCtxSynchronize";
}

Launches join_launches(const Capture& capture) {
  if (capture.launches) return Launches(capture.launches);
  const auto& activities = capture.activities;
  const auto& calls = capture.api_calls;
  std::vector<std::uint32_t> launch(activities.size(), kNoRow);
  const CallIndex index(capture);
  for (std::uint32_t activity = 0; activity < launch.size(); ++activity) {
    if (activities.correlation[activity] < 0) continue;
    const std::int64_t pid = activities.pid[activity];
    index.each(activities.correlation[activity], [&](std::uint32_t call) {
      if (pid >= 0)
        if (const auto of_call = index.pid_of(call); of_call >= 0 && of_call != pid) return;
      const auto best = launch[activity];
      const bool starts = starts_work(calls.kind[call]),
                 has_start = best != kNoRow && starts_work(calls.kind[best]);
      if (best == kNoRow || (starts && !has_start) || (starts == has_start && call < best))
        launch[activity] = call;
    });
  }
  return Launches(std::make_shared<const Launches::Rows>(std::move(launch)));
}

namespace {

enum class Border : std::uint8_t { none, begins, ends };

Border border_of(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  if (has("StreamBeginCapture") || has("capture_begin")) return Border::begins;
  return has("StreamEndCapture") || has("capture_end") ? Border::ends : Border::none;
}

struct Edge {
  Nanos at;
  bool begins;
};

/// Nested frames of one capture (the method and the Python function around it) are one; a capture
/// whose end was not recorded is none.
Intervals between(std::vector<Edge> edges) {
  std::sort(edges.begin(), edges.end(), [](const Edge& left, const Edge& right) {
    return std::tuple(left.at, left.begins) < std::tuple(right.at, right.begins);
  });
  Intervals captures;
  bool open = false;
  for (const auto& edge : edges) {
    if (edge.begins) {
      if (open)
        captures.back().start = edge.at;
      else
        captures.push_back({edge.at, INT64_MAX});
      open = true;
    } else if (open) {
      captures.back().end = edge.at;
      open = false;
    }
  }
  if (open) captures.pop_back();
  return normalised(std::move(captures));
}

/// The captured runs of each thread of a recording: from a captured launch to the last one before
/// another one runs or the thread waits for the device.
std::vector<Intervals> captured_runs(const Capture& capture) {
  if (capture.recording_windows.empty()) return {};  // no recording
  const auto& calls = capture.api_calls;
  struct Call {
    Interval span;
    bool captured;
  };
  std::vector<std::vector<Call>> of_thread(capture.threads.size());
  bool any = false;
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    const ApiKind kind = calls.kind[call];
    const bool captured = is_captured_launch(capture, call);
    const bool breaks =
        kind == ApiKind::launch || kind == ApiKind::graph_launch || kind == ApiKind::sync;
    if ((!captured && !breaks) || calls.thread[call] >= of_thread.size()) continue;
    const Nanos start = calls.start_ns[call];
    of_thread[calls.thread[call]].push_back({{start, start + calls.duration_ns[call]}, captured});
    any |= captured;
  }
  if (!any) return {};
  std::vector<Intervals> runs(of_thread.size());
  for (std::size_t thread = 0; thread < of_thread.size(); ++thread) {
    std::ranges::stable_sort(of_thread[thread], {},
                             [](const Call& call) { return call.span.start; });
    bool open = false;
    for (const auto& [span, captured] : of_thread[thread]) {
      if (captured && open)
        runs[thread].back().end = span.end;
      else if (captured)
        runs[thread].push_back(span);
      open = captured;
    }
    runs[thread] = normalised(std::move(runs[thread]));
  }
  return runs;
}

}  // namespace

GraphCaptures::GraphCaptures(const Capture& capture) {
  std::vector<Border> border(capture.strings.size(), Border::none);
  bool any = false;
  for (std::uint32_t text = 0; text < border.size(); ++text) {
    border[text] = border_of(capture.text(Text{text}));
    any = any || border[text] == Border::begins;
  }
  if (!any) {
    of_thread_ = captured_runs(capture);
    for (const auto& runs : of_thread_) of_any_.insert(of_any_.end(), runs.begin(), runs.end());
    of_any_ = normalised(std::move(of_any_));
    return;
  }
  std::vector<std::vector<Edge>> edges(capture.threads.size());
  const auto add = [&](const auto& table) {
    for (std::uint32_t row = 0; row < table.size(); ++row) {
      const Border kind = border[static_cast<std::uint32_t>(table.name[row])];
      if (kind == Border::none || table.thread[row] >= edges.size()) continue;
      const bool begins = kind == Border::begins;
      const Nanos length = begins ? Nanos{table.duration_ns[row]} : 0;
      edges[table.thread[row]].push_back({table.start_ns[row] + length, begins});
    }
  };
  add(capture.host_ops);
  add(capture.api_calls);
  for (auto& of_thread : edges) {
    of_thread_.push_back(between(std::move(of_thread)));
    of_any_.insert(of_any_.end(), of_thread_.back().begin(), of_thread_.back().end());
  }
  of_any_ = normalised(std::move(of_any_));
}

bool GraphCaptures::at(std::span<const std::uint32_t> threads, Nanos time) const {
  if (of_thread_.empty()) return false;
  return std::any_of(threads.begin(), threads.end(), [&](std::uint32_t thread) {
    return member_at(of_thread_[thread], time) != nullptr;
  });
}

}  // namespace gf
