#include "model/capture.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/tables.h"

namespace gf {

namespace {

void note(Capture& capture, std::string_view code, std::string_view detail, std::int64_t count,
          Nanos time) {
  auto& quality = capture.quality;
  const Text id = capture.strings.intern(code);
  for (std::size_t i = 0; i < quality.size(); ++i)
    if (quality.code[i] == id) {
      quality.count[i] = checked_add(quality.count[i], count).value_or(INT64_MAX);
      if (time >= 0)
        quality.time_ns[i] =
            checked_add(std::max<I64>(quality.time_ns[i], 0), time).value_or(INT64_MAX);
      return;
    }
  const auto row = quality.add();
  quality.code[row] = id;
  quality.count[row] = count;
  quality.time_ns[row] = time;
  quality.detail[row] = capture.strings.intern(detail);
}

}  // namespace

void Capture::note_quality(QualityCode code, std::string_view detail, std::int64_t count,
                           Nanos time) {
  note(*this, name_of(code), detail, count, time);
}

bool Capture::noted(QualityCode code) const {
  const Text text = strings.find(name_of(code));
  return text != Text::none && std::ranges::find(quality.code, text) != quality.code.end();
}

void Capture::add_quality(const Capture& other) {
  for (std::size_t i = 0; i < other.quality.size(); ++i)
    note(*this, other.text(other.quality.code[i]), other.text(other.quality.detail[i]),
         other.quality.count[i], other.quality.time_ns[i]);
}

void Capture::set_metadata(std::string_view key, std::string_view value) {
  const Text id = strings.intern(key), text = strings.intern(value);
  for (std::size_t i = 0; i < metadata.size(); ++i)
    if (metadata.key[i] == id) {
      metadata.value[i] = text;
      return;
    }
  const auto row = metadata.add();
  metadata.key[row] = id;
  metadata.value[row] = text;
}

std::string_view Capture::metadata_value(std::string_view key) const {
  for (std::size_t i = 0; i < metadata.size(); ++i)
    if (text(metadata.key[i]) == key) return text(metadata.value[i]);
  return {};
}

bool Capture::unfinished_recording() const {
  return !metadata_value("record.command").empty() && metadata_value("record.complete").empty();
}

void Capture::note_unfinished_recording() {
  if (!unfinished_recording() || noted(QualityCode::incomplete_recording)) return;
  note_quality(QualityCode::incomplete_recording,
               "the recording has no end: its recorder was killed, or is still at work");
}

std::uint32_t Capture::device_row(std::int32_t id) {
  for (std::uint32_t i = 0; i < devices.size(); ++i)
    if (devices.id[i] == id) return i;
  const auto row = devices.add();
  devices.id[row] = id;
  return row;
}

namespace {

class Join {
 public:
  Join(Capture& mine, const Capture& theirs) : mine_(mine), theirs_(theirs) {
    texts_.reserve(theirs.strings.size());
    for (std::uint32_t i = 0; i < theirs.strings.size(); ++i)
      texts_.push_back(mine.strings.intern(theirs.strings.view(Text{i})));
  }

  void run() {
    mine_.launches.reset();
    mine_.each_table_pair(theirs_, [&](auto& mine, const auto& theirs) {
      if constexpr (std::remove_cvref_t<decltype(mine)>::kHasKey) unite(mine, theirs);
    });
    const PerTable first = mine_.row_counts();
    mine_.each_table_pair(theirs_, [&](auto& mine, const auto& theirs) {
      if constexpr (!std::remove_cvref_t<decltype(mine)>::kHasKey) append(mine, theirs, first);
    });
    for (PackedBlock block : theirs_.sample_blocks) {
      const auto& devices = rows_of(TableId::devices);
      block.device = block.device < devices.size() ? devices[block.device] : kNoRow;
      for (auto& metric : block.metrics) metric = renamed(metric);
      mine_.sample_blocks.push_back(std::move(block));
    }
  }

 private:
  Text renamed(Text text) const { return texts_[static_cast<std::uint32_t>(text)]; }
  std::vector<std::uint32_t>& rows_of(TableId id) { return rows_[static_cast<std::size_t>(id)]; }

  template <class Column>
  auto translated(const Column&, typename Column::Value value) const {
    if constexpr (kIsText<typename Column::Declared>)
      return renamed(value);
    else
      return value;
  }

  /// The key of a row as bytes.
  template <class Table>
  std::string key_of(const Table& table, std::size_t row, bool of_theirs) const {
    std::string key;
    table.each_column_ref([&](const auto& field) {
      using Ref = std::remove_cvref_t<decltype(field)>;
      if constexpr (kIsKey<typename Ref::Declared>) {
        auto value = field.column[row];
        if (of_theirs) value = translated(field, value);
        key.append(reinterpret_cast<const char*>(&value), sizeof value);
      }
    });
    return key;
  }

  /// Tables with a key: a row that both have becomes one.
  template <class Table>
  void unite(Table& mine, const Table& theirs) {
    std::unordered_map<std::string, std::uint32_t> known;
    for (std::uint32_t row = 0; row < mine.size(); ++row)
      known.try_emplace(key_of(mine, row, false), row);
    auto& rows = rows_of(Table::kId);
    for (std::size_t from = 0; from < theirs.size(); ++from) {
      const auto [at, is_new] = known.try_emplace(key_of(theirs, from, true), 0);
      if (is_new) at->second = mine.add();
      const auto row = at->second;
      rows.push_back(row);
      mine.visit_ref_pairs(theirs, [&](auto&& field, const auto& column) {
        using Declared = typename std::remove_cvref_t<decltype(field)>::Declared;
        auto& value = field.column[row];
        const auto other = translated(field, column[from]);
        if constexpr (std::is_same_v<Declared, declared::Count>)
          value += other;
        else if (is_new || is_unknown<Declared>(value))
          value = other;
      });
    }
  }

  template <class Table>
  void append(Table& mine, const Table& theirs, const PerTable& first) {
    const auto start = of(first, Table::kId);
    mine.append(theirs);
    mine.each_column_ref([&](const auto& field) {
      using Declared = typename std::remove_cvref_t<decltype(field)>::Declared;
      if constexpr (kIsText<Declared>) {
        for (std::size_t i = start; i < field.column.size(); ++i)
          field.column[i] = renamed(field.column[i]);
      } else if constexpr (kIsRef<Declared>) {
        const auto& rows = rows_of(kRefTable<Declared>);
        const auto shift = of(first, kRefTable<Declared>);
        for (std::size_t i = start; i < field.column.size(); ++i) {
          auto& row = field.column[i];
          if (row == kNoRow) continue;
          if (RefTarget<Declared>::type::kHasKey) {
            row = row < rows.size() ? rows[row] : kNoRow;
          } else
            row += shift;
        }
      }
    });
  }

  Capture& mine_;
  const Capture& theirs_;
  std::vector<Text> texts_;                                   // by text of theirs
  std::array<std::vector<std::uint32_t>, kTableCount> rows_;  // mine by theirs, of keyed tables
};

}  // namespace

void Capture::join(const Capture& other) { Join(*this, other).run(); }

Tables::Tables() = default;
Tables::Tables(const Tables&) = default;
Tables::Tables(Tables&&) noexcept = default;
Tables& Tables::operator=(const Tables&) = default;
Tables& Tables::operator=(Tables&&) noexcept = default;
Tables::~Tables() = default;

}  // namespace gf
