// Errors are values. Every one says what is wrong, where in which file, and what to do about it.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace gf {

struct Error {
  std::string what;          // one sentence: what is wrong
  std::string file;          // the input it is about; empty when none is
  std::int64_t offset = -1;  // byte offset inside `file`, -1 when unknown
  std::string advice;        // what the user can do; empty when nothing helps

  /// "FILE: byte 123: WHAT (ADVICE)", leaving out what is unknown.
  std::string message() const {
    std::string text;
    if (!file.empty()) text += file + ": ";
    if (offset >= 0) text += "byte " + std::to_string(offset) + ": ";
    text += what;
    if (!advice.empty()) text += " (" + advice + ")";
    return text;
  }
};

/// A value or an Error. A dropped one is a warning, and an error in this house's own builds.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using Base = tl::expected<T, Error>;
  using Base::Base;
  Result() = default;
  Result(const Result&) = default;
  // Without it, a Result<bool> that is no constant would be copied through its conversion to bool.
  Result(Result&) = default;
  Result(Result&&) = default;
  Result& operator=(const Result&) = default;
  Result& operator=(Result&&) = default;
};
using Status = Result<void>;

/// Builds the unexpected half of a Result: `return fail("not a trace", path);`
inline tl::unexpected<Error> fail(std::string what, std::string file = {}, std::int64_t offset = -1,
                                  std::string advice = {}) {
  return tl::unexpected<Error>(Error{std::move(what), std::move(file), offset, std::move(advice)});
}

}  // namespace gf
