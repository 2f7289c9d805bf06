#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/files.h"

namespace gf {
namespace {

namespace fs = std::filesystem;

class OutFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "out-file-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string name(const std::string& file) const { return folder_ / file; }
  static std::string content(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(OutFileTest, AppearsCompleteOrNotAtAll) {
  {
    auto file = OutFile::open(name("a"));
    ASSERT_TRUE(file);
    EXPECT_TRUE(file->write("half"));
    EXPECT_FALSE(fs::exists(name("a")));
  }
  EXPECT_EQ(files(), 0u);
  auto file = OutFile::open(name("a"));
  ASSERT_TRUE(file && file->write("whole") && file->commit());
  EXPECT_EQ(content(name("a")), "whole");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutFileTest, KeepsTheModeOfWhatItReplaces) {
  std::ofstream(name("a")) << "old";
  fs::permissions(name("a"), fs::perms(0640));
  auto file = OutFile::open(name("a"));
  ASSERT_TRUE(file && file->write("new") && file->commit());
  EXPECT_EQ(fs::status(name("a")).permissions(), fs::perms(0640));
}

TEST_F(OutFileTest, FollowsLinksAndLeavesThem) {
  fs::create_directory(name("elsewhere"));
  std::ofstream(name("elsewhere/real")) << "old";
  fs::create_symlink("elsewhere/real", name("link"));
  auto file = OutFile::open(name("link"));
  ASSERT_TRUE(file && file->write("new") && file->commit());
  EXPECT_TRUE(fs::is_symlink(name("link")));
  EXPECT_EQ(content(name("elsewhere/real")), "new");
  fs::create_symlink("nowhere", name("dangling"));
  EXPECT_FALSE(OutFile::open(name("dangling")));
  EXPECT_FALSE(fs::exists(name("nowhere")));
}

TEST_F(OutFileTest, RefusesAnotherUsersLinkInASharedFolder) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make another user's link";
  std::ofstream(name("precious")) << "old";
  fs::permissions(folder_, fs::perms(01777));
  fs::create_symlink("precious", name("trap"));
  ASSERT_EQ(::lchown(name("trap").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(OutFile::open(name("trap")));
  EXPECT_EQ(content(name("precious")), "old");
}

TEST_F(OutFileTest, GoesWhenASignalEndsTheProgram) {
  for (const int ending :
       {SIGTERM, SIGUSR1, SIGALRM, SIGPIPE, SIGXCPU, SIGXFSZ, SIGABRT, SIGSEGV, SIGRTMIN}) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto file = OutFile::open(name("a"));
      const bool written = file && file->write("half");
      ::raise(written ? ending : SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == ending);
    EXPECT_EQ(files(), 0u);
  }
}

TEST_F(OutFileTest, KnowsOneFileByTwoNames) {
  std::ofstream(name("a")) << "text";
  fs::create_symlink("a", name("b"));
  fs::create_hard_link(name("a"), name("c"));
  EXPECT_TRUE(same_file(name("a"), name("b")));
  EXPECT_TRUE(same_file(name("c"), name("./a")));
  EXPECT_FALSE(same_file(name("a"), name("absent")));
  EXPECT_FALSE(same_file("/dev/null", "/dev/null"));
}

}  // namespace
}  // namespace gf
