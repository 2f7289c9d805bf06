// The answer to the usual question, kept in a capture's file: who asks it of the file again gets it
// without reading the capture. It is signed by the user's own key: what a stranger's file says is
// worked out of its rows, which holds no sentence and no command that the program would print.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/file_kept.h"
#include "session/answer.h"

namespace gf {

/// A number of the sources and the compiler that this program is made of: what it derives from a
/// capture is that of every program with this number.
std::string_view derived_by();

struct KeptAnswer {
  Analysis analysis;
  OmittedParts omitted;
};

/// True if a brief answer without any option of the verb is asked for, of the trace alone: the one
/// that files keep.
bool is_usual(const InputOptions& input, const Question& question);

/// The answer to the usual question, for the file `path` with these `rows`. Empty: it depends on
/// more than the capture as that file will hold it, the user has no key, or something goes wrong.
/// `capture` is as import_file read it.
std::optional<Kept> keep_answer(Capture capture, const std::string& path, std::int64_t rows,
                                const ImportOptions& how);

/// What the file keeps of it. Empty where nothing was kept by this program and this user, or the
/// file is not as it was written.
std::optional<KeptAnswer> kept_answer(const std::string& path);

}  // namespace gf
