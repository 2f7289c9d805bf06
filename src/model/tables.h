// The capture's tables as structs of columns, made from tables.def. Every table has
//   size()              rows
//   add()               a new row of defaults; returns its number
//   append(other)       all rows of another table of the same kind; texts and row numbers are
//   copied as they are each_column(f)      f(ColumnInfo, Column<T>&) for every column, in order
//   each_column_ref(f)  f(ColumnRef<T>): the same with the column's default
//   reserve(n), clear(), shrink_to_fit()
#pragma once

#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

#include "core/column.h"
#include "core/strings.h"
#include "core/time.h"
#include "model/enums.h"

namespace gf {

inline constexpr std::uint32_t kNoRow = UINT32_MAX;

using I64 = std::int64_t;
using I32 = std::int32_t;
using U32 = std::uint32_t;
using U8 = std::uint8_t;
using F64 = double;
using Text = StringId;

struct ColumnInfo {
  const char* type;  // as in tables.def
  const char* name;
  const char* meaning;
};

template <class T>
struct ColumnRef {
  ColumnInfo info;
  T fallback;
  Column<T>& column;
};

/// What all tables share; Derived gives columns(), a tuple of ColumnRef.
template <class Derived>
struct TableBase {
  template <class F>
  void each_column(F&& f) {
    std::apply([&](auto&&... c) { (f(c.info, c.column), ...); }, self().columns());
  }
  template <class F>
  void each_column(F&& f) const {
    std::apply([&](auto&&... c) { (f(c.info, std::as_const(c.column)), ...); },
               const_cast<TableBase*>(this)->self().columns());
  }
  /// f(ColumnRef) for every column: what each_column gives, and the default.
  template <class F>
  void each_column_ref(F&& f) const {
    std::apply([&](auto&&... c) { (f(c), ...); }, const_cast<TableBase*>(this)->self().columns());
  }
  std::uint32_t add() {
    const auto row = static_cast<std::uint32_t>(size());
    std::apply([](auto&&... c) { (c.column.push_back(c.fallback), ...); }, self().columns());
    return row;
  }
  void append(const Derived& o) {
    auto mine = self().columns();
    auto theirs = const_cast<Derived&>(o).columns();
    append_each(mine, theirs, std::make_index_sequence<std::tuple_size_v<decltype(mine)>>{});
  }
  void reserve(std::size_t n) {
    each_column([n](auto&, auto& c) { c.reserve(n); });
  }
  void clear() {
    each_column([](auto&, auto& c) { c.clear(); });
  }
  void shrink_to_fit() {
    each_column([](auto&, auto& c) { c.shrink_to_fit(); });
  }
  std::size_t size() const {
    return std::get<0>(const_cast<TableBase*>(this)->self().columns()).column.size();
  }
  bool empty() const { return size() == 0; }

 private:
  template <class A, class B, std::size_t... I>
  static void append_each(A& a, B& b, std::index_sequence<I...>) {
    (std::get<I>(a).column.append(std::get<I>(b).column.span()), ...);
  }
  Derived& self() { return static_cast<Derived&>(*this); }
};

// Members and the tuple of columns need two passes over the declaration; the first pass below
// declares the members in a base struct, the second builds the tuple.
#define GF_TABLE(table, about) struct table##_columns {
#define GF_COLUMN(type, name, fallback, meaning) Column<type> name;
#define GF_END(table) \
  }                   \
  ;
#include "model/tables.def"
#undef GF_TABLE
#undef GF_COLUMN
#undef GF_END

#define GF_TABLE(table, about)                                       \
  struct table##_table : table##_columns, TableBase<table##_table> { \
    static constexpr const char* kName = #table;                     \
    static constexpr const char* kAbout = about;                     \
    auto columns() {                                                 \
      return std::tuple_cat(
#define GF_COLUMN(type, name, fallback, meaning) \
  std::make_tuple(ColumnRef<type>{{#type, #name, meaning}, fallback, this->name}),
#define GF_END(table)      \
          std::tuple<>{}); \
  }                        \
  }                        \
  ;
#include "model/tables.def"
#undef GF_TABLE
#undef GF_COLUMN
#undef GF_END

/// All tables of a capture; each_table(f) calls f(table) for every one, in the order of tables.def.
struct Tables {
#define GF_TABLE(table, about) table##_table table;
#define GF_COLUMN(type, name, fallback, meaning)
#define GF_END(table)
#include "model/tables.def"
#undef GF_TABLE
  template <class F>
  void each_table(F&& f) {
#define GF_TABLE(table, about) f(table);
#include "model/tables.def"
#undef GF_TABLE
  }
  template <class F>
  void each_table(F&& f) const {
#define GF_TABLE(table, about) f(table);
#include "model/tables.def"
#undef GF_TABLE
  }
#undef GF_COLUMN
#undef GF_END
};

}  // namespace gf
