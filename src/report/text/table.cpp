#include "report/text/table.h"

#include <algorithm>
#include <numeric>

#include "report/text/format.h"

namespace gf {

namespace {

constexpr std::size_t kGap = 2, kNarrowest = 8, kComfortable = 24;

std::size_t width_of(const Cell& cell) { return cell.ready ? cell.columns : columns_of(cell.text); }

std::string placed(const TextStyle& style, const Cell& cell, std::size_t width, Align align) {
  std::string shown = cell.ready ? cell.text : shorten_middle(cell.text, width);
  std::size_t used = cell.ready ? cell.columns : columns_of(shown);
  const std::string pad(width > used ? width - used : 0, ' ');
  std::string body = cell.ready ? shown : paint(style, cell.how, shown);
  return align == Align::right ? pad + body : body + pad;
}

void end_line(std::string& out) {
  while (!out.empty() && out.back() == ' ') out.pop_back();
  out += '\n';
}

}  // namespace

Cell::Cell(const std::string& title, Paint paint) : text(printable(title)), how(paint) {}

Cell Cell::painted(std::string text, std::size_t width) {
  Cell cell("");
  cell.text = std::move(text);
  cell.ready = true;
  cell.columns = width;
  return cell;
}

std::vector<std::size_t> TextTable::natural_widths() const {
  std::vector<std::size_t> width(columns_.size());
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    width[column] = columns_of(columns_[column].title);
    for (const auto& row : rows_)
      if (column < row.size()) width[column] = std::max(width[column], width_of(row[column]));
  }
  return width;
}

/// All columns, but for spare ones that would leave too little for those that give way.
std::vector<std::size_t> TextTable::shown_columns(const std::vector<std::size_t>& width,
                                                  std::size_t available) const {
  std::vector<std::size_t> shown(columns_.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  while (true) {
    std::size_t needed = kGap * (shown.empty() ? 0 : shown.size() - 1);
    auto spare = shown.end();
    for (auto it = shown.begin(); it != shown.end(); ++it) {
      needed += columns_[*it].gives_way ? std::min(width[*it], kComfortable) : width[*it];
      if (columns_[*it].spare > 0 &&
          (spare == shown.end() || columns_[*it].spare > columns_[*spare].spare))
        spare = it;
    }
    if (needed <= available || spare == shown.end()) return shown;
    shown.erase(spare);
  }
}

/// Columns that give way share what the others leave; one that needs less than its part leaves it
/// to the rest.
void TextTable::shrink(std::vector<std::size_t>& width, const std::vector<std::size_t>& shown,
                       std::size_t available) const {
  std::size_t rigid = kGap * (shown.empty() ? 0 : shown.size() - 1);
  std::vector<std::size_t> giving;
  for (const auto column : shown)
    if (columns_[column].gives_way)
      giving.push_back(column);
    else
      rigid += width[column];
  std::sort(giving.begin(), giving.end(),
            [&](auto left, auto right) { return width[left] < width[right]; });
  std::size_t left = available > rigid ? available - rigid : 0;
  for (std::size_t i = 0; i < giving.size(); ++i) {
    width[giving[i]] = std::min(width[giving[i]], std::max(kNarrowest, left / (giving.size() - i)));
    left -= std::min(left, width[giving[i]]);
  }
}

std::string TextTable::render(const TextStyle& style, std::size_t indent) const {
  const std::size_t available = static_cast<std::size_t>(style.width) - indent;
  auto width = natural_widths();
  const auto shown = shown_columns(width, available);
  shrink(width, shown, available);
  std::string out;
  auto line = [&](auto&& cell_at, std::size_t cells) {
    std::string text(indent, ' ');
    for (const auto column : shown) {
      if (column >= cells) break;
      if (column != shown.front()) text.append(kGap, ' ');
      text += placed(style, cell_at(column), width[column], columns_[column].align);
    }
    end_line(text);
    out += text;
  };
  if (std::any_of(columns_.begin(), columns_.end(),
                  [](const auto& column) { return !column.title.empty(); }))
    line([&](std::size_t column) { return Cell(columns_[column].title, Paint::dim); },
         columns_.size());
  for (const auto& row : rows_)
    line([&](std::size_t column) -> const Cell& { return row[column]; }, row.size());
  return out;
}

}  // namespace gf
