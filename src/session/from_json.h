// Results back from JSON: what report/json.h writes. A file that includes this is compiled alone.
#pragma once

#include <simdjson.h>

#include <cmath>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/describe.h"
#include "core/time.h"
#include "model/enums.h"

namespace gf {

/// Reads values; each gives false where the text holds something else.
class FromJson {
 public:
  using Element = simdjson::dom::element;

  static bool read(const Element& from, std::string& to) {
    std::string_view text;
    if (from.get_string().get(text)) return false;
    to = text;
    return true;
  }
  static bool read(const Element& from, bool& to) { return !from.get_bool().get(to); }
  static bool read(const Element& from, double& to) {
    to = std::nan("");
    return from.is_null() || !from.get_double().get(to);
  }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  static bool read(const Element& from, T& to) {
    std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t> number = 0;
    if (from.get(number) || !std::in_range<T>(number)) return false;
    to = static_cast<T>(number);
    return true;
  }
  template <NamedEnum E>
  static bool read(const Element& from, E& to) {
    std::string_view text;
    if (from.get_string().get(text)) return false;
    const auto known = enum_from<E>(text);
    if (known) to = *known;
    return known.has_value();
  }
  template <class T>
  static bool read(const Element& from, std::optional<T>& to) {
    to.reset();
    return from.is_null() || read(from, to.emplace());
  }
  template <class T>
  static bool read(const Element& from, std::vector<T>& to) {
    simdjson::dom::array items;
    if (from.get_array().get(items)) return false;
    to.clear();
    for (const Element item : items) {
      T value{};
      if (!read(item, value)) return false;
      to.push_back(std::move(value));
    }
    return true;
  }
  template <class One, class Other>
  static bool read(const Element& from, std::pair<One, Other>& to) {
    simdjson::dom::array items;
    if (from.get_array().get(items) || items.size() != 2) return false;
    return read(items.at(0).value_unsafe(), to.first) &&
           read(items.at(1).value_unsafe(), to.second);
  }
  static bool read(const Element& from, Interval& to) {
    std::pair<Nanos, Nanos> ends;
    const bool whole = read(from, ends);
    to = {ends.first, ends.second};
    return whole;
  }
  template <class T>
  static bool read(const Element& from, std::map<std::string, T>& to) {
    simdjson::dom::object fields;
    if (from.get_object().get(fields)) return false;
    to.clear();
    for (const auto field : fields)
      if (!read(field.value, to[std::string(field.key)])) return false;
    return true;
  }
  template <class Key, class T>
  static bool read(const Element& from, std::map<Key, T>& to) {
    std::vector<std::pair<Key, T>> pairs;
    if (!read(from, pairs)) return false;
    to.clear();
    for (auto& pair : pairs) to.insert(std::move(pair));
    return true;
  }
  template <Described T>
  static bool read(const Element& from, T& to) {
    bool whole = true;
    T::fields([&](const char* name, auto member, const char*) {
      Element value;
      whole = whole && !from[name].get(value) && read(value, to.*member);
    });
    return whole;
  }
};

}  // namespace gf
