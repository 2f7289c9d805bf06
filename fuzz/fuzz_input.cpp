// The input layer: compressed or not, damaged or not, no more content than allowed comes out.
#include <cstdlib>

#include "import/importer.h"
#include "import/stranger.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static gf::fuzz::MemoryFile file;
  file.fill(data, size);
  constexpr std::uint64_t kLimit = 1 << 20;
  const auto& path = file.path();
  gf::Capture capture;
  const auto whole = gf::read_whole(path, kLimit, &capture);
  if (whole && whole->size() > kLimit) std::abort();
  if (const auto head = gf::read_head(path)) {
    gf::describe_content(*head);
    gf::find_stranger("a.json", *head);
    for (const auto& importer : gf::importers()) {
      const int score = importer.sniff("a.json", *head);
      if (score < 0 || score > 100) std::abort();
    }
  }
  return 0;
}
