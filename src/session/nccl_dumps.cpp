#include "session/nccl_dumps.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "import/importer.h"
#include "import/input.h"
#include "session/ranks.h"

namespace gf {

namespace {

namespace files = std::filesystem;

/// By its content, or, where that is damaged or missing, by the name that PyTorch gives a dump.
bool is_dump(const std::string& path) {
  if (files::path(path).filename().string().starts_with("nccl_trace_rank_")) return true;
  const auto head = read_head(path);
  return head && is_nccl_dump(*head);
}

/// A dump has the ending that its handler gave it, or none; it may be packed.
bool may_be_dump(files::path path) {
  if (path.extension() == ".gz" || path.extension() == ".zst") path.replace_extension();
  const std::string ending = path.extension().string();
  return ending.empty() || ending == ".json" || ending == ".jsonl" || ending == ".log" ||
         ending == ".pickle" || ending == ".pkl";
}

}  // namespace

std::vector<std::string> dump_files(const std::vector<std::string>& paths) {
  std::vector<std::string> dumps;
  for (const auto& path : paths) {
    std::error_code error;
    if (!files::is_directory(path, error)) {
      if (!is_dump(path)) return {};
      dumps.push_back(path);
      continue;
    }
    for (files::recursive_directory_iterator at(path, error), end; !error && at != end;
         at.increment(error)) {
      if (!at->is_regular_file(error)) continue;
      const std::string file = at->path().string();
      if (may_be_dump(at->path()) && is_dump(file))
        dumps.push_back(file);
      else if (looks_like_capture(file) && !format_of_file(file).empty())
        return {};
    }
  }
  std::ranges::sort(dumps);
  return dumps;
}

}  // namespace gf
