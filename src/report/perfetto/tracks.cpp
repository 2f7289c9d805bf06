#include "report/perfetto/tracks.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace gf::perfetto {

namespace {

/// The first of many tracks on which a span can be drawn: one that is free, or whose innermost open
/// span ends no earlier. A tree of the latest ends finds it without asking each.
class Tracks {
 public:
  /// The end of the innermost open span of a track; kFree without one.
  static constexpr Nanos kFree = INT64_MAX;

  std::uint32_t first_that_holds(Nanos end) {
    if (latest_[1] < end) grow();
    std::size_t node = 1;
    while (node < leaves_) {
      node *= 2;
      if (latest_[node] < end) ++node;
    }
    return static_cast<std::uint32_t>(node - leaves_);
  }
  void set(std::uint32_t track, Nanos end) {
    std::size_t node = leaves_ + track;
    latest_[node] = end;
    for (node /= 2; node > 0; node /= 2)
      latest_[node] = std::max(latest_[2 * node], latest_[2 * node + 1]);
  }

 private:
  void grow() {
    const std::vector<Nanos> old(latest_.begin() + static_cast<std::ptrdiff_t>(leaves_),
                                 latest_.end());
    leaves_ *= 2;
    latest_.assign(2 * leaves_, kFree);
    std::copy(old.begin(), old.end(), latest_.begin() + static_cast<std::ptrdiff_t>(leaves_));
    for (std::size_t node = leaves_ - 1; node > 0; --node)
      latest_[node] = std::max(latest_[2 * node], latest_[2 * node + 1]);
  }

  std::size_t leaves_ = 1;
  std::vector<Nanos> latest_{kFree, kFree};  // of the tree below each node; the root is 1
};

}  // namespace

std::vector<std::uint32_t> nesting_tracks(std::span<const Interval> spans) {
  std::vector<std::uint32_t> track(spans.size());
  std::vector<std::vector<Nanos>> open;  // by track: ends of the open spans, the innermost last
  Tracks tracks;
  using End = std::pair<Nanos, std::uint32_t>;  // of an innermost open span, and its track
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    while (!ends.empty() && ends.top().first <= spans[i].start) {
      const auto own = ends.top().second;
      ends.pop();
      auto& stack = open[own];
      if (stack.empty() || stack.back() > spans[i].start) continue;
      while (!stack.empty() && stack.back() <= spans[i].start) stack.pop_back();
      tracks.set(own, stack.empty() ? Tracks::kFree : stack.back());
      if (!stack.empty()) ends.emplace(stack.back(), own);
    }
    track[i] = tracks.first_that_holds(spans[i].end);
    if (track[i] >= open.size()) open.resize(track[i] + 1);
    open[track[i]].push_back(spans[i].end);
    tracks.set(track[i], spans[i].end);
    ends.emplace(spans[i].end, track[i]);
  }
  return track;
}

std::vector<std::vector<std::uint32_t>> by_track(std::span<const std::uint32_t> track_of) {
  std::vector<std::vector<std::uint32_t>> places;
  for (std::uint32_t i = 0; i < track_of.size(); ++i) {
    if (track_of[i] >= places.size()) places.resize(track_of[i] + 1);
    places[track_of[i]].push_back(i);
  }
  return places;
}

}  // namespace gf::perfetto
