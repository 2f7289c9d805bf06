#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "analyze/analyze.h"
#include "cli/load_capture.h"
#include "cli/output.h"
#include "cli/progress_display.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/out_file.h"
#include "report/csv/tables.h"
#include "report/perfetto/export.h"

namespace gf::cli {

namespace {

struct Options {
  InputOptions input;
  bool perfetto = false;
  std::string csv;     // directory
  std::string output;  // file of --perfetto
};

Status export_perfetto(const Options& o, const Context& context) {
  if (o.output.empty() || o.output == "-")
    return write_perfetto(
        context, [](std::string_view bytes) { return write_all(1, bytes, "standard output"); });
  auto file = OutFile::open(o.output);
  if (!file) return tl::unexpected<Error>(file.error());
  const auto written =
      write_perfetto(context, [&](std::string_view bytes) { return file->write(bytes); });
  return written ? file->commit() : written;
}

Status export_csv(const Options& o, const Context& context, const Analysis& analysis) {
  const std::string& directory = o.csv;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return fail("cannot be made: " + error.message(), directory, -1, "--csv wants a directory");
  std::optional<OutFile> file;
  const CsvSink sink = [&](std::string_view table, std::string_view bytes, bool last) -> Status {
    if (!file) {
      const auto path = std::filesystem::path(directory) / (std::string(table) + ".csv");
      for (const auto& input : {o.input.trace, o.input.counters, o.input.power})
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

int export_capture(const Options& o) {
  if (!o.perfetto && o.csv.empty())
    return complain("export wants --perfetto, --csv DIR or both", kWrongUsage);
  if (!o.perfetto && !o.output.empty())
    return complain("-o is the file of --perfetto; --csv names its own folder", kWrongUsage);
  if (o.perfetto && (o.output.empty() || o.output == "-") && stdout_is_terminal())
    return complain("--perfetto wants -o FILE", kWrongUsage);
  ProgressDisplay progress;
  const auto loaded = load_capture(o.input, progress.callback());
  progress.wipe();
  if (!loaded) return complain(loaded.error());
  std::optional<Context> context;
  auto analysis = analyze(loaded->capture, {}, &context);
  if (!analysis) return complain(analysis.error(), o.input.trace, loaded->capture);
  analysis->counters_source = loaded->counters;
  if (o.perfetto)
    if (const auto done = export_perfetto(o, *context); !done) return complain(done.error());
  if (!o.csv.empty())
    if (const auto done = export_csv(o, *context, *analysis); !done) return complain(done.error());
  return say_shortcomings(o.input.trace, *analysis);
}

}  // namespace

Verb export_verb() {
  Verb verb{"export", "a capture in the format of another tool"};
  const auto o = std::make_shared<Options>();
  add_input_options(verb, o->input);
  verb.flag("--perfetto", o->perfetto, "trace for https://ui.perfetto.dev, written to -o");
  verb.option("--csv", o->csv, "DIR", "one CSV file a table, in this directory");
  verb.option("-o,--output", o->output, "FILE", "file of --perfetto, instead of standard output")
      .output();
  verb.run = [o] { return export_capture(*o); };
  return verb;
}

}  // namespace gf::cli
