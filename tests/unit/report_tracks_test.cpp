// Tracks of an exported trace: each span lies on the first on which it nests.
#include <gtest/gtest.h>

#include <random>

#include "report/perfetto/tracks.h"

namespace gf {
namespace {

/// The definition, word for word.
std::vector<std::uint32_t> first_that_nests(const std::vector<Interval>& spans) {
  std::vector<std::uint32_t> track(spans.size());
  std::vector<std::vector<Nanos>> open;
  for (std::size_t i = 0; i < spans.size(); ++i)
    for (std::uint32_t candidate = 0;; ++candidate) {
      if (candidate == open.size()) open.emplace_back();
      auto& ends = open[candidate];
      while (!ends.empty() && ends.back() <= spans[i].start) ends.pop_back();
      if (!ends.empty() && spans[i].end > ends.back()) continue;
      ends.push_back(spans[i].end);
      track[i] = candidate;
      break;
    }
  return track;
}

TEST(NestingTracks, AreTheFirstThatNests) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Interval> spans;
    const unsigned reach = round % 2 == 0 ? 20 : 1000;
    for (int i = 0; i < 200; ++i) {
      const auto start = static_cast<Nanos>(random() % reach);
      spans.push_back({start, start + static_cast<Nanos>(random() % (reach / 2))});
    }
    std::vector<Interval> drawn;
    for (const auto row : perfetto::drawing_order(spans)) drawn.push_back(spans[row]);
    ASSERT_EQ(perfetto::nesting_tracks(drawn), first_that_nests(drawn)) << round;
  }
}

TEST(NestingTracks, PlacesByTrack) {
  const std::vector<std::uint32_t> track{0, 2, 0, 1, 2};
  const std::vector<std::vector<std::uint32_t>> places{{0, 2}, {3}, {1, 4}};
  EXPECT_EQ(perfetto::by_track(track), places);
}

}  // namespace
}  // namespace gf
