// The critical path as text.
#include "analyze/replay/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/kernel_name.h"
#include "report/summary.h"
#include "report/text/critical_path.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

namespace {

std::string_view label_of(CriticalPart part) {
  static constexpr std::array<std::string_view, EnumNames<CriticalPart>::names.size()> kLabels{
      "compute kernels",        "communication",
      "memory copies",          "host work",
      "input pipeline",         "profiler overhead (estimated)",
      "kernel launch latency",  "kernel launch gap",
      "other stream",           "return of a synchronizing call",
      "before the first launch"};
  return kLabels[static_cast<std::size_t>(part)];
}

/// A sum over the path's steps, for one of them.
std::string per_step(Nanos ns, const CriticalPath& path) {
  return format_time(ns / std::max<std::int64_t>(path.steps, 1));
}

std::string first_sentence(const CriticalPath& path) {
  const auto length = format_time(path.length_ns);
  if (path.steps == 0)
    return fmt::format("The critical path of device {} takes {}, the whole window.", path.device,
                       length);
  return fmt::format(
      "The critical path of device {} takes {} a step, from the end of one step's GPU work to the "
      "end of the next ({}, {}).",
      path.device, per_step(path.length_ns, path), plural(path.steps, "step"), length);
}

}  // namespace

std::string critical_path_text(const CriticalPath& path, const TextStyle& style, std::size_t rows) {
  const auto width = static_cast<std::size_t>(style.width);
  std::string text = title_line(path.source, std::nullopt, window_label(path.window), style) +
                     paint(style, Paint::strong, wrap(first_sentence(path), width));
  const std::string_view each = path.steps > 0 ? "a step" : "time";
  TextTable parts({{"part", Align::left},
                   {"count", Align::right},
                   {std::string(each), Align::right},
                   {"share", Align::right}});
  for (const auto& sum : path.parts)
    parts.add({std::string(label_of(sum.part)), format_count(sum.count), per_step(sum.ns, path),
               Cell(format_share(sum.share), Paint::strong)});
  parts.add({Cell("total", Paint::strong),
             format_count(static_cast<std::int64_t>(path.pieces.size())),
             per_step(path.length_ns, path), Cell(format_share(1.0), Paint::strong)});
  text +=
      section_title(style, "Critical path by part", "only a shorter path makes a step shorter") +
      parts.render(style);
  TextTable names({{"part", Align::left},
                   {"kernel, or operator of the next launch", Align::left, true},
                   {"count", Align::right},
                   {std::string(each), Align::right},
                   {"share", Align::right}});
  for (std::size_t i = 0; i < std::min(rows, path.names.size()); ++i) {
    const auto& sum = path.names[i];
    names.add({std::string(name_of(sum.part)), short_kernel_name(sum.name), format_count(sum.count),
               per_step(sum.ns, path), format_share(sum.share)});
  }
  return text + section_title(style, "Longest on the path") + names.render(style);
}

}  // namespace gf
