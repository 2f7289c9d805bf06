// JSON of other tools, object by object: each laid flat, so that a reader asks for values by their
// path ("dispatch_info.agent_id.handle").
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/importer.h"

namespace gf {

class JsonRow {
 public:
  /// As it is written; of a text what is between its quotes, unescaped. Empty: it is not there.
  std::string_view text(std::string_view path) const;
  bool has(std::string_view path) const { return find(path) != nullptr; }
  std::int64_t integer(std::string_view path, std::int64_t fallback = -1) const;
  /// Number or text of a number, times 10^exponent, exactly.
  std::optional<std::int64_t> decimal(std::string_view path, int exponent) const;

  struct Value {
    std::string path, text;
  };
  const std::vector<Value>& values() const { return values_; }

 private:
  friend class JsonWalk;
  const Value* find(std::string_view path) const;
  std::vector<Value> values_;
};

class JsonWalk {
 public:
  JsonWalk();
  ~JsonWalk();
  /// apply(path, row) for each object whose path `is_row` says; elements of a list have the list's
  /// path. What is in no such object is passed over. `text` must be followed by kPadding bytes.
  /// False: it is no valid JSON; what came before the damage was given.
  bool run(std::string_view text, const std::function<bool(std::string_view path)>& is_row,
           const std::function<void(std::string_view path, const JsonRow&)>& apply);

  static constexpr std::size_t kPadding = 64;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

/// apply(line) for each line of a text that is followed by kPadding bytes.
template <class F>
void each_json_line(std::string_view text, F&& apply) {
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = text.substr(at, end - at);
    if (line.find_first_not_of(" \t\r") != line.npos) apply(line);
    at = end + 1;
  }
}

/// Reads a file whole, unpacked where it is compressed, into a capture of `format`. Behind the text
/// that read(text, capture) is given lie kPadding bytes. What it returns as an error is of the
/// file.
Result<Capture> load_json_text(
    const std::string& path, const ImportOptions& options, std::string_view format,
    const std::function<Status(std::string_view text, Capture& capture)>& read);

}  // namespace gf
