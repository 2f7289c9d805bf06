#include "report/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/nearest.h"
#include "report/json.h"
#include "report/text/format.h"

namespace gf {

namespace {

const char* sampling_words(const Chip& chip) {
  if (!chip.pm_sampling) return "no";
  return chip.pm_time_trigger ? "yes, interval in ns or cycles" : "yes, interval in cycles";
}

struct InputJson {
  std::string source;
  std::vector<std::string> chips;
  std::string expression;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("source", &InputJson::source, "trace, report, pm, gpm, nvml, dcgm, solved or model");
    visit("chips", &InputJson::chips, "chips that have it");
    visit("expression", &InputJson::expression,
          "counters with their roll-up, or the id or field of the source");
  }
};

struct MetricJson {
  std::string id, unit, level, openmetrics, definition;
  std::vector<InputJson> inputs;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("id", &MetricJson::id, "dotted name");
    visit("unit", &MetricJson::unit, "unit");
    visit("level", &MetricJson::level, "level or group");
    visit("openmetrics", &MetricJson::openmetrics, "OpenMetrics name");
    visit("definition", &MetricJson::definition, "one sentence");
    visit("inputs", &MetricJson::inputs, "ways to get it");
  }
};

struct TensorJson {
  std::string chip, type;
  int dense_ops = 0;
  std::string counters;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("chip", &TensorJson::chip, "chip");
    visit("type", &TensorJson::type, "input type");
    visit("dense_ops", &TensorJson::dense_ops, "dense operations of one SM in a cycle");
    visit("counters", &TensorJson::counters, "counters whose .sum add up to the operations done");
  }
};

struct CatalogueJson {
  std::string schema = "gpufathom.metrics/1";
  std::vector<MetricJson> metrics;
  std::vector<TensorJson> tensor;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("schema", &CatalogueJson::schema, "name and version of this layout");
    visit("metrics", &CatalogueJson::metrics, "the catalog");
    visit("tensor", &CatalogueJson::tensor, "what the tensor cores of each chip can do");
  }
};

bool wanted(const Metric& metric, const std::vector<std::string>& ids) {
  if (ids.empty()) return true;
  return std::any_of(ids.begin(), ids.end(), [&](std::string_view id) {
    if (metric.id == id) return true;
    if (id.ends_with('.')) id.remove_suffix(1);
    return metric.id.starts_with(id) && metric.id.size() > id.size() && metric.id[id.size()] == '.';
  });
}

Status check(const MetricFilter& filter) {
  for (const std::string& id : filter.ids)
    if (std::none_of(metrics().begin(), metrics().end(),
                     [&](const Metric& metric) { return wanted(metric, {id}); })) {
      std::vector<std::string> known;
      for (const Metric& metric : metrics()) known.emplace_back(metric.id);
      return fail(fmt::format("no metric is called \"{}\"{}", id, did_you_mean(id, known)), {}, -1,
                  "gpufathom metrics lists them");
    }
  if (!filter.level.empty() &&
      std::none_of(metrics().begin(), metrics().end(),
                   [&](const Metric& metric) { return name_of(metric.level) == filter.level; })) {
    std::string known;
    for (std::size_t i = 0; i < kMetricLevels; ++i)
      (known += (i > 0 ? ", " : "")) += name_of(static_cast<MetricLevel>(i));
    return fail(fmt::format("no level is called \"{}\"", filter.level), {}, -1, known);
  }
  if (!filter.chip.empty() && !find_chip(filter.chip)) {
    std::string known;
    for (const Chip& chip : chips()) (known += (known.empty() ? "" : ", ")) += chip.name;
    return fail(fmt::format("no chip is called \"{}\"", filter.chip), {}, -1, known);
  }
  return {};
}

}  // namespace

std::string chips_text(ChipSet set) {
  if (set == kEveryChip) return "all chips";
  for (const Chip& chip : chips())
    if (set == since(chip.id) && (set & (set - 1))) return fmt::format("{} and later", chip.name);
  auto names = [](ChipSet some) {
    std::string out;
    for (const Chip& chip : chips())
      if (some & bit(chip.id)) (out += (out.empty() ? "" : ", ")) += chip.name;
    return out;
  };
  // Long lists read better by what is missing.
  const auto first = static_cast<ChipId>(std::countr_zero(set));
  const auto missing = static_cast<ChipSet>(since(first) & ~set);
  if (std::popcount(missing) == 0 || std::popcount(missing) >= std::popcount(set))
    return names(set);
  std::string from = "all chips";
  if (first != ChipId{}) from = fmt::format("{} and later", chip(first).name);
  return from + " but " + names(missing);
}

Result<std::vector<MetricEntry>> select_metrics(const MetricFilter& filter) {
  if (auto ok = check(filter); !ok) return tl::unexpected(ok.error());
  ChipSet asked = filter.chip.empty() ? kEveryChip : bit(find_chip(filter.chip)->id);
  std::vector<MetricEntry> entries;
  for (const Metric& metric : metrics()) {
    if (!wanted(metric, filter.ids) ||
        (!filter.level.empty() && name_of(metric.level) != filter.level))
      continue;
    MetricEntry entry{&metric, {}};
    for (const MetricInput& input : metric_inputs())
      if (input.metric == metric.id && (input.chips & asked)) entry.inputs.push_back(&input);
    if (!entry.inputs.empty()) entries.push_back(std::move(entry));
  }
  return entries;
}

std::string metrics_text(const std::vector<MetricEntry>& entries, const TextStyle& style,
                         bool details) {
  std::size_t id_width = 0, unit_width = 0;
  for (const auto& entry : entries) {
    id_width = std::max(id_width, entry.metric->id.size());
    unit_width = std::max(unit_width, entry.metric->unit.size());
  }
  std::string out;
  std::string_view level;
  const auto width = static_cast<std::size_t>(style.width);
  for (const auto& [entry, inputs] : entries) {
    if (name_of(entry->level) != level) {
      if (!out.empty()) out += '\n';
      out += paint(style, Paint::title, level = name_of(entry->level)) + '\n';
    } else if (details) {
      out += '\n';
    }
    if (!details) {
      // The definition stands right of id and unit, over as many lines as it needs.
      const std::size_t left = 2 + id_width + 2 + unit_width + 2;
      out += fmt::format("  {}{:{}}  {:{}}  {}", paint(style, Paint::strong, entry->id), "",
                         id_width - entry->id.size(), entry->unit, unit_width,
                         wrap(entry->definition, width, left).substr(left));
      continue;
    }
    out += fmt::format("  {}  [{}]  gpufathom_{}\n", paint(style, Paint::strong, entry->id),
                       entry->unit, entry->openmetrics);
    out += wrap(entry->definition, width, 6);
    for (const MetricInput* input : inputs) {
      out +=
          wrap(fmt::format("{}, {}:", name_of(input->source), chips_text(input->chips)), width, 6);
      out += wrap(input->expression, std::max(width, input->expression.size() + 8),
                  8);  // a counter's name is never cut
    }
  }
  return out;
}

std::string metrics_json(const std::vector<MetricEntry>& entries) {
  CatalogueJson catalogue_json;
  for (const auto& [entry, inputs] : entries) {
    MetricJson json{std::string(entry->id),
                    std::string(entry->unit),
                    std::string(name_of(entry->level)),
                    fmt::format("gpufathom_{}", entry->openmetrics),
                    std::string(entry->definition),
                    {}};
    for (const MetricInput* one : inputs) {
      InputJson input{std::string(name_of(one->source)), {}, std::string(one->expression)};
      for (const Chip& chip : chips())
        if (one->chips & bit(chip.id)) input.chips.emplace_back(chip.name);
      json.inputs.push_back(std::move(input));
    }
    catalogue_json.metrics.push_back(std::move(json));
  }
  for (const TensorPath& path : tensor_paths())
    catalogue_json.tensor.push_back({std::string(chip(path.chip).name),
                                     std::string(name_of(path.type)), path.dense_ops,
                                     std::string(path.counters)});
  std::string out;
  to_json(out, catalogue_json);
  return out += '\n';
}

std::string metrics_page() {
  std::string out =
      "# Metrics\n\n"
      "<!-- Made by `./dev docs` from src/model/metrics.def, levels.def and chips.cpp: change "
      "those. -->\n\n"
      "Every quantity that gpufathom names. `gpufathom metrics` prints the same; `gpufathom "
      "metrics dram --chip GH100` a part of it.\n\n"
      "Ratios are 0 to 1. A count covers the span of its sample or kernel: divide by the duration "
      "for a rate. No data is never 0.\n"
      "The OpenMetrics name of a metric has the prefix `gpufathom_`.\n\n"
      "| source | where values come from |\n|---|---|\n"
      "| trace | intervals of a trace, no counter |\n"
      "| report | counters of each kernel: Nsight Compute, or the CUPTI range profiler |\n"
      "| pm | CUPTI PM sampling: the whole device, every process on it |\n"
      "| gpm | NVML GPM metric id: Hopper and later, 100 ms and slower |\n"
      "| nvml | NVML call or field |\n"
      "| dcgm | DCGM field id |\n"
      "| solved | the counter that samples stand for, once they are solved by kernel |\n"
      "| model | worked out from other metrics |\n";
  std::string_view level;
  const auto all = select_metrics({});
  for (const MetricEntry& entry : *all) {
    const Metric& metric = *entry.metric;
    if (name_of(metric.level) != level)
      out += fmt::format("\n## {}\n", level = name_of(metric.level));
    out += fmt::format("\n### {}\n\n{} Unit: {}. OpenMetrics: `{}`.\n\n", metric.id,
                       metric.definition, metric.unit, metric.openmetrics);
    for (const MetricInput* input : entry.inputs) {
      const char* quote = input->source == MetricSource::trace ? "" : "`";
      out += fmt::format("- {}, {}: {}{}{}\n", name_of(input->source), chips_text(input->chips),
                         quote, input->expression, quote);
    }
    for (const CatalogueColumn& column : log_columns())
      if (column.metric == metric.id)
        out += fmt::format("- column of {}: `{}`\n", name_of(column.log), column.names);
  }
  out +=
      "\n## Tensor operations by input type\n\n"
      "Dense operations that one SM can do in a cycle (a multiply-add is two), and the counters "
      "whose `.sum` add up to the operations done.\n"
      "The peak of `tensor.flops` is this number times SMs times cycles. `ncu`'s own "
      "`.peak_sustained` of the `src_` counters is the rate for\n"
      "sparse operands, twice this: a dense kernel at full speed reads 50 % there.\n\n| chip | "
      "type | dense operations / SM / cycle | counters |\n|---|---|---|---|\n";
  for (const TensorPath& path : tensor_paths())
    out += fmt::format("| {} | {} | {} | `{}` |\n", chip(path.chip).name, name_of(path.type),
                       path.dense_ops, path.counters);
  out +=
      "\n## Chips\n\nA row stands for its family: counters and rates are equal in it.\n\n"
      "| chip | architecture | family | compute capability | warps / SM | L2 partitions | PM "
      "sampling |\n|---|---|---|---|---|---|---|\n";
  for (const Chip& chip : chips())
    out += fmt::format("| {} | {} | {} | {}.{} | {} | {} | {} |\n", chip.name, chip.architecture,
                       chip.family, chip.major, chip.minor, chip.warps_per_sm,
                       1 + static_cast<int>(chip.two_l2_partitions), sampling_words(chip));
  return out;
}

}  // namespace gf
