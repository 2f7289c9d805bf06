// Cuts the array "traceEvents" into its elements without parsing them, so that a damaged one costs
// itself alone.
#pragma once

#include <string_view>

namespace gf::tf_trace_json {

class Slices {
 public:
  /// `text` is the whole file. No elements when it has no "traceEvents".
  explicit Slices(std::string_view text);
  bool found() const { return at_ != std::string_view::npos; }
  /// The next element, braces included; empty at the end of the array.
  std::string_view next();
  /// After the last element: the array was closed. Otherwise the file ends inside it.
  bool closed() const { return closed_; }

 private:
  std::string_view text_;
  std::size_t at_ = std::string_view::npos;
  bool closed_ = false;
};

}  // namespace gf::tf_trace_json
