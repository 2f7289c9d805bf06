// Finds the innermost span of a thread that was open at a time: for sources that link work to
// the host by a time alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/time.h"

namespace gf {

class OpenSpans {
 public:
  void add(std::int64_t thread, Nanos start, Nanos end, std::size_t row) {
    threads_[thread].push_back({start, end, row, kNone});
  }
  /// After the last one. Spans that do not nest count as if the later one ended with the earlier.
  void seal() {
    for (auto& [thread, spans] : threads_) {
      std::ranges::stable_sort(spans, [](const Span& left, const Span& right) {
        return left.start != right.start ? left.start < right.start : left.end > right.end;
      });
      std::vector<std::size_t> open;
      for (std::size_t at = 0; at < spans.size(); ++at) {
        while (!open.empty() && spans[open.back()].end < spans[at].start) open.pop_back();
        if (!open.empty()) spans[at].around = open.back();
        open.push_back(at);
      }
    }
  }
  std::optional<std::size_t> row_at(std::int64_t thread, Nanos time) const {
    const auto found = threads_.find(thread);
    if (found == threads_.end()) return {};
    const auto& spans = found->second;
    const auto behind =
        std::ranges::upper_bound(spans, time, {}, [](const Span& span) { return span.start; });
    auto at = static_cast<std::size_t>(behind - spans.begin());
    for (at = at == 0 ? kNone : at - 1; at != kNone; at = spans[at].around)
      if (spans[at].end >= time) return spans[at].row;
    return {};
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  struct Span {
    Nanos start = 0, end = 0;
    std::size_t row = 0, around = kNone;  // around: the span that this one lies in
  };
  std::map<std::int64_t, std::vector<Span>> threads_;
};

}  // namespace gf
