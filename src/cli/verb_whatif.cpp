#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "analyze/ranks/what_if_job.h"
#include "analyze/replay/what_if.h"
#include "cli/one_capture.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/machine.h"
#include "core/nearest.h"
#include "model/chips.h"
#include "report/json.h"
#include "report/text/reports.h"
#include "session/answer.h"
#include "session/ranks.h"

namespace gf::cli {

namespace {

struct WhatIfArguments {
  InputOptions input;
  OutputOptions output;
  std::vector<std::string> without, with, kernels;
  std::string gpu, link, devices, window = "auto";
  std::optional<double> host, batch;
  WhatIfChanges changes;
  JobChanges job;
};

/// The known GPUs whose names are one word.
std::vector<std::string> names_of_gpus() {
  std::vector<std::string> names;
  for (const auto& product : products())
    if (product.pattern.find(' ') == std::string_view::npos) names.emplace_back(product.pattern);
  return names;
}

/// Suggests a word of --without for an operator that no operator's name contains.
std::string without_meant(const WhatIfChanges& changes) {
  for (const auto& part : changes.operators)
    if (const auto meant = nearest(part, names_of_all<Without>()); !meant.empty())
      return fmt::format("did you mean --without {}?", meant);
  return {};
}

/// A factor that was given is a question, also where it is 1.
void ask(WhatIfChanges& changes, double WhatIfChanges::* what, std::optional<double> factor) {
  if (!factor) return;
  changes.*what = *factor;
  changes.asked.push_back(what);
}

// Beyond them times would leave 64 bits.
constexpr double kLeastFactor = 0.001, kMostFactor = 100'000;

/// The factor that a text is; none where it is no number, or one that no change has.
std::optional<double> factor_in(const std::string& text) {
  double factor = 0;
  if (!set_value(text, factor).empty() || factor < kLeastFactor || factor > kMostFactor) return {};
  return factor;
}

/// NAME=FACTOR of --kernel; what is none of the known words of --without is an operator.
std::string understood(const WhatIfArguments& given, WhatIfChanges& changes) {
  for (const auto& word : given.without) {
    if (const auto what = enum_from<Without>(word))
      changes.without.push_back(*what);
    else
      changes.operators.push_back(word);
  }
  for (const auto& word : given.with) changes.with.push_back(*enum_from<With>(word));
  for (const auto& word : given.kernels) {
    const auto equals = word.rfind('=');
    const auto factor =
        equals == std::string::npos ? std::nullopt : factor_in(word.substr(equals + 1));
    if (!factor || equals == 0)
      return fmt::format("--kernel {}: write NAME=FACTOR, such as sgemm=8", word);
    changes.kernels.push_back({word.substr(0, equals), *factor});
  }
  ask(changes, &WhatIfChanges::host, given.host);
  ask(changes, &WhatIfChanges::batch, given.batch);
  // A step with more in it is rarely shorter: the question is how long each item takes.
  changes.larger_batch = given.batch.value_or(1);
  if (!given.link.empty()) {
    const auto times = factor_in(given.link);
    ask(changes, &WhatIfChanges::link, times);
    if (!times) changes.link_bytes_per_s = find_link(given.link);
    if (!times && changes.link_bytes_per_s <= 0)
      return fmt::format(
          "--link {}: write how many times as fast, or a link such as NVLink4, PCIe5 or 50GB/s",
          given.link);
  }
  if (given.gpu.empty()) return {};
  const auto factor = factor_in(given.gpu);
  ask(changes, &WhatIfChanges::gpu, factor);
  if (!factor) changes.gpu_as = find_product(given.gpu);
  if (!factor && !changes.gpu_as)
    return fmt::format("--gpu {}: write how many times as fast, or a GPU such as H100", given.gpu);
  return {};
}

/// Answers for a folder with the captures of a job's ranks.
int what_if_of_ranks(const WhatIfArguments& given, const WhatIfChanges& changes) {
  const std::string& folder = given.input.trace;
  if (!changes.empty())
    return complain(
        fmt::format("{}: of a job of several ranks --rank and --micro-batches ask; other "
                    "changes are of one rank's capture",
                    folder),
        kWrongUsage);
  if (!given.input.counters.empty() || !given.input.power.empty())
    return complain("--counters and --power require a single capture", kWrongUsage);
  const std::string format = chosen_format(given.output);
  ProgressDisplay progress;
  RankInputs inputs{{folder}};
  inputs.max_bytes = given.input.max_bytes;
  inputs.threads = given.input.threads;
  inputs.graphs = given.input.graphs;
  inputs.devices = given.devices;
  if (given.window != "auto") inputs.window = given.window;
  auto loaded = load_ranks(inputs, progress.callback());
  progress.wipe();
  if (!loaded) return complain(loaded.error());
  for (const auto& error : loaded->failed) complain(error);
  if (!loaded->failed.empty()) return kBadInput;
  auto result = what_if_of_job(std::move(loaded->parts), given.job, worker_threads(inputs.threads));
  if (!result) {
    Error error = result.error();
    if (error.file.empty()) error.file = folder;
    return complain(error);
  }
  result->source.path = folder;
  Result<std::string> text = format == "json"
                                 ? json_line(*result)
                                 : what_if_text(*result, text_style(given.output.to_file()));
  return give_answer(given.output, folder, {}, text);
}

int give_what_if(const WhatIfArguments& given, const WhatIfChanges& changes, const Answer& answer) {
  const WindowInfo& window = answer.analysis.window;
  // The usual window is that of the step's time; all that the capture has runs again.
  const Interval span =
      given.window == "auto" ? kAllTime : Interval{window.start_ns, window.end_ns};
  auto result = what_if(*answer.context, changes, span);
  if (!result) {
    Error error = result.error();
    if (error.advice.empty()) error.advice = without_meant(changes);
    return complain(error);
  }
  result->source = answer.analysis.source;
  result->window = window;
  Result<std::string> text = chosen_format(given.output) == "json"
                                 ? json_line(*result)
                                 : what_if_text(*result, text_style(given.output.to_file()));
  return give_answer(given.output, given.input.trace, answer.missing, text);
}

int what_if_of(const WhatIfArguments& given) {
  WhatIfChanges changes = given.changes;
  if (const auto wrong = understood(given, changes); !wrong.empty())
    return complain(wrong, kWrongUsage);
  if (captures_of_folder(given.input.trace).size() > 1) return what_if_of_ranks(given, changes);
  if (given.job.rank || given.job.micro_batches != 1)
    return complain(given.input.trace + ": --rank and --micro-batches ask of a folder of ranks",
                    kWrongUsage);
  Question question;
  question.window = given.window;
  question.brief = true;
  question.findings = false;
  question.devices = given.devices;
  return with_answer(given.input, question, "has no device activities to run again",
                     [&](const Answer& answer) { return give_what_if(given, changes, answer); });
}

}  // namespace

Verb whatif_verb() {
  Verb verb{"whatif", "predict what a change would gain, by replaying a capture"};
  const auto options = std::make_shared<WhatIfArguments>();
  add_input_options(verb, options->input);
  verb.option("--without", options->without, "WHAT",
              "remove: sync, input, copies, allocations, compiling, communication, pauses, or "
              "operators whose name contains WHAT (repeatable)")
      .suggest(names_of_all<Without>())
      .each_time();
  verb.option("--with", options->with, "WHAT",
              "improve kernels: fused_optimizer, fused_attention, fused_elementwise, padded_sizes, "
              "tensor_cores, channels_last, one_layout, sparse_gradients (repeatable)")
      .of(names_of_all<With>())
      .each_time();
  verb.flag("--graph", "launch each step as one CUDA graph",
            [options] { options->changes.graph = true; });
  verb.option("--kernel", options->kernels, "NAME=K",
              "kernels whose name contains NAME run K times as fast (repeatable)")
      .each_time();
  verb.option("--gpu", options->gpu, "K|GPU",
              "all kernels run K times as fast, or as on the named GPU, by its ceilings")
      .suggest(names_of_gpus());
  verb.option("--host", options->host, "K", "the host runs K times as fast")
      .from(kLeastFactor, kMostFactor);
  verb.option("--link", options->link, "K|LINK",
              "communication runs K times as fast, or over a link such as NVLink4, PCIe5 or 50GB/s")
      .suggest(link_names());
  verb.option("--batch", options->batch, "K",
              "multiply the batch by K: copies and kernels with full grids take K times as long")
      .from(kLeastFactor, kMostFactor);
  verb.option("--rank", options->job.rank, "N",
              "for a folder of ranks: give rank N the host, GPU and input speed of its peers");
  verb.option("--micro-batches", options->job.micro_batches, "K",
              "for a folder of ranks: K times as many micro-batches, each 1/K of the size")
      .positive();
  add_window_option(verb, options->window);
  add_devices_option(verb, options->devices);
  add_output_options(verb, options->output, {"text", "json"});
  verb.run = [options] { return what_if_of(*options); };
  return verb;
}

}  // namespace gf::cli
