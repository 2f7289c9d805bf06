#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/secrets.h"
#include "import/importer.h"
#include "model/counter_values.h"
#include "model/file.h"
#include "report/summary.h"
#include "report/text/format.h"
#include "session/kept.h"

namespace gf::cli {

namespace {

struct ImportArguments {
  std::vector<std::string> files;
  std::string output;
  bool no_answer = false;
  ImportOptions import;
};

/// Reads all files and joins them: the trace first, whatever the order they were named in.
Result<Capture> read_all(const ImportArguments& options) {
  Capture whole;
  std::string trace;  // the file that holds the run itself
  std::vector<Capture> beside;
  for (const std::string& file : options.files) {
    auto capture = import_file(file, options.import);
    if (!capture) return capture;
    if (capture->activities.empty() && capture->host_ops.empty() && options.files.size() > 1) {
      beside.push_back(std::move(*capture));
      continue;
    }
    if (!trace.empty())
      return fail(
          "is a second trace: a capture contains one run", file, -1,
          "import " + trace + " and this into captures of their own; compare takes several");
    trace = file;
    whole = std::move(*capture);
  }
  if (trace.empty()) {
    whole = std::move(beside.front());
    beside.erase(beside.begin());
  }
  for (const Capture& capture : beside) {
    whole.set_metadata("joined_" + capture.format, without_secrets(capture.path));
    whole.join(capture);
  }
  return whole;
}

Result<int> import_files(const ImportArguments& options, std::string& summary) {
  ProgressDisplay progress;
  ImportArguments with_progress = options;
  with_progress.import.progress = progress.callback();
  auto capture = read_all(with_progress);
  if (!capture) return tl::unexpected(capture.error());
  const std::string counts =
      fmt::format("  {}, {},\n  {}, {}, {}\n", plural(capture->host_ops.size(), "host operation"),
                  plural(capture->api_calls.size(), "runtime call"),
                  plural(capture->activities.size(), "device activity"),
                  plural(capture->report_kernels.size(), "report kernel"),
                  plural(counter_value_count(*capture), "sample"));
  const auto missing = shortcomings(*capture);
  KeepMore keep;
  bool with_answer = false;
  if (!options.no_answer && options.files.size() == 1)  // joined ones are not as read
    keep = [&](std::int64_t rows) {
      auto kept = keep_answer(std::move(*capture), options.output, rows, with_progress.import);
      with_answer = kept.has_value();
      return kept;
    };
  if (auto written = write_capture(*capture, options.output, progress.callback(), keep); !written)
    return tl::unexpected(written.error());
  progress.wipe();
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(options.output));
  summary = fmt::format("{}: {}{}\n{}", options.output, format_bytes(bytes),
                        with_answer ? ", with its answer" : "", counts);
  return say_missing(options.output, missing);
}

}  // namespace

Verb import_verb() {
  Verb verb{"import", "join a trace with its counter report and power log into one capture file"};
  const auto options = std::make_shared<ImportArguments>();
  verb.argument("FILE...", options->files,
                "trace, and counter report or power log of the same run, in any order")
      .must()
      .input();
  verb.option("-o,--output", options->output, "FILE", "capture file to write (.gpf)")
      .must()
      .output();
  verb.flag("--no-answer", options->no_answer,
            "leave out the answer of `gpufathom analyze`, which an import of one trace keeps so "
            "that it takes milliseconds to print: less time and memory");
  add_limit_options(verb, options->import.max_bytes, options->import.threads);
  verb.wrong = [options] { return wrong_capture_file(options->output); };
  verb.run = [options] {
    std::string summary;
    const auto done = import_files(*options, summary);
    if (!done) return complain(done.error());
    const auto written = write_answer({}, summary);
    return written ? *done : complain(written.error());
  };
  return verb;
}

}  // namespace gf::cli
