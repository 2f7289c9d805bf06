// Small chunks find other seams than the importer's own chunk size does; and rows must be the same
// whether layouts of events are learned or not.
#include <cstdlib>

#include "import/kineto/reading.h"
#include "memory_file.h"
#include "same_captures.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static gf::fuzz::MemoryFile file;
  file.fill(data, size);
  gf::ImportOptions options;
  options.max_bytes = 1 << 20;
  options.threads = 1;
  options.chunk_bytes = 16 + (size > 0 ? data[size / 2] : 0) * 4u;
  auto capture = gf::kineto::load_by(gf::kineto::Reading::learned, file.path(), options);
  const auto plain = gf::kineto::load_by(gf::kineto::Reading::fast, file.path(), options);
  if (capture.has_value() != plain.has_value()) std::abort();
  if (capture && !gf::fuzz::same(*capture, *plain)) std::abort();
  return 0;
}
