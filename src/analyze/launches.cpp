#include "analyze/launches.h"

#include <algorithm>

namespace gf {

namespace {

bool starts_work(ApiKind kind) {
  return kind == ApiKind::launch || kind == ApiKind::graph_launch || kind == ApiKind::memcpy || kind == ApiKind::memset;
}

/// Calls by correlation: an array when the numbers are dense, which they are in every known source, else sorted rows.
/// Calls of several processes may share a number; they are chained from the earlier to the later row.
class CallIndex {
 public:
  explicit CallIndex(const Capture& capture) : calls_(capture.api_calls) {
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
    if (static_cast<std::uint64_t>(high - low_) < 4ull * n + 1024) {
      first_.assign(static_cast<std::size_t>(high - low_ + 1), kNoRow);
      next_.assign(n, kNoRow);
      for (std::uint32_t i = n; i-- > 0;) {
        if (calls_.correlation[i] < 0) continue;
        auto& head = first_[static_cast<std::size_t>(calls_.correlation[i] - low_)];
        next_[i] = head;
        head = i;
      }
    } else {
      sorted_.reserve(n);
      for (std::uint32_t i = 0; i < n; ++i)
        if (calls_.correlation[i] >= 0) sorted_.push_back(i);
      std::stable_sort(sorted_.begin(), sorted_.end(), [&](auto a, auto b) { return calls_.correlation[a] < calls_.correlation[b]; });
    }
  }

  /// f(row) for every call with this correlation, by row.
  template <class F>
  void each(std::int64_t correlation, F&& f) const {
    if (!first_.empty()) {
      const auto at = static_cast<std::uint64_t>(correlation) - static_cast<std::uint64_t>(low_);
      if (correlation < low_ || at >= first_.size()) return;
      for (auto i = first_[at]; i != kNoRow; i = next_[i]) f(i);
    } else {
      auto at = std::lower_bound(sorted_.begin(), sorted_.end(), correlation, [&](auto row, auto c) { return calls_.correlation[row] < c; });
      for (; at != sorted_.end() && calls_.correlation[*at] == correlation; ++at) f(*at);
    }
  }

 private:
  const api_calls_table& calls_;
  std::int64_t low_ = 0;
  std::vector<std::uint32_t> first_, next_, sorted_;
};

}  // namespace

std::vector<std::uint32_t> join_launches(const Capture& capture) {
  const auto& activities = capture.activities;
  const auto& calls = capture.api_calls;
  std::vector<std::uint32_t> launch(activities.size(), kNoRow);
  const CallIndex index(capture);
  auto pid_of = [&](std::uint32_t call) { return calls.thread[call] < capture.threads.size() ? capture.threads.pid[calls.thread[call]] : -1; };
  for (std::uint32_t a = 0; a < launch.size(); ++a) {
    if (activities.correlation[a] < 0) continue;
    const std::int64_t pid = activities.pid[a];
    index.each(activities.correlation[a], [&](std::uint32_t call) {
      if (pid >= 0 && pid_of(call) >= 0 && pid_of(call) != pid) return;
      if (launch[a] == kNoRow || (!starts_work(calls.kind[launch[a]]) && starts_work(calls.kind[call]))) launch[a] = call;
    });
  }
  return launch;
}

}  // namespace gf
