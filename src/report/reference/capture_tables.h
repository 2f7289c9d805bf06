// The capture's tables, columns and views with their meaning: what `query` lists, and the page docs/capture.md.
#pragma once

#include <sqlite3.h>

#include <string>

#include "core/error.h"
#include "report/text/style.h"

namespace gf {

/// Tables with their columns. With a database open, the rows that each holds; empty tables then show no columns.
Result<std::string> capture_tables_text(const TextStyle& style, sqlite3* db = nullptr);
/// The reference page.
std::string capture_page();

}  // namespace gf
