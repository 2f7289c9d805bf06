#include "report/query/sql_column.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>

#include "core/time.h"
#include "model/file_values.h"

namespace gf {

namespace {

template <class Less>
std::vector<std::uint32_t> rows_by(std::size_t count, Less&& less) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0u);
  if (!std::is_sorted(rows.begin(), rows.end(), less))
    std::stable_sort(rows.begin(), rows.end(), less);
  return rows;
}

/// Whole numbers; value(row) is one or nothing.
template <class Value>
class IntegerColumn : public SqlColumn {
 public:
  IntegerColumn(std::string name, Value value)
      : SqlColumn(std::move(name), "INTEGER"), value_(std::move(value)) {}
  void give(sqlite3_context* out, std::size_t row) const override {
    if (const auto value = value_(row)) sqlite3_result_int64(out, *value);
  }
  bool are_same(std::size_t left, std::size_t right) const override {
    return value_(left) == value_(right);
  }
  RowOrder sorted(std::size_t rows) const override {
    return {rows_by(rows, [&](std::uint32_t left,
                              std::uint32_t right) { return value_(left) < value_(right); }),
            {}};
  }
  int sought_type() const override { return SQLITE_INTEGER; }
  std::optional<SoughtValue> seek(sqlite3_value* value) const override {
    const int type = sqlite3_value_numeric_type(value);
    if (type == SQLITE_INTEGER) return sqlite3_value_int64(value);
    const double real = sqlite3_value_double(value);
    if (type != SQLITE_FLOAT || std::trunc(real) != real || !(real >= -0x1p63 && real < 0x1p63))
      return {};
    return static_cast<std::int64_t>(real);
  }
  bool holds(std::size_t row, SoughtValue sought) const override {
    return value_(row) == std::optional(sought);
  }
  std::pair<const std::uint32_t*, const std::uint32_t*> range(const RowOrder& order,
                                                              SoughtValue sought) const override {
    const std::uint32_t *first = order.rows.data(), *last = first + order.rows.size();
    first = std::partition_point(
        first, last, [&](std::uint32_t row) { return value_(row) < std::optional(sought); });
    return {first, std::partition_point(first, last,
                                        [&](std::uint32_t row) { return holds(row, sought); })};
  }

 private:
  Value value_;
};

/// Real numbers; NaN is NULL.
class RealColumn : public SqlColumn {
 public:
  RealColumn(std::string name, const Column<F64>& column)
      : SqlColumn(std::move(name), "REAL"), column_(column) {}
  void give(sqlite3_context* out, std::size_t row) const override {
    sqlite3_result_double(out, column_[row]);
  }
  bool are_same(std::size_t left, std::size_t right) const override {
    const F64 one = column_[left], other = column_[right];
    return one == other || (std::isnan(one) && std::isnan(other));
  }
  RowOrder sorted(std::size_t rows) const override {
    return {rows_by(rows,
                    [&](std::uint32_t left, std::uint32_t right) {
                      const F64 one = column_[left], other = column_[right];
                      return std::isnan(one) ? !std::isnan(other) : one < other;
                    }),
            {}};
  }

 private:
  const Column<F64>& column_;
};

/// Texts by small numbers, their codes. Texts has size(), text(code), code(text), which is size()
/// of what is none of them, and is_null(code).
template <class Code, class Texts>
class TextColumn : public SqlColumn {
 public:
  TextColumn(std::string name, Code code, Texts texts)
      : SqlColumn(std::move(name), "TEXT"), code_(std::move(code)), texts_(std::move(texts)) {}
  void give(sqlite3_context* out, std::size_t row) const override {
    const std::size_t code = code_(row);
    if (texts_.is_null(code)) return;
    const std::string_view text = texts_.text(code);
    sqlite3_result_text64(out, text.data() ? text.data() : "", text.size(), SQLITE_STATIC,
                          SQLITE_UTF8);
  }
  bool are_same(std::size_t left, std::size_t right) const override {
    return code_(left) == code_(right);
  }
  RowOrder sorted(std::size_t rows) const override {
    std::vector<std::uint32_t> count(texts_.size(), 0), codes;
    for (std::size_t row = 0; row < rows; ++row)
      if (count[code_(row)]++ == 0) codes.push_back(static_cast<std::uint32_t>(code_(row)));
    std::sort(codes.begin(), codes.end(), [&](std::uint32_t left, std::uint32_t right) {
      if (texts_.is_null(left) || texts_.is_null(right))
        return texts_.is_null(left) && !texts_.is_null(right);
      return texts_.text(left) < texts_.text(right);
    });
    RowOrder order{std::vector<std::uint32_t>(rows),
                   std::vector<std::uint32_t>(texts_.size(), kNoRow)};
    std::uint32_t next = 0;
    for (std::uint32_t rank = 0; rank < codes.size(); ++rank) {
      order.ranks[codes[rank]] = rank;
      next += std::exchange(count[codes[rank]], next);  // from here on: the first place
    }
    for (std::uint32_t row = 0; row < rows; ++row) order.rows[count[code_(row)]++] = row;
    return order;
  }
  int sought_type() const override { return SQLITE_TEXT; }
  std::optional<SoughtValue> seek(sqlite3_value* value) const override {
    const int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL || type == SQLITE_BLOB) return {};
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
    if (!text) throw std::bad_alloc();
    const std::size_t code =
        texts_.code({text, static_cast<std::size_t>(sqlite3_value_bytes(value))});
    if (code == texts_.size()) return {};
    return static_cast<SoughtValue>(code);
  }
  bool holds(std::size_t row, SoughtValue sought) const override {
    return static_cast<std::int64_t>(code_(row)) == sought;
  }
  std::pair<const std::uint32_t*, const std::uint32_t*> range(const RowOrder& order,
                                                              SoughtValue sought) const override {
    const std::uint32_t *first = order.rows.data(), *last = first + order.rows.size();
    const std::uint32_t rank = order.ranks[static_cast<std::size_t>(sought)];
    if (rank == kNoRow) return {last, last};
    first = std::partition_point(first, last,
                                 [&](std::uint32_t row) { return order.ranks[code_(row)] < rank; });
    return {first, std::partition_point(first, last,
                                        [&](std::uint32_t row) { return holds(row, sought); })};
  }

 private:
  Code code_;
  Texts texts_;
};

struct PoolTexts {
  const StringPool* pool;
  std::size_t size() const { return pool->size(); }
  bool is_null(std::size_t code) const { return code == 0; }
  std::string_view text(std::size_t code) const {
    return pool->view(Text{static_cast<std::uint32_t>(code)});
  }
  std::size_t code(std::string_view text) const {
    const Text found = pool->find(text);
    return found == Text::none ? size() : static_cast<std::size_t>(found);
  }
};

template <class E>
struct EnumTexts {
  std::size_t size() const { return EnumNames<E>::names.size(); }
  bool is_null(std::size_t) const { return false; }
  std::string_view text(std::size_t code) const { return EnumNames<E>::names[code]; }
  std::size_t code(std::string_view text) const {
    const auto found = enum_from<E>(text);
    return found ? static_cast<std::size_t>(*found) : size();
  }
};

template <class Value>
std::unique_ptr<SqlColumn> integer_column(std::string name, Value value) {
  return std::make_unique<IntegerColumn<Value>>(std::move(name), std::move(value));
}
template <class Code, class Texts>
std::unique_ptr<SqlColumn> text_column(std::string name, Code code, Texts texts) {
  return std::make_unique<TextColumn<Code, Texts>>(std::move(name), std::move(code),
                                                   std::move(texts));
}

template <class Declared>
std::unique_ptr<SqlColumn> column_of(const Capture& capture, const ColumnRef<Declared>& ref,
                                     bool ids) {
  using Value = ValueOf<Declared>;
  const auto& column = ref.column;
  // With ids it is the table as the file stores it, under the names there.
  const std::string name(ids ? ref.info.name : sqlite::plain_name(ref.info.name));
  const auto code = [&column](std::size_t row) { return static_cast<std::size_t>(column[row]); };
  if constexpr (std::is_same_v<Value, F64>) {
    return std::make_unique<RealColumn>(name, column);
  } else if constexpr (kIsListed<Declared>) {
    if (!ids) return text_column(name, code, EnumTexts<Value>{});
    return integer_column(name, [&column](std::size_t row) {
      return std::optional<std::int64_t>(enum_string_id(column[row]));
    });
  } else {
    if constexpr (kIsText<Declared>)
      if (!ids) return text_column(name, code, PoolTexts{&capture.strings});
    return integer_column(name, [&column](std::size_t row) -> std::optional<std::int64_t> {
      const Value value = column[row];
      if (is_unknown<Declared>(value)) return {};
      return static_cast<std::int64_t>(value);
    });
  }
}

/// Names of enumerators stand before the texts, the last first, so that ids rise.
std::int64_t enum_names() {
  static const std::int64_t count = [] {
    std::int64_t names = 0;
    for_each_enum_name([&](std::string_view) { ++names; });
    return names;
  }();
  return count;
}

struct AllTexts {
  const StringPool* pool;
  std::vector<std::string_view> names;  // of enumerators, by row
  std::size_t size() const { return names.size() + pool->size() - 1; }
  bool is_null(std::size_t) const { return false; }
  std::string_view text(std::size_t row) const {
    if (row < names.size()) return names[row];
    return pool->view(Text{static_cast<std::uint32_t>(row - names.size() + 1)});
  }
  std::size_t code(std::string_view) const { return size(); }
};

/// For texts that may stand there twice: as an enumerator's name and as a text.
template <class Code, class Texts>
class NotSought : public TextColumn<Code, Texts> {
 public:
  using TextColumn<Code, Texts>::TextColumn;
  int sought_type() const override { return SQLITE_NULL; }
};

/// Texts or bytes that only answers show.
template <class Value>
class BytesColumn : public SqlColumn {
 public:
  BytesColumn(std::string name, const char* type, Value value)
      : SqlColumn(std::move(name), type), value_(std::move(value)) {}
  void give(sqlite3_context* out, std::size_t row) const override {
    const std::string bytes = value_(row);
    if (type() == std::string_view("TEXT"))
      sqlite3_result_text64(out, bytes.data(), bytes.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    else
      sqlite3_result_blob64(out, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  }
  bool are_same(std::size_t left, std::size_t right) const override {
    return value_(left) == value_(right);
  }
  RowOrder sorted(std::size_t rows) const override {
    return {rows_by(rows, [&](std::uint32_t left,
                              std::uint32_t right) { return value_(left) < value_(right); }),
            {}};
  }

 private:
  Value value_;
};

}  // namespace

std::vector<std::unique_ptr<SqlColumn>> columns_of_blocks(const Capture& capture) {
  const auto& blocks = capture.sample_blocks;
  std::vector<std::unique_ptr<SqlColumn>> columns;
  const auto add = [&](const char* name, auto value) {
    columns.push_back(integer_column(name, [&blocks, value](std::size_t row) {
      return std::optional(static_cast<std::int64_t>(value(blocks[row])));
    }));
  };
  columns.push_back(integer_column(
      "row", [](std::size_t row) { return std::optional(static_cast<std::int64_t>(row) + 1); }));
  add("device", [](const PackedBlock& block) { return block.device; });
  add("start_ns", [](const PackedBlock& block) { return block.first_ns; });
  add("end_ns", [](const PackedBlock& block) { return block.last_ns; });
  add("samples", [](const PackedBlock& block) { return block.samples; });
  const auto metrics = [&blocks](std::size_t row) {
    std::string ids;
    for (const Text id : blocks[row].metrics)
      ids += (ids.empty() ? "" : ",") + std::to_string(static_cast<std::uint32_t>(id));
    return ids;
  };
  const auto data = [&blocks](std::size_t row) { return blocks[row].data; };
  columns.push_back(std::make_unique<BytesColumn<decltype(metrics)>>("metrics", "TEXT", metrics));
  columns.push_back(std::make_unique<BytesColumn<decltype(data)>>("data", "BLOB", data));
  return columns;
}

std::vector<std::unique_ptr<SqlColumn>> columns_of(const Capture& capture, TableId table,
                                                   bool ids) {
  std::vector<std::unique_ptr<SqlColumn>> columns;
  columns.push_back(integer_column(
      "row", [](std::size_t row) { return std::optional(static_cast<std::int64_t>(row)); }));
  capture.each_table([&](const auto& each) {
    if (each.kId != table) return;
    each.each_column_ref([&](const auto& ref) { columns.push_back(column_of(capture, ref, ids)); });
  });
  return columns;
}

std::size_t string_rows(const Capture& capture) {
  return static_cast<std::size_t>(enum_names()) + capture.strings.size() - 1;
}

std::vector<std::unique_ptr<SqlColumn>> columns_of_strings(const Capture& capture) {
  const std::int64_t names = enum_names();
  AllTexts texts{&capture.strings, {}};
  for_each_enum_name([&](std::string_view name) { texts.names.push_back(name); });
  std::reverse(texts.names.begin(), texts.names.end());
  const auto code = [](std::size_t row) { return row; };
  std::vector<std::unique_ptr<SqlColumn>> columns;
  columns.push_back(integer_column("id", [names](std::size_t row) {
    const auto id = static_cast<std::int64_t>(row) - names;
    return std::optional(id < 0 ? id : id + 1);
  }));
  columns.push_back(
      std::make_unique<NotSought<decltype(code), AllTexts>>("text", code, std::move(texts)));
  return columns;
}

}  // namespace gf
