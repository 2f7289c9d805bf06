// The capture's tables, columns and views with their meaning: what `query` lists, and the page
// docs/capture.md.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>

#include "core/error.h"
#include "report/query/source.h"
#include "report/text/style.h"

namespace gf {

/// Tables with their columns. With a capture that a database shows, the rows that each holds; empty
/// tables then show no columns. Counting takes `max_seconds` at most.
Result<std::string> capture_tables_text(const TextStyle& style, sqlite3* db = nullptr,
                                        QuerySource* source = nullptr,
                                        std::int64_t max_seconds = 10);
/// The reference page.
std::string capture_page();

}  // namespace gf
