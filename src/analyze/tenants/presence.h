// Presence of processes on a device over time.
// The part of an amount over a span that belongs to each process of a device.
// The samples of a device over the times at which all its processes were recorded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/context.h"
#include "core/intervals.h"
#include "model/capture.h"

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

/// Covers the processes with activities in the device's window; no pieces when they were never
/// recorded at the same time, or are too many.
Presence find_presence(const Capture& capture, const DeviceTimeline& timeline);

/// A span's split over the processes of a device: nanoseconds, by process.
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

struct TenantPart {
  double value = 0;  // by time at work, time together in equal shares
  double low = 0;    // what no other process can have had
  double high = 0;   // what it can have had
  void add(const TenantPart& other) {
    value += other.value;
    low += other.low;
    high += other.high;
  }
};

struct TenantSplit {
  std::vector<TenantPart> parts;  // by process
  TenantPart rest;                // no process was at work
};

/// Splits an amount of which a device does at most `most` a nanosecond, and nothing while no
/// process has work. The values of the parts and the rest sum to the amount.
TenantSplit split_amount(const PresenceShare& share, double amount, double most);

struct TenantSamples {
  struct Row {
    Interval span;
    std::vector<double> rates;  // by metric: ratios, or units a nanosecond
  };
  std::vector<Text> metrics;
  std::vector<Row> rows;  // in order, each within one of the spans
  bool aligned = false;   // laid over the kernels sample by sample, else means of 100 ms
};

/// Levels and counts of the work of a device; no rows when there are no samples.
TenantSamples tenant_samples(const Capture& capture, std::uint32_t device, const Intervals& known);

}  // namespace gf
