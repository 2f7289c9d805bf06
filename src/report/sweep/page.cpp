#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/when.h"
#include "model/metric_id.h"
#include "report/labels.h"
#include "report/sweep/chart.h"
#include "report/sweep/sweep.h"
#include "report/text/format.h"

namespace gf {

namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>gpufathom sweep</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; }
body { padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #8884; }
th, td { font-variant-numeric: tabular-nums; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; }
.wide { overflow-x: auto; margin-bottom: 2rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(28rem, 1fr)); }
.charts { gap: 1.5rem; }
.takeaways dt { font-weight: 600; margin-top: .8rem; } .takeaways dd { margin: 0 0 0 1.2rem; }
.holds { color: #0a7d32; } .does_not_hold { color: #c0392b; } .cannot_tell { color: #777; }
tr.saturated { font-weight: 600; }
</style>
<h1>gpufathom sweep</h1>
)";

const SweepRun& run_at(const Sweep& sweep, std::int64_t at) {
  return sweep.runs[static_cast<std::size_t>(at)];
}

std::vector<std::string> models_of(const Sweep& sweep) {
  std::vector<std::string> models;
  for (const auto& series : sweep.series)
    if (std::find(models.begin(), models.end(), series.model) == models.end())
      models.push_back(series.model);
  return models;
}

std::string id_of(std::string_view kind, std::string_view model) {
  std::string id(kind);
  for (const char letter : std::string("_") + std::string(model))
    id += std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
  return id;
}

using Coordinate = std::function<std::optional<double>(const SweepRun&)>;

/// A line for each series of the model, of the runs that have both values.
std::vector<ChartLine> lines_of(const Sweep& sweep, const std::string& model, const Coordinate& x,
                                const Coordinate& y) {
  std::vector<ChartLine> lines;
  std::size_t colour = 0;
  for (const auto& series : sweep.series) {
    if (series.model != model) continue;
    ChartLine line;
    line.name = series.name;
    line.colour = colour++;
    for (const auto at : series.runs) {
      const SweepRun& run = run_at(sweep, at);
      const auto at_x = x(run), at_y = y(run);
      if (!at_x || !at_y || *at_x <= 0) continue;
      if (run.batch && run.batch == series.saturation_batch) line.marked = line.points.size();
      line.points.emplace_back(*at_x, *at_y);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::optional<double> batch_of(const SweepRun& run) {
  if (!run.batch) return {};
  return static_cast<double>(*run.batch);
}
std::optional<double> memory_of(const SweepRun& run) {
  if (!run.memory_bytes) return {};
  return static_cast<double>(*run.memory_bytes) * 1e-9;
}

Coordinate level(std::string_view id) {
  return [id](const SweepRun& run) {
    const Share value = level_of(run, id);
    if (value || id != "sm.active"_metric) return value;
    return level_of(run, "sm.active_any"_metric);
  };
}

std::string model_charts(const Sweep& sweep, const std::string& model) {
  std::string out;
  const auto normalised = [](const SweepRun& run) { return run.normalised; };
  Chart chart{id_of("throughput", model),
              model + ": throughput over the batch",
              "batch",
              "of the best",
              true,
              false,
              true,
              1.0,
              true};
  out += line_chart(chart, lines_of(sweep, model, batch_of, normalised));
  for (const auto* id :
       {"gpu.busy"_metric, "sm.active"_metric, "issue.active"_metric, "tensor.active"_metric}) {
    chart.id = id_of(id, model);
    chart.title = fmt::format("{}: {} over the batch", model, label_of(level_labels(), id).text);
    chart.y_title = "of the time";
    chart.y_high = 1.0;
    out += line_chart(chart, lines_of(sweep, model, batch_of, level(id)));
  }
  const Chart memory{id_of("memory", model),
                     model + ": throughput against memory",
                     "memory, GB",
                     "of the best",
                     true,
                     false,
                     true,
                     1.0,
                     true};
  out += line_chart(memory, lines_of(sweep, model, memory_of, normalised));
  const Chart work{id_of("flops", model),
                   model + ": operations a second",
                   "batch",
                   "TFLOP/s",
                   true,
                   false,
                   false,
                   0,
                   true};
  out += line_chart(work, lines_of(sweep, model, batch_of, [](const SweepRun& run) {
                      std::optional<double> teraflops;
                      if (run.flops) teraflops = *run.flops * 1e-12;
                      return teraflops;
                    }));
  return out;
}

std::string curves(const Sweep& sweep, const std::string& model) {
  std::vector<ChartLine> lines;
  std::size_t colour = 0;
  std::string level;
  for (const auto& series : sweep.series) {
    if (series.model != model) continue;
    ChartLine line;
    line.name = series.name;
    line.colour = colour++;
    double before = 0;
    for (const auto& point : series.tensor_curve) {  // steps, as kernels are
      line.points.emplace_back(before, point.utilization);
      line.points.emplace_back(point.time_share, point.utilization);
      before = point.time_share;
      level = series.curve_level;
    }
    lines.push_back(std::move(line));
  }
  const Chart chart{id_of("curve", model),
                    fmt::format("{}: {} over the kernels", model, level),
                    "share of kernel time, kernels in the order of their level",
                    level,
                    false,
                    true,
                    true,
                    0,
                    false};
  return line_chart(chart, lines);
}

std::string distributions(const Sweep& sweep, const std::string& model) {
  std::vector<ChartBins> rows;
  std::size_t colour = 0;
  for (const auto& series : sweep.series) {
    if (series.model != model) continue;
    for (const auto& level : series.spreads) {
      const Distribution& spread = level.spread;
      if (spread.max > 1.0001) continue;  // a reading, not a share
      ChartBins row{fmt::format("{} {}", series.name.substr(series.model.size()), level.id),
                    spread.min,
                    spread.max,
                    spread.shape,
                    spread.median,
                    colour};
      if (row.shares.empty()) row.shares = {1.0};
      rows.push_back(std::move(row));
    }
    ++colour;
  }
  Chart chart;
  chart.id = id_of("kernels", model);
  chart.title = model + ": each level over all kernels, by their time";
  return bins_chart(chart, rows);
}

/// What `tell` says of a value, or that there is none.
template <class T>
std::string told(const std::optional<T>& value, auto&& tell) {
  if (value) return tell(*value);
  return "no data";
}
std::string cell(Share share) {
  return told(share, [](double value) { return format_share(value); });
}

std::string runs_table(const Sweep& sweep) {
  std::string out =
      "<div class=\"wide\"><table><thead><tr><th>series</th><th>batch</th><th>step</th>"
      "<th>repeats</th><th>spread</th><th>items/s</th><th>of the best</th><th>memory</th>"
      "<th>TFLOP/s</th><th>MFU</th><th>GPU</th><th>SM</th><th>issue</th><th>tensor</th></tr></"
      "thead><tbody>\n";
  for (const auto& series : sweep.series)
    for (const auto at : series.runs) {
      const SweepRun& run = run_at(sweep, at);
      const bool saturated = run.batch && run.batch == series.saturation_batch;
      out += fmt::format(
          "<tr{}><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
          "<td>{}</td><td>{}</td><td>{}</td>",
          when(saturated, " class=\"saturated\" title=\"saturation\""), xml_escaped(series.name),
          told(run.batch, format_count), told(run.step_ns, format_time), run.repeats,
          cell(run.spread),
          told(run.throughput, [](double rate) { return fmt::format("{:.4g}", rate); }),
          cell(run.normalised), told(run.memory_bytes, format_bytes),
          told(run.flops, [](double rate) { return fmt::format("{:.1f}", rate * 1e-12); }),
          cell(run.mfu));
      for (const auto* id :
           {"gpu.busy"_metric, "sm.active"_metric, "issue.active"_metric, "tensor.active"_metric})
        out += "<td>" + cell(level(id)(run)) + "</td>";
      out += "</tr>\n";
    }
  return out + "</tbody></table></div>\n";
}

}  // namespace

std::string sweep_page(const Sweep& sweep) {
  std::string out(kHead);
  out += "<h2>The seven takeaways of DATE 2024, here</h2>\n<dl class=\"takeaways\">\n";
  for (const auto& takeaway : sweep.takeaways)
    out += fmt::format("<dt>{} <span class=\"{}\">{}</span></dt><dd>{}.</dd>\n",
                       xml_escaped(takeaway.statement), name_of(takeaway.verdict),
                       words_of(takeaway.verdict), xml_escaped(takeaway.evidence));
  out += "</dl>\n";
  for (const auto& model : models_of(sweep))
    out +=
        fmt::format("<h2>{}</h2>\n<div class=\"charts\">\n{}{}{}</div>\n", xml_escaped(model),
                    model_charts(sweep, model), curves(sweep, model), distributions(sweep, model));
  out += "<h2>All runs</h2>\n" + runs_table(sweep);
  return out + "</html>\n";
}

}  // namespace gf
