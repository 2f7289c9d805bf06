#include "report/events/rows.h"

#include <functional>
#include <queue>
#include <utility>

namespace gf {

std::vector<std::uint32_t> free_rows(std::span<const Interval> spans) {
  std::vector<std::uint32_t> rows(spans.size());
  std::priority_queue<std::pair<Nanos, std::uint32_t>, std::vector<std::pair<Nanos, std::uint32_t>>,
                      std::greater<>>
      open;  // by end
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free;
  std::uint32_t used = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    while (!open.empty() && open.top().first <= spans[i].start) {
      free.push(open.top().second);
      open.pop();
    }
    if (free.empty()) free.push(used++);
    rows[i] = free.top();
    free.pop();
    open.emplace(spans[i].end, rows[i]);
  }
  return rows;
}

}  // namespace gf
