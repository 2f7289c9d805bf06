// What a build server shows of a comparison's checks.
#pragma once

#include <string>

#include "analyze/compare/compare.h"

namespace gf {

/// Workflow commands of GitHub Actions, one a line: an error for each rule that did not hold,
/// a notice for each that did, and one for each run.
std::string github_annotations(const Comparison& comparison);

/// The rules as test cases of JUnit's XML, which Jenkins, GitLab, Azure and others read.
std::string junit_report(const Comparison& comparison);

}  // namespace gf
