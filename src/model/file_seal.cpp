#include "model/file_seal.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "core/xxh64.h"

namespace gf {

namespace {

/// A value of a row: an integer, or a text and its length.
struct Cell {
  Cell(sqlite3_stmt* raw, int column) : type(sqlite3_column_type(raw, column)) {
    has_text = type != SQLITE_INTEGER && type != SQLITE_NULL;
    if (has_text) text = sqlite::column_text(raw, column);
    number = has_text ? static_cast<std::int64_t>(text.size()) : sqlite3_column_int64(raw, column);
  }
  int type;
  bool has_text;
  std::int64_t number;
  std::string_view text;
};

/// Adds up texts and numbers, each with its length or type, so that no two lists make one sum.
class Sum {
 public:
  void add(std::string_view text) {
    number(static_cast<std::int64_t>(text.size()));
    bytes_ += text;
    if (bytes_.size() >= kChunk) flush();
  }
  void add(const Cell& cell) {
    const std::int64_t both[] = {cell.type, cell.number};
    bytes_.append(reinterpret_cast<const char*>(both), sizeof both);
    if (!cell.has_text) return;
    bytes_ += cell.text;
    if (bytes_.size() >= kChunk) flush();
  }
  std::int64_t value() {
    flush();
    return static_cast<std::int64_t>(sum_);
  }

 private:
  static constexpr std::size_t kChunk = 1 << 16;
  void number(std::int64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void flush() {
    sum_ = xxh64(bytes_, sum_);
    bytes_.clear();
  }
  std::string bytes_;
  std::uint64_t sum_ = 0;
};

Result<std::vector<std::string>> texts(sqlite3* db, const std::string& sql,
                                       const std::string& file) {
  auto statement = sqlite::prepare(db, sql, file);
  if (!statement) return tl::unexpected(statement.error());
  std::vector<std::string> all;
  while (sqlite3_step(statement->get()) == SQLITE_ROW)
    all.emplace_back(sqlite::column_text(statement->get(), 0));
  return all;
}

struct Sums {
  std::int64_t all, rows;  // of all that the database holds but its seal; without `kept`
};

Result<Sums> sums_of(sqlite3* db, sqlite::ReadBudget& budget, const std::string& file) {
  Sum all;
  std::optional<Sum> rest;  // from `kept` on, which is not in it
  const auto tables = texts(
      db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'seal' ORDER BY name",
      file);
  if (!tables) return tl::unexpected(tables.error());
  for (const std::string& table : *tables) {
    if (!sqlite::plain_table(db, table, file)) continue;  // computed: none of ours
    const bool blocks = table == "column_blocks" || table == "sample_blocks";
    auto columns = texts(db,
                         fmt::format("SELECT name FROM pragma_table_info({}){}",
                                     sqlite::quoted(table), blocks ? " WHERE name <> 'data'" : ""),
                         file);
    if (!columns) return tl::unexpected(columns.error());
    std::string list;
    const bool is_kept = table == "kept";
    if (is_kept) rest = all;
    const auto each_sum = [&](auto&& add) {
      add(all);
      if (rest && !is_kept) add(*rest);
    };
    each_sum([&](Sum& sum) { sum.add(table); });
    for (const std::string& column : *columns) {
      each_sum([&](Sum& sum) { sum.add(column); });
      list += (list.empty() ? "" : ", ") + sqlite::quoted(column);
    }
    auto rows =
        sqlite::prepare(db, fmt::format("SELECT {} FROM {}", list, sqlite::quoted(table)), file);
    if (!rows) return tl::unexpected(rows.error());
    int code;
    while ((code = sqlite3_step(rows->get())) == SQLITE_ROW) {
      Sum* const second = rest && !is_kept ? &*rest : nullptr;
      for (int i = 0; i < static_cast<int>(columns->size()); ++i) {
        const Cell cell(rows->get(), i);
        all.add(cell);
        if (second) second->add(cell);
      }
      if (auto ok = budget.spend(columns->size()); !ok) return tl::unexpected(ok.error());
    }
    if (code != SQLITE_DONE) return sqlite::failure(db, "cannot be read", file);
  }
  const auto sum = all.value();
  return Sums{sum, rest ? rest->value() : sum};
}

}  // namespace

Status seal(sqlite3* db, const std::string& file) {
  sqlite::ReadBudget budget;
  const auto sums = sums_of(db, budget, file);
  if (!sums) return tl::unexpected(sums.error());
  return sqlite::execute(
      db,
      fmt::format("CREATE TABLE IF NOT EXISTS seal(hash INTEGER); DELETE FROM seal; INSERT INTO "
                  "seal VALUES({})",
                  sums->all),
      file);
}

Result<std::int64_t> sum_of_rows(sqlite3* db, const std::string& file) {
  sqlite::ReadBudget budget;
  const auto sums = sums_of(db, budget, file);
  if (!sums) return tl::unexpected(sums.error());
  return sums->rows;
}

Result<Seal> check_seal(sqlite3* db, sqlite::ReadBudget& budget, const std::string& file,
                        std::int64_t* rows_sum) {
  auto there = sqlite::plain_table(db, "seal", file);
  if (!there) return tl::unexpected(there.error());
  if (!*there) return Seal::none;
  const auto rows = sqlite::integer(db, "SELECT count(*) FROM seal", file);
  const auto seals = sqlite::integer(db, "SELECT count(hash) FROM seal", file);
  if (!rows || !seals) return tl::unexpected(rows ? seals.error() : rows.error());
  if (*rows == 0) return Seal::none;
  if (*seals == 0) return Seal::open;
  const auto said = sqlite::integer(db, "SELECT hash FROM seal", file);
  if (!said) return tl::unexpected(said.error());
  const auto sums = sums_of(db, budget, file);
  if (!sums) return tl::unexpected(sums.error());
  if (rows_sum) *rows_sum = sums->rows;
  return *said == sums->all ? Seal::whole : Seal::broken;
}

}  // namespace gf
