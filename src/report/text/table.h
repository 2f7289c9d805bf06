// A table that fits the terminal: columns are as wide as their cells need, and one of them gives
// way.
#pragma once

#include <string>
#include <vector>

#include "report/text/format.h"

namespace gf {

struct Cell {
  std::string text;
  Paint how = Paint::plain;
  bool ready = false;  // text holds color codes already (a bar); `columns` says how wide it is
  std::size_t columns = 0;
  Cell(const std::string& content, Paint paint = Paint::plain);
  Cell(const char* content) : Cell(std::string(content)) {}
  /// A bar or another painted text of a known width.
  static Cell painted(std::string text, std::size_t width);
};

enum class Align { left, right };

struct TableColumn {
  std::string title;
  Align align = Align::left;
  bool gives_way = false;  // shortened in the middle when the table is too wide
  int spare = 0;           // left out when the table is too wide, the largest first; 0: never
};

class TextTable {
 public:
  explicit TextTable(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  /// The lines of the table after `indent` spaces; the titles come first unless all are empty.
  std::string render(const TextStyle& style, std::size_t indent = 2) const;

 private:
  std::vector<std::size_t> natural_widths() const;
  std::vector<std::size_t> shown_columns(const std::vector<std::size_t>& width,
                                         std::size_t available) const;
  void shrink(std::vector<std::size_t>& width, const std::vector<std::size_t>& shown,
              std::size_t available) const;
  std::vector<TableColumn> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace gf
