#include "cli/cli.h"

int main(int argc, char** argv) { return gf::cli::run(argc, argv); }
