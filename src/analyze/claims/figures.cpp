// The figures of the publications over measured rows; figures.def has them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>

#include "analyze/claims/claims.h"

namespace gf {

namespace {

constexpr double kNoX = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostPoints = 200;  // of a course: more are closer than a picture shows

struct PaperNumber {
  std::string_view model, name;
  double x, y;
};

struct Curve {
  std::string_view name, value, rows, unit;
  std::vector<PaperNumber> paper;
};

struct FigurePlan {
  Study study;
  std::string_view id, title, original;
  FigureKind kind;
  std::string_view x, x_title;
  FigureAxis x_axis, y_axis;
  std::string_view best;
  std::vector<Curve> curves;
};

std::vector<FigurePlan> make_plans() {
  std::vector<FigurePlan> plans;
#define GF_FIGURE(study, id, title, original, kind, x, x_title, x_axis, y_axis, best) \
  plans.push_back({Study::study,                                                      \
                   id,                                                                \
                   title,                                                             \
                   original,                                                          \
                   FigureKind::kind,                                                  \
                   x,                                                                 \
                   x_title,                                                           \
                   FigureAxis::x_axis,                                                \
                   FigureAxis::y_axis,                                                \
                   best,                                                              \
                   {}});
#define GF_CURVE(name, value, rows, unit) \
  plans.back().curves.push_back({name, value, rows, unit, {}});
#define GF_PAPER(model, name, x, y) plans.back().curves.back().paper.push_back({model, name, x, y});
#include "analyze/claims/figures.def"
#undef GF_PAPER
#undef GF_CURVE
#undef GF_FIGURE
  return plans;
}

/// The common name of a series: of "lenet5 sync b64" the part without the batch.
std::string series_of(const FactRow& row) {
  const std::size_t last = row.name.rfind(' ');
  if (last == std::string::npos || last + 2 > row.name.size()) return row.name;
  const std::string_view word = std::string_view(row.name).substr(last + 1);
  const bool counts = (word.front() == 'b' || word.front() == 't') && word.size() > 1 &&
                      std::ranges::all_of(word.substr(1), [](char letter) {
                        return std::isdigit(static_cast<unsigned char>(letter)) != 0;
                      });
  return counts ? row.name.substr(0, last) : row.name;
}

/// All words, and so a series.
std::string key_of(const FactRow& row) {
  std::string key;
  for (const auto& [word, value] : row.words) key += word + "=" + value + "\n";
  return key;
}

std::optional<Measured> valued(std::string_view expression, const FactRow& row) {
  std::string missing;
  auto value = evaluate(expression, row, missing);
  if (value && !std::isfinite(value->value)) value.reset();
  return value;
}

FigurePoint point(std::string name, std::optional<double> x, const Measured& value) {
  FigurePoint out;
  out.name = std::move(name);
  out.x = x;
  out.y = value.value;
  if (value.least < value.most && std::isfinite(value.least) && std::isfinite(value.most)) {
    out.least = value.least;
    out.most = value.most;
  }
  return out;
}

/// Draws one figure: its panels in the order in which their first row comes.
class Drawing {
 public:
  Drawing(const FigurePlan& plan, FigureSource from) : plan_(plan), from_(from) {
    out_.id = plan.id;
    out_.title = plan.title;
    out_.original = plan.original;
    out_.kind = plan.kind;
    out_.x_title = plan.x_title;
    out_.x_axis = plan.x_axis;
    out_.y_axis = plan.y_axis;
  }

  Figure draw(std::span<const FactRow> rows) {
    for (const FactRow* row : chosen(rows)) {
      if (plan_.kind == FigureKind::parts || plan_.kind == FigureKind::bars)
        add_bar(*row);
      else
        for (const Curve& curve : plan_.curves)
          if (matches(curve.rows, *row)) add_to_curve(curve, *row);
    }
    std::erase_if(out_.panels, [](const FigurePanel& panel) { return panel.lines.empty(); });
    for (auto& panel : out_.panels) finish(panel);
    return std::move(out_);
  }

 private:
  /// All rows, or of each series the one with the highest `best`.
  std::vector<const FactRow*> chosen(std::span<const FactRow> rows) const {
    std::vector<const FactRow*> all;
    std::map<std::string, std::pair<double, std::size_t>> highest;
    for (const FactRow& row : rows) {
      if (plan_.best.empty()) {
        all.push_back(&row);
        continue;
      }
      const auto value = valued(plan_.best, row);
      if (!value) continue;
      const auto [known, added] = highest.try_emplace(key_of(row), value->value, all.size());
      if (added) {
        all.push_back(&row);
      } else if (value->value > known->second.first) {
        known->second.first = value->value;
        all[known->second.second] = &row;
      }
    }
    return all;
  }

  FigurePanel& panel_of(const FactRow& row, const Curve& curve, std::string_view name) {
    const std::string model(row.word("model"));
    for (auto& panel : out_.panels)
      if (panel.model == model && panel.title == name) return panel;
    FigurePanel panel;
    panel.model = model;
    panel.title = name;
    panel.unit = curve.unit;
    out_.panels.push_back(std::move(panel));
    return out_.panels.back();
  }

  FigureLine& line_of(FigurePanel& panel, const FactRow& row, std::string name) {
    const auto [line, added] = lines_.try_emplace(
        std::tuple(&panel - out_.panels.data(), name, key_of(row)), panel.lines.size());
    if (added) panel.lines.push_back({std::move(name), from_, {}});
    return panel.lines[line->second];
  }

  void add_bar(const FactRow& row) {
    FigureLine line{row.name, from_, {}};
    double whole = 0;
    for (const Curve& curve : plan_.curves)
      if (matches(curve.rows, row))
        if (const auto value = valued(curve.value, row)) {
          whole += value->value;
          line.points.push_back(point(std::string(curve.name), {}, *value));
        }
    if (line.points.empty()) return;
    if (plan_.kind == FigureKind::parts) line.points.push_back(point("rest", {}, 1 - whole));
    panel_of(row, plan_.curves.front(), "").lines.push_back(std::move(line));
  }

  void add_to_curve(const Curve& curve, const FactRow& row) {
    switch (plan_.kind) {
      case FigureKind::lines: {
        const auto x = valued(plan_.x, row), y = valued(curve.value, row);
        if (x && y)
          line_of(panel_of(row, curve, curve.name), row, series_of(row))
              .points.push_back(point({}, x->value, *y));
        break;
      }
      case FigureKind::course:
        add_course(curve, row);
        break;
      case FigureKind::groups:
        add_group(curve, row);
        break;
      case FigureKind::bars:
      case FigureKind::parts:
        break;
    }
  }

  /// The columns that are lists give a point an entry.
  void add_course(const Curve& curve, const FactRow& row) {
    std::size_t count = 0;
    FactRow one = row;
    for (const auto& [name, list] : row.lists) count = std::max(count, list.size());
    FigureLine line{row.name, from_, {}};
    for (std::size_t at = 0; at < count; ++at) {
      for (const auto& [name, list] : row.lists)
        if (at < list.size())
          one.numbers[name] = list[at];
        else
          one.numbers.erase(name);
      const auto x = valued(plan_.x, one), y = valued(curve.value, one);
      if (x && y) line.points.push_back(point({}, x->value, *y));
    }
    if (line.points.size() < 2) return;
    const std::size_t every = (line.points.size() + kMostPoints - 1) / kMostPoints;
    std::size_t kept = 0;
    for (std::size_t at = 0; at < line.points.size(); at += every)
      line.points[kept++] = line.points[at];
    line.points.resize(kept);
    panel_of(row, curve, curve.name).lines.push_back(std::move(line));
  }

  /// "prefix.*": a bar for each column with it.
  void add_group(const Curve& curve, const FactRow& row) {
    const std::string_view prefix = curve.value.substr(0, curve.value.size() - 1);
    FigureLine line{row.name, from_, {}};
    for (auto at = row.numbers.lower_bound(prefix);
         at != row.numbers.end() && at->first.starts_with(prefix); ++at)
      line.points.push_back(point(at->first.substr(prefix.size()), {}, at->second));
    if (!line.points.empty()) panel_of(row, curve, curve.name).lines.push_back(std::move(line));
  }

  void finish(FigurePanel& panel) const {
    if (plan_.kind == FigureKind::lines)
      for (auto& line : panel.lines)
        std::ranges::stable_sort(line.points, {}, [](const FigurePoint& each) { return *each.x; });
    for (const Curve& curve : plan_.curves)
      if (panel.title.empty() || panel.title == curve.name) add_paper(curve, panel);
  }

  void add_paper(const Curve& curve, FigurePanel& panel) const {
    for (const PaperNumber& number : curve.paper) {
      if (!number.model.empty() && number.model != panel.model) continue;
      auto line = std::ranges::find_if(panel.lines, [&](const FigureLine& each) {
        return each.source == FigureSource::paper && each.name == number.name;
      });
      if (line == panel.lines.end()) {
        panel.lines.push_back({std::string(number.name), FigureSource::paper, {}});
        line = panel.lines.end() - 1;
      }
      std::optional<double> x;
      if (!std::isnan(number.x)) x = number.x;
      line->points.push_back(point(std::string(curve.name), x, number.y));
    }
  }

  const FigurePlan& plan_;
  FigureSource from_;
  Figure out_;
  /// Places of a panel's lines, by panel, name and series.
  std::map<std::tuple<std::ptrdiff_t, std::string, std::string>, std::size_t> lines_;
};

}  // namespace

std::vector<Figure> figures_of(Study study, std::span<const FactRow> rows, FigureSource from) {
  static const std::vector<FigurePlan> plans = make_plans();
  std::vector<Figure> figures;
  for (const FigurePlan& plan : plans) {
    if (plan.study != study) continue;
    Figure figure = Drawing(plan, from).draw(rows);
    if (!figure.panels.empty()) figures.push_back(std::move(figure));
  }
  return figures;
}

void put_beside(const Figure& ours, Figure& figure) {
  for (auto& panel : figure.panels)
    for (const auto& other : ours.panels)
      if (other.model == panel.model && other.title == panel.title)
        std::ranges::copy_if(
            other.lines, std::back_inserter(panel.lines),
            [](const FigureLine& line) { return line.source == FigureSource::ours; });
}

}  // namespace gf
