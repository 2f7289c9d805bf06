#include "analyze/runtime/host_lines.h"

#include <algorithm>
#include <map>

namespace gf {

HostLines::HostLines(const Context& context, std::uint32_t thread) : capture_(&context.capture) {
  const auto& ops = context.capture.host_ops;
  struct Open { Nanos end; At what; };
  std::vector<Open> stack;
  auto now_at = [&](Nanos time) {
    const At what = stack.empty() ? At{} : stack.back().what;
    if (!pieces_.empty() && pieces_.back().start == time) pieces_.back().what = what;
    else if (pieces_.empty() || pieces_.back().what.python != what.python || pieces_.back().what.operation != what.operation) pieces_.push_back({time, what});
  };
  auto close = [&](Nanos now) {
    while (!stack.empty() && stack.back().end <= now) {
      const Nanos end = stack.back().end;
      stack.pop_back();
      now_at(end);
    }
  };
  for (const auto row : context.host.ops(thread)) {
    const Nanos start = ops.start_ns[row], end = start + ops.duration_ns[row];
    close(start);
    if (end <= start) continue;
    Open o{stack.empty() ? end : std::min(end, stack.back().end), stack.empty() ? At{} : stack.back().what};
    (ops.kind[row] == HostKind::python ? o.what.python : o.what.operation) = row;
    stack.push_back(o);
    now_at(start);
  }
  close(INT64_MAX);
}

HostLines::At HostLines::at(Nanos time) const {
  auto it = std::upper_bound(pieces_.begin(), pieces_.end(), time, [](Nanos t, const Piece& p) { return t < p.start; });
  return it == pieces_.begin() ? At{} : std::prev(it)->what;
}

std::string HostLines::most_of(Interval span) const {
  std::map<std::string_view, Nanos> time;
  auto it = std::upper_bound(pieces_.begin(), pieces_.end(), span.start, [](Nanos t, const Piece& p) { return t < p.start; });
  if (it != pieces_.begin()) --it;
  for (; it != pieces_.end() && it->start < span.end; ++it) {
    const Nanos from = std::max(span.start, it->start), to = std::next(it) == pieces_.end() ? span.end : std::min(span.end, std::next(it)->start);
    const auto row = it->what.python != kNoRow ? it->what.python : it->what.operation;
    if (row != kNoRow && to > from) time[capture_->text(capture_->host_ops.name[row])] += to - from;
  }
  const auto best = std::max_element(time.begin(), time.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return best == time.end() ? std::string() : std::string(best->first);
}

}  // namespace gf
