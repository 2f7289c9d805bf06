#include <gtest/gtest.h>

#include "core/text.h"

namespace gf {
namespace {

TEST(Printable, SpellsOutWhatATerminalObeys) {
  EXPECT_EQ(printable("plain caf\u00e9 \u4f60"), "plain caf\u00e9 \u4f60");
  EXPECT_EQ(printable("a\x1b[31mb\nc\td\x7f"), "a\\x1b[31mb\\nc\\td\\x7f");
  EXPECT_EQ(printable("\u009b31m"), "\\x9b31m");                  // C1 as UTF-8
  EXPECT_EQ(printable(std::string("\x9b") + "31m"), "\\x9b31m");  // and as it is
  EXPECT_EQ(printable("gpu\u202egnp.exe\u2066"), "gpu\\u202egnp.exe\\u2066");
}

TEST(Printable, SpellsOutWhatNobodySees) {
  EXPECT_EQ(printable("ke\u200brnel\u2060\ufeff"), "ke\\u200brnel\\u2060\\ufeff");
  EXPECT_EQ(printable("a\U000e0041\U000e007f\u00ad"), "a\\ue0041\\ue007f\\u00ad");
  EXPECT_EQ(printable_lines("a\u200d\n", false), "a\\u200d\n");
}

TEST(Printable, LinesKeepTheirEndsAndOurColours) {
  EXPECT_EQ(printable_lines("a\nb\x1b[1mc\x1b[0m\n", true), "a\nb\x1b[1mc\x1b[0m\n");
  EXPECT_EQ(printable_lines("a\x1b[1m", false), "a\\x1b[1m");
  EXPECT_EQ(printable_lines("a\x1b]0;title\x07", true), "a\\x1b]0;title\\x07");
}

TEST(Printable, NoLineIsACommandOfACiService) {
  EXPECT_EQ(printable_lines("::warning::x\n  ::error::y\n", false),
            "\\x3a:warning::x\n  \\x3a:error::y\n");
  EXPECT_EQ(printable_lines("at::native::add\n", false), "at::native::add\n");
  EXPECT_EQ(printable_lines("name ##[group]x\n", false), "name \\x23#[group]x\n");
}

}  // namespace
}  // namespace gf
