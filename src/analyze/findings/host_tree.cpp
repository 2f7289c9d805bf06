#include "analyze/findings/host_tree.h"

#include <utility>

namespace gf {

HostTree::HostTree(const Context& context) {
  const auto& ops = context.capture.host_ops;
  const auto& calls = context.capture.api_calls;
  const auto& parent = context.attribution.op_parent;
  device.assign(ops.size(), false);
  op_of_call.assign(calls.size(), kNoRow);
  launches.assign(context.capture.threads.size(), false);
  struct Open {
    Nanos end;
    std::uint32_t row;
  };
  std::vector<Open> open;
  auto close_until = [&open](Nanos now) {
    while (!open.empty() && open.back().end <= now) open.pop_back();
  };
  for (std::uint32_t thread = 0; thread < context.host.threads(); ++thread) {
    open.clear();
    auto calls_left = context.host.calls(thread);
    auto next_call = [&] {
      return calls_left.empty() ? INT64_MAX : calls.start_ns[calls_left.front()];
    };
    Nanos next = next_call();
    // The calls that begin before a time belong to the operations that are open.
    auto take_calls = [&](Nanos until) {
      for (; next < until; calls_left = calls_left.subspan(1), next = next_call()) {
        const auto call = calls_left.front();
        close_until(next);
        if (calls.kind[call] == ApiKind::other) continue;
        if (calls.kind[call] == ApiKind::launch || calls.kind[call] == ApiKind::graph_launch)
          launches[thread] = true;
        if (open.empty()) continue;
        op_of_call[call] = open.back().row;
        for (auto op = open.back().row; op != kNoRow && !device[op]; op = parent[op])
          device[op] = true;
      }
    };
    for (const auto row : context.host.ops(thread)) {
      const Nanos start = ops.start_ns[row];
      if (next < start) take_calls(start);
      if (ops.kind[row] != HostKind::op && ops.kind[row] != HostKind::annotation) continue;
      close_until(start);
      open.push_back({start + ops.duration_ns[row], row});
    }
    take_calls(INT64_MAX);
  }
}

HostSiblings::HostSiblings(const Context& context) {
  const auto& kind = context.capture.host_ops.kind;
  const auto& parent = context.attribution.op_parent;
  before.assign(kind.size(), kNoRow);
  std::vector<std::uint32_t> last(kind.size(), kNoRow);  // operation inside each
  for (std::uint32_t thread = 0; thread < context.host.threads(); ++thread) {
    std::uint32_t last_outside = kNoRow;
    for (const auto row : context.host.ops(thread)) {
      if (kind[row] != HostKind::op) continue;
      auto& inside = parent[row] == kNoRow ? last_outside : last[parent[row]];
      before[row] = std::exchange(inside, row);
    }
  }
}

const std::vector<std::uint32_t>& HostSiblings::after() const {
  return after_.of([&] {
    std::vector<std::uint32_t> after(before.size(), kNoRow);
    for (std::uint32_t row = 0; row < before.size(); ++row)
      if (before[row] != kNoRow) after[before[row]] = row;
    return after;
  });
}

}  // namespace gf
