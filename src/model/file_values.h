// Encoding of the capture's columns in the file; shared by the writer and the reader.
#pragma once

#include <bit>
#include <cmath>
#include <string_view>

#include "model/tables.h"

namespace gf {

/// f(name) for every name of every enumeration of the model, in a fixed order: name number n has
/// the string id -n (from 1).
template <class F>
constexpr void for_each_enum_name(F&& apply) {
  for (auto name : EnumNames<HostKind>::names) apply(name);
  for (auto name : EnumNames<ApiKind>::names) apply(name);
  for (auto name : EnumNames<ActivityKind>::names) apply(name);
  for (auto name : EnumNames<CopyKind>::names) apply(name);
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

/// A value as blocks of columns number it: texts by id, enumerators by number, real numbers by
/// their bits, no row as -1.
template <class Declared>
std::int64_t stored_value(ValueOf<Declared> value) {
  if constexpr (std::is_same_v<ValueOf<Declared>, F64>)
    return std::bit_cast<std::int64_t>(std::isnan(value) ? static_cast<F64>(NAN) : value);
  else if constexpr (kIsRef<Declared>)
    return value == kNoRow ? -1 : static_cast<std::int64_t>(value);
  else
    return static_cast<std::int64_t>(value);
}

}  // namespace gf
