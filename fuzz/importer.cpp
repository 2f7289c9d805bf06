// Any bytes into one importer: it must end with a capture whose references hold, or with an error
// that says something. One program for all importers, which its name tells apart: fuzz_import_ID.
#include "import/importer.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "memory_file.h"
#include "model/check.h"

namespace {

const gf::Importer* tested;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** argv) {
  const std::string_view program = (*argv)[0], prefix = "fuzz_import_";
  const auto at = program.rfind(prefix);
  for (const gf::Importer& each : gf::importers())
    if (at != program.npos && program.substr(at + prefix.size()) == each.id) tested = &each;
  if (tested) return 0;
  std::fputs("the program's name ends with no importer's id\n", stderr);
  std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static gf::fuzz::MemoryFile file;
  file.fill(data, size);
  gf::ImportOptions options;
  options.max_bytes = 16 << 20;
  options.threads = 1;
  tested->sniff(file.path(), {reinterpret_cast<const char*>(data), size});
  auto capture = tested->load(file.path(), options);
  if (!capture) {
    if (capture.error().what.empty()) std::abort();
    return 0;
  }
  if (!capture->check() || !gf::check_references(*capture, file.path())) std::abort();
  return 0;
}
