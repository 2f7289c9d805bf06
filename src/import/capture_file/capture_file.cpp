#include "import/capture_file/capture_file.h"

#include <filesystem>
#include <fstream>

#include "model/file.h"

namespace gf::capture_file {

int sniff(std::string_view, std::string_view head) {
  if (is_capture_file(head)) return 100;
  return 0;
}

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  char head[16] = {};
  std::ifstream(path, std::ios::binary).read(head, sizeof head);
  if (std::string_view(head, 15) != "SQLite format 3")
    return fail("is a compressed capture file", path, -1,
                "unpack it first: SQLite reads it in place");
  auto capture = read_capture(path, options.progress, options.max_bytes);
  if (capture && capture->bytes == 0) {  // a recording has no source but itself
    std::error_code ignored;
    capture->bytes = static_cast<std::int64_t>(std::filesystem::file_size(path, ignored));
  }
  if (capture) capture->note_unfinished_recording();
  if (capture && !capture->path.empty()) capture->set_metadata("imported_from", capture->path);
  return capture;
}

}  // namespace gf::capture_file
