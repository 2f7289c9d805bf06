// Exports of Nsight Systems whose tables are Parquet, Arrow or HDF5. Python's packages read those:
// where there are some, tables.py copies the tables into a temporary SQLite file, which is read as
// an export of that kind.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "core/files.h"
#include "core/text.h"
#include "import/formats.h"
#include "import/importer.h"
#include "import/nsight_systems/loader.h"
#include "import/nsight_systems/other_program.h"
#include "import/nsight_systems/tables_script.h"

namespace gf::nsys {

namespace {

constexpr std::string_view kInstead =
    "export the report as SQLite: nsys export --type sqlite REPORT.nsys-rep";

/// Exit statuses of tables.py.
constexpr int kLacking = 3, kUnreadable = 4, kTooLong = 128 + SIGALRM;

bool is_table(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  return (ending == ".parquet" || ending == ".arrow") &&
         std::ranges::find(kTables, file.stem().string()) != std::end(kTables);
}

/// That which Python's package calls itself runs in is the one whose packages were chosen.
std::string python() {
  const char* const chosen = std::getenv("GPUFATHOM_PYTHON");
  const std::string name = chosen && *chosen ? chosen : "python3";
  return name.find('/') == name.npos ? program_in_path(name) : name;
}

Error unreadable(int status, const std::string& python, const TemporaryFile& said,
                 const std::string& path) {
  std::string text = first_lines(said.path());
  if (status == kLacking)
    return {fmt::format("is an export of Nsight Systems that Python's {} reads, which {} lacks",
                        text, python),
            path, -1, fmt::format("{} -m pip install {}; or {}", python, text, kInstead)};
  if (status == kTooLong)
    text = "it is damaged, or lies where reading takes minutes";
  else if (status != kUnreadable)
    text = fmt::format("{} ended with {}{}{}", python, status, text.empty() ? "" : ": ", text);
  return {fmt::format("cannot be read as an export of Nsight Systems: {}", text), path, -1,
          std::string(kInstead)};
}

/// The folder of a file that is one table, else the path itself: an export is read whole.
std::string export_of(const std::string& path) {
  const std::filesystem::path file(path);
  return is_table(file) ? file.parent_path().string() : path;
}

}  // namespace

int sniff_tables(std::string_view path, std::string_view head) {
  auto has = [&](std::string_view part) { return contains(head, part); };
  constexpr int kSure = 95;
  if (head.starts_with("\x89HDF\r\n")) return std::ranges::any_of(kTables, has) ? kSure : 0;
  const bool stream = head.starts_with("\xff\xff\xff\xff") && has("table_name");
  const bool one = head.starts_with("PAR1") || head.starts_with("ARROW1") ||
                   head.starts_with("\xff\xff\xff\xff");
  return stream || (one && is_table(path)) ? kSure : 0;
}

bool is_folder_of_tables(const std::string& folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (is_table(at->path())) return true;
  return false;
}

Result<Capture> load_tables(const std::string& path, const ImportOptions& options) {
  const std::string python = nsys::python();
  if (python.empty())
    return fail(
        "is an export of Nsight Systems as Parquet, Arrow or HDF5, which Python's packages read: "
        "there is no python3 in PATH",
        path, -1, fmt::format("install Python, and pip install pyarrow h5py; or {}", kInstead));
  TemporaryFile unpacked, script, tables, said;
  std::string input = export_of(path);
  if (input == path && !is_folder(path)) {
    auto file = plain_file(path, options.max_bytes, unpacked);
    if (!file) return tl::unexpected(file.error());
    input = std::move(*file);
  }
  for (const auto& [file, name] :
       {std::pair{&script, "tables.py"}, std::pair{&tables, "tables.sqlite"},
        std::pair{&said, "python.txt"}})
    if (const auto made = file->make(name); !made) return tl::unexpected(made.error());
  if (const auto written = script.write(kTablesScript); !written)
    return tl::unexpected(written.error());
  std::error_code error;
  std::vector<std::string> arguments{
      script.path(), std::filesystem::absolute(input.empty() ? "." : input, error).string(),
      tables.path(), std::to_string(options.max_bytes)};
  arguments.insert(arguments.end(), std::begin(kTables), std::end(kTables));
  const auto status = run_to_end(python, std::move(arguments), said.path());
  if (!status) return tl::unexpected(status.error());
  if (*status != 0) return tl::unexpected(unreadable(*status, python, said, path));
  auto capture = load(tables.path(), options);
  if (!capture) {
    capture.error().file = path;
    return capture;
  }
  capture->format = "nsight_systems_tables";
  capture->note_quality(QualityCode::exported_here,
                        fmt::format("{} copied the tables into a temporary SQLite file", python));
  return capture;
}

}  // namespace gf::nsys
