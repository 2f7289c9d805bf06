#include "model/file_strings.h"

#include <fmt/format.h>

#include "model/check.h"

namespace gf {

namespace {

constexpr std::uint64_t kTextCost = 48;  // bytes that a text takes besides its own

}  // namespace

Status FileStrings::read(sqlite3* db, StringPool& pool, sqlite::ReadBudget& budget,
                         const std::string& file) {
  auto count = sqlite::integer(db, "SELECT count(*) FROM strings", file);
  if (!count) return tl::unexpected(count.error());
  const std::int64_t limit = *count + 1;
  texts_.assign(static_cast<std::size_t>(limit), kMissing);
  auto rows = sqlite::prepare(db, "SELECT id, text FROM strings ORDER BY id", file);
  if (!rows) return tl::unexpected(rows.error());
  int code;
  while ((code = sqlite3_step(rows->get())) == SQLITE_ROW) {
    const std::int64_t id = sqlite3_column_int64(rows->get(), 0);
    const std::string_view text = sqlite::column_text(rows->get(), 1);
    if (auto ok = budget.spend(kTextCost + text.size()); !ok) return ok;
    if (id < -limit || id >= limit)
      return fail(fmt::format("string number {} is out of order", id), file, -1, kDamagedFile);
    if (id >= 0) {
      texts_[static_cast<std::size_t>(id)] = pool.intern(text);
      continue;
    }
    const auto name = static_cast<std::size_t>(-id - 1);
    if (name >= names_.size()) names_.resize(name + 1);
    names_[name] = text;
  }
  if (code != SQLITE_DONE) return sqlite::failure(db, "cannot be read", file);
  return {};
}

}  // namespace gf
