// Fields of small JSON objects, as the files of a calibration hold them. What is absent or of
// another type is no data: not a number, an empty text, 0.
#pragma once

#include <simdjson.h>

#include <cmath>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gf {

using JsonElement = simdjson::dom::element;

/// One JSON text after the other. An element is good until the next one is parsed.
class JsonReader {
 public:
  /// Empty when the text is not one JSON value. Throws std::bad_alloc.
  std::optional<JsonElement> parse(std::string_view text) {
    JsonElement element;
    const auto error = parser_.parse(text.data(), text.size()).get(element);
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();
    if (error) return {};
    return element;
  }

 private:
  simdjson::dom::parser parser_;
};

inline std::optional<JsonElement> json_field(const JsonElement& object, std::string_view name) {
  JsonElement found;
  if (object[name].get(found)) return {};
  return found;
}
inline double json_number(const JsonElement& object, std::string_view name) {
  double number = 0;
  if (object[name].get_double().get(number)) return std::nan("");
  return number;
}
inline std::int64_t json_integer(const JsonElement& object, std::string_view name) {
  std::int64_t number = 0;
  return object[name].get_int64().get(number) ? 0 : number;
}
inline std::string json_text(const JsonElement& object, std::string_view name) {
  std::string_view text;
  return object[name].get_string().get(text) ? std::string() : std::string(text);
}
/// The items of a list; none when it is no list.
inline std::vector<JsonElement> json_items(const JsonElement& list) {
  std::vector<JsonElement> items;
  simdjson::dom::array array;
  if (list.get_array().get(array)) return items;
  for (const JsonElement item : array) items.push_back(item);
  return items;
}
inline std::vector<JsonElement> json_items(const JsonElement& object, std::string_view name) {
  const auto list = json_field(object, name);
  return list ? json_items(*list) : std::vector<JsonElement>();
}

}  // namespace gf
