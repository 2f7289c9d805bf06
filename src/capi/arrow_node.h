// Columns and tables as nodes, from which Arrow schemas, arrays and streams are made.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capi/arrow.h"
#include "report/json.h"

namespace gf {

/// One column (or the struct of all): what both its schema and its array are made of.
struct Node {
  std::string format, name;
  std::int64_t length = 0, nulls = 0;
  std::vector<const void*> buffers;
  std::vector<Node> children;
  std::vector<Node> dictionary;       // none or one
  std::shared_ptr<const void> owner;  // of the buffers
};

void fill(const Node& node, ArrowSchema& schema);
void fill(const Node& node, ArrowArray& array);

/// Texts as an Arrow "large utf8" array; bytes that are not UTF-8 become U+FFFD, as Arrow demands.
struct Texts {
  std::vector<std::int64_t> offsets{0};
  std::string bytes;
  void add(std::string_view text) {
    append_utf8(bytes, text);
    offsets.push_back(static_cast<std::int64_t>(bytes.size()));
  }
};

Node dictionary_of(std::shared_ptr<const Texts> texts);

/// Owns the null bitmap and keeps what owns the values.
struct ColumnOwner {
  std::shared_ptr<const void> values;
  std::vector<std::uint8_t> valid;
};

template <class Declared>
Node column_node(const std::shared_ptr<const void>& values, const ColumnRef<Declared>& column_ref,
                 const std::shared_ptr<const Texts>& texts) {
  using T = ValueOf<Declared>;
  Node node;
  node.name = column_ref.info.name;
  node.length = static_cast<std::int64_t>(column_ref.column.size());
  auto owner = std::make_shared<ColumnOwner>(
      ColumnOwner{values, std::vector<std::uint8_t>((column_ref.column.size() + 7) / 8, 0)});
  for (std::size_t i = 0; i < column_ref.column.size(); ++i) {
    const bool null = is_unknown<Declared>(column_ref.column[i]);
    node.nulls += null;
    if (!null) owner->valid[i / 8] |= static_cast<std::uint8_t>(1u << (i % 8));
  }
  node.buffers = {node.nulls > 0 ? owner->valid.data() : nullptr, column_ref.column.data()};
  node.owner = std::move(owner);
  if constexpr (std::is_same_v<T, I64>)
    node.format = "l";
  else if constexpr (std::is_same_v<T, I32>)
    node.format = "i";
  else if constexpr (std::is_same_v<T, U32>)
    node.format = "I";
  else if constexpr (std::is_same_v<T, U8>)
    node.format = "C";
  else if constexpr (std::is_same_v<T, F64>)
    node.format = "g";
  else if constexpr (std::is_same_v<T, Text>) {
    node.format = "I";
    node.dictionary.push_back(dictionary_of(texts));
  } else {
    static_assert(sizeof(T) == 1);
    node.format = "C";
    auto names = std::make_shared<Texts>();
    for (const auto name : EnumNames<T>::names) names->add(name);
    node.dictionary.push_back(dictionary_of(std::move(names)));
  }
  return node;
}

/// One batch: all rows of a table, which `owner` keeps.
template <class Table>
Node table_node(const std::shared_ptr<const void>& owner, const Table& table,
                const std::shared_ptr<const Texts>& texts) {
  Node node{"+s", "", static_cast<std::int64_t>(table.size()), 0, {nullptr}, {}, {}, owner};
  table.each_column_ref(
      [&](const auto& column) { node.children.push_back(column_node(owner, column, texts)); });
  return node;
}

/// Gives the next batch, or false at the end.
using NextBatch = std::function<bool(ArrowArray&)>;

/// A stream of `table` as its first batch, and of what `more` gives after it.
void make_stream(Node table, NextBatch more, ArrowArrayStream& stream);

}  // namespace gf
