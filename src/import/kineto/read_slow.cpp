#include <simdjson.h>

#include "import/kineto/event.h"
#include "import/kineto/fields.h"

namespace gf::kineto {

namespace {

namespace od = simdjson::ondemand;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

Token token_of(std::string_view text, Token::Kind kind) {
  return {text.data(), static_cast<std::uint32_t>(text.size()), kind};
}

bool read_value(od::value value, Token& token) {
  std::string_view text;
  const auto first = value.raw_json_token();
  switch (first.empty() ? '\0' : first[0]) {
    case '"':
      if (value.get_string().get(text)) return false;
      token = token_of(text, Token::Kind::string);
      return true;
    case '[':
    case '{': {
      if (first[0] == '[') {
        od::array array;
        if (value.get_array().get(array) || array.raw_json().get(text)) return false;
      } else {
        od::object object;
        if (value.get_object().get(object) || object.raw_json().get(text)) return false;
      }
      token = token_of(trimmed(text), Token::Kind::container);
      return true;
    }
    case '\0':
      return false;
    default:
      token = token_of(trimmed(first), Token::Kind::scalar);
      return true;
  }
}

}  // namespace

struct SlowReader::Parser {
  od::parser json;
};

SlowReader::SlowReader() : parser_(std::make_unique<Parser>()) {}
SlowReader::~SlowReader() = default;

SlowReader::Outcome SlowReader::read(std::string_view object, Event& event) {
  buffer_.assign(object);
  if (parse(event)) return Outcome::whole;
  return repair_text(buffer_) && parse(event) ? Outcome::repaired : Outcome::damaged;
}

namespace {

/// The end of a name that contains quotation marks: before the key behind it.
std::size_t end_of_quoted_name(std::string_view object, std::size_t from) {
  std::size_t end = object.npos;
  for (const std::string_view key : {"pid", "tid", "ts", "dur", "cat", "ph", "args", "id"}) {
    for (const std::string_view comma : {"\", \"", "\",\""}) {
      std::string sought(comma);
      sought.append(key).append("\":");
      end = std::min(end, object.find(sought, from));
    }
  }
  return end;
}

}  // namespace

bool SlowReader::read_quoted(std::string_view object, Event& event) {
  constexpr std::string_view kName = "\"name\":";
  const auto key = object.find(kName);
  if (key == object.npos) return false;
  const auto open = object.find_first_not_of(" \t\r\n", key + kName.size());
  if (open == object.npos || object[open] != '"') return false;
  const auto close = end_of_quoted_name(object, open + 1);
  if (close == object.npos) return false;
  buffer_.assign(object.substr(0, open + 1));
  bool changed = false;
  for (std::size_t at = open + 1; at < close; ++at) {
    const bool bare = object[at] == '"' && object[at - 1] != '\\';
    changed |= bare;
    if (bare) buffer_ += '\\';
    buffer_ += object[at];
  }
  buffer_.append(object.substr(close));
  return changed && parse(event);
}

bool SlowReader::parse(Event& event) {
  event.clear();
  buffer_.reserve(buffer_.size() + simdjson::SIMDJSON_PADDING);
  od::document document;
  od::object object;
  if (parser_->json.iterate(buffer_.data(), buffer_.size(), buffer_.capacity()).get(document) ||
      document.get_object().get(object))
    return false;
  auto each = [&](od::object& out, auto&& apply) {
    for (auto field : out) {
      std::string_view key;
      od::value value;
      if (field.unescaped_key().get(key) || field.value().get(value) || !apply(key, value))
        return false;
    }
    return true;
  };
  auto keep = [&](Field field, od::value value) {
    Token token;
    if (!read_value(value, token)) return false;
    event.set(field, token);
    return true;
  };
  const bool whole = each(object, [&](std::string_view key, od::value value) {
    if (key != "args") {
      const Field field = event_field(key);
      return field == Field::count || keep(field, value);
    }
    od::object args;
    if (value.raw_json_token().substr(0, 1) != "{") return true;
    if (value.get_object().get(args)) return false;
    return each(args, [&](std::string_view name, od::value arg) {
      const Field field = args_field(name);
      return field == Field::count || keep(field, arg);
    });
  });
  return whole;
}

bool repair_text(std::string& text) {
  std::string out;
  out.reserve(text.size() + 16);
  bool changed = false;
  const auto count = text.size();
  for (std::size_t i = 0; i < count;) {
    const auto letter = static_cast<unsigned char>(text[i]);
    if (letter < 0x80) {
      const bool odd = letter < 0x20 && letter != '\n' && letter != '\r' && letter != '\t';
      // A line break or tab is only wrong inside a text; as white space elsewhere a space means the
      // same.
      out.push_back(letter < 0x20 ? ' ' : static_cast<char>(letter));
      changed |= odd || letter < 0x20;
      ++i;
      continue;
    }
    std::size_t length = 2;
    if (letter >= 0xf0) {
      length = 4;
    } else if (letter >= 0xe0) {
      length = 3;
    }
    bool valid = letter >= 0xc2 && letter <= 0xf4 && i + length <= count;
    for (std::size_t ahead = 1; valid && ahead < length; ++ahead)
      valid = (static_cast<unsigned char>(text[i + ahead]) & 0xc0) == 0x80;
    valid = valid && simdjson::validate_utf8(text.data() + i, length);
    if (valid) {
      out.append(text, i, length);
      i += length;
    } else {
      out += "\xef\xbf\xbd";
      changed = true;
      ++i;
    }
  }
  text.swap(out);
  return changed;
}

}  // namespace gf::kineto
