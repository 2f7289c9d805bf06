// Rows of traces that other tools wrote: what a device did and what the host called, each with its
// times checked once.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "core/intervals.h"
#include "core/time.h"
#include "model/capture.h"

namespace gf {

/// More devices than this are damage: each row looks for its device among them.
inline constexpr std::size_t kMostDevices = 4096;

/// One kernel, copy or set. What the source does not say stays as it is here.
struct DeviceWork {
  Nanos start = 0, end = 0;
  std::uint32_t device = kNoRow;  // row of devices
  ActivityKind kind = ActivityKind::kernel;
  CopyKind copy = CopyKind::none;
  Text name{};
  std::int64_t stream = -1, context = -1, correlation = -1, pid = -1;
  std::int64_t bytes = -1, shared_bytes = -1, registers = -1, graph_node = -1;
  std::int64_t operation = -1;  // external_id of the host's operation that it belongs to
  std::array<std::int64_t, 3> grid{-1, -1, -1}, block{-1, -1, -1};
};

/// A row of host_ops for a range with this text. Its other columns are for complete() to fill up.
void add_nvtx_range(Capture& capture, Interval span, std::uint32_t thread, Text text);

class TraceRows {
 public:
  explicit TraceRows(Capture& capture) : c_(capture) {}
  void work(const DeviceWork& work);
  /// A call of a GPU's runtime or driver.
  void call(Nanos start, Nanos end, std::uint32_t thread, std::string_view name,
            std::int64_t correlation);
  /// An operation of the framework; work names it by `id`.
  void operation(Nanos start, Nanos end, std::uint32_t thread, std::string_view name,
                 std::int64_t id);
  /// A range that the program named.
  void range(Nanos start, Nanos end, std::uint32_t thread, std::string_view name);
  std::uint32_t thread(std::int64_t pid, std::int64_t tid);
  /// The device of a number; kNoRow where there are more than any job has, or the number is none.
  std::uint32_t device(std::int64_t number, std::string_view vendor);
  /// A row that cannot be read.
  void bad_row();
  /// After the last row. Until then a row of these tables has only the columns that it was given.
  void finish();

 private:
  /// True if the times make a span; counted when they do not.
  bool is_span(Nanos start, Nanos end);
  Capture& c_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> threads_;
  std::map<std::int64_t, std::uint32_t> devices_;
};

/// AMD counts work-items where others count blocks: the blocks, where both are known.
std::array<std::int64_t, 3> blocks_of(const std::array<std::int64_t, 3>& items,
                                      const std::array<std::int64_t, 3>& block);

/// Reads any tool's word for a direction: "HtoD", "H2D", "Host-to-Device", "CopyHostToDevice",
/// "MEMORY_COPY_HOST_TO_DEVICE".
CopyKind copy_direction(std::string_view said);
/// Reads CUpti_ActivityMemcpyKind, and of the migrations that Nsight Systems numbers behind them.
CopyKind cupti_copy_kind(std::int64_t kind);
/// "Memcpy HtoD".
std::string_view copy_name(CopyKind kind);

/// Notes that a log of nanoseconds since the start of the machine has no absolute time.
void note_no_absolute_time(Capture& capture, std::string_view writer);

}  // namespace gf
