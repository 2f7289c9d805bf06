// Any bytes as a dump of the flight recorder: read, and compared with itself as another rank.
#include <cstdlib>
#include <string_view>
#include <vector>

#include "analyze/ranks/nccl_dumps.h"
#include "import/nccl_dump.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static gf::fuzz::MemoryFile file;
  file.fill(data, size);
  gf::is_nccl_dump({reinterpret_cast<const char*>(data), size});
  auto dump = gf::read_nccl_dump(file.path(), 16 << 20);
  if (!dump) {
    if (dump.error().what.empty()) std::abort();
    return 0;
  }
  dump->rank = 0;
  gf::NcclDump other = *dump;
  other.rank = 1;
  if (!other.entries.empty()) other.entries.pop_back();
  const auto answer = gf::analyze_dumps({*dump, other});
  if (!answer || answer->ranks.size() != 2) std::abort();
  return 0;
}
