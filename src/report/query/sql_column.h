// Columns as SQL sees them: what a row holds, which rows hold a value, and the rows in order of
// their values.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/capture.h"

namespace gf {

/// Rows by value, as SQL sorts: NULL first, rows of one value in their own order.
struct RowOrder {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> ranks;  // of texts, by code
};

/// The value that a condition `column = value` looks for: a number, or a text by its code.
using SoughtValue = std::int64_t;

class SqlColumn {
 public:
  SqlColumn(std::string name, const char* type) : name_(std::move(name)), type_(type) {}
  virtual ~SqlColumn() = default;
  const std::string& name() const { return name_; }
  const char* type() const { return type_; }

  virtual void give(sqlite3_context* out, std::size_t row) const = 0;
  virtual RowOrder sorted(std::size_t rows) const = 0;
  /// True if two rows hold the same value.
  virtual bool are_same(std::size_t left, std::size_t right) const = 0;

  /// The type that SQLite compares this column's values as; SQLITE_NULL: not to be sought here.
  virtual int sought_type() const { return SQLITE_NULL; }
  /// Nothing: no row can hold it.
  virtual std::optional<SoughtValue> seek(sqlite3_value*) const { return {}; }
  virtual bool holds(std::size_t, SoughtValue) const { return true; }
  /// Rows that hold it, in order.
  virtual std::pair<const std::uint32_t*, const std::uint32_t*> range(const RowOrder& order,
                                                                      SoughtValue) const {
    return {order.rows.data(), order.rows.data() + order.rows.size()};
  }

 private:
  std::string name_;
  const char* type_;
};

/// The columns of a capture's table, with texts, or with their ids; `row` is the first.
std::vector<std::unique_ptr<SqlColumn>> columns_of(const Capture& capture, TableId table, bool ids);
/// Those of sample_blocks.
std::vector<std::unique_ptr<SqlColumn>> columns_of_blocks(const Capture& capture);
/// Those of the table of texts: id and text.
std::vector<std::unique_ptr<SqlColumn>> columns_of_strings(const Capture& capture);
std::size_t string_rows(const Capture& capture);

}  // namespace gf
