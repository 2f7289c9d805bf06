// Any bytes into one importer: it must end with a capture whose references hold, or with an error
// that says something.
#include "import/importer.h"

#include <cstdio>
#include <cstdlib>

#include "memory_file.h"

namespace {

const gf::Importer& importer() {
  for (const gf::Importer& i : gf::importers())
    if (std::string_view(i.id) == GF_IMPORTER) return i;
  std::fputs("no importer is called " GF_IMPORTER "\n", stderr);
  std::abort();
}

/// References between tables must point at rows that exist.
void check_references(const gf::Capture& c) {
  c.each_table([&](const auto& table) {
    table.each_column([&](const gf::ColumnInfo& info, const auto& column) {
      using T = typename std::remove_cvref_t<decltype(column)>::value_type;
      const std::string_view name = info.name;
      for (const T v : column) {
        if constexpr (std::is_same_v<T, gf::Text>) {
          if (static_cast<std::size_t>(v) >= c.strings.size()) std::abort();
        } else if constexpr (std::is_same_v<T, gf::U32>) {
          if (v == gf::kNoRow) continue;
          if ((name == "device" && v >= c.devices.size()) ||
              (name == "thread" && v >= c.threads.size()) ||
              (name == "activity" && v >= c.activities.size()) ||
              (name == "kernel" && v >= c.report_kernels.size()))
            std::abort();
        }
      }
    });
  });
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
  const auto capture = tested.load(file.path(), options);
  if (!capture) {
    if (capture.error().what.empty()) std::abort();
    return 0;
  }
  check_references(*capture);
  return 0;
}
