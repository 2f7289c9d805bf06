#include "analyze/host_threads.h"

#include "core/order.h"

namespace gf {

namespace {

/// Counting sort by thread, then by time inside each thread, where it was not in order. Rows
/// without a known thread are left out.
template <class Table>
void order(const Table& table, std::size_t threads, std::vector<std::uint32_t>& rows,
           std::vector<std::size_t>& begin) {
  begin.assign(threads + 1, 0);
  const auto count = static_cast<std::uint32_t>(table.size());
  for (std::uint32_t i = 0; i < count; ++i)
    if (const auto thread = table.thread[i]; thread < threads) ++begin[thread + 1];
  for (std::size_t thread = 0; thread < threads; ++thread) begin[thread + 1] += begin[thread];
  rows.resize(begin.back());
  struct Last {
    std::size_t next;  // place behind the last row
    Nanos start = INT64_MIN, duration = 0;
    bool in_order = true;
  };
  std::vector<Last> last;
  for (std::size_t thread = 0; thread < threads; ++thread) last.push_back({begin[thread]});
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto thread = table.thread[i];
    if (thread >= threads) continue;
    auto& [next, start, duration, in_order] = last[thread];
    const Nanos own_start = table.start_ns[i], own_duration = table.duration_ns[i];
    if (own_start <= start && next != begin[thread] &&
        (own_start < start || own_duration > duration))
      in_order = false;
    rows[next++] = i;
    start = own_start;
    duration = own_duration;
  }
  auto before = [&](std::uint32_t left, std::uint32_t right) {
    if (table.start_ns[left] != table.start_ns[right])
      return table.start_ns[left] < table.start_ns[right];
    if (table.duration_ns[left] != table.duration_ns[right])
      return table.duration_ns[left] > table.duration_ns[right];
    return left < right;
  };
  for (std::size_t thread = 0; thread < threads; ++thread)
    if (!last[thread].in_order)
      sort_nearly_ordered(rows.begin() + static_cast<std::ptrdiff_t>(begin[thread]),
                          rows.begin() + static_cast<std::ptrdiff_t>(begin[thread + 1]), before);
}

}  // namespace

HostThreads::HostThreads(const Capture& capture) {
  order(capture.host_ops, capture.threads.size(), ops_, op_begin_);
  order(capture.api_calls, capture.threads.size(), calls_, call_begin_);
}

}  // namespace gf
