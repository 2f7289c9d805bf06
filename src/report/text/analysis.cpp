#include "report/text/analysis.h"

#include <algorithm>

#include "report/summary.h"
#include "report/text/format.h"
#include "report/text/paint.h"
#include "report/text/sections.h"
#include "report/wholeness.h"

namespace gf {

namespace {

std::string_view file_name(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

std::string opening(const Analysis& a, const TextStyle& style) {
  const auto width = static_cast<std::size_t>(style.width);
  std::string files(file_name(a.source.path));
  if (a.counters_source && a.counters_source->path != a.source.path)
    files += " + " + std::string(file_name(a.counters_source->path));
  const std::string what = subject(a);
  const std::size_t left = width > columns_of(what) + 2 ? width - columns_of(what) - 2 : 0;
  std::string out;
  if (left < 30)
    out = paint(style, Paint::dim, shorten_middle(files, width)) + "\n" +
          paint(style, Paint::dim, shorten_middle(what, width)) + "\n";
  else {
    const std::string shown = shorten_middle(files, left);
    out = paint(style, Paint::dim,
                shown + std::string(width - columns_of(shown) - columns_of(what), ' ') + what) +
          "\n";
  }
  out += paint(style, Paint::strong, wrap(headline(a), width));
  for (const auto& text : shortcomings(a))
    out += paint(style, Paint::warn, wrap("Not whole: " + text, width));
  return out;
}

}  // namespace

std::string analysis_text(const Analysis& a, const TextStyle& style, std::size_t rows) {
  std::string out = opening(a, style);
  if (!a.devices.empty()) {
    out += ladder_section(a, style);
    out += waterfall_section(a, style);
    out += over_time_section(a, style);
    out += devices_section(a, style);
    out += idle_section(a, style, rows);
    out += findings_section(a, style, rows);
    out += runtime_section(a, style, rows);
    out += layers_section(a, style, rows);
    out += kernels_section(a, style, rows);
    out += readings_section(a, style);
    out += energy_section(a.energy, style, std::min<std::size_t>(rows, 8));
  } else {
    out += runtime_section(a, style, rows);
  }
  return out + matching_section(a, style) + collect_section(a, style) + quality_section(a, style);
}

}  // namespace gf
