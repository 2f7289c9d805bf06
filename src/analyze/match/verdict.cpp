#include "analyze/match/verdict.h"

#include <fmt/format.h>

#include <algorithm>

namespace gf {

namespace {

using State = Matching::State;

std::string describe(const MatchInfo& info, double of_report) {
  const std::int64_t paired = info.matched + info.ambiguous;
  std::string steps = "laid over the trace once";
  if (info.copies_of_report > 1)
    steps = fmt::format("laid over {} steps of the trace", info.copies_of_report);
  std::string text;
  if (info.trace_only == 0 && info.report_only == 0)
    text = fmt::format(
        "Every kernel of the trace and of the report has its partner, in order; the report was {}.",
        steps);
  else if (info.trace_only == 0)
    text = fmt::format(
        "Every kernel of the trace has its partner; {} of {} report kernels do not occur in it; "
        "the report was {}.",
        info.report_only, info.report_kernels, steps);
  else if (of_report > kGood)
    text = fmt::format(
        "{} of {} trace kernels have a partner; the report covers only these; it was {}.", paired,
        info.trace_kernels, steps);
  else
    text = fmt::format(
        "{} of {} trace kernels have a partner, {} of {} report kernels do not occur in the trace; "
        "the report was {}.",
        paired, info.trace_kernels, info.report_only, info.report_kernels, steps);
  if (info.ambiguous > 0) {
    text.pop_back();
    text += fmt::format("; {} could as well have another partner among equal neighbours.",
                        info.ambiguous);
  }
  return text;
}

/// The names say whether it is the same program with other shapes, or another one.
std::string why_different(const Symbols& symbols, const MatchInfo& info, std::int64_t paired) {
  double names = 0;
  if (symbols.trace_names > 0 && symbols.report_names > 0)
    names = static_cast<double>(symbols.shared_names) /
            static_cast<double>(std::min(symbols.trace_names, symbols.report_names));
  if (names >= 0.8)
    return fmt::format(
        "The report has the same kernels as the trace ({} of {} names) but other launch shapes, so "
        "it is of another batch size or input: only {} of {} would pair. "
        "Profile the traced run itself.",
        symbols.shared_names, symbols.report_names, paired, info.trace_kernels);
  return fmt::format(
      "The report is of another program: {} of its {} kernel names occur in the trace, and only {} "
      "of {} trace kernels would pair. Its counters are not used.",
      symbols.shared_names, symbols.report_names, paired, info.trace_kernels);
}

}  // namespace

void judge(const Symbols& symbols, const std::vector<std::uint32_t>& trace_rows,
           const std::vector<bool>& report_used, Matching& matching) {
  MatchInfo& info = matching.info;
  double score = 0;
  for (std::uint32_t row : trace_rows) {
    if (matching.state[row] == State::matched) ++info.matched;
    if (matching.state[row] == State::ambiguous) ++info.ambiguous;
    score += matching.score[row];
  }
  const std::int64_t paired = info.matched + info.ambiguous,
                     used = std::ranges::count(report_used, true);
  const double of_trace = static_cast<double>(paired) / static_cast<double>(info.trace_kernels),
               of_report = static_cast<double>(used) / static_cast<double>(info.report_kernels);
  if (std::max(of_trace, of_report) < kSameProgram) {
    info.verdict = MatchVerdict::different_program;
    info.note = why_different(symbols, info, paired);
    info.matched = info.ambiguous = info.copies_of_report = 0;
    for (std::uint32_t row : trace_rows) {
      matching.state[row] = State::trace_only;
      matching.report_row[row] = kNoRow;
      matching.score[row] = 0;
    }
    return;
  }
  info.trace_only = info.trace_kernels - paired;
  info.report_only = info.report_kernels - used;
  if (paired > 0) {
    info.confidence = Share(score / static_cast<double>(paired));
  } else {
    info.confidence = std::nullopt;
  }
  if (of_trace >= kGood) {
    info.verdict = MatchVerdict::good;
  } else {
    info.verdict = MatchVerdict::partial;
  }
  info.note = describe(info, of_report);
}

void judge_without_pairs(const Capture& capture, MatchInfo& info) {
  if (!capture.report_kernels.empty()) {
    info.verdict = MatchVerdict::partial;
    info.note = "The window has no kernel, so that no kernel of the report has a partner.";
    return;
  }
  info.verdict = MatchVerdict::no_report;
  info.note = "No counter report was given: levels below the GPU's own need one.";
}

}  // namespace gf
