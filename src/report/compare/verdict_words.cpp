#include "report/compare/verdict_words.h"

#include <fmt/format.h>

#include <cmath>

#include "analyze/compare/verdict.h"
#include "report/compare/compare.h"

namespace gf {

namespace {

std::string signed_percent(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }

std::string interval_words(const Share& low, const Share& high) {
  return fmt::format("95 %: {:+.1f} to {:+.1f} %", 100 * (*low - 1), 100 * (*high - 1));
}

}  // namespace

std::string equal_or_undecided(const ComparedChange& change, std::size_t other) {
  const bool equal = change.verdict == ComparedVerdict::no_difference;
  std::string text =
      fmt::format("{}: {}{} is {:.1f} % {} than A's ({})", equal ? "No difference" : "Undecided",
                  run_letter(other), change.of == "item" ? "'s time per item" : "'s step",
                  100 * std::abs(*change.ratio - 1), *change.ratio < 1 ? "shorter" : "longer",
                  interval_words(change.low, change.high));
  if (equal) return text + fmt::format(", within {:g} %", 100 * kResolution);
  if (change.captures_needed)
    text += fmt::format("; about {} captures of each, recorded alternately, would decide",
                        *change.captures_needed);
  return text;
}

std::string kernel_clause(const ComparedChange& change) {
  if (!change.kernel_ratio || !change.kernel_low || !change.kernel_high) return {};
  const std::string told = interval_words(change.kernel_low, change.kernel_high);
  switch (change.kernel_verdict) {
    case ComparedVerdict::no_difference:
      return fmt::format("; its kernels show no difference ({}, {})",
                         signed_percent(*change.kernel_ratio), told);
    case ComparedVerdict::undecided:
      return fmt::format("; for its kernels alone it is undecided ({}, {})",
                         signed_percent(*change.kernel_ratio), told);
    case ComparedVerdict::faster:
    case ComparedVerdict::slower:
      return fmt::format("; its kernels take {:.1f} % {} ({})",
                         100 * std::abs(*change.kernel_ratio - 1),
                         *change.kernel_ratio < 1 ? "less" : "more", told);
    default:
      return {};
  }
}

std::string remark_sentences(const ComparedChange& change) {
  std::string text;
  for (const auto& remark : change.remarks) text += " " + remark;
  return text;
}

}  // namespace gf
