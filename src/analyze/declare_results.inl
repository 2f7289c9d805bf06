// Declares result structs from a list. Set GF_RESULTS to the list's path and include this, inside
// namespace gf and behind core/describe.h, as often as there are lists. One entry gives the member,
// its key in JSON, its row in the schema and in docs/analysis.md, and its line in web/src/model.ts:
//
//   GF_RESULT(Struct, "what it is")
//   GF_FIELD(type, name, default, "meaning")
//   GF_FIELD_AS(type, member, default, "key", "meaning")    where the key is no C++ name
//   GF_END(Struct)
//
// Types: std::string, bool, integers, double, enums of analyze/names.h, structs declared before,
// and std::optional and std::vector of those. An empty optional and NaN are "no data". A key may be
// added; it is never renamed or removed.
#define GF_RESULT(Struct, about)                        \
  struct Struct {                                       \
    static constexpr const char* struct_name = #Struct; \
    static constexpr const char* struct_about = about;  \
    template <class Visit>                              \
    static void fields(Visit&& visit);
#define GF_FIELD(type, name, preset, about) type name = preset;
#define GF_FIELD_AS(type, name, preset, key, about) type name = preset;
#define GF_END(Struct) \
  }                    \
  ;
#include GF_RESULTS
#undef GF_RESULT
#undef GF_FIELD
#undef GF_FIELD_AS
#undef GF_END

#define GF_RESULT(Struct, about)       \
  template <class Visit>               \
  void Struct::fields(Visit&& visit) { \
    using Self = Struct;
#define GF_FIELD(type, name, preset, about) visit(#name, &Self::name, about);
#define GF_FIELD_AS(type, name, preset, key, about) visit(key, &Self::name, about);
#define GF_END(Struct) }
#include GF_RESULTS
#undef GF_RESULT
#undef GF_FIELD
#undef GF_FIELD_AS
#undef GF_END
#undef GF_RESULTS
