#include "import/tf_trace_json/slices.h"

namespace gf::tf_trace_json {

namespace {

/// One past the closing brace of the object at `begin`, npos when the text ends first.
std::size_t end_of_object(std::string_view text, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        for (++i; i < text.size() && text[i] != '"'; ++i)
          if (text[i] == '\\') ++i;
        break;
      case '{':
        ++depth;
        break;
      case '}':
        if (--depth == 0) return i + 1;
        break;
      default:
        break;
    }
  }
  return text.npos;
}

}  // namespace

Slices::Slices(std::string_view text) : text_(text) {
  const auto key = text.find("\"traceEvents\"");
  if (key == text.npos) return;
  const auto bracket = text.find('[', key);
  if (bracket != text.npos) at_ = bracket + 1;
}

std::string_view Slices::next() {
  if (!found() || closed_) return {};
  while (at_ < text_.size() && text_[at_] != '{' && text_[at_] != ']') ++at_;
  if (at_ >= text_.size()) return {};
  if (text_[at_] == ']') {
    closed_ = true;
    return {};
  }
  const auto end = end_of_object(text_, at_);
  if (end == text_.npos) {
    at_ = text_.size();
    return {};
  }
  const auto slice = text_.substr(at_, end - at_);
  at_ = end;
  return slice;
}

}  // namespace gf::tf_trace_json
