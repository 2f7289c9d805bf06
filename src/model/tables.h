// The capture's tables as structs of columns, made from tables.def. Every table has
//   size()              rows
//   add()               a new row of defaults; returns its number
//   append(other)       all rows of another table of the same kind, as they are
//   each_column(f)      f(ColumnInfo, Column<T>&) for every column, in order
//   each_column_ref(f)  f(ColumnRef<T>): the same with the column's default
//   reserve(n), clear(), shrink_to_fit()
#pragma once

#include <cmath>
#include <cstdint>
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

/// What all tables share. Derived gives visit(f), which calls f(ColumnRef) for every column, and
/// visit_pairs(o, f), which calls f(mine, theirs). Both are templates, made where they are used: a
/// tuple of columns would be made in every file that includes this one.
template <class Derived>
struct TableBase {
  template <class F>
  void each_column(F&& f) {
    self().visit([&](auto&& c) { f(c.info, c.column); });
  }
  template <class F>
  void each_column(F&& f) const {
    mutable_self().visit([&](auto&& c) { f(c.info, std::as_const(c.column)); });
  }
  /// f(ColumnRef) for every column: what each_column gives, and the default.
  template <class F>
  void each_column_ref(F&& f) const {
    mutable_self().visit(f);
  }
  std::uint32_t add() {
    const auto row = static_cast<std::uint32_t>(size());
    self().visit([](auto&& c) { c.column.push_back(c.fallback); });
    return row;
  }
  void append(const Derived& o) {
    self().visit_pairs(o, [](auto& mine, const auto& theirs) { mine.append(theirs.span()); });
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
  std::size_t size() const { return self_const().rows(); }
  bool empty() const { return size() == 0; }

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
  const Derived& self_const() const { return static_cast<const Derived&>(*this); }
  Derived& mutable_self() const { return const_cast<TableBase*>(this)->self(); }
};

// Members and visitors need two passes over the declaration; the first pass below declares the
// members in a base struct, the others the visitors.
#define GF_TABLE(table, about) struct table##_columns {
#define GF_COLUMN(type, name, fallback, meaning) Column<type> name;
#define GF_END(table) \
  }                   \
  ;
#include "model/tables.def"
#undef GF_TABLE
#undef GF_COLUMN
#undef GF_END

#define GF_TABLE(table, about)                   \
  struct table##_visits : table##_columns {      \
    static constexpr const char* kName = #table; \
    static constexpr const char* kAbout = about; \
    template <class F>                           \
    void visit(F&& f) {
#define GF_COLUMN(type, name, fallback, meaning) \
  f(ColumnRef<type>{{#type, #name, meaning}, fallback, this->name});
#define GF_END(table) \
  }                   \
  }                   \
  ;
#include "model/tables.def"
#undef GF_TABLE
#undef GF_COLUMN
#undef GF_END

// The first column tells the rows; the returns after it are never reached.
#define GF_TABLE(table, about)           \
  struct table##_rows : table##_visits { \
    std::size_t rows() const {
#define GF_COLUMN(type, name, fallback, meaning) return this->name.size();
#define GF_END(table) \
  }                   \
  }                   \
  ;
#include "model/tables.def"
#undef GF_TABLE
#undef GF_COLUMN
#undef GF_END

#define GF_TABLE(table, about)                                    \
  struct table##_table : table##_rows, TableBase<table##_table> { \
    template <class F>                                            \
    void visit_pairs(const table##_table& o, F&& f) {
#define GF_COLUMN(type, name, fallback, meaning) f(this->name, o.name);
#define GF_END(table) \
  }                   \
  }                   \
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
