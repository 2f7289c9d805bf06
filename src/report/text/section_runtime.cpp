// The framework runtime: phases, queues, operations, and idle causes.
#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "report/labels.h"
#include "report/text/format.h"
#include "report/text/plot.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

namespace {

constexpr int kPhaseBar = 24;

std::string modes_text(const RuntimeInfo& runtime_info) {
  std::string text;
  for (const auto& mode : runtime_info.modes) text += (text.empty() ? "" : ", ") + mode;
  return text;
}

std::string median_wait(const Distribution& wait) {
  return wait.count == 0 ? "no data" : format_time(static_cast<Nanos>(wait.median));
}

std::string phases_table(const RuntimeInfo& runtime_info, const TextStyle& style) {
  const bool items = runtime_info.items.has_value();
  TextTable table({{"phase"},
                   {""},
                   {"time", Align::right},
                   {"share", Align::right},
                   {(items ? "per item" : ""), Align::right}});
  for (const auto& phase : runtime_info.phases) {
    if (phase.ns == 0 && phase.present_ns == 0) continue;
    table.add({std::string(name_of(phase.phase)),
               Cell::painted(bar(style, {0, phase.share.value_or(0), 0}, kPhaseBar), kPhaseBar),
               format_time(phase.ns), format_share(phase.share),
               known_or("", phase.per_item_ns, format_mean_time)});
  }
  return table.render(style);
}

std::string kernels_line(const RuntimeInfo& runtime_info, const TextStyle& style) {
  const auto& kernels = runtime_info.kernels;
  std::string text = fmt::format("Kernels: CPU alone {}, GPU alone {}, both {}; no kernel {}",
                                 format_share(kernels.cpu_kernel), format_share(kernels.gpu_kernel),
                                 format_share(kernels.both), format_share(kernels.overhead));
  if (kernels.overhead_per_item_ns)
    text += fmt::format(" ({} per item)",
                        format_time(static_cast<Nanos>(*kernels.overhead_per_item_ns + 0.5)));
  return wrap(text + ".", static_cast<std::size_t>(style.width), 2);
}

/// The phase that takes most of a list, in words.
std::string mostly(const std::vector<PhaseTime>& phases) {
  const auto most =
      std::max_element(phases.begin(), phases.end(),
                       [](const auto& left, const auto& right) { return left.ns < right.ns; });
  if (most == phases.end() || most->ns == 0) return std::string();
  return fmt::format("{} {}", name_of(most->phase), format_share(most->share));
}

std::string queues_table(const RuntimeInfo& runtime_info, const TextStyle& style) {
  if (runtime_info.queues.empty()) return {};
  TextTable table({{"queue"},
                   {"items", Align::right},
                   {"depth", Align::right},
                   {"max", Align::right},
                   {"empty", Align::right},
                   {"wait (median)", Align::right},
                   {"when empty, mostly", Align::left, true}});
  for (const auto& queue : runtime_info.queues)
    table.add({queue.id, format_count(queue.items), fmt::format("{:.2f}", queue.mean_depth),
               format_count(queue.max_depth), format_share(queue.empty), median_wait(queue.wait),
               mostly(queue.when_empty)});
  return "\n" + table.render(style);
}

std::string operations_table(const RuntimeInfo& runtime_info, const TextStyle& style,
                             std::size_t rows) {
  if (runtime_info.operations.size() < 2) return {};
  TextTable table({{"operation", Align::left, true},
                   {"count", Align::right},
                   {"phase"},
                   {"median", Align::right},
                   {"p95", Align::right},
                   {"max", Align::right}});
  auto time = [](double ns) { return format_time(static_cast<Nanos>(ns + 0.5)); };
  for (std::size_t i = 0; i < runtime_info.operations.size() && i < rows; ++i) {
    const auto& operation = runtime_info.operations[i];
    std::string name = operation.type, count = format_count(operation.count);
    if (i == 0) name = "all";
    for (const auto& phase : operation.phases) {  // the name stands beside the first
      // The phase that matters most of each type, and every phase of all of them.
      const auto most = std::max_element(
          operation.phases.begin(), operation.phases.end(),
          [](const auto& left, const auto& right) { return left.total_ns < right.total_ns; });
      if (i > 0 && &phase != &*most) continue;
      table.add({name, count, std::string(name_of(phase.phase)), time(phase.spread.median),
                 time(phase.spread.p95), time(phase.spread.max)});
      name.clear();
      count.clear();
    }
  }
  return "\n" + table.render(style);
}

std::string idle_table(const RuntimeInfo& runtime_info, const TextStyle& style, std::size_t rows) {
  if (runtime_info.idle.empty()) return {};
  const std::size_t shown = std::min(runtime_info.idle.size(), rows);
  const bool python = std::any_of(runtime_info.idle.begin(),
                                  runtime_info.idle.begin() + static_cast<std::ptrdiff_t>(shown),
                                  [](const auto& origin) { return !origin.python.empty(); });
  std::vector<TableColumn> columns{
      {"idle cause"}, {"phase", Align::left, false, 1}, {"operation", Align::left, true}};
  if (python) columns.push_back({"Python"});
  columns.push_back({"time", Align::right});
  columns.push_back({"speedup", Align::right});
  TextTable table(columns);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& origin = runtime_info.idle[i];
    std::vector<Cell> cells{std::string(label_of(origin.cause).text),
                            std::string(name_of(origin.phase)),
                            std::string(text_or(origin.operation, "-"))};
    if (python) cells.emplace_back(shorten_middle(origin.python, 24));
    cells.emplace_back(format_time(origin.ns));
    cells.emplace_back(known_or("no data", origin.speedup,
                                [](double times) { return fmt::format("{:.2f}x", times); }));
    table.add(std::move(cells));
  }
  return "\n" + table.render(style);
}

}  // namespace

std::string runtime_section(const Analysis& analysis, const TextStyle& style, std::size_t rows) {
  const auto& runtime = analysis.runtime;
  if (runtime.phases.empty()) return {};
  std::string remark = "share of " + format_time(runtime.duration_ns);
  if (!runtime.modes.empty()) remark = modes_text(runtime) + "; " + remark;
  std::size_t idle_rows = rows, operation_rows = rows;
  if (rows <= 12) {
    idle_rows = std::min<std::size_t>(rows, 6);
    operation_rows = std::min<std::size_t>(rows, 8);
  }
  return section_title(style, "Framework runtime", remark) + phases_table(runtime, style) +
         kernels_line(runtime, style) + queues_table(runtime, style) +
         idle_table(runtime, style, idle_rows) + operations_table(runtime, style, operation_rows);
}

}  // namespace gf
