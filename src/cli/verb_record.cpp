#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cli/help.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "collect/inject/reader.h"
#include "collect/record/recorder.h"
#include "report/json.h"
#include "report/record_summary.h"

namespace gf::cli {

namespace {

struct Options {
  RecordOptions record;
  double duration_s = 0, delay_s = 0;
  std::optional<double> window_s, every_s;
  bool quiet = false;
  std::string summary;  // file for the summary as JSON
};

int run_record(Options& o) {
  auto ns = [](double seconds) { return static_cast<Nanos>(seconds * 1e9); };
  // Tracing every kernel costs time; a twelfth of the time is enough to know them.
  const bool bounded = !o.window_s && !o.every_s && o.record.steps == 0;
  o.record.window_ns = ns(bounded ? 5 : o.window_s.value_or(0));
  o.record.every_ns = ns(bounded ? 60 : o.every_s.value_or(0));
  o.record.delay_ns = ns(o.delay_s);
  o.record.injection_library = agent_path();
  o.record.duration_ns = static_cast<Nanos>(o.duration_s * 1e9);
  if (o.record.command.empty() && o.record.duration_ns == 0)
    return complain(
        "record needs a command to run, or --duration to record the machine for a while: gpufathom "
        "record -- python train.py",
        kWrongUsage);
  o.record.say = [quiet = o.quiet](const std::string& line) {
    if (!quiet) fmt::print(stderr, "gpufathom: {}\n", line);
  };
  int exit_code = kWhole;
  const auto summary = record(o.record, exit_code);
  if (!summary) {
    complain(summary.error());
    return exit_code ? exit_code : kBadInput;
  }
  // Standard output belongs to the program.
  if (!o.quiet) fmt::print(stderr, "{}", record_summary_text(*summary, text_style(false)));
  if (!o.summary.empty()) {
    std::string json;
    to_json(json, *summary);
    if (const auto written = write_answer({"json", o.summary}, json + "\n"); !written)
      complain(written.error());
  }
  return summary->exit_code;
}

}  // namespace

void add_record(CLI::App& app, int& exit_code) {
  auto* verb =
      app.add_subcommand("record", "run a program and record what its GPUs do, from beside it");
  auto o = std::make_shared<Options>();
  o->record.output = "run.gpf";
  verb->add_option("-o,--output", o->record.output, "capture file to write (default: run.gpf)")
      ->option_text("FILE");
  verb->add_option("--rate", o->record.rate_hz, "counter samples a second (default: 1000)")
      ->check(CLI::Range(1.0, 100000.0))
      ->option_text("HZ");
  verb->add_option("--devices", o->record.devices, "GPUs to record: 0,2-3, UUIDs, or all")
      ->option_text("LIST");
  verb->add_option("--source", o->record.source,
                   "pm (counters), gpm or nvml; auto, the default, takes the first that there is")
      ->check(CLI::IsMember({"auto", "pm", "gpm", "nvml"}))
      ->option_text("SOURCE");
  verb->add_option("--metrics", o->record.metrics,
                   "counters to sample: levels (default), or energy, what `gpufathom energy` needs")
      ->check(CLI::IsMember({"levels", "energy"}))
      ->option_text("levels|energy");
  verb->add_option("--duration", o->duration_s,
                   "stop recording after S seconds; without a command, record the machine")
      ->check(positive())
      ->option_text("S");
  auto* kernels = verb->add_flag(
      "--kernels", o->record.kernels,
      "also record kernels, copies, launches and NVTX ranges (a library goes into the program)");
  verb->add_option("--window", o->window_s,
                   "with --kernels: seconds of a window, 0 for no end (default: 5 of every 60)")
      ->needs(kernels)
      ->check(not_negative())
      ->option_text("S");
  verb->add_option("--every", o->every_s,
                   "with --kernels: seconds from one window's start to the next (with --window or "
                   "--steps alone: one window)")
      ->needs(kernels)
      ->check(positive())
      ->option_text("S");
  verb->add_option("--delay", o->delay_s, "with --kernels: seconds before the first window")
      ->needs(kernels)
      ->check(not_negative())
      ->option_text("S");
  verb->add_option("--steps", o->record.steps,
                   "with --kernels: a window ends after N steps (gpufathom.step() in Python, NVTX "
                   "ranges named gpufathom.step)")
      ->needs(kernels)
      ->check(positive())
      ->option_text("N");
  verb->add_option("--summary", o->summary, "also write the summary as JSON")->option_text("FILE");
  verb->add_flag("-q,--quiet", o->quiet, "print nothing");
  verb->add_option("COMMAND", o->record.command, "the program and its arguments, after --")
      ->option_text("-- COMMAND [ARGUMENT ...]");
  verb->callback([o, &exit_code] { exit_code = run_record(*o); });
}

}  // namespace gf::cli
