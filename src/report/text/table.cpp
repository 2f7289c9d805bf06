#include "report/text/table.h"

#include <algorithm>

#include "report/text/format.h"

namespace gf {

namespace {

constexpr std::size_t kGap = 2, kNarrowest = 8;

std::size_t width_of(const Cell& cell) { return cell.ready ? cell.columns : columns_of(cell.text); }

std::string placed(const TextStyle& style, const Cell& cell, std::size_t width, Align align) {
  const std::string shown = cell.ready ? cell.text : shorten_middle(cell.text, width);
  const std::size_t used = cell.ready ? cell.columns : columns_of(shown);
  const std::string pad(width > used ? width - used : 0, ' ');
  const std::string body = cell.ready ? shown : paint(style, cell.how, shown);
  return align == Align::right ? pad + body : body + pad;
}

void end_line(std::string& out) {
  while (!out.empty() && out.back() == ' ') out.pop_back();
  out += '\n';
}

}  // namespace

Cell Cell::painted(std::string t, std::size_t width) {
  Cell cell(std::move(t));
  cell.ready = true;
  cell.columns = width;
  return cell;
}

std::vector<std::size_t> TextTable::widths(std::size_t available) const {
  std::vector<std::size_t> width(columns_.size());
  std::size_t sum = kGap * (columns_.empty() ? 0 : columns_.size() - 1), giving = 0, rigid = sum;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    width[c] = columns_of(columns_[c].title);
    for (const auto& row : rows_)
      if (c < row.size()) width[c] = std::max(width[c], width_of(row[c]));
    sum += width[c];
    if (columns_[c].gives_way) ++giving;
    else rigid += width[c];
  }
  // The columns that give way share what the others leave; one that needs less than its part leaves it to the rest.
  if (sum <= available || giving == 0) return width;
  std::size_t left = available > rigid ? available - rigid : 0;
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < columns_.size(); ++c)
    if (columns_[c].gives_way) order.push_back(c);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return width[a] < width[b]; });
  for (const auto c : order) {
    width[c] = std::min(width[c], std::max(kNarrowest, left / giving));
    left -= std::min(left, width[c]);
    --giving;
  }
  return width;
}

std::string TextTable::render(const TextStyle& style, std::size_t indent) const {
  const auto width = widths(static_cast<std::size_t>(style.width) - indent);
  const std::string margin(indent, ' ');
  std::string out;
  auto line = [&](auto&& cell_at, std::size_t cells) {
    std::string text = margin;
    for (std::size_t c = 0; c < cells; ++c) {
      if (c) text.append(kGap, ' ');
      text += placed(style, cell_at(c), width[c], columns_[c].align);
    }
    end_line(text);
    out += text;
  };
  if (std::any_of(columns_.begin(), columns_.end(), [](const auto& c) { return !c.title.empty(); }))
    line([&](std::size_t c) { return Cell(columns_[c].title, Paint::dim); }, columns_.size());
  for (const auto& row : rows_) line([&](std::size_t c) -> const Cell& { return row[c]; }, std::min(row.size(), columns_.size()));
  return out;
}

}  // namespace gf
