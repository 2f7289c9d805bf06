// The common part of tables that SQLite calls for their rows: the fixed part of sqlite3_module.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <utility>

#include "report/query/query.h"

namespace gf {

/// No exception crosses into SQLite. `body` gives a code.
template <class F>
int guarded(F&& body) {
  try {
    return body();
  } catch (...) {
    return SQLITE_NOMEM;
  }
}

/// Makes a table that is there by its name alone, without having been created. `Kind` names what it
/// is made of (State, of which each table has its own, Table, Cursor) and what its calls are.
template <class Kind>
void add_virtual_table(sqlite3* db, const char* name, typename Kind::State state) {
  static const sqlite3_module kModule = [] {
    sqlite3_module calls{};
    calls.xConnect = Kind::connect;
    calls.xDisconnect = [](sqlite3_vtab* table) {
      delete static_cast<typename Kind::Table*>(table);
      return SQLITE_OK;
    };
    calls.xBestIndex = Kind::plan;
    calls.xOpen = [](sqlite3_vtab*, sqlite3_vtab_cursor** out) {
      return guarded([&] {
        *out = new typename Kind::Cursor{};
        return SQLITE_OK;
      });
    };
    calls.xClose = [](sqlite3_vtab_cursor* cursor) {
      delete static_cast<typename Kind::Cursor*>(cursor);
      return SQLITE_OK;
    };
    calls.xFilter = Kind::filter;
    calls.xNext = Kind::next;
    calls.xEof = Kind::ended;
    calls.xColumn = Kind::value;
    calls.xRowid = Kind::row;
    return calls;
  }();
  sqlite3_create_module_v2(db, name, &kModule, new typename Kind::State(std::move(state)),
                           [](void* made) { delete static_cast<typename Kind::State*>(made); });
}

// Samples as a table of SQL; packed ones are unpacked while a statement runs.

/// Makes `counter_samples` and `_counter_samples`, the latter with ids in place of texts.
/// Conditions on device, metric and start_ns pass over blocks that cannot meet them.
void show_samples(sqlite3* db, const std::shared_ptr<QuerySource>& source);

}  // namespace gf
