// Logs of power, clocks and utilization that people keep already (docs/formats/telemetry.md): CSV
// of nvidia-smi
// (--query-gpu=... --format=csv[,nounits]), of `gpufathom monitor` and of NVML readings, and the
// text of `nvidia-smi dmon` and `dcgmi dmon`.
#pragma once

#include <string>
#include <string_view>

#include "import/importer.h"

namespace gf::telemetry {

int sniff_csv(std::string_view path, std::string_view head);
Result<Capture> load_csv(const std::string& path, const ImportOptions& options);
/// The text itself; `path` is for messages.
Result<Capture> parse_csv(std::string_view content, const std::string& path);

int sniff_smi_dmon(std::string_view path, std::string_view head);
Result<Capture> load_smi_dmon(const std::string& path, const ImportOptions& options);
Result<Capture> parse_smi_dmon(std::string_view content, const std::string& path);

int sniff_dmon(std::string_view path, std::string_view head);
Result<Capture> load_dmon(const std::string& path, const ImportOptions& options);
Result<Capture> parse_dmon(std::string_view content, const std::string& path);

}  // namespace gf::telemetry
