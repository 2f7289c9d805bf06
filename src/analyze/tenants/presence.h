// Who had work on a device, and when.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/context.h"
#include "core/intervals.h"

namespace gf {

/// A stretch of time with the same processes at work.
struct PresencePiece {
  Interval span;
  std::uint64_t who = 0;  // bit i: Presence::pids[i]
};

struct Presence {
  static constexpr std::size_t kMost = 64;  // processes that are told apart
  std::vector<std::int64_t> pids;           // ascending
  std::vector<std::int64_t> kernels;        // of each
  Intervals known;                          // when every one of them was recorded
  std::vector<PresencePiece> pieces;        // cover `known` exactly, in order
};

/// Of the processes with activities in the device's window; no pieces when they were never recorded
/// at the same time, or are too many.
Presence find_presence(const Capture& capture, const DeviceTimeline& timeline);

/// How a span belongs to the processes of a device: nanoseconds, by process.
struct PresenceShare {
  Nanos length = 0, active = 0;  // of the span, and of the part in which some process was at work
  std::vector<double> alone;     // only this process
  std::vector<double> joint;     // this one and others
  std::vector<double> even;      // alone, and an equal share of joint: they sum to `active`
};

/// Reads spans in order of time: pieces before the last span's are not looked at again.
class PresenceReader {
 public:
  explicit PresenceReader(const Presence& presence) : presence_(presence) {}
  PresenceShare share_of(Interval span);

 private:
  const Presence& presence_;
  std::size_t first_ = 0;
};

}  // namespace gf
