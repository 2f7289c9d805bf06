// Comma-separated cells by RFC 4180, read in place: quoted cells may hold commas, doubled quotes
// and line ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gf {

class CsvReader {
 public:
  explicit CsvReader(std::string_view text, char separator = ',')
      : text_(text), separator_(separator) {}

  /// Reads the next row into `cells`; false at the end. Cells stay valid until the next call. Blank
  /// lines are skipped.
  bool next(std::vector<std::string_view>& cells);
  /// Byte offset of the row that next() returned last.
  std::size_t row_offset() const { return row_offset_; }
  /// The row that next() returned last ended inside a quoted cell, or without a line end: the file
  /// is cut there.
  bool row_was_cut() const { return cut_; }
  /// It ended inside a quoted cell: that cell is not whole.
  bool cell_was_cut() const { return quote_open_; }

 private:
  /// The inside of the quoted cell that begins here; moves past the closing quote.
  std::string_view quoted_cell(bool& doubled);
  void skip_to_separator();
  static std::string without_doubled_quotes(std::string_view cell);

  std::string_view text_;
  std::size_t at_ = 0, row_offset_ = 0;
  char separator_;
  bool cut_ = false, quote_open_ = false;
  std::vector<std::string> unescaped_;  // cells that held doubled quotes
};

}  // namespace gf
