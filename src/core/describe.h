// A result struct describes its own fields once; JSON, the C interface and the reference page come
// from that.
//
//   struct Level {
//     std::string id;
//     std::optional<double> value;
//     static constexpr auto fields() {
//       return std::tuple{field("id", &Level::id, "metric id"), field("value", &Level::value,
//       "share of the window, 0..1")};
//     }
//   };
#pragma once

#include <tuple>

namespace gf {

template <class C, class T>
struct FieldInfo {
  const char* name;
  T C::* member;
  const char* meaning;
};

template <class C, class T>
constexpr FieldInfo<C, T> field(const char* name, T C::* member, const char* meaning) {
  return {name, member, meaning};
}

/// True for structs that have fields().
template <class T>
concept Described = requires { T::fields(); };

/// f(FieldInfo, value) for every field of `object`.
template <Described T, class F>
void each_field(const T& object, F&& f) {
  std::apply([&](const auto&... info) { (f(info, object.*(info.member)), ...); }, T::fields());
}

}  // namespace gf
