// Rows of which most columns say nothing: an importer writes what its source says, and the rest is
// filled up once a piece. Columns that nobody wrote stay folded (core/column.h).
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>

#include "core/column.h"
#include "model/column_types.h"

namespace gf {

/// Sets a row's value: a row that was just added, or not yet. Rows come in order; those before it
/// that were not set get the value that stands for "not known", which a value equal to it is left
/// to as well.
template <class T>
void put(Column<T>& column, std::size_t row, T value) {
  T unsaid = ColumnType<T>::kFallback;
  if constexpr (std::is_integral_v<T>) unsaid = static_cast<T>(-1);
  if (value == unsaid) return;
  if (column.size() != row) column.resize(row, unsaid);  // it may be there already, as not known
  column.push_back(value);
}

/// After the last row: every column becomes as long as the table, whose first column was always
/// written.
template <class Table>
void complete(Table& table) {
  const std::size_t size = table.size();
  table.each_column_ref([&](const auto& column) { column.column.resize(size, column.fallback); });
}

}  // namespace gf
