// Writes Perfetto's trace format (protobuf, one TracePacket after the other) with names interned.
// Field numbers: protos/perfetto/trace/trace_packet.proto and track_event/*.proto of
// https://github.com/google/perfetto.
// Slices on tracks, in the order that the format wants.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "core/error.h"
#include "core/time.h"
#include "report/events/timeline_data.h"

namespace gf::perfetto {

/// Takes finished bytes; an error ends the export.
using Sink = std::function<Status(std::string_view)>;

/// A fact shown with a slice.
struct Fact {
  std::string_view name;
  std::variant<std::int64_t, double, std::string_view> value;
};

struct Slice {
  Interval span;
  std::string_view name, category;
  std::span<const Fact> facts = {};
  std::span<const std::uint64_t> flows_out = {};  // arrows that start here
  std::uint64_t flow_in = 0;                      // arrow that ends here, 0 for none
};

class PacketWriter {
 public:
  explicit PacketWriter(Sink sink);

  /// A track under `parent` (0: at the top). `order` places it among its siblings. Gives the
  /// track's id.
  std::uint64_t track(std::string_view name, std::uint64_t parent, int order);
  std::uint64_t process(std::int64_t pid, std::string_view name);
  std::uint64_t thread(std::int64_t pid, std::int64_t tid, std::string_view name);
  std::uint64_t counter(std::string_view name, std::string_view unit, std::uint64_t parent,
                        int order);

  /// On one track slices nest: begin and end are given in the order in which they happen.
  void begin(std::uint64_t track, const Slice& slice);
  void end(std::uint64_t track, Nanos at);
  void value(std::uint64_t track, Nanos at, double value);

  /// Hands what is left to the sink; says what went wrong in any earlier write.
  Status finish();

 private:
  std::uint64_t intern(int kind, std::string_view text);
  void packet(const std::string& body);
  template <class Fill>
  std::uint64_t describe(Fill&& fill);
  template <class Fill>
  void event(Nanos at, int type, std::uint64_t track, Fill&& fill);

  Sink sink_;
  Status status_;
  std::string buffer_, interned_;
  std::unordered_map<std::string, std::uint64_t> texts_[4];
  std::uint64_t next_track_ = 1;
  bool first_ = true;
};

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
