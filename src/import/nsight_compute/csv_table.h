// The table inside what `ncu --csv` printed: it may follow messages of the profiler and the
// program's own output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "model/capture.h"

namespace gf::ncu {

struct CsvTable {
  std::string_view text;   // from the header row to the end
  std::size_t offset = 0;  // of the header row in the file
  char separator = ',';
  std::vector<std::string> header;
};

/// Finds the header row ("ID", ..., "Kernel Name", ...). Errors name what stands there instead: the
/// permission message ERR_NVGPUCTRPERM, another error of the profiler, an empty export, no table at
/// all.
Result<CsvTable> find_table(std::string_view content, const std::string& path);

/// True for a line of the profiler between or before rows ("==PROF== ...").
bool is_profiler_line(std::string_view line);
/// Counts ==WARNING== and ==ERROR== lines before the table in the capture's quality.
void note_profiler_messages(Capture& capture, std::string_view before_table);

}  // namespace gf::ncu
