// NCCL marks each of its calls with an NVTX range that carries what was asked for: communicator,
// bytes, the rank at the other end. Nsight Systems keeps that as a payload whose layout stands in
// tables of the export. Here it becomes the description of the kernels.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/capture.h"

namespace gf::nsys {

/// One entry of a payload's layout, as the export's table has it.
struct PayloadEntry {
  std::string name;
  std::int64_t type = -1, offset = -1;
};

class NcclRanges {
 public:
  void add_entry(std::int64_t domain, std::int64_t schema, PayloadEntry entry);
  /// A push/pop range of a thread (row of threads), with its payload.
  void add_range(std::uint32_t thread, Nanos start, std::string_view name,
                 std::string_view payload);
  /// Once kernels and calls are read: fills capture.collectives and says which rank it is.
  void describe(Capture& capture);

 private:
  struct Call {
    std::uint32_t thread = 0;
    Nanos start = 0;
    std::string name;
    std::uint64_t communicator = 0;
    std::int64_t bytes = -1, peer = -1, sequence = -1;
  };
  struct Communicator {
    std::int64_t rank = -1, size = -1;
  };
  /// A call or the launch of one of NCCL's kernels, on one thread.
  struct Event {
    Nanos at = 0;
    const Call* call = nullptr;
    std::uint32_t kernel = kNoRow;
  };
  using Process = std::int64_t;
  using Fields = std::map<std::string, std::int64_t, std::less<>>;

  std::optional<Fields> read(std::string_view payload) const;
  void number_calls(const Capture& capture);
  std::map<std::uint32_t, std::vector<Event>> events_by_thread(const Capture& capture) const;
  void describe_group(Capture& capture, const std::vector<const Call*>& calls,
                      const std::vector<std::uint32_t>& kernels) const;
  void describe_kernel(Capture& capture, std::uint32_t kernel, const Call& call,
                       std::int64_t bytes) const;
  void say_rank(Capture& capture) const;

  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<PayloadEntry>> schemas_;
  std::vector<Call> calls_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Communicator> made_;  // by thread
  std::map<std::pair<Process, std::uint64_t>, Communicator> communicators_;
};

}  // namespace gf::nsys
