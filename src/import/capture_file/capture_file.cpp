#include <filesystem>
#include <fstream>

#include "core/files.h"
#include "import/formats.h"
#include "import/input.h"
#include "model/file.h"

namespace gf::capture_file {

int sniff(std::string_view, std::string_view head) { return is_capture_file(head) ? 100 : 0; }

namespace {

Result<Capture> load_compressed(const std::string& path, const ImportOptions& options) {
  TemporaryFile unpacked;
  const auto file = plain_file(path, options.max_bytes, unpacked);
  if (!file) return tl::unexpected(file.error());
  auto capture = read_capture(*file, options.progress, options.max_bytes);
  if (capture && capture->path == *file) capture->path = path;
  if (!capture && capture.error().file == *file) capture.error().file = path;
  return capture;
}

}  // namespace

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  char head[16] = {};
  std::ifstream(path, std::ios::binary).read(head, sizeof head);
  auto capture = std::string_view(head, 15) == "SQLite format 3"
                     ? read_capture(path, options.progress, options.max_bytes)
                     : load_compressed(path, options);
  if (capture && capture->bytes == 0) {  // a recording has no source but itself
    std::error_code ignored;
    capture->bytes = static_cast<std::int64_t>(std::filesystem::file_size(path, ignored));
  }
  if (capture) capture->note_unfinished_recording();
  if (capture && !capture->path.empty()) capture->set_metadata("imported_from", capture->path);
  return capture;
}

}  // namespace gf::capture_file
