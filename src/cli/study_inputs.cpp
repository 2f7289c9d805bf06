#include "cli/study_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "core/files.h"
#include "import/importer.h"
#include "session/answer.h"

namespace gf::cli {

namespace {

namespace fs = std::filesystem;

enum class InputKind : std::uint8_t { none, table, capture, report };

InputKind kind_of(const fs::path& path) {
  const std::string_view format = format_of_file(path.string());
  if (format.starts_with("nsight_compute")) return InputKind::report;
  // A log of a device has no run of a program; what is no format of a tool may be a table.
  constexpr std::array<std::string_view, 4> kLogs{"telemetry_csv", "smi_dmon", "dcgm_dmon",
                                                  "prometheus"};
  if (std::ranges::find(kLogs, format) != kLogs.end()) return InputKind::none;
  return format.empty() ? InputKind::table : InputKind::capture;
}

/// A folder that a profiler of TensorFlow or JAX wrote is one capture.
bool is_profile(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "plugins" / "profile", ignored);
}

/// "lenet_train_b64" of "DIR/lenet_train_b64.base.ncu.csv.gz".
std::string stem_of(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  return name.substr(0, name.find('.'));
}

class Sorter {
 public:
  explicit Sorter(Study study) : study_(study) {}

  /// `named`: by itself, not found in a folder.
  void add(const fs::path& path, InputKind kind, bool named) {
    if (kind == InputKind::table) inputs_.tables.push_back(path.string());
    if (kind == InputKind::report) reports_.push_back({path.string(), named});
    if (kind != InputKind::capture) return;
    inputs_.captures.push_back(path.string());
    inputs_.counters.emplace_back();
  }

  void add_folder(const fs::path& folder) {
    if (is_profile(folder)) return add(folder, InputKind::capture, false);
    std::vector<fs::path> entries;
    std::error_code ignored;
    for (fs::directory_iterator it(folder, ignored), end; it != end; it.increment(ignored))
      entries.push_back(it->path());
    std::sort(entries.begin(), entries.end());
    for (const auto& entry : entries) {
      if (fs::is_directory(entry, ignored)) {
        add_folder(entry);
        continue;
      }
      const InputKind kind = kind_of(entry);
      if (kind != InputKind::table || is_table(entry)) add(entry, kind, false);
    }
  }

  Result<StudyInputs> sorted(const std::vector<std::string>& named) {
    if (named.size() > inputs_.captures.size())
      return fail("there are more reports after --counters than captures", named.back());
    std::copy(named.begin(), named.end(), inputs_.counters.begin());
    for (const auto& report : reports_)
      if (!pair(report) && report.named)
        return fail("no capture goes with this counter report", report.path, -1,
                    "name the trace of the same program before it, or pass it with --counters");
    return std::move(inputs_);
  }

 private:
  /// Rows of runs among the JSON of a folder say so; those of the other studies are found by what
  /// they have.
  bool is_table(const fs::path& path) const {
    const std::string name = path.filename().string();
    if (name.ends_with(".points.jsonl") || name.ends_with(".points.jsonl.gz"))
      return study_ == Study::asap24;
    if (path.extension() != ".json") return false;
    return study_ != Study::date24 ||
           text_of_file(path.string()).find("gpufathom.sweep-table/") != std::string::npos;
  }

  struct Report {
    std::string path;
    bool named;
  };

  /// Several exports of one report say the same: the first is enough.
  bool pair(const Report& report) {
    const bool only = report.named && inputs_.captures.size() == 1;
    for (std::size_t at = 0; at < inputs_.captures.size(); ++at)
      if (only || stem_of(inputs_.captures[at]) == stem_of(report.path)) {
        if (inputs_.counters[at].empty()) inputs_.counters[at] = report.path;
        return true;
      }
    return false;
  }

  Study study_;
  StudyInputs inputs_;
  std::vector<Report> reports_;
};

}  // namespace

Result<StudyInputs> study_inputs(Study study, const std::vector<std::string>& paths,
                                 const std::vector<std::string>& reports) {
  Sorter sorter(study);
  for (const auto& path : paths) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
      sorter.add_folder(path);
    else
      sorter.add(path, kind_of(path), true);
  }
  return sorter.sorted(reports);
}

std::vector<std::string> shipped_inputs(Study study) {
  std::vector<std::string> files;
  for (const ShippedTable& table : shipped_tables())
    if (table.study == study)
      if (std::string file = shipped_file(std::string(table.folder), std::string(table.name));
          !file.empty())
        files.push_back(std::move(file));
  return files;
}

}  // namespace gf::cli
