// What was worked out of a capture when its file was written, kept in that file: a row of `kept`
// for each, with the key of the program that did so. Who reads it asks for its own key, and works
// out anew what it does not find.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "model/sqlite.h"

namespace gf {

struct Kept {
  std::string name;  // what it is
  std::string key;   // of the program, and of what else it was worked out with
  std::string data;
};

/// Works out what a file shall keep, if anything, once its rows are written; `rows` is a number of
/// them all.
using KeepMore = std::function<std::optional<Kept>(std::int64_t rows)>;

struct FoundKept {
  std::string data;
  std::int64_t rows = 0;  // as it is now
};

Status insert_kept(sqlite3* db, const Kept& kept, const std::string& file);

/// What a capture file keeps by that name and key. Empty: nothing; or something in the file, its
/// blocks included, is no longer what its writer wrote, which whoever reads the rows will say.
std::optional<FoundKept> read_kept(const std::string& path, std::string_view name,
                                   std::string_view key);

}  // namespace gf
