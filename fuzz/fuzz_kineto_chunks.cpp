// Small chunks find other seams than the importer's own chunk size does.
#include <cstdlib>

#include "import/importer.h"
#include "import/kineto/kineto.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static gf::fuzz::MemoryFile file;
  file.fill(data, size);
  gf::ImportOptions options;
  options.max_bytes = 1 << 20;
  options.threads = 1;
  options.chunk_bytes = 16 + (size > 0 ? data[size / 2] : 0) * 4u;
  const auto capture = gf::kineto::load(file.path(), options);
  if (capture && capture->events < 0) return -1;
  return 0;
}
