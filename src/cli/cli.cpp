#include "cli/cli.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <exception>

#include "cli/help.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace gf::cli {

namespace {

/// A standard stream that the caller closed would lend its number to the next file that is opened,
/// and messages would go there.
void open_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) [[maybe_unused]]
      const int null = open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
}

}  // namespace

int run(int argc, const char* const* argv) {
  open_standard_streams();
  CLI::App app{
      "How deep is the GPU really used? One answer from the framework runtime down to tensor-core "
      "issue slots and joules."};
  app.name("gpufathom");
  app.set_version_flag("--version", "gpufathom 0.1.0");
  app.require_subcommand(1);
  set_up_help(app);
  int exit_code = 0;
  add_analyze(app, exit_code);
  add_compare(app, exit_code);
  add_export(app, exit_code);
  add_import(app, exit_code);
  add_query(app, exit_code);
  add_metrics(app, exit_code);
  add_energy(app, exit_code);
  add_calibrate(app, exit_code);
  add_monitor(app, exit_code);
  add_record(app, exit_code);
  add_doctor(app, exit_code);
  add_overhead(app, exit_code);
  if (argc < 2) return complain("a verb is wanted (gpufathom --help lists them)", kWrongUsage);
  if (argv[1][0] != '-' &&
      app.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == argv[1]; })
          .empty())
    return complain(fmt::format("{} is no verb (gpufathom --help lists them)", argv[1]),
                    kWrongUsage);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kWhole : kWrongUsage;
  } catch (const std::exception& e) {
    return complain(e.what(), kBadInput);
  }
  return exit_code;
}

}  // namespace gf::cli
