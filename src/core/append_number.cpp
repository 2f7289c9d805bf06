#include "core/append_number.h"

#include <fmt/format.h>

#include <iterator>

namespace gf {

void append_real(std::string& out, double value) {
  fmt::format_to(std::back_inserter(out), "{}", value);
}
void append_signed(std::string& out, std::int64_t value) {
  fmt::format_to(std::back_inserter(out), "{}", value);
}
void append_unsigned(std::string& out, std::uint64_t value) {
  fmt::format_to(std::back_inserter(out), "{}", value);
}

}  // namespace gf
