// What the declarations of results say of a type, for those who write them in other languages.
// The answers' types for Python, made from the declarations of the results.
// web/src/model.ts: the answer of analyze as types, for the page.
#pragma once

#include <string>
#include <type_traits>

#include "core/statistics.h"

namespace gf::declared_types {

/// Name and meaning of a struct of results.
template <class T>
struct Struct {
  static constexpr const char* name = T::struct_name;
  static constexpr const char* about = T::struct_about;
};
template <>
struct Struct<Distribution> {
  static constexpr const char* name = "Distribution";
  static constexpr const char* about = "Weighted quantiles, and shares in equal bins";
};

template <class T>
concept Optional = requires(T value) {
  typename T::value_type;
  value.has_value();
};
template <class T>
concept List = !std::is_same_v<T, std::string> && requires(T value) {
  typename T::value_type;
  value.push_back(value.front());
};

}  // namespace gf::declared_types

namespace gf {

/// python/gpufathom/results.py: a frozen dataclass for each struct that analyze and compare answer
/// with.
std::string python_results();

}  // namespace gf

namespace gf {

/// Types of every result struct and of the closed lists in them, and the colors of causes, bars
/// and phases; all from their declarations (analyze/results/*.def, analyze/names/*.def).
std::string typescript_model();

}  // namespace gf
