// Any bytes into one importer: it must end with a capture whose references hold, or with an error
// that says something.
#include "import/importer.h"

#include <cstdio>
#include <cstdlib>

#include "memory_file.h"
#include "model/check.h"

namespace {

const gf::Importer& importer() {
  for (const gf::Importer& i : gf::importers())
    if (std::string_view(i.id) == GF_IMPORTER) return i;
  std::fputs("no importer is called " GF_IMPORTER "\n", stderr);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const gf::Importer& tested = importer();
  static gf::fuzz::MemoryFile file;
  file.fill(data, size);
  gf::ImportOptions options;
  options.max_bytes = 16 << 20;
  options.threads = 1;
  tested.sniff(file.path(), {reinterpret_cast<const char*>(data), size});
  auto capture = tested.load(file.path(), options);
  if (!capture) {
    if (capture.error().what.empty()) std::abort();
    return 0;
  }
  if (!capture->check() || !gf::check_references(*capture, file.path())) std::abort();
  return 0;
}
