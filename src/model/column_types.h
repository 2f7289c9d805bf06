// Types that a column of tables.def can be declared as. Code that handles columns without knowing
// them (joins, checks, files, Arrow, CSV, tests) asks here what a value means.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/strings.h"
#include "model/enums.h"

namespace gf {

inline constexpr std::uint32_t kNoRow = UINT32_MAX;

using I64 = std::int64_t;
using I32 = std::int32_t;
using U32 = std::uint32_t;
using U8 = std::uint8_t;
using F64 = double;     // NaN when not known
using Text = StringId;  // empty when not known

// Further types that tables.def declares; in a namespace of its own, as the names are
// common ones.
namespace declared {

struct Time {};          // nanoseconds of the capture's one clock
struct Duration {};      // nanoseconds, never negative
struct Bool {};          // 0 or 1
struct Count {};         // never negative; added up where rows of two captures become one
template <class Number>  // I32 or I64
struct Maybe {};         // -1 when not known
template <class Target>  // a table's name
struct Ref {};           // row of that table, kNoRow for none
/// Rows of two captures with equal keys stand for the same thing: a join makes one row of them. A
/// table without a key is a list of events: a join appends it.
template <class Declared>
struct Key {};

}  // namespace declared

/// The stored type of a declared one, and the value of a new row.
template <class Declared>
struct ColumnType {  // I64, enumerations
  using Value = Declared;
  static constexpr Value kFallback = [] {
    if constexpr (std::is_enum_v<Declared>)
      return kUnstated<Declared>;
    else
      return Declared{};
  }();
};
template <>
struct ColumnType<F64> {
  using Value = F64;
  static constexpr Value kFallback = NAN;
};
template <class Stored, Stored kDefault = Stored{}>
struct StoredAs {
  using Value = Stored;
  static constexpr Value kFallback = kDefault;
};
template <>
struct ColumnType<declared::Time> : StoredAs<I64> {};
template <>
struct ColumnType<declared::Duration> : StoredAs<I64> {};
template <>
struct ColumnType<declared::Count> : StoredAs<I64> {};
template <>
struct ColumnType<declared::Bool> : StoredAs<U8> {};
template <class Number>
struct ColumnType<declared::Maybe<Number>> : StoredAs<Number, Number{-1}> {};
template <class Target>
struct ColumnType<declared::Ref<Target>> : StoredAs<U32, kNoRow> {};
template <class Declared>
struct ColumnType<declared::Key<Declared>> : ColumnType<Declared> {};

template <class Declared>
using ValueOf = typename ColumnType<Declared>::Value;

template <class Declared>
inline constexpr bool kIsKey = false;
template <class Declared>
inline constexpr bool kIsKey<declared::Key<Declared>> = true;

/// The table that a column refers to: RefTarget<declared::Ref<X>>::type is X. void for all others.
template <class Declared>
struct RefTarget {
  using type = void;
};
template <class Target>
struct RefTarget<declared::Ref<Target>> {
  using type = Target;
};
template <class Declared>
inline constexpr bool kIsRef = !std::is_void_v<typename RefTarget<Declared>::type>;

/// Columns whose values are texts to a reader: texts and names of enumerators.
template <class Declared>
inline constexpr bool kIsText = std::is_same_v<ValueOf<Declared>, Text>;
template <class Declared>
inline constexpr bool kIsListed = std::is_enum_v<ValueOf<Declared>> && !kIsText<Declared>;

/// True if a value says "not known".
template <class Declared>
constexpr bool is_unknown(ValueOf<Declared> value) {
  if constexpr (std::is_same_v<ValueOf<Declared>, F64>)
    return std::isnan(value);
  else if constexpr (kIsListed<Declared>)
    return false;
  else if constexpr (kIsText<Declared>)
    return value == Text::none;
  else
    return ColumnType<Declared>::kFallback != 0 && value == ColumnType<Declared>::kFallback;
}

}  // namespace gf
