#include "import/json_rows.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>

#include "core/time.h"
#include "import/input.h"

namespace gf {

namespace od = simdjson::ondemand;

static_assert(JsonWalk::kPadding >= simdjson::SIMDJSON_PADDING);

const JsonRow::Value* JsonRow::find(std::string_view path) const {
  const auto found = std::ranges::find(values_, path, &Value::path);
  return found == values_.end() ? nullptr : &*found;
}

std::string_view JsonRow::text(std::string_view path) const {
  const Value* value = find(path);
  return value ? std::string_view(value->text) : std::string_view{};
}

std::int64_t JsonRow::integer(std::string_view path, std::int64_t fallback) const {
  const auto text = this->text(path);
  std::int64_t value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  return wrong == std::errc() && end == text.data() + text.size() && !text.empty() ? value
                                                                                   : fallback;
}

std::optional<std::int64_t> JsonRow::decimal(std::string_view path, int exponent) const {
  return parse_decimal(text(path), exponent);
}

struct JsonWalk::Parser {
  od::parser json;
  const std::function<bool(std::string_view)>* is_row = nullptr;
  const std::function<void(std::string_view, const JsonRow&)>* apply = nullptr;
  std::vector<JsonRow::Value>* values = nullptr;  // of the object that is being laid flat

  static constexpr int kDeepest = 256;
  static constexpr std::size_t kLongestPath = 4096;
  // Paths are written out for each value: bytes of them for one of the text. Sound files take a
  // few.
  static constexpr std::size_t kPathsPerByte = 64, kPathsOfAny = 1 << 20;
  std::size_t left = 0;

  /// False: damage. `row`: inside an object that is laid flat.
  bool walk(od::value value, std::string& path, bool row, int depth) {
    if (depth > kDeepest || path.size() > kLongestPath) return false;
    od::json_type type{};
    if (value.type().get(type)) return false;
    switch (type) {
      case od::json_type::object:
        return object(value, path, row, depth);
      case od::json_type::array:
        return array(value, path, row, depth);
      default:
        return !row || scalar(value, type, path);
    }
  }

  bool scalar(od::value& value, od::json_type type, const std::string& path) {
    std::string_view text;
    if (type == od::json_type::string) {
      if (value.get_string().get(text)) return false;
    } else {
      text = value.raw_json_token();
      text = text.substr(0, text.find_first_of(" \t\r\n,}]"));
    }
    if (path.size() > left) return false;
    left -= path.size();
    values->push_back({path, std::string(text)});
    return true;
  }

  bool object(od::value& value, std::string& path, bool row, int depth) {
    od::object object;
    if (value.get_object().get(object)) return false;
    JsonRow flat;
    const bool starts = !row && (*is_row)(path);
    std::string inside;
    std::string& of = starts ? inside : path;
    if (starts) values = &flat.values_;
    const std::size_t length = of.size();
    for (auto field : object) {
      std::string_view key;
      od::value member;
      if (field.unescaped_key().get(key) || field.value().get(member)) return false;
      if (length > 0) of += '.';
      of += key;
      if (!walk(member, of, row || starts, depth + 1)) return false;
      of.resize(length);
    }
    if (starts) (*apply)(path, flat);
    return true;
  }

  bool array(od::value& value, std::string& path, bool row, int depth) {
    od::array list;
    if (value.get_array().get(list)) return false;
    const std::size_t length = path.size();
    std::size_t number = 0;
    for (auto element : list) {
      od::value member;
      if (std::move(element).get(member)) return false;
      if (row) path += '.' + std::to_string(number++);
      if (!walk(member, path, row, depth + 1)) return false;
      path.resize(length);
    }
    return true;
  }
};

JsonWalk::JsonWalk() : parser_(std::make_unique<Parser>()) {}
JsonWalk::~JsonWalk() = default;

bool JsonWalk::run(std::string_view text, const std::function<bool(std::string_view)>& is_row,
                   const std::function<void(std::string_view, const JsonRow&)>& apply) {
  parser_->left = text.size() * Parser::kPathsPerByte + Parser::kPathsOfAny;
  parser_->is_row = &is_row;
  parser_->apply = &apply;
  od::document document;
  od::value root;
  if (parser_->json
          .iterate(simdjson::padded_string_view(text.data(), text.size(), text.size() + kPadding))
          .get(document) ||
      document.get_value().get(root))
    return false;
  std::string path;
  return parser_->walk(root, path, false, 0);
}

Result<Capture> load_json_text(const std::string& path, const ImportOptions& options,
                               std::string_view format,
                               const std::function<Status(std::string_view, Capture&)>& read) {
  Capture capture;
  auto text = read_whole(path, options.max_bytes, &capture);
  if (!text) return tl::unexpected(text.error());
  const std::size_t size = text->size();
  text->append(JsonWalk::kPadding, '\0');
  capture.path = path;
  capture.format = format;
  capture.bytes = static_cast<std::int64_t>(size);
  if (const auto done = read(std::string_view(*text).substr(0, size), capture); !done) {
    Error error = done.error();
    error.file = path;
    return tl::unexpected(error);
  }
  return capture;
}

}  // namespace gf
