// Rows of a comparison: one part of the time, for every run.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/compare/compare.h"

namespace gf {

/// Rows of one table by (kind, name); a run that lacks a row has 0 there.
class ComparedRows {
 public:
  explicit ComparedRows(std::size_t runs) : runs_(runs) {}
  void add(std::size_t run, ComparedRowKind kind, std::string_view name, Nanos ns,
           std::int64_t count = 0);
  /// Labels of kernels: the short name, with the operator where kernels of different names share
  /// it, and a number where they still look alike in a table's width.
  void label_kernels(const std::vector<Analysis>& analyses);
  /// Scales a run's rows to sum to `total` in whole nanoseconds, and its counts to those of one of
  /// `steps`.
  void scale(std::size_t run, Nanos total, std::int64_t steps);
  /// The part of a run's rows that is of one kind.
  Nanos sum_of(std::size_t run, ComparedRowKind kind) const;
  /// The rows with their changes, the largest change first.
  std::vector<ComparedTime> take();

 private:
  std::size_t runs_;
  std::map<std::pair<ComparedRowKind, std::string>, std::size_t> index_;
  std::vector<ComparedTime> rows_;
};

}  // namespace gf
