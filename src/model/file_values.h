// How values of the capture's columns stand in the file; shared by the writer and the reader.
#pragma once

#include <cmath>
#include <string_view>
#include <type_traits>

#include "model/tables.h"

namespace gf {

/// Columns that hold an id of the file's strings: texts and names of enumerations.
template <class T>
inline constexpr bool is_text = std::is_enum_v<T>;
template <class T>
inline constexpr bool is_listed = std::is_enum_v<T> && !std::is_same_v<T, Text>;

/// f(name) for every name of every enumeration of the model, in a fixed order: name number n has
/// the string id -n (from 1).
template <class F>
constexpr void for_each_enum_name(F&& f) {
  for (auto n : EnumNames<HostKind>::names) f(n);
  for (auto n : EnumNames<ApiKind>::names) f(n);
  for (auto n : EnumNames<ActivityKind>::names) f(n);
  for (auto n : EnumNames<CopyKind>::names) f(n);
}

/// String id of an enumerator. Equal names of two enumerations share the first id.
template <class E>
std::int64_t enum_string_id(E value) {
  std::int64_t id = 0, found = 0;
  for_each_enum_name([&](std::string_view name) {
    --id;
    if (found == 0 && name == name_of(value)) found = id;
  });
  return found;
}

/// Whether a value means "not known", which the file writes as NULL.
template <class T>
bool is_unknown(T value, T fallback) {
  if constexpr (std::is_same_v<T, F64>)
    return std::isnan(value);
  else if constexpr (is_listed<T>)
    return false;
  else if constexpr (is_text<T>)
    return value == Text::none;
  else
    return fallback != 0 && value == fallback;
}

}  // namespace gf
