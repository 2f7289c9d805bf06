// The whole command line as one function of C, which a library can hold: the wheel's program is
// the package's libgpufathom.so with another beginning.
#include <cstdio>
#include <cstdlib>

#include "cli/verbs.h"

extern "C" int gpufathom_main(int argc, char** argv) {
  const int code = gf::cli::run(argc, argv);
  if (!gf::cli::driver_hangs()) return code;
  std::fflush(nullptr);
  std::_Exit(code);  // a driver hangs: it would not survive the end of static objects
}
