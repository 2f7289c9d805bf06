#include "report/perfetto/tracks.h"

namespace gf::perfetto {

std::vector<std::uint32_t> nesting_tracks(std::span<const Interval> spans) {
  std::vector<std::uint32_t> track(spans.size());
  std::vector<std::vector<Nanos>> open;  // by track: ends of the open spans, the innermost last
  for (std::size_t i = 0; i < spans.size(); ++i) {
    std::uint32_t thread = 0;
    for (;; ++thread) {
      if (thread == open.size()) open.emplace_back();
      auto& ends = open[thread];
      while (!ends.empty() && ends.back() <= spans[i].start) ends.pop_back();
      if (ends.empty() || spans[i].end <= ends.back()) break;
    }
    open[thread].push_back(spans[i].end);
    track[i] = thread;
  }
  return track;
}

}  // namespace gf::perfetto
