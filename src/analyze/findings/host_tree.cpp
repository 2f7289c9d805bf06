#include "analyze/findings/host_tree.h"

namespace gf {

HostTree::HostTree(const Context& context) {
  const auto& ops = context.capture.host_ops;
  const auto& calls = context.capture.api_calls;
  const auto& parent = context.attribution.op_parent;
  device.assign(ops.size(), false);
  before.assign(ops.size(), kNoRow);
  after.assign(ops.size(), kNoRow);
  op_of_call.assign(calls.size(), kNoRow);
  launches.assign(context.capture.threads.size(), false);
  std::vector<std::uint32_t> last(ops.size(), kNoRow);  // operation inside each
  std::vector<std::uint32_t> open;
  for (std::uint32_t thread = 0; thread < context.host.threads(); ++thread) {
    std::uint32_t last_outside = kNoRow;
    open.clear();
    auto calls_left = context.host.calls(thread);
    // The calls that begin before a time belong to the operations that are open.
    auto take_calls = [&](Nanos until) {
      for (; !calls_left.empty() && calls.start_ns[calls_left.front()] < until;
           calls_left = calls_left.subspan(1)) {
        const auto call = calls_left.front();
        while (!open.empty() &&
               ops.start_ns[open.back()] + ops.duration_ns[open.back()] <= calls.start_ns[call])
          open.pop_back();
        if (calls.kind[call] == ApiKind::other) continue;
        if (calls.kind[call] == ApiKind::launch || calls.kind[call] == ApiKind::graph_launch)
          launches[thread] = true;
        if (open.empty()) continue;
        op_of_call[call] = open.back();
        for (auto op = open.back(); op != kNoRow && !device[op]; op = parent[op]) device[op] = true;
      }
    };
    for (const auto row : context.host.ops(thread)) {
      take_calls(ops.start_ns[row]);
      if (ops.kind[row] != HostKind::op && ops.kind[row] != HostKind::annotation) continue;
      while (!open.empty() &&
             ops.start_ns[open.back()] + ops.duration_ns[open.back()] <= ops.start_ns[row])
        open.pop_back();
      open.push_back(row);
      if (ops.kind[row] != HostKind::op) continue;
      auto& previous = parent[row] == kNoRow ? last_outside : last[parent[row]];
      before[row] = previous;
      if (previous != kNoRow) after[previous] = row;
      previous = row;
    }
    take_calls(INT64_MAX);
  }
}

}  // namespace gf
