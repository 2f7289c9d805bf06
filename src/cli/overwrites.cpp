#include "cli/overwrites.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/out_file.h"

namespace gf::cli {

namespace files = std::filesystem;

bool looks_like_capture(std::string_view path) {
  for (const std::string_view end : {".json", ".json.gz", ".json.zst", ".jsonl", ".gpf", ".gpf.gz",
                                     ".sqlite", ".xplane.pb", ".xplane.pb.gz"})
    if (path.ends_with(end)) return true;
  return false;
}

bool would_overwrite(const std::string& output, const std::string& input) {
  if (output.empty() || input.empty()) return false;
  std::error_code error;
  if (!files::is_directory(input, error)) return same_file(output, input);
  const auto folder = files::canonical(input, error);
  if (error) return false;
  const auto file = files::canonical(output, error);
  if (error) return false;  // it does not exist yet
  const auto [in_folder, in_file] =
      std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return in_folder == folder.end() && looks_like_capture(file.string());
}

std::string overwrites_text(const std::string& output) {
  return fmt::format("{} is read, and would be overwritten: name another file to write", output);
}

}  // namespace gf::cli
