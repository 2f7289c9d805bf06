#include "analyze/host_threads.h"

#include "core/order.h"

namespace gf {

namespace {

/// Counting sort by thread, then by time inside each thread. Rows without a known thread are left
/// out.
template <class Table>
void order(const Table& table, std::size_t threads, std::vector<std::uint32_t>& rows,
           std::vector<std::size_t>& begin) {
  begin.assign(threads + 1, 0);
  const auto count = static_cast<std::uint32_t>(table.size());
  for (std::uint32_t i = 0; i < count; ++i)
    if (table.thread[i] < threads) ++begin[table.thread[i] + 1];
  for (std::size_t thread = 0; thread < threads; ++thread) begin[thread + 1] += begin[thread];
  rows.resize(begin.back());
  std::vector<std::size_t> at(begin.begin(), begin.end() - 1);
  for (std::uint32_t i = 0; i < count; ++i)
    if (table.thread[i] < threads) rows[at[table.thread[i]]++] = i;
  auto before = [&](std::uint32_t left, std::uint32_t right) {
    if (table.start_ns[left] != table.start_ns[right])
      return table.start_ns[left] < table.start_ns[right];
    if (table.duration_ns[left] != table.duration_ns[right])
      return table.duration_ns[left] > table.duration_ns[right];
    return left < right;
  };
  for (std::size_t thread = 0; thread < threads; ++thread) {
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(begin[thread]),
               last = rows.begin() + static_cast<std::ptrdiff_t>(begin[thread + 1]);
    sort_nearly_ordered(first, last, before);
  }
}

}  // namespace

HostThreads::HostThreads(const Capture& capture) {
  order(capture.host_ops, capture.threads.size(), ops_, op_begin_);
  order(capture.api_calls, capture.threads.size(), calls_, call_begin_);
}

}  // namespace gf
