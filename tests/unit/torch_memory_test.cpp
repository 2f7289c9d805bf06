#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

#include "import/importer.h"
#include "import/torch_memory/pickle.h"
#include "support/captures.h"

namespace gf::torch_memory {
namespace {

using namespace std::string_view_literals;

TEST(Pickle, PlainData) {
  // pickle.dumps({"a": [1, -2, 300, 2**40, None, True], "b": ("x",)}, protocol=4)
  const auto content =
      "\x80\x04\x95\x2d\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01"
      "a\x94]\x94(K\x01J\xfe\xff\xff\xffM\x2c\x01\x8a\x06\x00\x00\x00\x00\x00\x01N\x88"
      "e\x8c\x01"
      "b\x94\x8c\x01x\x94\x85\x94u."sv;
  const auto pickle = Pickle::read(content);
  ASSERT_TRUE(pickle) << pickle.error().message();
  const auto list = pickle->at(pickle->root(), "a");
  const auto& items = pickle->items(list);
  ASSERT_EQ(items.size(), 6u);
  EXPECT_EQ(pickle->integer(items[0]), 1);
  EXPECT_EQ(pickle->integer(items[1]), -2);
  EXPECT_EQ(pickle->integer(items[2]), 300);
  EXPECT_EQ(pickle->integer(items[3]), std::int64_t{1} << 40);
  EXPECT_EQ(pickle->kind(items[4]), Pickle::Kind::none);
  const auto tuple = pickle->at(pickle->root(), "b");
  ASSERT_EQ(pickle->items(tuple).size(), 1u);
  EXPECT_EQ(pickle->text(pickle->items(tuple)[0]), "x");
}

// os.system("true"), as pickle would carry it out.
TEST(Pickle, NothingIsCarriedOut) {
  const auto old = Pickle::read("cos\nsystem\n(S'true'\ntR."sv);
  ASSERT_FALSE(old);
  EXPECT_NE(old.error().what.find("not carried out"), std::string::npos);
  const auto current = Pickle::read(
      "\x80\x04\x95\x1c\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93\x94."sv);
  ASSERT_FALSE(current);
  EXPECT_NE(current.error().what.find("not carried out"), std::string::npos);
}

TEST(Pickle, DamageIsAnErrorWithItsPlace) {
  for (const auto content : {"\x80\x04"sv, "\x80\x04}(."sv.substr(0, 3),
                             "\x80\x04\x8c\xff"
                             "abc"sv,
                             "\x80\x04"
                             "e."sv,
                             "\x80\x04"
                             "h\x05."sv,
                             "\x80\x04."sv, "\x80\x04]K\x01K\x02s."sv,
                             "\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff."sv}) {
    const auto pickle = Pickle::read(content);
    ASSERT_FALSE(pickle);
    EXPECT_GE(pickle.error().offset, 0);
  }
}

TEST(Pickle, BoundedInValues) {
  std::string many = "\x80\x04](";
  for (int i = 0; i < 1000; ++i) many += "K\x01";
  many += "e.";
  EXPECT_TRUE(Pickle::read(many));
  EXPECT_FALSE(Pickle::read(many, 100));
}

}  // namespace
}  // namespace gf::torch_memory
