// What an analysis says, as tables of SQL.
#pragma once

#include <sqlite3.h>

#include <string_view>
#include <vector>

#include "analyze/context.h"
#include "core/error.h"

namespace gf {

/// A table that `query` fills by analyzing the capture, once a statement asks for it.
struct AnalysisTable {
  struct Column {
    std::string_view name, type, meaning;
  };
  std::string_view name, about;
  std::vector<Column> columns;
};
const std::vector<AnalysisTable>& analysis_tables();

/// Whether a statement failed because it asks for one of these tables, which are not there yet.
bool asks_for_analysis(const Error& error);

/// Makes the tables in a database that holds `context.capture`, row by row (store_capture).
Status add_analysis_tables(sqlite3* db, const Context& context, const Analysis& analysis);

}  // namespace gf
