// What the injected library writes may be damaged: a recorded program can write into its file.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "collect/inject/reader.h"
#include "collect/inject/stream.h"
#include "support/captures.h"
#include "support/report_view.h"

namespace gf {
namespace {

template <class T>
void write_record(std::ofstream& out, inject::Type type, const T& record) {
  const inject::Head head{type, sizeof record};
  out.write(reinterpret_cast<const char*>(&head), sizeof head);
  out.write(reinterpret_cast<const char*>(&record), sizeof record);
}

/// What a reader makes of the records of one process.
struct Read {
  test::TempDir dir;
  Capture capture;
  InjectReader reader{folder()};

  template <class Write>
  explicit Read(Write&& write) {
    {
      std::ofstream out(dir.file("records") + "/1.rec", std::ios::binary);
      write_record(out, inject::Type::hello, inject::Hello{inject::kVersion, 1});
      write(out);
    }
    while (reader.poll(capture)) {
    }
    reader.finish(capture);
  }
  long count(QualityCode code) const {
    return test::quality_of(capture)[std::string(name_of(code))];
  }

 private:
  std::string folder() const {
    std::filesystem::create_directory(dir.file("records"));
    return dir.file("records");
  }
};

TEST(InjectReader, CountsThatNoRunLosesAreDamage) {
  const Read read([](std::ofstream& out) {
    const std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    for (const auto kind : {inject::LossKind::taken, inject::LossKind::taken,
                            inject::LossKind::unfinished, inject::LossKind::unfinished})
      write_record(out, inject::Type::loss,
                   inject::Loss{static_cast<std::uint32_t>(kind), 0, most});
    write_record(out, inject::Type::dropped, inject::Dropped{most});
    write_record(out, inject::Type::loss,
                 inject::Loss{static_cast<std::uint32_t>(inject::LossKind::taken), 0, 3});
  });
  EXPECT_EQ(read.count(QualityCode::bad_event), 5);
  EXPECT_EQ(read.count(QualityCode::kernels_taken), 3);
  EXPECT_EQ(read.count(QualityCode::dropped_kernels), 0);
  EXPECT_EQ(read.reader.taken(), 3);
}

TEST(InjectReader, ANumberOfSeveralCallsJoinsNothing) {
  const Read read([](std::ofstream& out) {
    const std::int64_t since = 1'700'000'000'000'000'000;
    write_record(out, inject::Type::window, inject::Window{since, 0, 0, 0});
    // Two threads: the second's calls have numbers of their own throughout.
    for (const auto& [thread, number] : {std::pair{7u, 1u}, {7u, 2u}, {8u, 3u}, {7u, 2u}, {8u, 4u}})
      write_record(out, inject::Type::api, inject::Api{since, since + 10, thread, number, 0, 0});
    for (const std::uint32_t number : {1u, 2u, 3u, 4u}) {
      inject::Kernel kernel{};
      kernel.start = since;
      kernel.end = since + 5;
      kernel.correlation = number;
      write_record(out, inject::Type::kernel, kernel);
    }
  });
  EXPECT_EQ(read.count(QualityCode::repeated_call), 1);
  std::vector<bool> joined;
  for (std::uint32_t row = 0; row < read.capture.activities.size(); ++row)
    joined.push_back(read.capture.activities.correlation[row] >= 0);
  EXPECT_EQ(joined, (std::vector<bool>{true, false, true, true}));
}

TEST(InjectReader, WindowsOfAnyTimeAddUp) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const Read read([](std::ofstream& out) {
    for (const std::int64_t start : {std::int64_t{1}, std::int64_t{2}, -kMost})
      write_record(out, inject::Type::window, inject::Window{start, kMost, 0, 0});
    write_record(out, inject::Type::window, inject::Window{1, -kMost, 0, 0});
  });
  EXPECT_EQ(read.reader.windows(), 2);
  EXPECT_EQ(read.reader.windows_ns(), kMost - 1);
  EXPECT_EQ(read.count(QualityCode::bad_event), 2);
}

}  // namespace
}  // namespace gf
