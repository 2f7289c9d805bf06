#include <cstdio>
#include <cstdlib>

#include "cli/verbs.h"

int main(int argc, char** argv) {
  const int code = gf::cli::run(argc, argv);
  if (!gf::cli::driver_hangs()) return code;
  std::fflush(nullptr);
  std::_Exit(code);  // a driver hangs: it would not survive the end of static objects
}
