// Nsight Compute reports: CSV exports of the raw and the details page, and the binary .ncu-rep
// (docs/formats/nsight-compute.md).
#pragma once

#include <string>
#include <string_view>

#include "import/importer.h"

namespace gf::ncu {

int sniff_csv(std::string_view path, std::string_view head);
Result<Capture> load_csv(const std::string& path, const ImportOptions& options);
/// The CSV text itself, after decompression. `path` is for messages.
Result<Capture> parse_csv(std::string_view content, const std::string& path);

int sniff_rep(std::string_view path, std::string_view head);
Result<Capture> load_rep(const std::string& path, const ImportOptions& options);

}  // namespace gf::ncu
