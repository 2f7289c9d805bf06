#include "model/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace gf {

namespace {

/// Decides which rows of each table go, table by table in the order of tables.def: references point
/// at earlier tables, so what they point at is decided before them.
class Purge {
 public:
  explicit Purge(Capture& capture) : capture_(capture) {}

  void run() {
    capture_.each_table([&](auto& table) {
      doomed_.assign(table.size(), false);
      any_doomed_ = false;
      check_times(table);
      if constexpr (std::is_same_v<decltype(table), activities_table&>) {
        check_activities();
        check_extent();
      }
      check_columns(table);
      if (any_doomed_) compact(table);
    });
    check_blocks();
  }

 private:
  void doom(std::size_t row) {
    doomed_[row] = true;
    any_doomed_ = true;
  }

  template <class Table>
  void check_times(const Table& table) {
    const Column<I64>* start = nullptr;
    const Column<I64>* duration = nullptr;
    table.each_column_ref([&](const auto& field) {
      using Declared = typename std::remove_cvref_t<decltype(field)>::Declared;
      if constexpr (std::is_same_v<Declared, declared::Time>) start = &field.column;
      if constexpr (std::is_same_v<Declared, declared::Duration>) duration = &field.column;
    });
    if (!start || all_possible(*start, duration)) return;
    Nanos total = 0;
    for (std::size_t row = 0; row < table.size(); ++row) {
      Nanos length = duration ? (*duration)[row] : 0;
      const bool possible = in_reach((*start)[row]) && length >= 0 && length < kFarthestTime &&
                            in_reach((*start)[row] + length) && length <= kLongestTotal - total;
      if (possible) {
        total += length;
        continue;
      }
      doom(row);
      capture_.note_quality(
          QualityCode::impossible_time,
          fmt::format("rows that end before they start or whose times are centuries away are left "
                      "out (first: row {} of {})",
                      row, Table::kName));
    }
  }

  /// By the ends of their ranges, which nearly always tell.
  static bool all_possible(const Column<I64>& start, const Column<I64>* duration) {
    if (start.empty()) return true;
    const auto [first, last] = start.range();
    const auto [shortest, longest] = duration ? duration->range() : std::pair<I64, I64>{0, 0};
    return in_reach(first) && in_reach(last) && shortest >= 0 && longest < kFarthestTime &&
           in_reach(last + longest) && longest <= kLongestTotal / static_cast<Nanos>(start.size());
  }

  void check_activities() {
    const auto& activities = capture_.activities;
    const auto& windows = capture_.recording_windows;
    Interval recorded{-kFarthestTime, kFarthestTime};
    for (std::size_t i = 0; i < windows.size(); ++i) {
      if (!in_reach(windows.start_ns[i]) || windows.duration_ns[i] < 0 ||
          windows.duration_ns[i] > kLongestTotal)
        continue;
      const Nanos from = windows.start_ns[i] - kStrayDistance;
      const Nanos to = windows.start_ns[i] + windows.duration_ns[i] + kStrayDistance;
      const bool first = recorded.start == -kFarthestTime;
      recorded = {first ? from : std::min(recorded.start, from),
                  first ? to : std::max(recorded.end, to)};
    }
    for (std::size_t row = 0; row < activities.size(); ++row) {
      if (doomed_[row]) continue;
      if (activities.start_ns[row] == 0 && activities.duration_ns[row] == 0) {
        doom(row);
        capture_.note_quality(QualityCode::no_time,
                              "device activities to which the profiler gave no time are left out");
      } else if (activities.start_ns[row] + activities.duration_ns[row] < recorded.start ||
                 activities.start_ns[row] > recorded.end) {
        doom(row);
        capture_.note_quality(QualityCode::outside_window,
                              "device activities far outside the recorded windows are left out");
      }
    }
  }

  /// Activities years away from the others: windows of devices are summed.
  void check_extent() {
    const auto& activities = capture_.activities;
    const auto devices = static_cast<Nanos>(std::max<std::size_t>(capture_.devices.size(), 1));
    const Nanos most = std::min(kLongestRun, kLongestTotal / (2 * devices));
    Interval extent{kFarthestTime, -kFarthestTime};
    for (std::size_t row = 0; row < activities.size(); ++row) {
      if (doomed_[row]) continue;
      const Nanos start = activities.start_ns[row];
      extent = {std::min(extent.start, start),
                std::max(extent.end, start + activities.duration_ns[row])};
    }
    if (extent.end <= extent.start || extent.length() <= 2 * most) return;
    std::vector<Nanos> starts;
    for (std::size_t row = 0; row < activities.size(); ++row)
      if (!doomed_[row]) starts.push_back(activities.start_ns[row]);
    const auto middle = starts.begin() + static_cast<std::ptrdiff_t>(starts.size() / 2);
    std::nth_element(starts.begin(), middle, starts.end());
    for (std::size_t row = 0; row < activities.size(); ++row) {
      if (doomed_[row]) continue;
      const Nanos start = activities.start_ns[row], end = start + activities.duration_ns[row];
      if (start >= *middle - most && end <= *middle + most) continue;
      doom(row);
      capture_.note_quality(QualityCode::impossible_time,
                            "device activities years away from the others are left out");
    }
  }

  /// Counts, and references to rows that have gone or moved.
  template <class Table>
  void check_columns(Table& table) {
    table.each_column_ref([&](const auto& field) {
      using Declared = typename std::remove_cvref_t<decltype(field)>::Declared;
      if constexpr (std::is_same_v<Declared, declared::Count>) {
        field.column.transform([](I64 count) { return std::clamp<I64>(count, 0, kFarthestTime); });
      } else if constexpr (kIsRef<Declared>) {
        static_assert(kRefTable<Declared> < Table::kId,
                      "what is referred to must be declared before");
        const auto& moved = moved_[static_cast<std::size_t>(kRefTable<Declared>)];
        if (moved.empty()) return;
        for (std::size_t row = 0; row < field.column.size(); ++row) {
          if (field.column[row] == kNoRow) continue;
          field.column[row] = moved[field.column[row]];
          if (field.column[row] == kNoRow) doom(row);
        }
      }
    });
  }

  template <class Table>
  void compact(Table& table) {
    auto& moved = moved_[static_cast<std::size_t>(Table::kId)];
    moved.assign(table.size(), kNoRow);
    std::uint32_t kept = 0;
    for (std::size_t row = 0; row < table.size(); ++row)
      if (!doomed_[row]) moved[row] = kept++;
    table.each_column([&](const ColumnInfo&, auto& column) {
      for (std::size_t row = 0; row < column.size() && !column.folded(); ++row)
        if (!doomed_[row]) column[moved[row]] = column[row];
      column.resize(kept);
    });
  }

  /// Blocks of samples: in reach, each sample ending after it starts, and in order of time.
  void check_blocks() {
    auto& blocks = capture_.sample_blocks;
    const auto removed = std::erase_if(blocks, [](const PackedBlock& block) {
      return block.backwards || !in_reach(block.first_ns) || !in_reach(block.last_ns);
    });
    if (removed > 0)
      capture_.note_quality(QualityCode::bad_sample_block,
                            "a block of packed samples is damaged: its samples are missing",
                            static_cast<std::int64_t>(removed));
    auto earlier = [](const PackedBlock& left, const PackedBlock& right) {
      return left.device == right.device && left.first_ns < right.first_ns;
    };
    if (std::adjacent_find(blocks.begin(), blocks.end(), [&](const auto& left, const auto& right) {
          return earlier(right, left);
        }) != blocks.end())
      std::stable_sort(blocks.begin(), blocks.end(), [](const auto& left, const auto& right) {
        return left.first_ns < right.first_ns;
      });
  }

  Capture& capture_;
  std::vector<bool> doomed_;  // rows of the table at hand
  bool any_doomed_ = false;
  std::array<std::vector<std::uint32_t>, kTableCount> moved_;  // new row by old; empty: all stayed
};

}  // namespace

/// The first row whose value is bad; one look for all rows of a folded column.
template <class T, class Bad>
static std::optional<std::size_t> first_row(const Column<T>& column, Bad&& bad) {
  if (column.empty()) return std::nullopt;
  if (column.folded()) return bad(column[0]) ? std::optional<std::size_t>(0) : std::nullopt;
  const auto rows = column.span();
  const auto at = std::find_if(rows.begin(), rows.end(), bad);
  if (at == rows.end()) return std::nullopt;
  return static_cast<std::size_t>(at - rows.begin());
}

Status check_references(const Capture& capture, const std::string& file) {
  const std::size_t texts = capture.strings.size();
  const PerTable rows = capture.row_counts();
  Status status;
  capture.each_table([&](const auto& table) {
    table.each_column_ref([&](const auto& field) {
      using Declared = typename std::remove_cvref_t<decltype(field)>::Declared;
      const auto& column = std::as_const(field.column);
      if constexpr (kIsRef<Declared>) {
        const std::uint32_t limit = of(rows, kRefTable<Declared>);
        if (const auto row =
                first_row(column, [&](std::uint32_t to) { return to != kNoRow && to >= limit; });
            row && status)
          status = fail(fmt::format("table {}, row {}: {} {} does not exist", table.kName, *row,
                                    field.info.name, column[*row]),
                        file, -1, kDamagedFile);
      } else if constexpr (kIsText<Declared>) {
        if (const auto row = first_row(
                column, [&](Text text) { return static_cast<std::size_t>(text) >= texts; });
            row && status)
          status = fail(
              fmt::format("table {}, row {}: {} is not text", table.kName, *row, field.info.name),
              file, -1, kDamagedFile);
      }
    });
  });
  return status;
}

void drop_impossible_rows(Capture& capture) { Purge(capture).run(); }

Status Capture::check() {
  if (auto ok = check_references(*this, path); !ok) return ok;
  drop_impossible_rows(*this);
  return {};
}

}  // namespace gf
