// Reports of Nsight Systems in their own format, which nsys alone reads: where it is installed it
// exports them into a temporary file.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "core/files.h"
#include "import/formats.h"
#include "import/importer.h"
#include "import/nsight_systems/other_program.h"

namespace gf::nsys {

namespace {

constexpr std::string_view kMagic = "NVIDIA Tegra Profiler Report";

}  // namespace

int sniff_report(std::string_view path, std::string_view head) {
  if (!head.starts_with(kMagic) && !path.ends_with(".nsys-rep") && !path.ends_with(".qdrep"))
    return 0;
  return program_in_path("nsys").empty() ? 0 : 95;
}

Result<Capture> load_report(const std::string& path, const ImportOptions& options) {
  const std::string nsys = program_in_path("nsys");
  if (nsys.empty())
    return fail("is a report of Nsight Systems, which only nsys reads", path, -1,
                "export it: nsys export --type sqlite FILE");
  TemporaryFile exported, said;
  if (const auto made = exported.make("report.sqlite"); !made) return tl::unexpected(made.error());
  if (const auto made = said.make("nsys.txt"); !made) return tl::unexpected(made.error());
  std::error_code error;
  const std::string report = std::filesystem::absolute(path, error).string();
  const auto code = run_to_end(nsys,
                               {"export", "--type", "sqlite", "--force-overwrite", "true",
                                "--output", exported.path(), report},
                               said.path());
  if (!code) return tl::unexpected(code.error());
  if (*code != 0 || std::filesystem::file_size(exported.path(), error) == 0 || error)
    return fail(fmt::format("{} cannot export it: {}", nsys, first_lines(said.path())), path, -1,
                "export it with the release of Nsight Systems that recorded it: nsys export --type "
                "sqlite FILE");
  auto capture = load(exported.path(), options);
  if (!capture) {
    capture.error().file = path;
    return capture;
  }
  capture->format = "nsight_systems_report";
  capture->note_quality(
      QualityCode::exported_here,
      fmt::format("{} exported the report as SQLite into a temporary file", nsys));
  return capture;
}

}  // namespace gf::nsys
