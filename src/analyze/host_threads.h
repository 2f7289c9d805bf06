// What each host thread did, in order of time: the shared ground of attribution, idle causes and
// runtime phases.
// What the names of host operations, calls and kernels say about the host: which are input,
// communication, waiting.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/capture.h"

namespace gf {

/// Rows of host_ops and api_calls, thread after thread; inside a thread by start, longer first (so
/// that an enclosing span comes before what it encloses), then by row.
class HostThreads {
 public:
  HostThreads() = default;
  explicit HostThreads(const Capture& capture);

  std::size_t threads() const { return op_begin_.empty() ? 0 : op_begin_.size() - 1; }
  /// Rows of host_ops on a thread (row of capture.threads).
  std::span<const std::uint32_t> ops(std::uint32_t thread) const {
    return part(ops_, op_begin_, thread);
  }
  /// Rows of api_calls on a thread.
  std::span<const std::uint32_t> calls(std::uint32_t thread) const {
    return part(calls_, call_begin_, thread);
  }

 private:
  static std::span<const std::uint32_t> part(const std::vector<std::uint32_t>& rows,
                                             const std::vector<std::size_t>& begin,
                                             std::uint32_t thread) {
    if (thread == kNoRow || thread + 1 >= begin.size()) return {};
    return {rows.data() + begin[thread], begin[thread + 1] - begin[thread]};
  }
  std::vector<std::uint32_t> ops_, calls_;
  std::vector<std::size_t> op_begin_, call_begin_;
};

/// A set of these for each name.
enum HostRole : std::uint8_t {
  kPlain = 0,
  kInput = 1,           // data loader or input pipeline
  kCommunication = 2,   // collective or point-to-point operation between devices
  kWaits = 4,           // an operation that exists to wait for a value of the device
  kAnnotation = 8,      // a mark that old profilers file among the operations
  kStep = 16,           // the mark of a step, which says nothing of what the host does inside
  kOneOff = 32,         // compiles, tunes, records or captures graphs: done once, not every step
  kHostTransport = 64,  // a collective that the host itself carries out
  kOneOffCall = 128,    // a runtime call that loads modules, creates contexts or captures graphs
};
/// What a name says as that of an operation, mark or Python frame, or as that of a runtime call.
std::uint8_t host_role(std::string_view name);
/// True for kernels of communication libraries.
bool is_collective_kernel(std::string_view name);
/// Whether a copy to the device that this outermost operation made may be of a batch: the program
/// asked for it, not a library for tables of its own.
bool brings_input(std::string_view operation);
/// True for runtime calls that make a stream wait for an event.
bool is_stream_wait(std::string_view api_name);

/// Roles by StringId, each text looked at once.
class NameRoles {
 public:
  NameRoles() = default;
  explicit NameRoles(const Capture& capture);
  std::uint8_t host(Text name) const { return host_[static_cast<std::uint32_t>(name)]; }

 private:
  std::vector<std::uint8_t> host_;
};

}  // namespace gf
