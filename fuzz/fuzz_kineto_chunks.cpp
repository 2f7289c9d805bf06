// Small chunks find other seams than the importer's own chunk size does; and rows must be the same
// whether layouts of events are learned or not.
#include <cstdlib>
#include <cstring>

#include "import/formats.h"
#include "import/importer.h"
#include "memory_file.h"

namespace {

bool same(gf::Capture& left, const gf::Capture& right) {
  bool equal = left.strings.size() == right.strings.size() && left.events == right.events;
  left.each_table_pair(right, [&](auto& mine, const auto& theirs) {
    mine.visit_pairs(theirs, [&](const auto& one, const auto& other) {
      equal =
          equal && one.size() == other.size() &&
          (one.empty() || std::memcmp(one.data(), other.data(), one.size() * sizeof one[0]) == 0);
    });
  });
  return equal;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static gf::fuzz::MemoryFile file;
  file.fill(data, size);
  gf::ImportOptions options;
  options.max_bytes = 1 << 20;
  options.threads = 1;
  options.chunk_bytes = 16 + (size > 0 ? data[size / 2] : 0) * 4u;
  auto capture = gf::kineto::load(file.path(), options);
  options.learn_layouts = false;
  const auto plain = gf::kineto::load(file.path(), options);
  if (capture.has_value() != plain.has_value()) std::abort();
  if (capture && !same(*capture, *plain)) std::abort();
  return 0;
}
