// GCC 12's own C++ runtime asks for arc4random, which glibc has since 2.36. Where it is linked in
// for older systems, this stands for it.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" std::uint32_t arc4random() {
  std::uint32_t number = 0;
  // Requests of so few bytes are never cut short once the kernel's pool is filled.
  if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) std::abort();
  return number;
}
