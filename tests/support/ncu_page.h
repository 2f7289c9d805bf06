// Pages as `ncu --csv` prints them, for tests: details with and without rules, summaries.
#pragma once

#include <string>
#include <vector>

namespace gf::test {

struct NcuMetric {
  std::string name, unit, value, section = "Command line profiler metrics";
};
struct NcuRule {
  std::string section, name, kind, description, speedup_kind, speedup;
};
struct NcuKernel {
  std::string name = "k";
  std::vector<NcuMetric> metrics;
  std::vector<NcuRule> rules;
};

/// The style of a details page.
struct NcuStyle {
  bool rules = true;       // columns of rules
  bool padded = false;     // rows of metrics go on with empty cells: a tool wrote the page anew
  bool by_metric = false;  // sorted by metric: rows of a kernel lie apart
};

inline std::string ncu_cell(const std::string& text) {
  std::string out = "\"";
  for (const char letter : text)
    out += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return out + '"';
}

inline std::string ncu_row(const std::vector<std::string>& cells) {
  std::string out;
  for (const auto& cell : cells) out += (out.empty() ? "" : ",") + ncu_cell(cell);
  return out;
}

inline std::vector<std::string> ncu_launch(std::size_t id, const std::string& name) {
  return {std::to_string(id), "7",           "app", "127.0.0.1", name, "1", "7",
          "(256, 1, 1)",      "(108, 1, 1)", "0",   "8.0"};
}

inline std::string ncu_header(bool rules) {
  std::vector<std::string> cells{"ID",          "Process ID",  "Process Name", "Host Name",
                                 "Kernel Name", "Context",     "Stream",       "Block Size",
                                 "Grid Size",   "Device",      "CC",           "Section Name",
                                 "Metric Name", "Metric Unit", "Metric Value"};
  if (rules)
    for (const char* name : {"Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type",
                             "Estimated Speedup"})
      cells.emplace_back(name);
  return ncu_row(cells) + "\n";
}

/// The row of a metric ends behind its value and a separator where the page has columns of rules.
inline std::string ncu_metric_row(std::size_t id, const std::string& kernel,
                                  const NcuMetric& metric, const NcuStyle& style) {
  auto cells = ncu_launch(id, kernel);
  for (const auto& text : {metric.section, metric.name, metric.unit, metric.value})
    cells.push_back(text);
  std::string row = ncu_row(cells);
  if (style.rules) row += style.padded ? R"csv(,"","","","","")csv" : ",";
  return row + "\n";
}

inline std::string ncu_details(const std::vector<NcuKernel>& kernels, const NcuStyle& style = {}) {
  std::string page = ncu_header(style.rules);
  std::size_t most = 0;
  for (const auto& kernel : kernels) most = std::max(most, kernel.metrics.size());
  if (style.by_metric)
    for (std::size_t at = 0; at < most; ++at)
      for (std::size_t id = 0; id < kernels.size(); ++id)
        if (at < kernels[id].metrics.size())
          page += ncu_metric_row(id, kernels[id].name, kernels[id].metrics[at], style);
  for (std::size_t id = 0; id < kernels.size(); ++id) {
    if (!style.by_metric)
      for (const auto& metric : kernels[id].metrics)
        page += ncu_metric_row(id, kernels[id].name, metric, style);
    if (!style.rules) continue;
    for (const auto& rule : kernels[id].rules) {
      auto cells = ncu_launch(id, kernels[id].name);
      for (const auto& text : {rule.section, std::string(), std::string(), std::string(), rule.name,
                               rule.kind, rule.description, rule.speedup_kind, rule.speedup})
        cells.push_back(text);
      page += ncu_row(cells) + "\n";
    }
  }
  return page;
}

}  // namespace gf::test
