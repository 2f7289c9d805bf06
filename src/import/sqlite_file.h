// SQLite databases of other tools: opened, and told from each other by the tables that they have.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "import/importer.h"
#include "import/sqlite_rows.h"

namespace gf {

/// The begin of a database, as sniffers see it: the file's first bytes, and behind them the
/// statements that made its tables, wherever they lie. `head` alone, where the file is no readable
/// database.
std::string with_schema(const std::string& path, std::string head);

/// True if a file's beginning is a database that says all of these words.
bool is_database_with(std::string_view head, std::initializer_list<std::string_view> words);

/// A database that is being read.
struct SqliteSource {
  sqlite3* db;
  const std::string& path;  // what it is called in messages
  sqlite::ReadBudget& budget;
  std::vector<std::string> tables;

  template <class F>
  Status each(std::string_view table, std::initializer_list<std::string_view> columns,
              F&& apply) const {
    return sqlite::each_row(db, table, columns, path, budget, apply);
  }
  bool has(std::string_view table) const;
};

/// Opens a database, unpacked where it is compressed, and reads it into a capture of `format`.
Result<Capture> load_sqlite(const std::string& path, const ImportOptions& options,
                            std::string_view format,
                            const std::function<Status(const SqliteSource&, Capture&)>& read);

}  // namespace gf
