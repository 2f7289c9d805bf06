#include <gtest/gtest.h>

#include "core/time.h"

namespace gf {

TEST(ParseDecimal, ReadsEveryTimestampVariant) {
  EXPECT_EQ(parse_decimal("1661203463029687", 3), 1661203463029687000);
  EXPECT_EQ(parse_decimal("1712195495523334.959", 3), 1712195495523334959);
  EXPECT_EQ(parse_decimal("4329702664395.481", 3), 4329702664395481);
  EXPECT_EQ(parse_decimal("-0.002", 3), -2);
  EXPECT_EQ(parse_decimal("1e3", 3), 1'000'000);
  EXPECT_EQ(parse_decimal("1.5E-3", 3), 2);  // 1.5 ns rounds half away from zero
  EXPECT_EQ(parse_decimal("857.83799999999997", 6), 857838000);
  EXPECT_EQ(parse_decimal("0e99999999", 3), 0);
}

TEST(ParseDecimal, RefusesWhatIsNotANumber) {
  for (auto bad :
       {"", "-", ".", "1.2.3", "1e", "nan", "inf", "0x10", "1 ", "9223372036854776", "1e30"})
    EXPECT_FALSE(parse_decimal(bad, 3)) << bad;
  EXPECT_EQ(parse_decimal("9223372036854775807", 0), INT64_MAX);
  EXPECT_EQ(parse_decimal("-9223372036854775808", 0), INT64_MIN);
  EXPECT_FALSE(parse_decimal("9223372036854775808", 0));
}

}  // namespace gf
