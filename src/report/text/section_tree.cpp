#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/labels.h"
#include "report/summary.h"
#include "report/text/format.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

namespace {

constexpr Nanos kParts = 100;  // a node is shown from this part of the whole on

/// The nodes of a view that are worth a line, in the order of the tree.
std::vector<const CallNode*> worth_a_line(const std::vector<CallNode>& nodes, TreeView view) {
  std::vector<const CallNode*> shown;
  Nanos whole = 0;
  for (const auto& node : nodes) {
    if (node.view != view) continue;
    if (!node.parent) whole = node.ns;
    if (node.ns * kParts >= whole && whole > 0) shown.push_back(&node);
  }
  return shown;
}

std::string name_of_node(const CallNode& node) {
  if (node.kind != TreeNodeKind::idle) return node.name;
  for (const auto& label : cause_labels())
    if (label.id == node.name) return "idle, " + std::string(label.text);
  return "idle, " + node.name;
}

std::string tree_table(const std::vector<const CallNode*>& shown, const TextStyle& style) {
  const bool energy = std::ranges::any_of(shown, [](const auto* node) { return bool(node->nj); });
  std::vector<TableColumn> columns{{"", Align::left, true},
                                   {"time", Align::right},
                                   {"share", Align::right},
                                   {"idle", Align::right, false, 1}};
  if (energy) columns.push_back({"energy", Align::right});
  TextTable table(std::move(columns));
  std::vector<std::int64_t> indent;  // by depth: a node that has all of the one above stays there
  for (const auto* node : shown) {
    const auto depth = static_cast<std::size_t>(node->depth);
    indent.resize(depth + 1);
    constexpr std::int64_t kMostIndent = 24;
    if (depth > 0) indent[depth] = std::min(indent[depth - 1] + 1, kMostIndent);
    std::vector<Cell> row{
        std::string(static_cast<std::size_t>(indent[depth]), ' ') + name_of_node(*node),
        format_time(node->ns), format_share(share_of(node->ns, shown.front()->ns)),
        format_time(node->idle_ns)};
    if (energy) row.push_back(node->nj ? format_energy(*node->nj) : "-");
    table.add(std::move(row));
  }
  return table.render(style);
}

}  // namespace

std::string call_tree_section(const std::vector<CallNode>& nodes, const Analysis& analysis,
                              const TextStyle& style) {
  std::string out;
  const auto modules = worth_a_line(nodes, TreeView::modules);
  if (modules.size() > 1)
    out += section_title(style, "Call tree", "device time by module and operator, from 1 %") +
           tree_table(modules, style);
  const auto calls = worth_a_line(nodes, TreeView::calls);
  const bool frames = std::ranges::any_of(
      calls, [](const auto* node) { return node->kind == TreeNodeKind::python; });
  if (frames)
    out += section_title(style, "Call paths", "device time by Python frame, from 1 %") +
           tree_table(calls, style);
  Nanos unrecorded = 0;
  for (const auto& device : analysis.devices) unrecorded += device.unrecorded_ns;
  if (!out.empty() && unrecorded > 0)
    out += wrap(fmt::format("Of the idle time here {} is work that was not recorded: in which gaps "
                            "is not known.",
                            format_time(unrecorded)),
                static_cast<std::size_t>(style.width), 2);
  return out;
}

}  // namespace gf
