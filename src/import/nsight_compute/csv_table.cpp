#include "import/nsight_compute/csv_table.h"

#include <algorithm>

#include "import/csv_cells.h"

namespace gf::ncu {

namespace {

std::string_view line_at(std::string_view text, std::size_t at) {
  std::string_view line = text.substr(at, text.find('\n', at) - at);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool starts_header(std::string_view line) {
  if (line.starts_with("\"ID\""))
    return line.size() > 4 && (line[4] == ',' || line[4] == ';' || line[4] == '\t');
  return line.starts_with("ID,") || line.starts_with("ID;") || line.starts_with("ID\t");
}

/// f(line, offset) for every line until it returns false.
template <class F>
void each_line(std::string_view text, F&& apply) {
  for (std::size_t at = 0; at < text.size();) {
    if (!apply(line_at(text, at), at)) return;
    const auto end = text.find('\n', at);
    if (end == text.npos) return;
    at = end + 1;
  }
}

}  // namespace

bool is_profiler_line(std::string_view line) {
  return line.starts_with("==") && line.find("==", 2) != line.npos;
}

Result<CsvTable> find_table(std::string_view content, const std::string& path) {
  CsvTable table;
  bool found = false;
  std::size_t permission = content.npos, error = content.npos, no_kernels = content.npos;
  each_line(content, [&](std::string_view line, std::size_t at) {
    if (starts_header(line)) {
      table.separator = line[line[0] == '"' ? 4 : 2];
      std::vector<std::string_view> cells;
      if (CsvReader reader(content.substr(at), table.separator);
          reader.next(cells) && std::ranges::find(cells, "Kernel Name") != cells.end()) {
        table.text = content.substr(at);
        table.offset = at;
        table.header.assign(cells.begin(), cells.end());
        found = true;
        return false;
      }
    }
    if (permission == content.npos && line.find("ERR_NVGPUCTRPERM") != line.npos) permission = at;
    if (error == content.npos && line.starts_with("==ERROR==")) error = at;
    if (no_kernels == content.npos && line.find("No kernels were profiled") != line.npos)
      no_kernels = at;
    return true;
  });
  if (found) return table;
  const auto offset = [](std::size_t at) { return static_cast<std::int64_t>(at); };
  if (permission != content.npos)
    return fail(
        "Nsight Compute was not allowed to read the GPU's counters (ERR_NVGPUCTRPERM), so there is "
        "no table",
        path, offset(permission),
        "run ncu as root or with CAP_SYS_ADMIN, or load the NVIDIA module with "
        "NVreg_RestrictProfilingToAdminUsers=0; then profile again");
  if (no_kernels != content.npos)
    return fail("Nsight Compute profiled no kernel, so there is no table", path, offset(no_kernels),
                "check the kernel filter, and with --profile-from-start off that the program calls "
                "cudaProfilerStart");
  if (error != content.npos)
    return fail("Nsight Compute ended with an error instead of a table: " +
                    std::string(line_at(content, error).substr(9, 200)),
                path, offset(error), "solve that and profile again");
  return fail("no Nsight Compute table in the text: no header row with \"ID\" and \"Kernel Name\"",
              path, -1, "export with: ncu --import REPORT.ncu-rep --csv --page raw > REPORT.csv");
}

void note_profiler_messages(Capture& capture, std::string_view before_table) {
  each_line(before_table, [&](std::string_view line, std::size_t) {
    if (line.starts_with("==WARNING==") || line.starts_with("==ERROR=="))
      capture.note_quality(QualityCode::profiler_message,
                           "the profiler said: " + std::string(line.substr(0, 200)));
    return true;
  });
}

}  // namespace gf::ncu
