// The two pages that `ncu --csv` prints.
#pragma once

#include <string>

#include "core/error.h"
#include "import/nsight_compute/csv_table.h"
#include "model/capture.h"

namespace gf::ncu {

/// Raw page: one row a kernel, one column a metric, a row of units below the header.
/// Details page: one row a kernel and metric, or a kernel and rule.
bool is_details_page(const CsvTable& table);

Status read_raw_page(Capture& capture, const CsvTable& table, const std::string& path);
Status read_details_page(Capture& capture, const CsvTable& table, const std::string& path);

}  // namespace gf::ncu
