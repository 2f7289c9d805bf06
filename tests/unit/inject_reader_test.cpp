// Records of the injected library may be damaged: a recorded program can write into its file.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "collect/inject/reader.h"
#include "collect/inject/stream.h"
#include "model/captured_calls.h"
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

/// Numbers of processes: one that lives, and one that the kernel gives to none.
constexpr int kAlive = 1, kGone = 0x7ffffff0;

/// The rows that a reader makes of one process's records.
struct StreamRead {
  test::TempDir dir;
  Capture capture;
  InjectReader reader{folder()};

  template <class Write>
  explicit StreamRead(Write&& write, int pid = kAlive, const inject::Ledger* ledger = nullptr) {
    {
      std::ofstream out(path(pid, inject::kRecordsSuffix), std::ios::binary);
      write_record(out, inject::Type::hello, inject::Hello{inject::kVersion, pid});
      write(out);
    }
    if (ledger)
      std::ofstream(path(pid, inject::kLedgerSuffix), std::ios::binary)
          .write(reinterpret_cast<const char*>(ledger), sizeof *ledger);
    take();
  }
  explicit StreamRead() = default;
  void take() {
    while (reader.poll(capture)) {
    }
    reader.finish(capture);
  }
  std::string path(int pid, const char* suffix) const {
    return dir.file("records") + "/" + std::to_string(pid) + suffix;
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
  const StreamRead read([](std::ofstream& out) {
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
  const StreamRead read([](std::ofstream& out) {
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

TEST(InjectReader, AGpuThatIsNotRecordedIsNotTheOneOfItsNumber) {
  StreamRead read;
  const std::string recorded = "GPU-00000000-0000-0000-0000-0000000000aa",
                    other = "GPU-00000000-0000-0000-0000-0000000000bb";
  read.capture.devices.uuid[read.capture.device_row(0)] = read.capture.strings.intern(recorded);
  read.reader.know_gpus({{0, recorded, "H200"}, {3, other, "H100"}});
  {
    std::ofstream out(read.path(kAlive, inject::kRecordsSuffix), std::ios::binary);
    write_record(out, inject::Type::hello, inject::Hello{inject::kVersion, kAlive});
    const std::int64_t since = 1'700'000'000'000'000'000;
    write_record(out, inject::Type::window, inject::Window{since, 0, 0, 0});
    inject::Device device{};  // the first that the program sees
    device.uuid[15] = 0xbb;
    write_record(out, inject::Type::device, device);
    inject::Kernel kernel{};
    kernel.start = since;
    kernel.end = since + 5;
    write_record(out, inject::Type::kernel, kernel);
  }
  read.take();
  ASSERT_EQ(read.capture.activities.size(), 1u);
  const auto row = read.capture.activities.device[0];
  EXPECT_EQ(read.capture.devices.id[row], 3);
  EXPECT_EQ(read.capture.text(read.capture.devices.name[row]), "H100");
  EXPECT_EQ(read.capture.devices.size(), 2u);
}

TEST(InjectReader, AProgramThatExecsCountsItsCallsAnew) {
  const StreamRead read([](std::ofstream& out) {
    const std::int64_t since = 1'700'000'000'000'000'000;
    const auto call = [&](std::uint32_t number) {
      write_record(out, inject::Type::api, inject::Api{since, since + 10, 7, number, 0, 0});
    };
    for (const std::uint32_t number : {1u, 1u, 2u}) call(number);
    write_record(out, inject::Type::hello, inject::Hello{inject::kVersion, 1});
    for (const std::uint32_t number : {2u, 1u}) call(number);
  });
  EXPECT_EQ(read.count(QualityCode::repeated_call), 1);
  const auto& numbers = read.capture.api_calls.correlation;
  ASSERT_EQ(numbers.size(), 5u);
  EXPECT_EQ(numbers[3], 2);
  EXPECT_EQ(numbers[4], 1);
}

TEST(InjectReader, WindowsOfAnyTimeAddUp) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const StreamRead read([](std::ofstream& out) {
    for (const std::int64_t start : {std::int64_t{1}, std::int64_t{2}, -kMost})
      write_record(out, inject::Type::window, inject::Window{start, kMost, 0, 0});
    write_record(out, inject::Type::window, inject::Window{1, -kMost, 0, 0});
  });
  EXPECT_EQ(read.reader.windows(), 2);
  EXPECT_EQ(read.reader.windows_ns(), kMost - 1);
  EXPECT_EQ(read.count(QualityCode::bad_event), 2);
}

constexpr std::int64_t kSince = 1'700'000'000'000'000'000;

/// A window with so many launches, the first of which ran; `ended`: with its end, and the
/// program's.
auto launches(std::uint32_t count, std::uint32_t ran, bool ended) {
  return [=](std::ofstream& out) {
    write_record(out, inject::Type::window, inject::Window{kSince, 0, 0, 0});
    for (std::uint32_t i = 1; i <= count; ++i)
      write_record(out, inject::Type::api, inject::Api{kSince + i, kSince + i + 1, 7, i, 0, 1});
    for (std::uint32_t i = 1; i <= ran; ++i) {
      inject::Kernel kernel{};
      kernel.start = kSince + i + 2;
      kernel.end = kSince + i + 3;
      kernel.correlation = i;
      write_record(out, inject::Type::kernel, kernel);
    }
    if (ended)
      write_record(out, inject::Type::window, inject::Window{kSince, kSince + 10'000, 0, 1});
  };
}

TEST(InjectReader, NodesOfGraphsAreThoseOfTheCallThatMadeThem) {
  const StreamRead read([](std::ofstream& out) {
    write_record(out, inject::Type::window, inject::Window{kSince, 0, 0, 0});
    write_record(out, inject::Type::node, inject::Node{100, 0, 7, 0});
    write_record(out, inject::Type::node, inject::Node{200, 100, 0, 0});
    write_record(out, inject::Type::node, inject::Node{300, 200, 0, 0});
    write_record(out, inject::Type::node, inject::Node{201, 101, 0, 0});
    for (const std::uint64_t node : {200u, 300u, 201u}) {
      inject::Kernel kernel{};
      kernel.start = kSince + 1;
      kernel.end = kSince + 5;
      kernel.graph = 3;
      kernel.graph_node = node;
      write_record(out, inject::Type::kernel, kernel);
    }
  });
  const auto& nodes = read.capture.activities.graph_node;
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0], kNodeOfCall + 7);
  EXPECT_EQ(nodes[1], kNodeOfCall + 7);
  EXPECT_EQ(nodes[2], 201) << "nobody saw the call";
}

TEST(InjectReader, WhatAProgramTookAlongIsCounted) {
  // Calls name nothing that launches here, so that they are made launches by their name.
  const auto named = [](bool ended) {
    return [=](std::ofstream& out) {
      const std::string name = "cuLaunchKernel";
      const inject::Head head{inject::Type::text,
                              static_cast<std::uint32_t>(sizeof(inject::TextHead) + name.size())};
      const inject::TextHead text{0, 0};
      out.write(reinterpret_cast<const char*>(&head), sizeof head);
      out.write(reinterpret_cast<const char*>(&text), sizeof text);
      out << name;
      launches(1000, 900, ended)(out);
    };
  };
  EXPECT_EQ(StreamRead(named(false), kGone).count(QualityCode::no_kernel), 100);
  EXPECT_EQ(StreamRead(named(true), kGone).count(QualityCode::no_kernel), 100);
  EXPECT_EQ(StreamRead(named(false), kAlive).count(QualityCode::no_kernel), 0);
}

TEST(InjectReader, WhatTheLedgerHasAndTheFileLacksIsLost) {
  const inject::Ledger many{inject::kVersion, 0, 900, 1000, 4000};
  const inject::Ledger few{inject::kVersion, 0, 900, 1000, 1910};
  const inject::Ledger none{inject::kVersion, 0, 900, 1000, 1900};
  const inject::Ledger closed{inject::kVersion, 1, 900, 1000, 4000};
  const auto lost = [](const inject::Ledger& ledger, int pid) {
    const StreamRead read(launches(1000, 900, true), pid, &ledger);
    return std::pair{read.count(QualityCode::lost_records),
                     read.count(QualityCode::few_lost_records)};
  };
  using Pair = std::pair<long, long>;
  EXPECT_EQ(lost(many, kGone), Pair(2100, 0));
  EXPECT_EQ(lost(few, kGone), Pair(0, 10));
  EXPECT_EQ(lost(none, kGone), Pair(0, 0));
  // One that goes on has not written all of it yet, unless it says so.
  EXPECT_EQ(lost(many, kAlive), Pair(0, 0));
  EXPECT_EQ(lost(closed, kAlive), Pair(2100, 0));
}

TEST(InjectReader, RecordsThatTheDiskHadNoRoomForAreCountedOnce) {
  const inject::Ledger ledger{inject::kVersion, 0, 0, 0, 500};
  const StreamRead read(
      [](std::ofstream& out) {
        write_record(out, inject::Type::loss,
                     inject::Loss{static_cast<std::uint32_t>(inject::LossKind::disk), 0, 400});
      },
      kGone, &ledger);
  EXPECT_EQ(read.count(QualityCode::lost_records), 500);
}

TEST(InjectReader, TakesPlainFilesOfOneNameAlone) {
  StreamRead read;
  std::ofstream(read.dir.file("victim")) << "a file of somebody else";
  std::filesystem::create_symlink(read.dir.file("victim"), read.path(2, ".rec"));
  std::filesystem::create_hard_link(read.dir.file("victim"), read.path(3, ".rec"));
  ASSERT_EQ(::mkfifo(read.path(4, ".rec").c_str(), 0600), 0);
  std::filesystem::create_directories(read.path(5, ".rec") + "/a/b");
  std::ofstream(read.path(6, ".rec")).close();
  std::filesystem::resize_file(read.path(6, ".rec"), std::uintmax_t{1} << 40);
  read.take();
  EXPECT_EQ(read.count(QualityCode::bad_agent_file), 5);
  EXPECT_EQ(read.capture.activities.size(), 0u);
  EXPECT_EQ(std::filesystem::file_size(read.dir.file("victim")), 23u);
}

TEST(InjectReader, AFileThatIsExchangedIsLeftOut) {
  StreamRead read(launches(10, 10, false));
  EXPECT_EQ(read.capture.activities.size(), 10u);
  const std::string path = read.path(kAlive, ".rec");
  std::filesystem::copy_file(path, path + ".new");
  std::filesystem::rename(path + ".new", path);
  read.take();
  EXPECT_EQ(read.count(QualityCode::bad_agent_file), 1);
  EXPECT_EQ(read.capture.activities.size(), 10u);
}

TEST(InjectReader, ManyFilesTakeNoDescriptors) {
  StreamRead read;
  for (int pid = 100'000; pid < 105'000; ++pid) std::ofstream(read.path(pid, ".rec")) << "x";
  const auto open = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open();
  read.take();
  EXPECT_EQ(open(), before);
  EXPECT_EQ(read.count(QualityCode::bad_agent_file), 1);
}

TEST(InjectReader, TheFolderIsGoneWithWhatAProgramLeftInIt) {
  test::TempDir dir;
  const std::string path = AgentsFolder::make(dir.file("run.gpf"));
  ASSERT_FALSE(path.empty());
  {
    InjectReader reader(path);
    std::filesystem::create_directories(path + "/1.rec/a/b/c");
    std::filesystem::create_symlink("/etc", path + "/1.rec/a/etc");
  }
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(dir.file("run.gpf")).parent_path()));
  EXPECT_TRUE(std::filesystem::exists("/etc/passwd"));
}

}  // namespace
}  // namespace gf
