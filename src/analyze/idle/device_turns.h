// Finds the device of its process that an idle device with queued work may be waiting for.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "analyze/context.h"

namespace gf {

/// A kernel on one device can wait for one on another (an event, a copy between them). That shows
/// where the other device worked and had just finished when the kernel started.
class DeviceTurns {
 public:
  DeviceTurns(const Context& context, Nanos hardware_needs);

  /// The stretches from `from` on in which another device of the process worked that `next` then
  /// started after; pauses that hardware needs are part of them. Without an event that its stream
  /// was `told_to_wait` for the devices must have taken turns: none works on.
  Intervals before(std::uint32_t next, Nanos from, bool told_to_wait);

 private:
  std::int64_t process_of(std::uint32_t activity) const;
  const Intervals& work_of(std::int64_t process);

  const Context& context_;
  const Nanos hardware_needs_;
  bool one_process_ = true;
  std::unordered_map<std::int64_t, Intervals> work_;  // of all devices, by process
  std::size_t looks_left_;
};

}  // namespace gf
