#include <cstdio>
#include <cstdlib>

#include "cli/cli.h"
#include "collect/watched_call.h"

int main(int argc, char** argv) {
  const int code = gf::cli::run(argc, argv);
  if (gf::abandoned_calls() == 0) return code;
  std::fflush(nullptr);
  std::_Exit(code);  // a driver hangs: it would not survive the end of static objects
}
