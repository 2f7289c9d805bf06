// What the framework's runtime does: phases, queues, operations, and why the GPU idled.
#include <fmt/format.h>

#include <algorithm>

#include "report/labels.h"
#include "report/text/bar.h"
#include "report/text/format.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

namespace {

constexpr int kBar = 24;

std::string modes_text(const RuntimeInfo& r) {
  std::string text;
  for (const auto& m : r.modes) text += (text.empty() ? "" : ", ") + m;
  return text;
}

std::string phases_table(const RuntimeInfo& r, const TextStyle& style) {
  const bool items = r.items.has_value();
  TextTable table({{"phase"},
                   {""},
                   {"time", Align::right},
                   {"share", Align::right},
                   {items ? "per item" : "", Align::right}});
  for (const auto& p : r.phases) {
    if (p.ns == 0 && p.present_ns == 0) continue;
    table.add(
        {std::string(name_of(p.phase)),
         Cell::painted(bar(style, {0, p.share.value_or(0), 0}, kBar), kBar), format_time(p.ns),
         format_share(p.share),
         p.per_item_ns ? format_time(static_cast<Nanos>(*p.per_item_ns + 0.5)) : std::string()});
  }
  return table.render(style);
}

std::string kernels_line(const RuntimeInfo& r, const TextStyle& style) {
  const auto& k = r.kernels;
  std::string text = fmt::format("Kernels: CPU alone {}, GPU alone {}, both {}; no kernel {}",
                                 format_share(k.cpu_kernel), format_share(k.gpu_kernel),
                                 format_share(k.both), format_share(k.overhead));
  if (k.overhead_per_item_ns)
    text += fmt::format(" ({} an item)",
                        format_time(static_cast<Nanos>(*k.overhead_per_item_ns + 0.5)));
  return wrap(text + ".", static_cast<std::size_t>(style.width), 2);
}

/// The phase that takes most of a list, in words.
std::string mostly(const std::vector<PhaseTime>& phases) {
  const auto most = std::max_element(phases.begin(), phases.end(),
                                     [](const auto& a, const auto& b) { return a.ns < b.ns; });
  return most == phases.end() || most->ns == 0
             ? std::string()
             : fmt::format("{} {}", name_of(most->phase), format_share(most->share));
}

std::string queues_table(const RuntimeInfo& r, const TextStyle& style) {
  if (r.queues.empty()) return {};
  TextTable table({{"queue"},
                   {"items", Align::right},
                   {"depth", Align::right},
                   {"max", Align::right},
                   {"empty", Align::right},
                   {"wait (median)", Align::right},
                   {"when empty, mostly", Align::left, true}});
  for (const auto& q : r.queues)
    table.add(
        {q.id, format_count(q.items), fmt::format("{:.2f}", q.mean_depth),
         format_count(q.max_depth), format_share(q.empty),
         q.wait.count ? format_time(static_cast<Nanos>(q.wait.median)) : std::string("no data"),
         mostly(q.when_empty)});
  return "\n" + table.render(style);
}

std::string operations_table(const RuntimeInfo& r, const TextStyle& style, std::size_t rows) {
  if (r.operations.size() < 2) return {};
  TextTable table({{"operation", Align::left, true},
                   {"count", Align::right},
                   {"phase"},
                   {"median", Align::right},
                   {"p95", Align::right},
                   {"max", Align::right}});
  auto time = [](double ns) { return format_time(static_cast<Nanos>(ns + 0.5)); };
  for (std::size_t i = 0; i < r.operations.size() && i < rows; ++i) {
    const auto& o = r.operations[i];
    bool first = true;
    for (const auto& p : o.phases) {
      // The phase that matters most of each type, and every phase of all of them.
      const auto most =
          std::max_element(o.phases.begin(), o.phases.end(),
                           [](const auto& a, const auto& b) { return a.total_ns < b.total_ns; });
      if (i > 0 && &p != &*most) continue;
      table.add({first ? (i == 0 ? std::string("all") : o.type) : std::string(),
                 first ? format_count(o.count) : std::string(), std::string(name_of(p.phase)),
                 time(p.spread.median), time(p.spread.p95), time(p.spread.max)});
      first = false;
    }
  }
  return "\n" + table.render(style);
}

std::string idle_table(const RuntimeInfo& r, const TextStyle& style, std::size_t rows) {
  if (r.idle.empty()) return {};
  const std::size_t shown = std::min(r.idle.size(), rows);
  const bool python =
      std::any_of(r.idle.begin(), r.idle.begin() + static_cast<std::ptrdiff_t>(shown),
                  [](const auto& o) { return !o.python.empty(); });
  std::vector<TableColumn> columns{
      {"why it idled"}, {"phase", Align::left, false, 1}, {"operation", Align::left, true}};
  if (python) columns.push_back({"Python"});
  columns.push_back({"time", Align::right});
  columns.push_back({"at most", Align::right});
  TextTable table(columns);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& o = r.idle[i];
    std::vector<Cell> cells{std::string(label_of(o.cause).text), std::string(name_of(o.phase)),
                            o.operation.empty() ? std::string("-") : o.operation};
    if (python) cells.emplace_back(shorten_middle(o.python, 24));
    cells.emplace_back(format_time(o.ns));
    cells.emplace_back(o.speedup ? fmt::format("{:.2f}x", *o.speedup) : std::string("no data"));
    table.add(std::move(cells));
  }
  return "\n" + table.render(style);
}

}  // namespace

std::string runtime_section(const Analysis& a, const TextStyle& style, std::size_t rows) {
  const auto& r = a.runtime;
  if (r.phases.empty()) return {};
  const std::string span = "share of " + format_time(r.duration_ns);
  return section_title(style, "What the framework runtime does",
                       r.modes.empty() ? span : modes_text(r) + "; " + span) +
         phases_table(r, style) + kernels_line(r, style) + queues_table(r, style) +
         idle_table(r, style, rows > 12 ? rows : std::min<std::size_t>(rows, 6)) +
         operations_table(r, style, rows > 12 ? rows : std::min<std::size_t>(rows, 8));
}

}  // namespace gf
