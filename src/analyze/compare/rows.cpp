#include "analyze/compare/rows.h"

#include <algorithm>
#include <cstdlib>

#include "core/apportion.h"

namespace gf {

namespace {

/// What is left of a label in a narrow table, which cuts the middle out.
std::string in_a_table(std::string_view label) {
  constexpr std::size_t kEnds = 10;
  if (label.size() <= 2 * kEnds + 2) return std::string(label);
  return std::string(label.substr(0, kEnds)) + ".." +
         std::string(label.substr(label.size() - kEnds));
}

/// Numbers those that look alike: "gemm (1)", "gemm (2)".
void tell_apart(std::vector<ComparedTime>& rows) {
  std::map<std::string, int> alike, seen;
  for (const auto& row : rows) ++alike[in_a_table(row.label)];
  for (auto& row : rows) {
    const std::string look = in_a_table(row.label);
    if (alike[look] > 1) row.label += " (" + std::to_string(++seen[look]) + ")";
  }
}

}  // namespace

void ComparedRows::add(std::size_t run, ComparedRowKind kind, std::string_view name, Nanos ns,
                       std::int64_t count) {
  auto [at, added] = index_.try_emplace({kind, std::string(name)}, rows_.size());
  if (added)
    rows_.push_back({at->first.first,
                     at->first.second,
                     at->first.second,
                     std::vector<Nanos>(runs_, 0),
                     {},
                     std::vector<double>(runs_, 0)});
  rows_[at->second].ns[run] += ns;
  rows_[at->second].count[run] += static_cast<double>(count);
}

void ComparedRows::label_kernels(const std::vector<Analysis>& analyses) {
  std::map<std::string_view, const KernelRow*> by_name;
  for (const Analysis& analysis : analyses)
    for (const auto& kernel : analysis.kernels) by_name.try_emplace(kernel.name, &kernel);
  std::map<std::string_view, int> alike;
  for (const auto& [name, kernel] : by_name) ++alike[kernel->short_name];
  for (auto& row : rows_) {
    const auto& kernel = *by_name.at(row.name);
    row.label = kernel.short_name;
    if (alike[kernel.short_name] > 1 && !kernel.operator_name.empty())
      row.label += " " + kernel.operator_name;
  }
  tell_apart(rows_);
}

void ComparedRows::scale(std::size_t run, Nanos total, std::int64_t steps) {
  std::vector<double> weights;
  for (const auto& row : rows_) weights.push_back(static_cast<double>(row.ns[run]));
  const auto parts = apportion(total, weights);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].ns[run] = parts[i];
    rows_[i].count[run] /= static_cast<double>(steps);
  }
}

Nanos ComparedRows::sum_of(std::size_t run, ComparedRowKind kind) const {
  Nanos total = 0;
  for (const auto& row : rows_)
    if (row.kind == kind) total += row.ns[run];
  return total;
}

std::vector<ComparedTime> ComparedRows::take() {
  for (auto& row : rows_)
    for (std::size_t run = 0; run < runs_; ++run) row.change_ns.push_back(row.ns[run] - row.ns[0]);
  const auto largest = [](const std::vector<Nanos>& values) {
    Nanos most = 0;
    for (const Nanos value : values) most = std::max<Nanos>(most, std::abs(value));
    return most;
  };
  std::stable_sort(rows_.begin(), rows_.end(), [&](const auto& left, const auto& right) {
    if (largest(left.change_ns) != largest(right.change_ns))
      return largest(left.change_ns) > largest(right.change_ns);
    return largest(left.ns) > largest(right.ns);
  });
  return std::move(rows_);
}

}  // namespace gf
