// The answer that a capture file keeps is the one that its rows give, and one that is damaged, of
// another program or of a file that was changed is not believed.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "core/packed.h"
#include "model/file.h"
#include "model/file_seal.h"
#include "report/summary.h"
#include "report/text/reports.h"
#include "session/kept.h"
#include "session/own_key.h"
#include "support/captures.h"
#include "support/files.h"

namespace gf {
namespace {

Question usual_question() {
  Question question;
  question.brief = true;
  question.report_alone = true;
  return question;
}

std::string packed(const Analysis& analysis, const OmittedParts& omitted) {
  Packer packer;
  packer.put(analysis);
  packer.put(omitted.runtime);
  packer.put(omitted.kernels);
  return packer.take();
}

/// Imports a file as the verb does; false where that is no capture.
bool import_with_answer(const std::string& from, const std::string& to,
                        const ImportOptions& how = {}) {
  auto capture = import_file(from, {});
  if (!capture) return false;
  const auto keep = [&](std::int64_t rows) {
    return keep_answer(std::move(*capture), to, rows, how);
  };
  return write_capture(*capture, to, {}, keep).has_value();
}

/// A folder for the user's key, which no test may make in the user's own.
struct OwnState {
  OwnState() { ::setenv("XDG_STATE_HOME", dir.path.c_str(), 1); }
  ~OwnState() { ::setenv("XDG_STATE_HOME", before.c_str(), 1); }
  const char* const set = ::getenv("XDG_STATE_HOME");
  const std::string before = set ? set : "";  // empty: as if it were not set
  test::TempDir dir;
};

/// Of a large folder some are enough: which differs from folder to folder, and not from run to run.
std::vector<std::string> captures_at_hand() {
  std::vector<std::string> files;
  const auto add = [&](const std::filesystem::path& folder, std::size_t each) {
    std::vector<std::string> found;
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder))
      if (file.is_regular_file()) found.push_back(file.path());
    std::ranges::sort(found);
    for (std::size_t i = 0; i < found.size(); i += each) files.push_back(found[i]);
  };
  add("examples", 1);
  add("tests/golden", 1);
  add("tests/work", 1);
  add("tests/field", 1);
  add("tests/ranks", 4);
  add("tests/advice/captures", 4);
  if (const std::string corpus = test::corpus(""); !corpus.empty()) add(corpus, 1);
  return files;
}

TEST(KeptAnswer, IsTheOneThatTheRowsGive) {
  const OwnState state;
  const test::TempDir dir;
  const std::string path = dir.file("a.gpf");
  std::size_t kept_ones = 0;
  for (const auto& file : captures_at_hand()) {
    if (!import_with_answer(file, path)) continue;
    const auto kept = kept_answer(path);
    if (!kept) continue;
    ++kept_ones;
    const auto loaded = load_capture({.trace = path}, {});
    ASSERT_TRUE(loaded) << file;
    const auto answer = answer_question(*loaded, usual_question());
    ASSERT_TRUE(answer && answer->context) << file;
    EXPECT_EQ(packed(kept->analysis, kept->omitted),
              packed(answer->analysis, answer->context->omitted))
        << file;
    EXPECT_EQ(short_text(kept->analysis, {}, kept->omitted),
              short_text(answer->analysis, {}, answer->context->omitted))
        << file;
  }
  EXPECT_GT(kept_ones, 40u);
}

TEST(KeptAnswer, OnlyOfTheQuestionThatIsUsual) {
  EXPECT_TRUE(is_usual({.trace = "a.gpf"}, usual_question()));
  const auto unusual = [](auto&& change) {
    InputOptions input{.trace = "a.gpf"};
    Question question = usual_question();
    change(input, question);
    return !is_usual(input, question);
  };
  EXPECT_TRUE(unusual([](auto&, auto& question) { question.window = "all"; }));
  EXPECT_TRUE(unusual([](auto&, auto& question) { question.brief = false; }));
  EXPECT_TRUE(unusual([](auto&, auto& question) { question.devices = "0"; }));
  EXPECT_TRUE(unusual([](auto&, auto& question) { question.batch = 8; }));
  EXPECT_TRUE(unusual([](auto&, auto& question) { question.model = "m.json"; }));
  EXPECT_TRUE(unusual([](auto& input, auto&) { input.counters = "r.csv"; }));
  EXPECT_TRUE(unusual([](auto& input, auto&) { input.power = "p.csv"; }));
  EXPECT_TRUE(unusual([](auto& input, auto&) { input.graphs = {"g.json"}; }));
  EXPECT_TRUE(unusual([](auto& input, auto&) { input.zone = "+01:00"; }));
  EXPECT_TRUE(unusual([](auto& input, auto&) { input.max_bytes = 1 << 20; }));
}

class KeptAnswerOf : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(import_with_answer("examples/resnet50_amp_eager_b64.json.gz", path_));
    ASSERT_TRUE(kept_answer(path_));
  }
  void execute(const std::string& sql) {
    const auto db = sqlite::open(path_, SQLITE_OPEN_READWRITE);
    ASSERT_TRUE(db);
    ASSERT_TRUE(sqlite::execute(db->get(), sql, ""));
  }
  /// Puts other bytes in its place, under their right hash and a right seal: only who knows the
  /// form can do so.
  void replace(const std::string& key, const std::string& data) {
    const auto db = sqlite::open(path_, SQLITE_OPEN_READWRITE);
    ASSERT_TRUE(db);
    ASSERT_TRUE(sqlite::execute(db->get(), "DELETE FROM kept", ""));
    ASSERT_TRUE(insert_kept(db->get(), {"answer", key, data}, ""));
    ASSERT_TRUE(seal(db->get(), ""));
  }
  OwnState state_;
  test::TempDir dir_;
  std::string path_ = dir_.file("a.gpf");
};

TEST_F(KeptAnswerOf, AChangedFileIsNotBelieved) {
  execute("UPDATE _metadata SET value = NULL WHERE row = 0");
  EXPECT_FALSE(kept_answer(path_));
}

TEST_F(KeptAnswerOf, AFileWithADamagedBlockIsNotBelieved) {
  execute(
      "UPDATE column_blocks SET data = data || x'00' WHERE block = (SELECT max(block) FROM "
      "column_blocks)");
  EXPECT_FALSE(kept_answer(path_));
}

TEST_F(KeptAnswerOf, AFileWithoutItsSealIsNotBelieved) {
  execute("DROP TABLE seal");
  EXPECT_FALSE(kept_answer(path_));
}

TEST_F(KeptAnswerOf, OtherBytesAreNotBelieved) {
  execute("UPDATE kept SET data = data || x'00'");
  EXPECT_FALSE(kept_answer(path_));
  // Programs that know nothing of this table seal it like any other.
  const auto db = sqlite::open(path_, SQLITE_OPEN_READONLY);
  sqlite::ReadBudget budget;
  EXPECT_EQ(check_seal(db->get(), budget, "").value_or(Seal::none), Seal::broken);
}

TEST_F(KeptAnswerOf, AnotherProgramsIsNotTaken) {
  const auto data = read_kept(path_, "answer", derived_by());
  ASSERT_TRUE(data);
  replace(std::string(derived_by()), data->data);
  EXPECT_TRUE(kept_answer(path_));
  replace("0", data->data);
  EXPECT_FALSE(kept_answer(path_));
}

/// Who changes rows can seal the file anew, and cannot sign the answer for them.
TEST_F(KeptAnswerOf, ThatOfOtherRowsIsNotTaken) {
  execute("UPDATE _metadata SET value = NULL WHERE row = 0");
  const auto db = sqlite::open(path_, SQLITE_OPEN_READWRITE);
  ASSERT_TRUE(db && seal(db->get(), ""));
  EXPECT_TRUE(read_kept(path_, "answer", derived_by()));
  EXPECT_FALSE(kept_answer(path_));
}

TEST_F(KeptAnswerOf, AnotherUsersIsNotTaken) {
  std::filesystem::remove_all(state_.dir.path / "gpufathom");
  EXPECT_FALSE(kept_answer(path_));
  ASSERT_TRUE(own_key(OwnKey::make));
  EXPECT_FALSE(kept_answer(path_));
}

TEST_F(KeptAnswerOf, AKeyThatOthersCanReadIsNone) {
  const auto key = state_.dir.path / "gpufathom/key";
  ASSERT_TRUE(own_key(OwnKey::read));
  ::chmod(key.c_str(), 0640);
  EXPECT_FALSE(own_key(OwnKey::make));
  EXPECT_FALSE(kept_answer(path_));
}

/// Where sudo leaves HOME as it was, root makes nothing in that user's home.
TEST_F(KeptAnswerOf, NoKeyIsMadeInAnothersHome) {
  const test::TempDir home;
  if (::geteuid() != 0 || ::chown(home.path.c_str(), 12345, 12345) != 0)
    GTEST_SKIP() << "only root can give a folder away";
  const auto state = home.path / ".local/state";
  ::setenv("XDG_STATE_HOME", state.c_str(), 1);
  EXPECT_FALSE(own_key(OwnKey::make));
  EXPECT_TRUE(std::filesystem::is_empty(home.path));
  std::filesystem::create_directories(state);
  EXPECT_TRUE(own_key(OwnKey::make));
}

/// What goes wrong while the answer is worked out, such as too little memory, costs the answer
/// only.
TEST_F(KeptAnswerOf, AFileWithoutItIsWhole) {
  const auto is_whole_without = [&](const std::function<void()>& fault) {
    ImportOptions how;
    how.progress = [&](std::string_view, double) {
      fault();
      return false;
    };
    ASSERT_TRUE(import_with_answer("examples/resnet50_amp_eager_b64.json.gz", path_, how));
    EXPECT_FALSE(kept_answer(path_));
    const auto loaded = load_capture({.trace = path_}, {});
    ASSERT_TRUE(loaded);
    EXPECT_TRUE(shortcomings(*loaded->capture).empty());
  };
  is_whole_without([] {});
  is_whole_without([] { throw std::bad_alloc(); });
  is_whole_without([] { throw std::length_error("more than there is"); });
  is_whole_without(
      [] { throw std::system_error(std::make_error_code(std::errc::not_enough_memory)); });
}

TEST(SipHash, GivesTheNumbersOfItsReference) {
  SecretKey key{};
  std::string bytes;
  for (unsigned char i = 0; i < 16; ++i) key[i] = i;
  EXPECT_EQ(siphash(key, bytes), 0x726fdb47dd0e0e31u);
  for (char i = 0; i < 15; ++i) bytes += i;
  EXPECT_EQ(siphash(key, bytes), 0xa129ca6149be45e5u);
}

/// Bytes cut, changed and put in under a right signature: read as some answer or none, which can be
/// printed.
TEST_F(KeptAnswerOf, AnyBytesUnderTheRightHashDoNoHarm) {
  const auto found = read_kept(path_, "answer", derived_by());
  ASSERT_TRUE(found);
  const std::string data = found->data.substr(sizeof(std::uint64_t));
  const std::string rows(reinterpret_cast<const char*>(&found->rows), sizeof found->rows);
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) {
    std::string bytes = data;
    for (auto changes = 1 + random() % 4; changes > 0; --changes) {
      const auto at = random() % bytes.size();
      switch (random() % 3) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes.erase(at, 1 + random() % 16);
          break;
        default:
          bytes.insert(at, 1 + random() % 16, static_cast<char>(random()));
      }
    }
    const std::uint64_t signature = siphash(*own_key(OwnKey::read), rows + bytes);
    bytes.insert(0, reinterpret_cast<const char*>(&signature), sizeof signature);
    replace(std::string(derived_by()), bytes);
    if (const auto kept = kept_answer(path_)) {
      (void)short_text(kept->analysis, {}, kept->omitted);
    }
  }
}

}  // namespace
}  // namespace gf
