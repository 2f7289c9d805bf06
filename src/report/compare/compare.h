// A comparison of runs in words and as text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyze/compare/compare.h"
#include "report/text/format.h"

namespace gf {

/// "+3.2 ms", "-46.8 ms", "0".
std::string signed_time(Nanos ns);
/// The name of a row: idle causes and phases in words, layers by their name, kernels by their
/// short one.
std::string row_name(const ComparedTime& row);
/// Summarizes the difference between the first run and run `other`: whether it is beyond noise, and
/// what it is made of, largest first: "idle: waits for input -46.8 ms, idle: launch too late
/// +9.7 ms".
std::string comparison_headline(const Comparison& comparison, std::size_t other);
/// "Other differences: batch (A 64, B 512)."; empty when nothing differs.
std::string difference_sentence(const Comparison& comparison);

/// The parts of the difference: "kernels +190.1 us, copies 0, host +20 us, waiting 0, other idle
/// 0"; they sum to it. Empty where idle time has no causes.
std::string parts_sentence(const Comparison& comparison, std::size_t other);
/// A culprit: "Normalization (forward) +190.1 us (95 %: ...): most in aten::batch_norm ...".
std::string culprit_sentence(const ComparedCulprit& culprit);
/// That weights differ in part, or that all kernels changed alike; empty where neither is so.
std::string alike_sentence(const ComparedLikeness& likeness);
/// Roles that only the first run has, or only run `other`, of a hundredth of its kernel time or
/// more.
std::vector<const ComparedRole*> gone_roles(const Comparison& comparison, std::size_t other);
std::vector<const ComparedRole*> new_roles(const Comparison& comparison, std::size_t other);
/// "Normalization (forward)".
std::string role_text(std::string_view role, TrainingPhase phase);
/// Labels of at most `width` columns, cut where they agree: no two are the same.
std::vector<std::string> short_labels(const Comparison& comparison, std::size_t width);

/// One screen: the runs, what may be said of them, and the parts of the difference. `full`: all
/// tables too, with so many rows.
std::string comparison_text(const Comparison& comparison, const TextStyle& style, bool full = false,
                            std::size_t rows = 12);

// The checks of a comparison for build servers.

/// Workflow commands of GitHub Actions, one a line: an error for each rule that did not hold,
/// a notice for each that did, and one for each run.
std::string github_annotations(const Comparison& comparison);

/// A comment for a pull request, in Markdown: the verdict, the operator, kernel and line that lost
/// most, what is new and gone, the parts of the time, and the rules.
std::string pull_request_comment(const Comparison& comparison);

/// The rules as test cases of JUnit's XML, which Jenkins, GitLab, Azure and others read.
std::string junit_report(const Comparison& comparison);

}  // namespace gf
