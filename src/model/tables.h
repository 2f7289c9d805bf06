// The capture's tables as structs of columns, made from tables.def. Every table has
//   kId, kName, kAbout  what it is
//   kHasKey             whether some columns are a key (column_types.h)
//   size()              rows
//   add()               a new row of defaults; returns its number
//   append(other)       all rows of another table of the same kind, as they are
//   each_column(f)      f(ColumnInfo, Column<T>&) for every column, in order
//   each_column_ref(f)  f(ColumnRef<Declared>): the same with what the column is declared as
//   reserve(n), clear(), shrink_to_fit()
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "core/column.h"
#include "core/time.h"
#include "model/column_types.h"

namespace gf {

/// Names the tables of tables.def.
enum class TableId : std::uint8_t {
#define GF_TABLE(table, about) table,
#define GF_COLUMN(type, name, meaning)
#define GF_END(table)
#include "model/tables.def"
#undef GF_TABLE
#undef GF_COLUMN
#undef GF_END
  count
};
inline constexpr std::size_t kTableCount = static_cast<std::size_t>(TableId::count);

struct ColumnInfo {
  const char* type;  // as in tables.def
  const char* name;
  const char* meaning;
};

template <class D>
struct ColumnRef {
  using Declared = D;
  using Value = ValueOf<D>;
  static constexpr Value fallback = ColumnType<D>::kFallback;
  ColumnInfo info;
  Column<Value>& column;
};

/// The base of all tables. Derived gives visit(f), which calls f(ColumnRef) for every column,
/// visit_pairs(o, f), which calls f(mine, theirs), and visit_ref_pairs(o, f), which calls
/// f(ColumnRef, theirs). They are templates, made where they are used: a tuple of columns would be
/// made in every file that includes this one.
template <class Derived>
struct TableBase {
  template <class F>
  void each_column(F&& apply) {
    self().visit([&](auto&& column) { apply(column.info, column.column); });
  }
  template <class F>
  void each_column(F&& apply) const {
    mutable_self().visit([&](auto&& column) { apply(column.info, std::as_const(column.column)); });
  }
  /// apply(ColumnRef) for every column: what each_column gives, and what it is declared as.
  template <class F>
  void each_column_ref(F&& apply) const {
    mutable_self().visit(apply);
  }
  std::uint32_t add() {
    const auto row = static_cast<std::uint32_t>(size());
    self().visit([](auto&& column) { column.column.push_back(column.fallback); });
    return row;
  }
  void append(const Derived& other) {
    self().visit_pairs(other, [](auto& mine, const auto& theirs) { mine.append(theirs); });
  }
  void reserve(std::size_t count) {
    each_column([count](auto&, auto& column) { column.reserve(count); });
  }
  void clear() {
    each_column([](auto&, auto& column) { column.clear(); });
  }
  void shrink_to_fit() {
    each_column([](auto&, auto& column) { column.shrink_to_fit(); });
  }
  std::size_t size() const { return self_const().rows(); }
  bool empty() const { return size() == 0; }

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
  const Derived& self_const() const { return static_cast<const Derived&>(*this); }
  Derived& mutable_self() const { return const_cast<TableBase*>(this)->self(); }
};

// Members and visitors need a pass each over the declaration; Ref<devices> finds the names of
// tables in a namespace of their own.
namespace declared {

#define GF_TABLE(table, about) struct table;
#define GF_COLUMN(type, name, meaning)
#define GF_END(table)
#include "model/tables.def"
#undef GF_TABLE
#undef GF_COLUMN
#undef GF_END

#define GF_TABLE(table, about)                     \
  struct table {                                   \
    static constexpr TableId kId = TableId::table; \
    static constexpr const char* kName = #table;   \
    static constexpr const char* kAbout = about;   \
    static constexpr bool kHasKey = false
#define GF_COLUMN(type, name, meaning) || kIsKey<type>
#define GF_END(table) \
  ;                   \
  }                   \
  ;
#include "model/tables.def"
#undef GF_TABLE
#undef GF_COLUMN
#undef GF_END

#define GF_TABLE(table, about) struct table##_columns {
#define GF_COLUMN(type, name, meaning) Column<ValueOf<type>> name;
#define GF_END(table) \
  }                   \
  ;
#include "model/tables.def"
#undef GF_TABLE
#undef GF_COLUMN
#undef GF_END

#define GF_TABLE(table, about)                     \
  struct table##_visits : table, table##_columns { \
    template <class F>                             \
    void visit(F&& f) {
#define GF_COLUMN(type, name, meaning) f(ColumnRef<type>{{#type, #name, meaning}, this->name});
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
#define GF_COLUMN(type, name, meaning) return this->name.size();
#define GF_END(table) \
  }                   \
  }                   \
  ;
#include "model/tables.def"
#undef GF_TABLE
#undef GF_COLUMN
#undef GF_END

#define GF_TABLE(table, about)          \
  struct table##_pairs : table##_rows { \
    template <class F>                  \
    void visit_pairs(const table##_pairs& o, F&& f) {
#define GF_COLUMN(type, name, meaning) f(this->name, o.name);
#define GF_END(table) \
  }                   \
  }                   \
  ;
#include "model/tables.def"
#undef GF_TABLE
#undef GF_COLUMN
#undef GF_END

#define GF_TABLE(table, about)                                     \
  struct table##_table : table##_pairs, TableBase<table##_table> { \
    template <class F>                                             \
    void visit_ref_pairs(const table##_table& o, F&& f) {
#define GF_COLUMN(type, name, meaning) \
  f(ColumnRef<type>{{#type, #name, meaning}, this->name}, o.name);
#define GF_END(table) \
  }                   \
  }                   \
  ;
#include "model/tables.def"
#undef GF_TABLE
#undef GF_COLUMN
#undef GF_END

}  // namespace declared

#define GF_TABLE(table, about) using declared::table##_table;
#define GF_COLUMN(type, name, meaning)
#define GF_END(table)
#include "model/tables.def"
#undef GF_TABLE
#undef GF_COLUMN
#undef GF_END

/// The table that a column refers to; only of columns that are references.
template <class Declared>
inline constexpr TableId kRefTable = RefTarget<Declared>::type::kId;

/// One number for each table.
using PerTable = std::array<std::uint32_t, kTableCount>;
inline std::uint32_t& of(PerTable& numbers, TableId id) {
  return numbers[static_cast<std::size_t>(id)];
}
inline std::uint32_t of(const PerTable& numbers, TableId id) {
  return numbers[static_cast<std::size_t>(id)];
}

/// All tables of a capture; each_table(f) calls f(table) for every one, in the order of tables.def.
struct Tables {
  // Hundreds of columns each: compiled once, in tables.cpp.
  Tables();
  Tables(const Tables&);
  Tables(Tables&&) noexcept;
  Tables& operator=(const Tables&);
  Tables& operator=(Tables&&) noexcept;
  ~Tables();

#define GF_TABLE(table, about) table##_table table;
#define GF_COLUMN(type, name, meaning)
#define GF_END(table)
#include "model/tables.def"
#undef GF_TABLE
  template <class F>
  void each_table(F&& apply) {
#define GF_TABLE(table, about) apply(table);
#include "model/tables.def"
#undef GF_TABLE
  }
  /// apply(mine, theirs) for every table.
  template <class F>
  void each_table_pair(const Tables& other, F&& apply) {
#define GF_TABLE(table, about) apply(table, other.table);
#include "model/tables.def"
#undef GF_TABLE
  }
  template <class F>
  void each_table(F&& apply) const {
#define GF_TABLE(table, about) apply(table);
#include "model/tables.def"
#undef GF_TABLE
  }
#undef GF_COLUMN
#undef GF_END
  PerTable row_counts() const {
    PerTable counts{};
    each_table([&](const auto& table) {
      of(counts, table.kId) = static_cast<std::uint32_t>(table.size());
    });
    return counts;
  }
};

}  // namespace gf
