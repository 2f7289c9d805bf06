#include "session/answer.h"

#include "analyze/report_alone.h"
#include "analyze/sampled/sampled.h"
#include "report/summary.h"
#include "session/shipped.h"

namespace gf {

namespace {

Result<Analysis> analyze_window(const Capture& capture, AnalyzeOptions options,
                                std::optional<Context>& context) {
  if (!options.window.empty()) return analyze(capture, options, &context);
  options.window = holds_only_samples(capture) ? "stable" : "steps";
  if (auto analysis = analyze(capture, options, &context)) return analysis;
  options.window = "all";
  return analyze(capture, options, &context);
}

/// A copy with a time line: the tables of the report itself stay as they were read.
std::shared_ptr<const Capture> laid_out(const Capture& report) {
  auto copy = std::make_shared<Capture>();
  copy->path = report.path;
  copy->format = report.format;
  copy->framework = report.framework;
  copy->events = report.events;
  copy->bytes = report.bytes;
  copy->join(report);
  lay_out_report(*copy);
  return copy;
}

}  // namespace

Result<Answer> answer_question(const Loaded& loaded, const Question& question) {
  Answer answer;
  answer.capture = loaded.capture;
  AnalyzeOptions options = question;
  if (!loaded.kernel_rates.empty()) options.kernel_rates = &loaded.kernel_rates;
  const bool report_alone = question.report_alone && holds_only_report(*loaded.capture);
  if (report_alone) {
    answer.capture = laid_out(*loaded.capture);
    options.window = "all";
  }
  auto model = find_energy_model(question.model, *answer.capture);
  if (!model) return tl::unexpected(model.error());
  if (*model) {
    answer.model = std::make_unique<EnergyModelFile>(std::move(**model));
    options.energy_model = answer.model.get();
  }
  auto analysis = analyze_window(*answer.capture, options, answer.context);
  if (!analysis) return tl::unexpected(analysis.error());
  analysis->counters_source = loaded.counters;
  if (report_alone) forget_time_line(*analysis);
  answer.missing = shortcomings(*analysis);
  if (!loaded.power.empty() && analysis->energy.devices.empty())
    answer.missing.push_back("no energy from " + loaded.power + ": " +
                             analysis->energy.why_missing);
  answer.analysis = std::move(*analysis);
  return answer;
}

}  // namespace gf
