// The short ways of reading numbers must give what parse_decimal gives.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <random>
#include <string>

#include "import/kineto/numbers.h"

namespace gf::kineto {

TEST(KinetoNumbers, ShortWaysEqualTheLongOne) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    TimeHead any_head;
    for (int i = 0; i < 200; ++i) {
      // Mostly digits, now and then what does not belong.
      std::string text = "-";
      if (random() % 10) text = "";
      for (auto at = random() % 21; at > 0; --at) {
        if (random() % 40) {
          text += static_cast<char>('0' + random() % 10);
        } else {
          text += ".e+-x/: "[random() % 8];
        }
      }
      if (random() % 2 && text.size() > 4) text[text.size() - 1 - random() % 5] = '.';
      RC_ASSERT(parse_us(text) == parse_decimal(text, 3));
      if (!text.starts_with("0x")) RC_ASSERT(parse_integer(text) == parse_decimal(text, 0));
      // Tokens, behind which the file goes on.
      const std::string file = text + (random() % 2 ? "1234567890" : ",\n  \"tid\": 7");
      const std::string_view token = std::string_view(file).substr(0, text.size());
      TimeHead head;
      RC_ASSERT(parse_us_of_token(token, head) == parse_us(text));
      // Times that begin like the one before.
      RC_ASSERT(parse_us_of_token(token, head) == parse_us(text));
      RC_ASSERT(parse_us_of_token(token, any_head) == parse_us(text));
      if (token.size() > 8) {
        const std::string near = text.substr(0, token.size() - 4 - random() % 4) + ".250 ,\n     ";
        const std::string_view next = std::string_view(near).substr(0, near.find(' '));
        RC_ASSERT(parse_us_of_token(next, any_head) == parse_us(next));
      }
      const auto integer = short_integer_of_token(token);
      RC_ASSERT(integer.has_value() == (!text.empty() && text.size() <= 8 &&
                                        text.find_first_not_of("0123456789") == text.npos));
      if (integer) RC_ASSERT(integer == parse_integer(text));
    }
  }));
}

}  // namespace gf::kineto
