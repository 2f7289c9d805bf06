#include "report/perfetto/tracks.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <protozero/pbf_writer.hpp>
#include <queue>
#include <utility>

namespace gf::perfetto {

namespace {

using Writer = protozero::pbf_writer;

// Kinds of interned text, and the field of InternedData that holds each.
enum Kind { kCategory, kName, kFactName, kFactText };
constexpr protozero::pbf_tag_type kInternedField[] = {1, 2, 3, 29};

enum EventType { kBegin = 1, kEnd = 2, kCounter = 4 };
enum Ordering { kUnordered = 0, kChronological = 2, kExplicit = 3 };
constexpr int kMergeNone = 2;  // tracks of one name stay apart: every device has a "stream 7"
constexpr std::uint32_t kSequence = 1, kStateCleared = 1, kNeedsState = 2;
constexpr std::size_t kFlushBytes = 1 << 20;

void add_text(Writer& writer, protozero::pbf_tag_type field, std::string_view text) {
  writer.add_string(field, text.data(), text.size());
}

}  // namespace

PacketWriter::PacketWriter(Sink sink) : sink_(std::move(sink)) {}

/// The number of a text; one seen for the first time goes into the next packet's interned data.
std::uint64_t PacketWriter::intern(int kind, std::string_view text) {
  const auto [at, added] = texts_[kind].try_emplace(std::string(text), texts_[kind].size() + 1);
  if (added) {
    Writer data(interned_), entry(data, kInternedField[kind]);
    entry.add_uint64(1, at->second);
    entry.add_string(2, at->first);
  }
  return at->second;
}

void PacketWriter::packet(const std::string& body) {
  std::string bytes;
  {
    Writer head(bytes);
    head.add_uint32(10, kSequence);
    head.add_uint32(13, first_ ? kStateCleared | kNeedsState : kNeedsState);
    if (!interned_.empty()) head.add_message(12, interned_);
  }
  bytes += body;
  Writer(buffer_).add_message(1, bytes);
  first_ = false;
  interned_.clear();
  if (buffer_.size() < kFlushBytes) return;
  if (status_) status_ = sink_(buffer_);
  buffer_.clear();
}

template <class Fill>
std::uint64_t PacketWriter::describe(Fill&& fill) {
  std::string body;
  {
    Writer packet(body), descriptor(packet, 60);
    descriptor.add_uint64(1, next_track_);
    fill(descriptor);
  }
  packet(body);
  return next_track_++;
}

std::uint64_t PacketWriter::track(std::string_view name, std::uint64_t parent, int order) {
  return describe([&](Writer& writer) {
    add_text(writer, 2, name);
    if (parent) writer.add_uint64(5, parent);
    writer.add_enum(11, kExplicit);
    writer.add_int32(12, order);
    writer.add_enum(15, kMergeNone);
  });
}

std::uint64_t PacketWriter::process(std::int64_t pid, std::string_view name) {
  return describe([&](Writer& writer) {
    Writer process(writer, 3);
    process.add_int32(1, static_cast<std::int32_t>(pid));
    add_text(process, 6, name);
  });
}

std::uint64_t PacketWriter::thread(std::int64_t pid, std::int64_t tid, std::string_view name) {
  return describe([&](Writer& writer) {
    Writer thread(writer, 4);
    thread.add_int32(1, static_cast<std::int32_t>(pid));
    thread.add_int64(2, tid);
    if (!name.empty()) add_text(thread, 5, name);
  });
}

std::uint64_t PacketWriter::counter(std::string_view name, std::string_view unit,
                                    std::uint64_t parent, int order) {
  return describe([&](Writer& writer) {
    add_text(writer, 2, name);
    if (parent) writer.add_uint64(5, parent);
    {
      Writer counter(writer, 8);
      add_text(counter, 6, unit);
    }
    writer.add_int32(12, order);
    writer.add_enum(15, kMergeNone);
  });
}

template <class Fill>
void PacketWriter::event(Nanos at, int type, std::uint64_t track, Fill&& fill) {
  std::string body;
  {
    Writer packet(body);
    packet.add_uint64(8, static_cast<std::uint64_t>(at));
    Writer event(packet, 11);
    event.add_enum(9, type);
    event.add_uint64(11, track);
    fill(event);
  }
  packet(body);
}

void PacketWriter::begin(std::uint64_t track, const Slice& slice) {
  event(slice.span.start, kBegin, track, [&](Writer& writer) {
    writer.add_uint64(10, intern(kName, slice.name));
    if (!slice.category.empty()) writer.add_uint64(3, intern(kCategory, slice.category));
    for (const auto& fact : slice.facts) {
      const auto name = intern(kFactName, fact.name);
      const auto* text = std::get_if<std::string_view>(&fact.value);
      const auto text_id = text ? intern(kFactText, *text) : 0;
      Writer annotation(writer, 4);
      annotation.add_uint64(1, name);
      if (text)
        annotation.add_uint64(17, text_id);
      else if (const auto* number = std::get_if<double>(&fact.value))
        annotation.add_double(5, *number);
      else
        annotation.add_int64(4, std::get<std::int64_t>(fact.value));
    }
    for (const auto flow : slice.flows_out) writer.add_fixed64(47, flow);
    if (slice.flow_in) writer.add_fixed64(48, slice.flow_in);
  });
}

void PacketWriter::end(std::uint64_t track, Nanos at) {
  event(at, kEnd, track, [](Writer&) {});
}

void PacketWriter::value(std::uint64_t track, Nanos at, double value) {
  event(at, kCounter, track, [&](Writer& writer) { writer.add_double(44, value); });
}

Status PacketWriter::finish() {
  if (status_ && !buffer_.empty()) status_ = sink_(buffer_);
  buffer_.clear();
  return status_;
}

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
