#include "session/served.h"

#include <simdjson.h>

#include <cstdint>

#include "core/files.h"
#include "session/from_json.h"

namespace gf {

std::optional<Serving> read_serving(const std::string& path) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
  const auto text = read_small_file(path, kMost);
  if (!text) return std::nullopt;
  simdjson::dom::parser parser;
  simdjson::dom::element answer, section;
  Serving serving;
  if (parser.parse(*text).get(answer) || answer["serving"].get(section) || section.is_null() ||
      !FromJson::read(section, serving))
    return std::nullopt;
  return serving;
}

}  // namespace gf
