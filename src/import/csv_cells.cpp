#include "import/csv_cells.h"

namespace gf {

bool CsvReader::next(std::vector<std::string_view>& cells) {
  cells.clear();
  unescaped_.clear();
  cut_ = quote_open_ = false;
  while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  if (at_ >= text_.size()) return false;
  row_offset_ = at_;
  struct Escaped {
    std::size_t cell, text;
  };
  std::vector<Escaped> escaped;
  for (;;) {
    if (at_ < text_.size() && text_[at_] == '"') {
      bool doubled = false;
      const std::string_view cell = quoted_cell(doubled);
      if (doubled) {
        escaped.push_back({cells.size(), unescaped_.size()});
        unescaped_.push_back(without_doubled_quotes(cell));
      }
      cells.push_back(cell);
      // Whatever stands between the closing quote and the separator is damage; it is dropped.
      skip_to_separator();
    } else {
      const std::size_t begin = at_;
      skip_to_separator();
      cells.push_back(text_.substr(begin, at_ - begin));
    }
    if (at_ >= text_.size()) {
      cut_ = true;
      break;
    }
    if (text_[at_] != separator_) break;
    ++at_;
  }
  for (const Escaped& cell : escaped) cells[cell.cell] = unescaped_[cell.text];
  return true;
}

std::string_view CsvReader::quoted_cell(bool& doubled) {
  const std::size_t begin = ++at_;
  while (at_ < text_.size()) {
    const std::size_t quote = text_.find('"', at_);
    if (quote == text_.npos) break;
    at_ = quote + 1;
    if (at_ >= text_.size() || text_[at_] != '"') return text_.substr(begin, quote - begin);
    doubled = true;
    ++at_;
  }
  cut_ = quote_open_ = true;
  at_ = text_.size();
  return text_.substr(begin);
}

void CsvReader::skip_to_separator() {
  while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r')
    ++at_;
}

std::string CsvReader::without_doubled_quotes(std::string_view cell) {
  std::string plain;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    plain += cell[i];
    if (cell[i] == '"' && i + 1 < cell.size() && cell[i + 1] == '"') ++i;
  }
  return plain;
}

}  // namespace gf
