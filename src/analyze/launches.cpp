#include "analyze/launches.h"

#include <algorithm>
#include <tuple>

#include "core/order.h"

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
    const auto n = static_cast<std::uint32_t>(calls_.size());
    std::int64_t high = -1;
    low_ = INT64_MAX;
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::int64_t c = calls_.correlation[i];
      if (c < 0) continue;
      low_ = std::min(low_, c);
      high = std::max(high, c);
    }
    if (high < 0) return;
    if (static_cast<std::uint64_t>(high - low_) / kPage < n + 1024ull) {
      page_.assign(static_cast<std::size_t>((high - low_) / kPage + 1), kNoRow);
      std::uint32_t pages = 0;
      for (std::uint32_t i = 0; i < n; ++i)
        if (calls_.correlation[i] >= 0)
          if (auto& page = page_[static_cast<std::size_t>(calls_.correlation[i] - low_) / kPage];
              page == kNoRow)
            page = pages++;
      first_.assign(pages * kPage, kNoRow);
      for (std::uint32_t i = 0; i < n; ++i) {
        if (calls_.correlation[i] < 0) continue;
        const auto at = static_cast<std::size_t>(calls_.correlation[i] - low_);
        auto& first = first_[page_[at / kPage] * kPage + at % kPage];
        if (first == kNoRow)
          first = i;
        else
          sorted_.push_back(i);
      }
    } else {
      for (std::uint32_t i = 0; i < n; ++i)
        if (calls_.correlation[i] >= 0) sorted_.push_back(i);
    }
    keep_one_a_process();
  }

  std::int64_t pid_of(std::uint32_t call) const {
    const auto& threads = capture_.threads;
    return calls_.thread[call] < threads.size() ? threads.pid[calls_.thread[call]] : -1;
  }

  /// f(row) for calls with this correlation: the first, then of each process the best of the
  /// others.
  template <class F>
  void each(std::int64_t correlation, F&& f) const {
    if (!page_.empty()) {
      const auto at = static_cast<std::uint64_t>(correlation) - static_cast<std::uint64_t>(low_);
      if (correlation < low_ || at / kPage >= page_.size() || page_[at / kPage] == kNoRow) return;
      const auto first = first_[page_[at / kPage] * kPage + at % kPage];
      if (first == kNoRow) return;
      f(first);
    }
    auto at = std::lower_bound(sorted_.begin(), sorted_.end(), correlation,
                               [&](auto row, auto c) { return calls_.correlation[row] < c; });
    for (; at != sorted_.end() && calls_.correlation[*at] == correlation; ++at) f(*at);
  }

 private:
  void keep_one_a_process() {
    sort_nearly_ordered(sorted_.begin(), sorted_.end(),
                        [&](auto a, auto b) { return rank(a) < rank(b); });
    const auto same = [&](auto a, auto b) {
      return calls_.correlation[a] == calls_.correlation[b] && pid_of(a) == pid_of(b);
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

std::vector<std::uint32_t> join_launches(const Capture& capture) {
  const auto& activities = capture.activities;
  const auto& calls = capture.api_calls;
  std::vector<std::uint32_t> launch(activities.size(), kNoRow);
  const CallIndex index(capture);
  for (std::uint32_t a = 0; a < launch.size(); ++a) {
    if (activities.correlation[a] < 0) continue;
    const std::int64_t pid = activities.pid[a];
    index.each(activities.correlation[a], [&](std::uint32_t call) {
      if (pid >= 0)
        if (const auto of_call = index.pid_of(call); of_call >= 0 && of_call != pid) return;
      const auto best = launch[a];
      const bool starts = starts_work(calls.kind[call]),
                 has_start = best != kNoRow && starts_work(calls.kind[best]);
      if (best == kNoRow || (starts && !has_start) || (starts == has_start && call < best))
        launch[a] = call;
    });
  }
  return launch;
}

}  // namespace gf
