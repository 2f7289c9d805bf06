// What the injected library writes may be damaged: a recorded program can write into its file.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "collect/inject/reader.h"
#include "collect/inject/stream.h"
#include "support/captures.h"

namespace gf {
namespace {

template <class T>
void write_record(std::ofstream& out, inject::Type type, const T& record) {
  const inject::Head head{type, sizeof record};
  out.write(reinterpret_cast<const char*>(&head), sizeof head);
  out.write(reinterpret_cast<const char*>(&record), sizeof record);
}

std::int64_t count_of(const Capture& capture, QualityCode code) {
  for (std::size_t row = 0; row < capture.quality.size(); ++row)
    if (capture.quality.code[row] == capture.strings.find(name_of(code)))
      return capture.quality.count[row];
  return 0;
}

TEST(InjectReader, CountsThatNoRunLosesAreDamage) {
  test::TempDir dir;
  const std::string folder = dir.file("records");
  std::filesystem::create_directory(folder);
  Capture capture;
  InjectReader reader(folder);
  {
    std::ofstream out(folder + "/1.rec", std::ios::binary);
    write_record(out, inject::Type::hello, inject::Hello{inject::kVersion, 1});
    const std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    for (const auto kind : {inject::LossKind::taken, inject::LossKind::taken,
                            inject::LossKind::unfinished, inject::LossKind::unfinished})
      write_record(out, inject::Type::loss,
                   inject::Loss{static_cast<std::uint32_t>(kind), 0, most});
    write_record(out, inject::Type::dropped, inject::Dropped{most});
    write_record(out, inject::Type::loss,
                 inject::Loss{static_cast<std::uint32_t>(inject::LossKind::taken), 0, 3});
  }
  while (reader.poll(capture)) {
  }
  reader.finish(capture);
  EXPECT_EQ(count_of(capture, QualityCode::bad_event), 5);
  EXPECT_EQ(count_of(capture, QualityCode::kernels_taken), 3);
  EXPECT_EQ(count_of(capture, QualityCode::dropped_kernels), 0);
  EXPECT_EQ(reader.taken(), 3);
}

TEST(InjectReader, WindowsOfAnyTimeAddUp) {
  test::TempDir dir;
  const std::string folder = dir.file("records");
  std::filesystem::create_directory(folder);
  Capture capture;
  InjectReader reader(folder);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  {
    std::ofstream out(folder + "/1.rec", std::ios::binary);
    write_record(out, inject::Type::hello, inject::Hello{inject::kVersion, 1});
    for (const std::int64_t start : {std::int64_t{1}, std::int64_t{2}, -kMost})
      write_record(out, inject::Type::window, inject::Window{start, kMost, 0, 0});
    write_record(out, inject::Type::window, inject::Window{1, -kMost, 0, 0});
  }
  while (reader.poll(capture)) {
  }
  reader.finish(capture);
  EXPECT_EQ(reader.windows(), 2);
  EXPECT_EQ(reader.windows_ns(), kMost - 1);
  EXPECT_EQ(count_of(capture, QualityCode::bad_event), 2);
}

}  // namespace
}  // namespace gf
