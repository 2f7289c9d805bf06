// The sentences of a comparison.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/fallback.h"
#include "core/when.h"
#include "report/compare/compare.h"
#include "report/labels.h"
#include "report/text/format.h"

namespace gf {

namespace {

std::string_view name_of_setting(ComparedSetting setting) {
  switch (setting) {
    case ComparedSetting::device:
      return "GPU";
    case ComparedSetting::device_count:
      return "GPUs at work";
    case ComparedSetting::batch:
      return "batch";
    case ComparedSetting::precision:
      return "precision";
    case ComparedSetting::profiler:
      return "profiler";
    case ComparedSetting::steps:
      return "what makes the steps";
    case ComparedSetting::rank:
      break;
  }
  return "rank";
}

/// "+1.2 %" of a ratio of 1.012.
std::string percent(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }

/// The parts of the difference, largest first.
std::string made_of(const Comparison& c, std::size_t other) {
  constexpr std::size_t kNamed = 3;
  std::vector<const ComparedTime*> rows;
  for (const auto& row : c.time)
    if (row.change_ns[other] != 0) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [&](auto* left, auto* right) {
    return std::abs(left->change_ns[other]) > std::abs(right->change_ns[other]);
  });
  Nanos rest = c.runs[other].time_ns - c.runs[0].time_ns;
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, rows.size()); ++i) {
    if (i > 0) text += ", ";
    text += row_name(*rows[i]) + " " + signed_time(rows[i]->change_ns[other]);
    rest -= rows[i]->change_ns[other];
  }
  if (rows.size() > kNamed) text += ", the rest " + signed_time(rest);
  return text;
}

/// "A step of B takes 7.290 ms less than one of A (1.17x as fast, 95 %: 1.12-1.22x)".
std::string whole_difference(const Comparison& c, const ComparedChange& change, std::size_t other) {
  const Nanos difference = c.runs[other].wall_ns - c.runs[0].wall_ns;
  std::string_view subject = "The window of ", object = "that";
  if (c.per == "step") {
    subject = "A step of ";
    object = "one";
  }
  const char* way = "more";
  if (difference < 0) way = "less";
  std::string text = fmt::format("{}{} takes {} {} than {} of A", subject, run_letter(other),
                                 format_time(std::abs(difference)), way, object);
  if (!change.ratio) return text;
  text +=
      fmt::format(" ({}{:.2f}x as fast", when(change.of == "item", "an item "), 1 / *change.ratio);
  if (change.low && change.high)
    text += fmt::format(", 95 %: {:.2f}-{:.2f}x", 1 / *change.high, 1 / *change.low);
  return text + ")";
}

/// Where profilers slowed the hosts, the truth lies between two ratios.
std::string bracket(const Comparison& c, const ComparedChange& change, std::size_t other) {
  const bool slowed = c.runs[0].slowed || c.runs[other].slowed;
  if (!slowed || !change.ratio || !change.kernel_ratio) return {};
  const double steps = 1 / *change.ratio, kernels = 1 / *change.kernel_ratio;
  return fmt::format(
      " A profiler slowed the host: by kernel time alone it is {:.2f}x, and without the profiler "
      "between {:.2f}x and {:.2f}x.",
      kernels, std::min(steps, kernels), std::max(steps, kernels));
}

std::string same_job(const Comparison& c, std::size_t other) {
  return fmt::format(
      "A and {} are ranks {} and {} of one job. They wait for each other, so that neither is "
      "faster: read who waits in the rows of communication, where less time means arriving later.",
      run_letter(other), *c.runs[0].rank, *c.runs[other].rank);
}

}  // namespace

std::string signed_time(Nanos ns) {
  if (ns == 0) return "0";
  if (ns < 0) return "-" + format_time(-ns);
  return "+" + format_time(ns);
}

std::string run_letter(std::size_t run) {
  if (run >= 26) return std::to_string(run + 1);
  return std::string(1, static_cast<char>('A' + run));
}

std::string row_name(const ComparedTime& row) {
  if (row.kind == ComparedRowKind::idle)
    return "idle: " + std::string(label_of(cause_labels(), row.name).text);
  if (row.kind == ComparedRowKind::bar) return std::string(label_of(bar_labels(), row.name).text);
  if (row.kind == ComparedRowKind::phase)
    return std::string(label_of(phase_labels(), row.name).text);
  return std::string(text_or(row.label, "(no name)"));
}

std::string comparison_headline(const Comparison& c, std::size_t other) {
  const ComparedChange& change = c.changes[other - 1];
  const Nanos difference = c.runs[other].wall_ns - c.runs[0].wall_ns;
  const bool by_step = c.per == "step";
  if (change.verdict == ComparedVerdict::same_job) return same_job(c, other);
  if (c.runs[0].wall_ns == 0 || difference == 0)
    return fmt::format("{}{} takes as long as {} of A.", by_step ? "A step of " : "The window of ",
                       run_letter(other), by_step ? "one" : "that");
  if (change.verdict == ComparedVerdict::no_difference)
    return fmt::format("No difference beyond noise: {} of {} takes {} against A (95 %: {} to {}).",
                       change.of == "item" ? "an item" : "a step", run_letter(other),
                       percent(*change.ratio), percent(*change.low), percent(*change.high)) +
           bracket(c, change, other);
  std::string text = whole_difference(c, change, other) + ": " + made_of(c, other) + ".";
  if (by_step && change.verdict == ComparedVerdict::not_known)
    text += " With fewer than three steps in a run, noise is not known.";
  return text + bracket(c, change, other);
}

std::string difference_sentence(const Comparison& c) {
  std::string text;
  for (const auto& difference : c.differences) {
    if (difference.setting == ComparedSetting::rank && c.ranks_of_one_job) continue;
    if (text.empty())
      text = "Not alike beside the program: ";
    else
      text += "; ";
    text += name_of_setting(difference.setting);
    text += " (";
    for (std::size_t run = 0; run < difference.values.size(); ++run) {
      if (run > 0) text += ", ";
      text += run_letter(run) + " ";
      text += text_or(difference.values[run], "not known");
    }
    text += ")";
  }
  if (!text.empty()) text += ".";
  return text;
}

}  // namespace gf
