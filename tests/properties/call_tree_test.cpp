// The call tree: whatever was recorded, its parts sum to the window, node by node.
#include "analyze/call_tree.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include "analyze/analyze.h"
#include "support/captures.h"

namespace gf {
namespace {

/// Checks that the children of every node sum to it, or that it has none.
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

/// Any references and texts; times as in a run, or any that pass the check which every importer
/// asks for (model/check.h): without it windows are longer than 64 bits can say.
Capture checked_capture() {
  Capture capture = test::random_capture(*rc::gen::arbitrary<std::uint64_t>(),
                                         *rc::gen::inRange<std::size_t>(1, 60));
  if (*rc::gen::inRange(0, 4) > 0) {
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
    capture.each_table([&](auto& table) {
      table.each_column_ref([&](const auto& field) {
        using Declared = typename std::remove_cvref_t<decltype(field)>::Declared;
        if constexpr (std::is_same_v<Declared, declared::Time>)
          for (auto& start : field.column) start = static_cast<Nanos>(random() % 4000);
        if constexpr (std::is_same_v<Declared, declared::Duration>)
          for (auto& length : field.column) length = static_cast<Nanos>(random() % 300);
      });
    });
  }
  RC_ASSERT(capture.check().has_value());
  return capture;
}

RC_GTEST_PROP(CallTree, PartsSumToTheWindow, ()) {
  const Capture capture = checked_capture();
  std::optional<Context> context;
  const auto analysis = analyze(capture, {}, &context);
  if (!analysis || !context || context->devices.empty()) return;
  Nanos window = 0, kernels = 0, copies = 0;
  for (const auto& line : context->devices) {
    window += line.window.length();
    kernels += line.kernel_busy_ns();
    copies += total(line.copying);
  }
  RC_CLASSIFY(window > 0 && kernels > 0);
  RC_CLASSIFY(copies > 0);
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
