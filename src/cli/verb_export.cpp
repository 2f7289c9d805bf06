#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/files.h"
#include "report/csv/tables.h"
#include "report/perfetto/export.h"
#include "session/answer.h"

namespace gf::cli {

namespace {

struct ExportArguments {
  InputOptions input;
  bool perfetto = false;
  std::string csv;     // directory
  std::string output;  // file of --perfetto
  std::string window = "auto", devices;
};

Status export_perfetto(const ExportArguments& options, const Context& context) {
  if (options.output.empty() || options.output == "-")
    return write_perfetto(
        context, [](std::string_view bytes) { return write_all(1, bytes, "standard output"); });
  auto file = OutFile::open(options.output);
  if (!file) return tl::unexpected<Error>(file.error());
  const auto written =
      write_perfetto(context, [&](std::string_view bytes) { return file->write(bytes); });
  return written ? file->commit() : written;
}

Status export_csv(const ExportArguments& options, const Context& context,
                  const Analysis& analysis) {
  const std::string& directory = options.csv;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return fail("cannot be made: " + error.message(), directory, -1, "--csv requires a directory");
  std::optional<OutFile> file;
  const CsvSink sink = [&](std::string_view table, std::string_view bytes, bool last) -> Status {
    if (!file) {
      const auto path = std::filesystem::path(directory) / (std::string(table) + ".csv");
      for (const auto& input : {options.input.trace, options.input.counters, options.input.power})
        if (same_file(path.string(), input))
          return fail("is read: a table would overwrite it", input, -1,
                      "give --csv another folder");
      auto opened = OutFile::open(path.string());
      if (!opened) return tl::unexpected<Error>(opened.error());
      file.emplace(std::move(*opened));
    }
    auto written = file->write(bytes);
    if (written && last) written = file->commit();
    if (last || !written) file.reset();
    return written;
  };
  auto written = write_capture_csv(context.capture, sink);
  if (written) written = write_analysis_csv(analysis, sink);
  return written ? write_idle_csv(context, sink) : written;
}

int export_capture(const ExportArguments& options) {
  if (!options.perfetto && options.csv.empty())
    return complain("export requires --perfetto, --csv DIR or both", kWrongUsage);
  if (!options.perfetto && !options.output.empty())
    return complain("-o is the file of --perfetto; --csv names its own folder", kWrongUsage);
  if (options.perfetto && (options.output.empty() || options.output == "-") && stdout_is_terminal())
    return complain("--perfetto requires -o FILE", kWrongUsage);
  ProgressDisplay progress;
  const auto loaded = load_capture(options.input, progress.callback());
  progress.wipe();
  if (!loaded) return complain(loaded.error());
  Question question;
  question.window = options.window;
  question.devices = options.devices;
  // A time line shows every device, those that hardly work too.
  if (options.perfetto && options.csv.empty() && options.devices.empty()) question.devices = "all";
  const auto answer = answer_question(*loaded, question);
  if (!answer) return complain(answer.error(), options.input.trace, *loaded->capture);
  if (options.perfetto)
    if (const auto done = export_perfetto(options, *answer->context); !done)
      return complain(done.error());
  if (!options.csv.empty())
    if (const auto done = export_csv(options, *answer->context, answer->analysis); !done)
      return complain(done.error());
  return say_missing(options.input.trace, answer->missing);
}

}  // namespace

Verb export_verb() {
  Verb verb{"export", "export a capture to Perfetto or CSV"};
  const auto options = std::make_shared<ExportArguments>();
  add_input_options(verb, options->input);
  verb.flag("--perfetto", options->perfetto, "trace for https://ui.perfetto.dev, written to -o");
  verb.option("--csv", options->csv, "DIR", "write one CSV file per table to this directory")
      .path();
  add_window_option(
      verb, options->window,
      "span of what the analysis adds, such as idle causes and levels: auto (default: "
      "the steps, or all if there are none), all, steps, stable, step:N or START:END; "
      "activities are exported whole");
  add_devices_option(verb, options->devices);
  verb.option("-o,--output", options->output, "FILE",
              "file of --perfetto, instead of standard output")
      .output();
  verb.wrong = [options] { return wrong_ending(options->output, {".pftrace", ".perfetto-trace"}); };
  verb.run = [options] { return export_capture(*options); };
  return verb;
}

}  // namespace gf::cli
