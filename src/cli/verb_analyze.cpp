#include <CLI/CLI.hpp>
#include <memory>

#include "cli/verbs.h"

namespace gf::cli {

namespace {

struct Options {
  std::string trace;
  std::string counters;
  std::string window = "all";
  std::string format = "text";
  std::string output;
};

}  // namespace

void add_analyze(CLI::App& app, int& exit_code) {
  auto* verb = app.add_subcommand("analyze", "how deep a recorded run used its GPU");
  auto o = std::make_shared<Options>();
  verb->add_option("trace", o->trace, "trace or capture file")->required();
  verb->add_option("--counters", o->counters, "Nsight Compute report (.ncu-rep or CSV)");
  verb->add_option("--window", o->window, "all, stable, step:N or START:END");
  verb->add_option("--format", o->format, "text, json or html")->check(CLI::IsMember({"text", "json", "html"}));
  verb->add_option("-o,--output", o->output, "file to write instead of standard output");
  verb->callback([o, &exit_code] { exit_code = 1; });
}

}  // namespace gf::cli
