#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>

#include "cli/live/verbs.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "collect/inject/reader.h"
#include "collect/record/recorder.h"
#include "core/text.h"
#include "report/json.h"
#include "report/text/reports.h"

namespace gf::cli {

namespace {

struct RecordArguments {
  RecordOptions record;
  std::int64_t pid = 0;
  double duration_s = 0, delay_s = 0;
  std::optional<double> window_s, every_s, rate_hz;
  bool quiet = false;
  std::string summary;  // file for the summary as JSON
};

/// A name that no capture has yet: an older one is not lost to a command that does not name it.
std::string free_name() {
  std::string name = "run.gpf";
  for (int number = 2; ::access(name.c_str(), F_OK) == 0; ++number)
    name = fmt::format("run-{}.gpf", number);
  return name;
}

/// Raises the child's signal again, so that the shell sees the same exit; without a second core
/// file.
void die_of(int number) {
  std::fflush(nullptr);
  const rlimit none{};
  setrlimit(RLIMIT_CORE, &none);
  ::signal(number, SIG_DFL);
  ::raise(number);
}

/// When windows open. Tracing every kernel costs time; a twelfth of the time is enough to know
/// them. They open where the work is steady, unless somebody says where. A program that runs
/// already has no start that a first window could hold.
void set_windows(RecordArguments& options) {
  auto ns = [](double seconds) { return static_cast<Nanos>(seconds * 1e9); };
  const bool bounded = !options.window_s && !options.every_s && options.record.steps == 0;
  options.record.window_ns = ns(bounded ? 5 : options.window_s.value_or(0));
  options.record.first_window_ns = ns(bounded && options.delay_s == 0 ? 2 : 0);
  options.record.every_ns = ns(bounded && options.delay_s > 0 ? 60 : options.every_s.value_or(0));
  options.record.delay_ns = ns(options.delay_s);
  options.record.duration_ns = ns(options.duration_s);
}

/// Null, or what is wrong.
const char* wrong_subject(const RecordArguments& options) {
  if (options.pid > 0 && !options.record.command.empty())
    return "record takes a command to run or --pid, not both";
  if (options.record.command.empty() && options.pid == 0 && options.record.duration_ns == 0)
    return "record needs a command to run, --pid of a running process, or --duration to record the "
           "machine: gpufathom record -- python train.py";
  return nullptr;
}

int run_record(RecordArguments& options) {
  set_windows(options);
  options.record.pid = static_cast<int>(options.pid);
  options.record.injection_library = agent_path();
  // A sample of the energy counters takes 640 kB of the GPU's buffer instead of 14: at a thousand a
  // second a busy host loses some, and energy needs sums, not moments.
  const double usual_rate = options.record.metrics == "energy" ? 250 : 1000;
  options.record.rate_hz = options.rate_hz.value_or(usual_rate);
  if (const char* wrong = wrong_subject(options)) return complain(wrong, kWrongUsage);
  if (options.record.output.empty()) options.record.output = free_name();
  options.record.say = [quiet = options.quiet](const std::string& line) {
    if (!quiet) complain(line, kWhole);
  };
  int exit_code = kWhole;
  int killed_by = 0;
  options.record.killed_by = &killed_by;
  const auto summary = record(options.record, exit_code);
  if (!summary) {
    complain(summary.error());
    return exit_code ? exit_code : kBadInput;
  }
  // Standard output belongs to the program.
  const TextStyle style = text_style(false);
  if (!options.quiet)
    fmt::print(stderr, "{}", printable_lines(record_summary_text(*summary, style), style.colour));
  if (!options.summary.empty()) {
    std::string json;
    to_json(json, *summary);
    if (const auto written = write_answer({"json", options.summary}, json + "\n"); !written)
      complain(written.error());
  }
  if (killed_by > 0) die_of(killed_by);
  return exit_code;
}

}  // namespace

Verb record_verb() {
  Verb verb{"record", "record GPU activity from outside the process"};
  const auto options = std::make_shared<RecordArguments>();
  options->record.devices.clear();
  verb.option("-o,--output", options->record.output, "FILE",
              "capture file to write (default: run.gpf, or the next free run-N.gpf)")
      .output();
  verb.option("--rate", options->rate_hz, "HZ",
              "counter samples per second (default: 1000, with --metrics energy 250)")
      .from(1, 100000);
  verb.option("--devices", options->record.devices, "LIST",
              "GPUs to record: 0,2-3 as in nvidia-smi, UUIDs, or all (default: those that the "
              "program sees by CUDA_VISIBLE_DEVICES, with --pid those that it uses)")
      .suggest({"all"});
  verb.option("--source", options->record.source, "SOURCE",
              "pm (counters), gpm or nvml; auto, the default, takes the first available")
      .of({"auto", "pm", "gpm", "nvml"});
  verb.option("--metrics", options->record.metrics, "levels|caches|energy",
              "counters to sample: levels (default), caches (L1 as well), or energy, what "
              "`gpufathom energy` needs")
      .of({"levels", "caches", "energy"});
  verb.option("--pid", options->pid, "PID",
              "record a running process and its children until it ends, --duration or Ctrl-C; the "
              "process continues")
      .from(1, 1 << 30);
  verb.option("--duration", options->duration_s, "S",
              "stop recording after S seconds; without a command, record the machine")
      .positive();
  verb.flag("--kernels", options->record.kernels,
            "also record kernels, copies, launches and NVTX ranges (loads a library into the "
            "program; with --pid, one that `gpufathom run` started)");
  verb.option(
          "--window", options->window_s, "S",
          "with --kernels: length of a window in seconds, 0 for no end (default: 2 at the start, 5 "
          "when the GPU's activity becomes steady or changes, and every 60; at most four windows)")
      .with("--kernels")
      .not_negative();
  verb.option(
          "--every", options->every_s, "S",
          "with --kernels: seconds from one window's start to the next (with --window or --steps "
          "alone: one window)")
      .with("--kernels")
      .positive();
  verb.option("--delay", options->delay_s, "S",
              "with --kernels: seconds from the start of CUDA to the first window")
      .with("--kernels")
      .not_negative();
  verb.option(
          "--steps", options->record.steps, "N",
          "with --kernels: a window ends after N steps (gpufathom.step() in Python, NVTX ranges "
          "named gpufathom.step)")
      .with("--kernels")
      .positive();
  verb.flag("--own-profiler", options->record.own_profiler,
            "with --kernels: leave CUPTI to the program's own profiler between windows; only for "
            "programs whose CUDA graphs have no conditional nodes")
      .with("--kernels");
  verb.flag("--keep-command", options->record.keep_command,
            "store the whole command line in the capture, with *** in place of likely secrets "
            "(default: the program and its script)");
  verb.option("--summary", options->summary, "FILE", "also write the summary as JSON").output();
  verb.flag("-q,--quiet", options->quiet, "print nothing");
  verb.argument("-- COMMAND [ARGUMENT ...]", options->record.command,
                "the program and its arguments, after --");
  verb.wrong = [options] { return wrong_capture_file(options->record.output); };
  verb.run = [options] { return run_record(*options); };
  return verb;
}

}  // namespace gf::cli
