// Slices on tracks, in the order that the format wants.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "report/events/rows.h"
#include "report/perfetto/packets.h"

namespace gf::perfetto {

/// Order of drawing: by start, longer first, then as given.
inline std::vector<std::uint32_t> drawing_order(std::span<const Interval> spans) {
  std::vector<std::uint32_t> order(spans.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto left, auto right) {
    if (spans[left].start != spans[right].start) return spans[left].start < spans[right].start;
    return spans[left].end > spans[right].end;
  });
  return order;
}

/// Writes spans that nest, in drawing order, on one track. `slice_at(i)` gives the i-th slice, its
/// span included.
template <class SliceAt>
void write_nested(PacketWriter& out, std::uint64_t track, std::size_t count, SliceAt&& slice_at) {
  std::vector<Nanos> open;
  for (std::size_t i = 0; i < count; ++i) {
    const Slice slice = slice_at(i);
    for (; !open.empty() && open.back() <= slice.span.start; open.pop_back())
      out.end(track, open.back());
    out.begin(track, slice);
    open.push_back(slice.span.end);
  }
  for (; !open.empty(); open.pop_back()) out.end(track, open.back());
}

/// For spans in drawing order: the first track on which each nests, 0 upwards. Spans that nest all
/// get 0.
std::vector<std::uint32_t> nesting_tracks(std::span<const Interval> spans);
/// Places by their track, in order.
std::vector<std::vector<std::uint32_t>> by_track(std::span<const std::uint32_t> track_of);

}  // namespace gf::perfetto
