#include <gtest/gtest.h>

#include <cmath>

#include "report/text/format.h"
#include "report/text/plot.h"
#include "report/text/table.h"

namespace gf {
namespace {

TEST(Format, TimesHaveFourDigitsInTheUnitThatFits) {
  EXPECT_EQ(format_time(0), "0 ns");
  EXPECT_EQ(format_time(999), "999 ns");
  EXPECT_EQ(format_time(1'000), "1.000 us");
  EXPECT_EQ(format_time(98'024'512), "98.02 ms");
  EXPECT_EQ(format_time(999'949), "999.9 us");
  EXPECT_EQ(format_time(999'950), "1.000 ms");  // never "1000 us"
  EXPECT_EQ(format_time(1'500'000'000), "1.500 s");
  EXPECT_EQ(format_time(80'000 * kNsPerSecond), "22.22 h");
  EXPECT_EQ(format_time(INT64_MIN), "-2562048 h");
}

TEST(Format, NoDataIsSaid) {
  EXPECT_EQ(format_share({}), "no data");
  EXPECT_EQ(format_share(NAN), "no data");
  EXPECT_EQ(format_share(0.0), "0.0 %");
  EXPECT_EQ(format_share(0.0001), "<0.1 %");  // small is not nothing
  Level level;
  EXPECT_EQ(format_level(level), "no data");
  level.value = level.low = 0.25;
  level.high = 0.4;
  EXPECT_EQ(format_level(level), "25.0-40.0 %");
  level.high = 0.25;
  EXPECT_EQ(format_level(level), "25.0 %");
}

TEST(Format, CountsInGroups) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1 000");
  EXPECT_EQ(format_count(-1234567), "-1 234 567");
  EXPECT_EQ(plural(1, "kernel"), "1 kernel");
}

TEST(Format, LongNamesLoseTheirMiddle) {
  EXPECT_EQ(shorten_middle("cutlass_gemm", 12), "cutlass_gemm");
  EXPECT_EQ(shorten_middle("cutlass_gemm_kernel", 12), "cutla..ernel");
  EXPECT_EQ(columns_of(shorten_middle("ééééééééééééééé", 9)), 9u);
  EXPECT_EQ(columns_of("注意力"), 6u);
  EXPECT_EQ(columns_of("e\u0301\u2588\U0001F600"), 4u);  // an accent takes none, a block one
  EXPECT_EQ(shorten_middle("注意力機制的前向傳播", 12), "注意..傳播");
  EXPECT_EQ(shorten_middle("注意力", 3), "注");
  for (std::size_t width = 1; width < 30; ++width)
    EXPECT_LE(columns_of(shorten_middle("a注b意c力d機e制f的g前h向", width)), width);
}

TEST(Format, WrappedLinesFit) {
  const std::string text = wrap("one two three four " + std::string(50, 'x') + " five", 20, 3);
  std::size_t lines = 0;
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos;
       at = end + 1, ++lines)
    EXPECT_LE(end - at, 20u);
  EXPECT_EQ(lines, 4u);
}

TEST(Format, ControlCharactersAreSpelledOut) {
  EXPECT_EQ(printable("a\x1b[31m\x07\n\tb\x7f"), "a\\x1b[31m\\x07\\n\\tb\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m \xc2\xa0 \xc3\xa9 \xc2"),
            "\\x9b31m \xc2\xa0 \xc3\xa9 \\xc2");
  EXPECT_EQ(wrap("x\x1b[2J", 20), "x\\x1b[2J\n");
  EXPECT_EQ(Cell("x\r").text, "x\\x0d");
}

TEST(Format, NumbersKeepTheirUnits) {
  EXPECT_EQ(wrap("it takes 30 us, then 4 ms more", 13), "it takes\n30 us, then\n4 ms more\n");
}

TEST(Bar, HasTheLengthOfItsShareWhereverItLies) {
  TextStyle style;
  style.utf8 = true;
  EXPECT_EQ(bar(style, {0.995, 1, 0}, 20), "                   ▏");
  EXPECT_EQ(bar(style, {0.5, 0.625, 0}, 8), "    █   ");
  EXPECT_EQ(bar(style, {0.9, 1, 0}, 10), "         █");
}

TEST(Bar, IsAsWideAsAskedAndShowsWhatIsSmall) {
  for (const bool utf8 : {false, true})
    for (const int width : {1, 7, 30})
      for (double to : {0.0, 1e-6, 0.3, 0.99, 1.0, 1.7})
        for (double from : {0.0, 0.2, 1.0}) {
          TextStyle style;
          style.utf8 = utf8;
          EXPECT_EQ(columns_of(bar(style, {from, std::max(from, to), 0.5}, width)),
                    static_cast<std::size_t>(width));
        }
  TextStyle style;
  EXPECT_EQ(bar(style, {0, 0.5, 0}, 4), "##  ");
  EXPECT_EQ(bar(style, {0, 1e-6, 0}, 4), "#   ");
  EXPECT_EQ(bar(style, {0, 0, 0}, 4), "    ");
  EXPECT_EQ(bar(style, {0, 0.25, 0.75}, 4), "#?? ");
  style.utf8 = true;
  EXPECT_EQ(bar(style, {0, 0.5625, 0}, 2), "█▏");
}

TEST(Table, FitsByShorteningTheColumnThatGivesWay) {
  TextStyle style;
  style.width = 40;
  TextTable table({{"kernel", Align::left, true}, {"time", Align::right}});
  table.add({std::string(100, 'k'), "98.02 ms"});
  table.add({"short", "1 ns"});
  const std::string text = table.render(style);
  EXPECT_EQ(text,
            "  kernel                            time\n"
            "  kkkkkkkkkkkkk..kkkkkkkkkkkkk  98.02 ms\n"
            "  short                             1 ns\n");
}

}  // namespace
}  // namespace gf
