// The call tree: whatever was recorded, its parts sum to the window, node by node.
#include "analyze/call_tree.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <vector>

#include "analyze/analyze.h"
#include "support/captures.h"

namespace gf {
namespace {

/// Of every node: what lies below sums to it, or nothing does.
void check_sums(const std::vector<CallNode>& nodes) {
  std::map<std::int64_t, CallNode> below;
  for (const auto& node : nodes) {
    RC_ASSERT(node.ns == node.kernel_ns + node.copy_ns + node.idle_ns);
    if (!node.parent) continue;
    RC_ASSERT(*node.parent < node.id);
    RC_ASSERT(nodes.at(static_cast<std::size_t>(*node.parent)).view == node.view);
    auto& sum = below[*node.parent];
    sum.ns += node.ns;
    sum.kernel_ns += node.kernel_ns;
    sum.copy_ns += node.copy_ns;
    sum.count += node.count;
  }
  for (const auto& [id, sum] : below) {
    const auto& node = nodes.at(static_cast<std::size_t>(id));
    RC_ASSERT(sum.ns == node.ns);
    RC_ASSERT(sum.kernel_ns == node.kernel_ns);
    RC_ASSERT(sum.copy_ns == node.copy_ns);
    RC_ASSERT(sum.count == node.count);
  }
}

RC_GTEST_PROP(CallTree, PartsSumToTheWindow, ()) {
  const Capture capture = test::random_capture(*rc::gen::arbitrary<std::uint64_t>(),
                                               *rc::gen::inRange<std::size_t>(1, 60));
  std::optional<Context> context;
  const auto analysis = analyze(capture, {}, &context);
  if (!analysis || !context || context->devices.empty()) return;
  Nanos window = 0, kernels = 0, copies = 0;
  for (const auto& line : context->devices) {
    // Damaged times can make a window longer than its length can say: no sum holds there.
    constexpr Nanos kLongest = Nanos{1} << 60;
    if (line.window.length() > kLongest) return;
    window += line.window.length();
    kernels += total(line.kernel_busy);
    copies += total(line.busy) - total(line.kernel_busy);
  }
  for (const int most : {1, 7, 3000}) {
    const auto nodes = call_tree(*context, *analysis, static_cast<std::size_t>(most));
    int tops = 0;
    for (const auto& node : nodes) {
      if (node.parent) continue;
      ++tops;
      RC_ASSERT(node.ns == window);
      RC_ASSERT(node.kernel_ns == kernels);
      RC_ASSERT(node.copy_ns == copies);
    }
    RC_ASSERT(tops == (nodes.empty() ? 0 : 2));
    check_sums(nodes);
  }
}

}  // namespace
}  // namespace gf
