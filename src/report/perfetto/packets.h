// Writes Perfetto's trace format (protobuf, one TracePacket after the other) with names interned.
// Field numbers: protos/perfetto/trace/trace_packet.proto and track_event/*.proto of
// https://github.com/google/perfetto.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "core/error.h"
#include "core/time.h"

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

}  // namespace gf::perfetto
