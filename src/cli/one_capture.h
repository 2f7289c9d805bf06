// Verbs that ask one question about one capture.
#pragma once

#include <functional>
#include <string_view>

#include "session/answer.h"

namespace gf::cli {

/// Reads the capture, answers the question with progress shown meanwhile, and gives the exit code
/// of `use`, which gets an answer with its context. Else says on standard error what is wrong, of a
/// capture without a context `nothing`, and gives the exit code of a bad input.
int with_answer(const InputOptions& input, Question question, std::string_view nothing,
                const std::function<int(const Answer&)>& use);

}  // namespace gf::cli
