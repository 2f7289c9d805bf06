// A serving engine's steps, tokens and waits.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/format.h"
#include "report/labels.h"
#include "report/text/format.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

namespace {

/// "other host work 61 %": the largest cause, as a share of the kind's time.
std::string wait_of(const StepKindUse& use, std::size_t devices) {
  constexpr double kWorthAWord = 0.01;
  const double all = static_cast<double>(use.duration_ns) * static_cast<double>(devices);
  if (use.idle.empty() || !(all > 0)) return {};
  const IdleCause& most = use.idle.front();
  const double share = static_cast<double>(most.ns) / all;
  if (share < kWorthAWord) return {};
  return fmt::format("{} {}", label_of(most.cause).text, format_share(share));
}

std::string joules(double value) { return format_energy(std::llround(value * 1e9)); }

std::string percentiles(std::optional<Nanos> p50, std::optional<Nanos> p90,
                        std::optional<Nanos> p99) {
  if (!p50 || !p90 || !p99) return "not known";
  return fmt::format("{} (p50), {} (p90), {} (p99)", format_time(*p50), format_time(*p90),
                     format_time(*p99));
}

std::string sentences(const Serving& serving) {
  std::string text;
  if (serving.engines > 1)
    text =
        fmt::format("Of {} engines in the capture, these are the steps of one. ", serving.engines);
  text += serving.tokens_per_second
              ? fmt::format("{} tokens a second. ", format_per_second(*serving.tokens_per_second))
              : "Generated tokens: not known. ";
  text += fmt::format(
      "Time between tokens: {}. ",
      percentiles(serving.between_p50_ns, serving.between_p90_ns, serving.between_p99_ns));
  text +=
      fmt::format("Time to first token: {}. ",
                  percentiles(serving.first_p50_ns, serving.first_p90_ns, serving.first_p99_ns));
  if (serving.batch_p50)
    text += fmt::format("Requests of a step that decodes: {} (p50), {} at most. ",
                        *serving.batch_p50, *serving.batch_most);
  if (serving.joules_per_token)
    text += fmt::format("{} a generated token. ", joules(*serving.joules_per_token));
  if (serving.mixed_longer_ns.value_or(0) > 0)
    text += fmt::format("A mixed step takes {} longer than a decode step (p50). ",
                        format_time(*serving.mixed_longer_ns));
  return text;
}

/// A column that stands where any kind has a value.
struct OptionalColumn {
  TableColumn column;
  std::function<std::string(const StepKindUse&)> cell;  // empty: no value
};

std::string share_or_nothing(Share share) { return share ? format_share(share) : ""; }

TextTable kinds_table(const Serving& serving, std::size_t devices) {
  const OptionalColumn kColumns[] = {
      {{"graphs", Align::right, false, 5},
       [](const auto& use) { return use.graphs > 0 ? format_count(use.graphs) : ""; }},
      {{"time", Align::right, false, 4},
       [](const auto& use) { return format_time(use.duration_ns); }},
      {{"share", Align::right}, [](const auto& use) { return format_share(use.share); }},
      {{"p50", Align::right}, [](const auto& use) { return format_time(use.p50_ns); }},
      {{"p99", Align::right, false, 2}, [](const auto& use) { return format_time(use.p99_ns); }},
      {{"padding", Align::right, false, 3},
       [](const auto& use) { return share_or_nothing(use.padding); }},
      {{"DRAM", Align::right, false, 1},
       [](const auto& use) { return share_or_nothing(use.dram); }},
      {{"MFU", Align::right, false, 1}, [](const auto& use) { return share_or_nothing(use.mfu); }},
      {{"a token", Align::right, false, 2},
       [](const auto& use) { return use.joules_per_token ? joules(*use.joules_per_token) : ""; }},
      {{"mostly waits for", Align::left, true},  // a device may be another engine's
       [&](const auto& use) { return serving.engines > 1 ? "" : wait_of(use, devices); }},
  };
  std::vector<TableColumn> columns{{"steps", Align::left}, {"number", Align::right}};
  std::vector<const OptionalColumn*> shown;
  for (const auto& optional : kColumns) {
    if (std::ranges::all_of(serving.kinds,
                            [&](const auto& use) { return optional.cell(use).empty(); }))
      continue;
    columns.push_back(optional.column);
    shown.push_back(&optional);
  }
  TextTable table(std::move(columns));
  for (const auto& use : serving.kinds) {
    std::vector<Cell> row{std::string(name_of(use.kind)), format_count(use.steps)};
    for (const auto* optional : shown) row.emplace_back(optional->cell(use));
    table.add(std::move(row));
  }
  return table;
}

}  // namespace

std::string serving_section(const Analysis& analysis, const TextStyle& style) {
  if (!analysis.serving) return {};
  const Serving& serving = *analysis.serving;
  const auto width = static_cast<std::size_t>(style.width);
  std::string remark = plural(serving.steps.size(), "step");
  if (serving.kind_confidence)
    remark += fmt::format(", kinds by kernels ({} fit)", format_share(serving.kind_confidence));
  return section_title(style, "Serving", remark) + wrap(sentences(serving), width, 2) +
         kinds_table(serving, std::max<std::size_t>(1, analysis.devices.size())).render(style);
}

}  // namespace gf
