// Device time of the window as trees: by module and operator, and by the call path
// on the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/context.h"
#include "analyze/result.h"

namespace gf {

class HostNesting;

enum class TreeView : std::uint8_t { modules, calls };
template <>
struct EnumNames<TreeView> {
  static constexpr const char* type = "TreeView";
  static constexpr auto names = std::to_array<std::string_view>({"modules", "calls"});
};

enum class TreeNodeKind : std::uint8_t {
  window,
  phase,
  module,
  operation,
  python,
  annotation,
  kernel,
  copy,
  idle,
  others
};
template <>
struct EnumNames<TreeNodeKind> {
  static constexpr const char* type = "TreeNodeKind";
  static constexpr auto names =
      std::to_array<std::string_view>({"window", "phase", "module", "operator", "python",
                                       "annotation", "kernel", "copy", "idle", "others"});
};

#define GF_RESULTS "analyze/results/call_tree.def"
#include "analyze/declare_results.inl"

/// Both trees, each from its top downwards, the longest of siblings first. Needs an analysis that
/// is done, for its energy. `most_nodes`: of each tree; what is smallest is joined.
std::vector<CallNode> call_tree(const Context& context, const Analysis& analysis,
                                std::size_t most_nodes = 3000);
/// With the nesting of the context's host, where it is known already.
std::vector<CallNode> call_tree(const Context& context, const Analysis& analysis,
                                const HostNesting& nesting, std::size_t most_nodes = 3000);

}  // namespace gf
