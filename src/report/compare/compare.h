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
/// A letter for each run: A, B, ... Z, then 27, 28, ...
std::string run_letter(std::size_t run);
/// What a row goes by: idle causes and phases in words, layers by their name, kernels by their
/// short one.
std::string row_name(const ComparedTime& row);
/// What the difference between the first run and run `other` is, whether it is beyond noise, and
/// what it is made of, largest first: "idle: waits for input -46.8 ms, idle: launch too late
/// +9.7 ms".
std::string comparison_headline(const Comparison& comparison, std::size_t other);
/// "Other differences: batch (A 64, B 512)."; empty when nothing differs.
std::string difference_sentence(const Comparison& comparison);

/// What became of an operator, by its name, inputs, place and line of the program: "aten::mm
/// 64x8 * 8x8 (backward) in fc, from train.py(4): loss, takes +3.2 ms (5.1 ms, then 8.3 ms): ...".
std::string culprit_sentence(const ComparedCulprit& culprit);
/// Operators that only the first run has, or only run `other`, of a hundredth of the time or more.
std::vector<const ComparedShape*> gone_shapes(const Comparison& comparison, std::size_t other);
std::vector<const ComparedShape*> new_shapes(const Comparison& comparison, std::size_t other);

std::string comparison_text(const Comparison& comparison, const TextStyle& style,
                            std::size_t rows = 12);

// What a build server shows of a comparison's checks.

/// Workflow commands of GitHub Actions, one a line: an error for each rule that did not hold,
/// a notice for each that did, and one for each run.
std::string github_annotations(const Comparison& comparison);

/// A comment for a pull request, in Markdown: the verdict, the operator, kernel and line that lost
/// most, what is new and gone, the parts of the time, and the rules.
std::string pull_request_comment(const Comparison& comparison);

/// The rules as test cases of JUnit's XML, which Jenkins, GitLab, Azure and others read.
std::string junit_report(const Comparison& comparison);

}  // namespace gf
