// The sentences of a comparison.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.h"
#include "report/compare/compare.h"
#include "report/compare/verdict_words.h"
#include "report/labels.h"

namespace gf {

namespace {

std::string_view name_of_setting(ComparedSetting setting) {
  switch (setting) {
    case ComparedSetting::device:
      return "GPU";
    case ComparedSetting::device_count:
      return "active GPUs";
    case ComparedSetting::batch:
      return "batch";
    case ComparedSetting::tokens:
      return "tokens";
    case ComparedSetting::precision:
      return "precision";
    case ComparedSetting::profiler:
      return "profiler";
    case ComparedSetting::steps:
      return "source of the steps";
    case ComparedSetting::length:
      return "steps";
    case ComparedSetting::rank:
      break;
  }
  return "rank";
}

/// The category of a part of the time: kernels, copies, host, waiting, or other idle.
std::string_view part_of(const ComparedTime& row) {
  if (row.kind == ComparedRowKind::layer_type) return "kernels";
  if (row.kind == ComparedRowKind::copy) return "copies";
  static constexpr std::pair<IdleReason, std::string_view> kParts[] = {
      {IdleReason::launch_bound, "host"},  {IdleReason::host_other, "host"},
      {IdleReason::allocation, "host"},    {IdleReason::start_up, "host"},
      {IdleReason::sync, "waiting"},       {IdleReason::memcpy, "waiting"},
      {IdleReason::input, "waiting"},      {IdleReason::communication, "waiting"},
      {IdleReason::dependency, "waiting"},
  };
  for (const auto& [reason, part] : kParts)
    if (row.kind == ComparedRowKind::idle && row.name == name_of(reason)) return part;
  return "other idle";
}

/// The time by which a step of the other run is longer than A's; by item, than A's for as many
/// items. The mean of several GPUs counts, which adds up to the time by the clock.
Nanos more_than_first(const Comparison& c, Nanos first, Nanos later, std::size_t other) {
  const auto of_a_gpu = [&](std::size_t run, Nanos all) {
    return static_cast<double>(all) /
           static_cast<double>(std::max<std::int64_t>(1, c.runs[run].devices));
  };
  double before = of_a_gpu(0, first);
  if (c.changes[other - 1].of == "item")
    before *= static_cast<double>(*c.runs[other].batch) / static_cast<double>(*c.runs[0].batch);
  return std::llround(of_a_gpu(other, later) - before);
}

Nanos change_of(const Comparison& c, const ComparedTime& row, std::size_t other) {
  return more_than_first(c, row.ns[0], row.ns[other], other);
}

/// The largest parts of a difference whose rows are no parts of a device's time: phases, bars.
std::string made_of_rows(const Comparison& c, std::size_t other) {
  constexpr std::size_t kNamed = 3;
  std::vector<const ComparedTime*> rows;
  for (const auto& row : c.time)
    if (change_of(c, row, other) != 0) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [&](auto* left, auto* right) {
    return std::abs(change_of(c, *left, other)) > std::abs(change_of(c, *right, other));
  });
  Nanos rest = more_than_first(c, c.runs[0].time_ns, c.runs[other].time_ns, other);
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, rows.size()); ++i) {
    const Nanos change = change_of(c, *rows[i], other);
    if (i > 0) text += ", ";
    text += row_name(*rows[i]) + " " + signed_time(change);
    rest -= change;
  }
  if (rows.size() > kNamed) text += ", the rest " + signed_time(rest);
  return text;
}

std::string made_of(const Comparison& c, std::size_t other) {
  const auto parts = parts_sentence(c, other);
  return parts.empty() ? made_of_rows(c, other) : parts;
}

/// True if the tables, which are of one capture of each version and hold rare long steps, are no
/// example of what the verdict says of all captures. Of items they are of steps, not of an item.
bool tables_disagree(const Comparison& c, const ComparedChange& change, std::size_t other) {
  if (change.of == "item" || !change.low || !change.high || c.runs[0].wall_ns == 0) return false;
  const double ratio =
      static_cast<double>(c.runs[other].wall_ns) / static_cast<double>(c.runs[0].wall_ns);
  return ratio < *change.low || ratio > *change.high || (ratio > 1) != (*change.ratio > 1);
}

/// "B is 1.17x faster than A (step 42.54 ms vs. 49.83 ms; 95 %: 1.12-1.22x)".
std::string whole_difference(const Comparison& c, const ComparedChange& change, std::size_t other) {
  const Nanos before = c.runs[0].wall_ns;
  Nanos after = c.runs[other].wall_ns;
  if (tables_disagree(c, change, other))
    after = std::llround(*change.ratio * static_cast<double>(before));
  const std::string_view what = c.per == "step" ? "step" : "window";
  if (!change.ratio)
    return fmt::format("The {} of {} takes {} {} than that of A", what, run_letter(other),
                       format_time(std::abs(after - before)), after < before ? "less" : "more");
  const bool faster = *change.ratio < 1;
  const auto times = [&](double ratio) { return faster ? 1 / ratio : ratio; };
  std::string text = fmt::format("{} is {:.2f}x {}{} than A ({} {} vs. {}", run_letter(other),
                                 times(*change.ratio), faster ? "faster" : "slower",
                                 change.of == "item" ? " per item" : "", what, format_time(after),
                                 format_time(before));
  if (change.low && change.high) {
    const auto [least, most] = std::minmax({times(*change.low), times(*change.high)});
    text += fmt::format("; 95 %: {:.2f}-{:.2f}x", least, most);
  }
  return text + ")";
}

std::string_view whose_tables(const Comparison& c, std::size_t other) {
  return c.runs[0].captures.empty() && c.runs[other].captures.empty()
             ? "all steps"
             : "the captures with the middle step";
}

/// The comparison without profiler overhead.
std::string without_profilers(const ComparedChange& change) {
  if (!change.own_low || !change.own_high || !change.kernel_ratio) return {};
  return fmt::format(
      " A profiler slowed the host: by kernel time alone it is {:.2f}x as fast, and without the "
      "profiler likely {:.2f}x to {:.2f}x.",
      1 / *change.kernel_ratio, 1 / *change.own_high, 1 / *change.own_low);
}

/// Nothing is faster or slower where the work is another one.
std::string other_work(const ComparedLikeness& likeness) {
  if (likeness.program == ComparedProgram::different)
    return fmt::format("The programs differ: {}. Their times do not compare.", likeness.differs);
  return fmt::format(
      "The inputs differ in size: {}. Step times do not compare; --batch N,M, with the items per "
      "step of each, compares times per item.",
      likeness.differs);
}

std::string same_job(const Comparison& c, std::size_t other) {
  return fmt::format(
      "A and {} are ranks {} and {} of one job. They wait for each other, so neither is faster; "
      "the communication rows show which one waits: less time means arriving later.",
      run_letter(other), *c.runs[0].rank, *c.runs[other].rank);
}

}  // namespace

std::string signed_time(Nanos ns) {
  if (ns == 0) return "0";
  return ns < 0 ? "-" + format_time(-ns) : "+" + format_time(ns);
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
  for (const auto& likeness : c.likeness)
    if (likeness.run == static_cast<std::int64_t>(other) &&
        likeness.program != ComparedProgram::same)
      return other_work(likeness);
  if (!change.refused.empty()) return "Not judged: " + change.refused + ".";
  if (change.verdict == ComparedVerdict::undecided ||
      (change.verdict == ComparedVerdict::no_difference && difference != 0))
    return equal_or_undecided(change, other) + kernel_clause(change) + "." +
           remark_sentences(change) + without_profilers(change);
  if (c.runs[0].wall_ns == 0 ||
      (difference == 0 && change.of != "item" && !tables_disagree(c, change, other)))
    return fmt::format("The {} of {} takes as long as that of A{}.", by_step ? "step" : "window",
                       run_letter(other), kernel_clause(change)) +
           remark_sentences(change);
  const std::string parts = tables_disagree(c, change, other)
                                ? fmt::format("The tables are of {}, which differ by {}",
                                              whose_tables(c, other), signed_time(difference))
                                : fmt::format("Sources of the difference{}",
                                              change.of == "item" ? ", for as many items" : "");
  std::string text = whole_difference(c, change, other) + kernel_clause(change) + ". " + parts +
                     ": " + made_of(c, other) + "." + remark_sentences(change);
  if (by_step && change.verdict == ComparedVerdict::not_known)
    text += " With fewer than three steps in a run, the noise is unknown.";
  return text + without_profilers(change);
}

std::string parts_sentence(const Comparison& c, std::size_t other) {
  static constexpr std::string_view kParts[] = {"kernels", "copies", "host", "waiting",
                                                "other idle"};
  std::string text;
  for (const auto part : kParts) {
    Nanos change = 0;
    for (const auto& row : c.time) {
      if (row.kind == ComparedRowKind::bar || row.kind == ComparedRowKind::phase) return {};
      if (part_of(row) == part) change += change_of(c, row, other);
    }
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", part, signed_time(change));
  }
  return text;
}

std::string role_text(std::string_view role, TrainingPhase phase) {
  if (phase == TrainingPhase::all) return std::string(role);
  return fmt::format("{} ({})", role, name_of(phase));
}

namespace {

constexpr std::size_t kLongName = 60;
constexpr std::size_t kName = 44;  // columns of a kernel's name or of sizes in a sentence

std::string bounds(const ComparedCulprit& culprit) {
  if (!culprit.low_ns || !culprit.high_ns) return " (noise not known)";
  return fmt::format(" (95 %: {} to {})", signed_time(*culprit.low_ns),
                     signed_time(*culprit.high_ns));
}

std::string idle_culprit(const ComparedCulprit& culprit) {
  std::string text = fmt::format("idle, {} {}", label_of(cause_labels(), culprit.cause).text,
                                 signed_time(culprit.adds_ns));
  if (culprit.kind == CulpritKind::few_steps)
    return text + fmt::format(" a step: in {:.0f} of {:.0f} steps alone", culprit.calls_after,
                              culprit.calls_before);
  text += bounds(culprit);
  if (!culprit.name.empty())
    text += ": the host is longer in " + shorten_middle(culprit.name, kLongName);
  return text + fmt::format("; {} after {}", format_time(culprit.after_ns),
                            format_time(culprit.before_ns));
}

}  // namespace

std::string culprit_sentence(const ComparedCulprit& culprit) {
  if (culprit.role == "idle") return idle_culprit(culprit) + ".";
  if (culprit.kind == CulpritKind::few_steps)
    return fmt::format("outlier steps {} a step over all: {:.0f} of {:.0f} steps{}.",
                       signed_time(culprit.adds_ns), culprit.calls_after, culprit.calls_before,
                       culprit.name.empty() ? "" : ", most of it in " + culprit.name);
  std::string text =
      role_text(culprit.role, culprit.phase) + " " + signed_time(culprit.adds_ns) + bounds(culprit);
  std::string_view before = ": ";
  const auto add = [&](const std::string& more) {
    text += before;
    text += more;
    before = ", ";
  };
  if (!culprit.name.empty())
    add((culprit.shapes.empty() ? "most in " : "") + culprit.name +
        (culprit.shapes.empty() ? "" : " " + shorten_middle(culprit.shapes, kName)));
  if (!culprit.module.empty()) add("of " + culprit.module);
  if (!culprit.kernel.empty() && culprit.kernel != culprit.name)
    add("kernel " + shorten_middle(culprit.kernel, kName));
  if (culprit.kind == CulpritKind::replaced)
    text += " in place of " + shorten_middle(culprit.kernel_before, kName);
  if (culprit.kind == CulpritKind::fresh) add("none of it in A");
  if (culprit.calls_after > 1.05 * culprit.calls_before && culprit.calls_before > 0)
    add(fmt::format("{:.4g} calls a step after {:.4g}", culprit.calls_after, culprit.calls_before));
  else if (culprit.kind == CulpritKind::fresh)
    add(fmt::format("{:.4g} calls a step", culprit.calls_after));
  if (!culprit.python.empty()) add("from " + culprit.python);
  text +=
      fmt::format("; {} after {}", format_time(culprit.after_ns), format_time(culprit.before_ns));
  if (culprit.role == name_of(LayerType::communication))
    text += ", in which a rank may wait for others (`gpufathom ranks` tells)";
  if (culprit.host_ns > 0)
    text += fmt::format(", and {} of the host for added calls", format_time(culprit.host_ns));
  return text + ".";
}

std::string alike_sentence(const ComparedLikeness& likeness) {
  constexpr double kAll = 0.95;
  std::string text;
  const auto letter = run_letter(static_cast<std::size_t>(likeness.run));
  if (likeness.program == ComparedProgram::same && likeness.weights.value_or(1) < kAll)
    text = fmt::format("Only {:.0f} % of the weights of A and {} have the same sizes.",
                       100 * *likeness.weights, letter);
  if (!likeness.common_ratio) return text;
  return text + (text.empty() ? "" : " ") +
         fmt::format(
             "All kernels of {} changed alike, to {:.3f}x of their time, which points to the "
             "clock, "
             "the power limit or the GPU, not to an operator.",
             letter, *likeness.common_ratio);
}

namespace {

std::vector<const ComparedRole*> only_in(const Comparison& c, std::size_t has, std::size_t lacks) {
  constexpr Nanos kParts = 100;
  std::vector<const ComparedRole*> rows;
  for (const auto& row : c.roles)
    if (row.calls[has] > 0 && row.calls[lacks] <= 0 && row.ns[has] * kParts >= c.runs[0].kernel_ns)
      rows.push_back(&row);
  return rows;
}

/// The position where the texts begin to differ, at the start of a word.
std::size_t common_start(const std::vector<std::string>& texts) {
  std::size_t same = texts[0].size();
  for (const auto& text : texts) {
    const auto end = std::ranges::mismatch(texts[0], text).in1;
    same = std::min(same, static_cast<std::size_t>(end - texts[0].begin()));
  }
  const auto cut = same == 0 ? std::string::npos : texts[0].find_last_of("_/-. ", same - 1);
  return cut == std::string::npos ? 0 : cut + 1;
}

}  // namespace

std::vector<const ComparedRole*> gone_roles(const Comparison& c, std::size_t other) {
  return only_in(c, 0, other);
}

std::vector<const ComparedRole*> new_roles(const Comparison& c, std::size_t other) {
  return only_in(c, other, 0);
}

std::vector<std::string> short_labels(const Comparison& comparison, std::size_t width) {
  std::vector<std::string> labels, backwards;
  for (const auto& run : comparison.runs) labels.push_back(run.label);
  if (std::ranges::all_of(labels, [&](const auto& label) { return label.size() <= width; }))
    return labels;
  for (const auto& label : labels) backwards.emplace_back(label.rbegin(), label.rend());
  const auto start = common_start(labels);
  const auto end = common_start(backwards);
  for (auto& label : labels) {
    if (label.size() <= width) continue;
    const auto tail = std::min(end, label.size() - start);
    const std::string own = label.substr(start, label.size() - start - tail);
    // As much of what is before as there is room for.
    const auto around = own.size() + 4;
    const auto kept = start <= 2 || around >= width ? 0 : std::min(start, width - around);
    std::string text = label.substr(0, kept);
    if (kept < start) text += "..";
    text += shorten_middle(own, width - 4);
    if (tail > 0) text += "..";
    label = std::move(text);
  }
  // Numbers replace the middles that distinguished long names.
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (std::ranges::count(labels, labels[i]) > 1 && comparison.runs.size() > 1)
      labels[i] += fmt::format("#{}", i + 1);
  return labels;
}

std::string difference_sentence(const Comparison& c) {
  std::string text;
  for (const auto& difference : c.differences) {
    if (difference.setting == ComparedSetting::rank && c.ranks_of_one_job) continue;
    if (text.empty())
      text = "Other differences: ";
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
