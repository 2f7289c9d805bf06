// Verbs that ask one question about one capture.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "session/answer.h"

namespace gf::cli {

/// The captures that a verb of one capture, or of the ranks of a job, was given.
struct ChosenCaptures {
  std::vector<std::string> files;
  std::vector<std::string> paths;  // the same as given, a folder as a folder
  std::size_t earlier = 0;         // captures of the same worker that have a later one
  std::string wrong;               // what is wrong with them, empty: nothing
};

/// `input.trace`, or the captures of that folder, and `more`. A counter report and a power log
/// among several files are what --counters and --power name: they move there.
ChosenCaptures choose_captures(std::string_view verb, const std::vector<std::string>& more,
                               InputOptions& input);

/// Says that the one capture is the last of several of a worker.
void say_earlier(const ChosenCaptures& chosen);

/// Reads the capture, answers the question with progress shown meanwhile, and gives the exit code
/// of `use`, which gets an answer with its context. Else says on standard error what is wrong, of a
/// capture without a context `nothing`, and gives the exit code of a bad input.
int with_answer(const InputOptions& input, Question question, std::string_view nothing,
                const std::function<int(const Answer&)>& use);

}  // namespace gf::cli
