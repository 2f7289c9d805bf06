// A result struct describes its own fields once; JSON, the C interface and the reference page come
// from that.
//
//   struct Level {
//     std::string id;
//     std::optional<double> value;
//     template <class Visit>
//     static void fields(Visit&& visit) {
//       visit("id", &Level::id, "metric id");
//       visit("value", &Level::value, "share of the window, 0..1");
//     }
//   };
//
// A template costs a file that only includes the struct nothing: it is instantiated where fields
// are visited.
#pragma once

namespace gf {

/// Takes any field; what Described asks for.
struct IgnoreField {
  template <class C, class T>
  void operator()(const char*, T C::*, const char*) const {}
};

/// True for structs that have fields().
template <class T>
concept Described = requires { T::fields(IgnoreField{}); };

/// apply(name, value, meaning) for every field of `object`.
template <Described T, class F>
void each_field(const T& object, F&& apply) {
  T::fields([&](const char* name, auto member, const char* meaning) {
    apply(name, object.*member, meaning);
  });
}

}  // namespace gf
