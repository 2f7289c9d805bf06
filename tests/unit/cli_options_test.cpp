#include <gtest/gtest.h>

#include "cli/options.h"
#include "core/nearest.h"

namespace gf::cli {
namespace {

struct Values {
  std::string text;
  std::optional<double> seconds;
  std::int64_t count = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> names, files;
  bool fast = false;
};

Verb verb_of(Values& values) {
  Verb verb{"try", "a verb"};
  verb.option("-f,--format", values.text, "FORMAT", "form").of({"text", "json"});
  verb.option("--seconds", values.seconds, "S", "time").from(0.5, 60);
  verb.option("--count", values.count, "N", "number").positive();
  verb.option("--bytes", values.bytes, "SIZE", "size").size();
  verb.option("--only", values.names, "NAMES", "names").separated_by(',');
  verb.flag("--fast", values.fast, "no care").with("--seconds");
  verb.argument("FILE", values.files, "files").must().count_at_least(2).input();
  return verb;
}

std::string complaint(const std::vector<std::string>& words) {
  Values values;
  return parse(verb_of(values), words).complaint;
}

TEST(Options, TakeTheirValues) {
  Values values;
  const auto parsed = parse(verb_of(values), {"a", "-f", "json", "--seconds=1.5", "b", "--bytes",
                                              "2GiB", "--only", "x,y", "--fast", "--count", "3"});
  EXPECT_EQ(parsed.complaint, "");
  EXPECT_EQ(values.text, "json");
  EXPECT_EQ(values.seconds, 1.5);
  EXPECT_EQ(values.count, 3);
  EXPECT_EQ(values.bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(values.names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(values.files, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(values.fast);
  EXPECT_EQ(parsed.inputs, values.files);
}

TEST(Options, SayWhatIsWrong) {
  EXPECT_EQ(complaint({}), "FILE is missing");
  EXPECT_EQ(complaint({"a"}), "at least 2 of FILE are needed, 1 is given");
  EXPECT_EQ(complaint({"a", "b", "--formt", "json"}),
            "unknown option '--formt': did you mean --format?");
  EXPECT_EQ(complaint({"a", "b", "--zzzzzz"}), "unknown option '--zzzzzz'");
  EXPECT_EQ(complaint({"a", "b", "-f", "jsn"}),
            "--format: 'jsn' is not one of text, json: did you mean json?");
  EXPECT_EQ(complaint({"a", "b", "--count", "0"}), "--count: '0' is not a number above 0");
  EXPECT_EQ(complaint({"a", "b", "--count", "1.5"}), "--count: '1.5' is not a whole number");
  EXPECT_EQ(complaint({"a", "b", "--seconds", "nan"}),
            "--seconds: 'nan' is not a number from 0.5 to 60");
  EXPECT_EQ(complaint({"a", "b", "--bytes", "many"}),
            "--bytes: 'many' is not a whole number of 0 or more");
  EXPECT_EQ(complaint({"a", "b", "--count"}), "--count needs a value: N");
  EXPECT_EQ(complaint({"a", "b", "--fast"}), "--fast requires --seconds");
}

TEST(Options, KnowWhichNameWasMeant) {
  const std::vector<std::string> verbs{"analyze", "compare", "record", "monitor"};
  EXPECT_EQ(nearest("analyse", verbs), "analyze");
  EXPECT_EQ(nearest("recrod", verbs), "record");
  EXPECT_EQ(nearest("pelican", verbs), "");
}

}  // namespace
}  // namespace gf::cli
