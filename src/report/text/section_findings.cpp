// Recommendations and caveats.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/findings/finding_rows.h"
#include "report/summary.h"
#include "report/text/sections.h"

namespace gf {

bool stands_apart(const Finding& finding, const TextStyle& style) {
  return finding.command.size() > 2 * static_cast<std::size_t>(style.width);
}

namespace {

std::vector<const Finding*> recommendations(const Analysis& analysis) {
  std::vector<const Finding*> all;
  for (const auto& finding : analysis.findings)
    if (is_recommendation(finding.id)) all.push_back(&finding);
  return all;
}

/// The reason why a capture was kept comes first: caveats before the first recommendation.
std::size_t leading_caveats(const Analysis& analysis) {
  const auto first = std::ranges::find_if(analysis.findings, is_recommendation, &Finding::id);
  if (first == analysis.findings.end()) return 0;
  return static_cast<std::size_t>(first - analysis.findings.begin());
}

/// "21 % of a step (10-34 %)", by replay; without it what programs gained that made the change.
std::string say_gain(const auto& gain, Share share, Share low, Share high, std::string_view of) {
  if (!share) return format_share_range(gain.mended_low, gain.mended_high) + std::string(of);
  auto text = format_share_range(share, share) + std::string(of);
  const auto range = format_share_range(low, high);
  if (range != format_share_range(share, share)) text += fmt::format(" ({})", range);
  return text;
}

/// "; programs that made the change gained 4-83 %".
std::string say_others(const auto& gain, Share share, Gains gains) {
  if (!share || gains != Gains::with_others) return {};
  return fmt::format("; programs that made the change gained {}",
                     format_share_range(gain.mended_low, gain.mended_high));
}

/// The middle of what programs gained that made the change.
double median_gained(const Finding& finding) {
  const auto odds = [](Share share) { return share.value_or(0) / (1 - share.value_or(0)); };
  return std::sqrt(odds(finding.mended_low) * odds(finding.mended_high));
}

/// "; programs that made change 1 gained more": why a smaller gain stands above
/// (docs/findings.md).
std::string why_behind(std::span<const Finding* const> all, std::size_t place) {
  constexpr double kSame = 0.02;
  const auto compares = [](const Finding& one) {
    return one.replayed && one.follows.empty() && !row_of(one.id).of_item;
  };
  const Finding& own = *all[place];
  const auto above = std::ranges::find_if(all.first(place), [&](const Finding* one) {
    return compares(*one) && compares(own) && *one->replayed + kSame < *own.replayed;
  });
  if (above == all.begin() + static_cast<std::ptrdiff_t>(place)) return {};
  const auto number = above - all.begin() + 1;
  if (row_of(own.id).mended_by == WhatIfChanges::kGraph &&
      row_of((*above)->id).shown_by == Evidence::waits)
    return fmt::format("; change {} ends a wait that a graph keeps", number);
  if (median_gained(own) > median_gained(**above)) return {};
  return fmt::format("; programs that made change {} gained more", number);
}

/// By replay, else the bound: time of the device that the recommendation speaks of.
std::string gain_text(const Finding& finding, std::string_view behind, Nanos whole,
                      bool known_steps, Gains gains) {
  const auto bound = fmt::format("up to {}, {}", format_time(*finding.gain_ns),
                                 format_share(share_of(*finding.gain_ns, whole)));
  if (!finding.mended_high) return fmt::format(" [{}]", bound);
  constexpr double kRoundsToNothing = 0.005;
  if (finding.mended_high.value_or(1) < kRoundsToNothing)
    return fmt::format(" [no gain by itself; {}]", bound);
  const bool items = row_of(finding.id).of_item;
  const auto whole_of = known_steps ? " of a step" : " of the program";
  return fmt::format(
      " [predicted gain {}{}{}]",
      say_gain(finding, finding.replayed, finding.replayed_low, finding.replayed_high,
               items ? " of an item's time, batch x 8" : whole_of),
      say_others(finding, finding.replayed, gains), behind);
}

/// " It adds 3 % to those above.", " It follows from 1."
std::string beside_others(const Finding& finding, std::span<const Finding* const> all) {
  if (finding.adds) return fmt::format(" It adds {} to those above.", say_share(*finding.adds));
  const auto source = std::ranges::find(all, finding.follows, [](const Finding* one) {
    return one->rule.empty() ? name_of(one->id) : std::string_view(one->rule);
  });
  if (finding.follows.empty() || source == all.end()) return {};
  return fmt::format(" It follows from {}.", source - all.begin() + 1);
}

/// Explains the gains above it.
std::string gains_note(const Analysis& analysis, std::span<const Finding* const> shown,
                       Gains gains) {
  if (std::ranges::none_of(shown, [](const Finding* one) { return one->mended_high.has_value(); }))
    return {};
  const std::string_view of = analysis.window.all_steps.empty() ? "the program" : "a step";
  std::string text = fmt::format(
      "Gains are predicted for {} without profiler overhead, by replay of the capture.", of);
  if (gains == Gains::with_others)
    text += " Nine of ten programs that made such a change gained within the second range.";
  if (const auto& all = analysis.together)
    text = fmt::format(
        "Together {}{}. {}",
        say_gain(*all, all->share, all->share_low, all->share_high, fmt::format(" of {}", of)),
        say_others(*all, all->share, gains), text);
  return text;
}

constexpr std::string_view kMark = "  - ";  // of what has no number

/// `mark`: what stands before the first line.
std::string paragraph(const Finding& finding, std::string_view mark, std::string_view gain,
                      const TextStyle& style) {
  const auto width = static_cast<std::size_t>(style.width);
  std::string out =
      std::string(mark) +
      wrap(fmt::format("{}{}", finding.text, gain), width, mark.size()).substr(mark.size());
  if (!finding.evidence.empty())
    out += paint(style, Paint::dim, wrap(finding.evidence, width, mark.size()));
  if (stands_apart(finding, style))
    out += paint(style, Paint::dim,
                 fmt::format("{:{}}Command: {}, below\n", "", mark.size(), kHowToCollect));
  else if (const auto line = fmt::format("{:{}}Command: {}\n", "", mark.size(), finding.command);
           !finding.command.empty())
    // A longer one begins at the margin, to be pasted.
    out += paint(style, Paint::dim,
                 columns_of(line) <= width ? line : wrap_command(finding.command, width));
  return out;
}

}  // namespace

std::string findings_section(const Analysis& analysis, const TextStyle& style, std::size_t from,
                             std::size_t to, Gains gains) {
  const auto all = recommendations(analysis);
  to = std::min(to, all.size());
  if (from >= to) return {};
  std::string out = section_title(style, from == 0 ? "Recommendations" : "More recommendations");
  for (std::size_t i = 0; from == 0 && i < leading_caveats(analysis); ++i)
    out += paragraph(analysis.findings[i], kMark, "", style);
  for (std::size_t i = from; i < to; ++i)
    out += paragraph(
        *all[i], fmt::format("{:>3}. ", i + 1),
        beside_others(*all[i], all) +
            (all[i]->gain_ns ? gain_text(*all[i], why_behind(all, i), device_time(analysis),
                                         !analysis.window.all_steps.empty(), gains)
                             : ""),
        style);
  if (from == 0)
    if (const auto note = gains_note(analysis, std::span(all).first(to), gains); !note.empty())
      out += wrap(note, static_cast<std::size_t>(style.width), 5);
  return out;
}

std::string caveats_section(const Analysis& analysis, const TextStyle& style) {
  std::string out;
  for (std::size_t i = leading_caveats(analysis); i < analysis.findings.size(); ++i)
    if (const auto& finding = analysis.findings[i]; !is_recommendation(finding.id))
      out += paragraph(finding, kMark, "", style);
  return out.empty() ? out : section_title(style, "Caveats") + out;
}

}  // namespace gf
