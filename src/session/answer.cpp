#include "session/answer.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <filesystem>
#include <set>

#include "analyze/attribution/attribution.h"
#include "analyze/context.h"
#include "analyze/report_alone.h"
#include "analyze/sampled/sampled.h"
#include "core/files.h"
#include "core/version.h"
#include "import/telemetry/log_devices.h"
#include "import/telemetry/timestamps.h"
#include "model/counter_values.h"
#include "model/formats.h"
#include "model/ledger/ledger.h"
#include "report/summary.h"

namespace gf {

namespace {

namespace files = std::filesystem;

/// The folder of what this code was linked into: the program, or libgpufathom.so in another one.
files::path own_folder() {
  static const char within = 0;
  Dl_info info{};
  link_map* linked = nullptr;
  std::string file = "/proc/self/exe";
  if (dladdr1(&within, &info, reinterpret_cast<void**>(&linked), RTLD_DL_LINKMAP) && linked &&
      linked->l_name && *linked->l_name)  // the program itself has no name there
    file = linked->l_name;
  std::error_code ignored;
  return files::canonical(file, ignored).parent_path();
}

}  // namespace

// The path to which `cmake --install` put it, seen from the program or from the library, in a
// wheel, or beside a build folder.
std::string shipped_file(const std::string& folder, const std::string& name) {
  std::error_code ignored;
  const auto own = own_folder();
  if (own.empty()) return {};  // moved meanwhile: the working directory is not asked instead
  for (const char* share :
       {kProgramToData, kLibraryToData, "../share/gpufathom", "../share", "../docs"})
    if (const auto file = own / share / folder / name; files::exists(file, ignored))
      return file.lexically_normal().string();
  return {};
}

std::string product_of(const Capture& capture) {
  for (std::size_t device = 0; device < capture.devices.size(); ++device)
    if (const auto name = capture.text(capture.devices.name[device]); !name.empty())
      return std::string(name);
  return {};
}

Result<std::optional<EnergyModelFile>> find_energy_model(const std::string& asked,
                                                         const Capture& capture) {
  const std::string product = product_of(capture);
  std::string path = asked;
  if (path.empty() && !product.empty()) path = shipped_file("energy", energy_model_name(product));
  if (path.empty()) return std::nullopt;
  auto read = read_energy_model(path);
  if (!read) return tl::unexpected(read.error());
  const EnergyModel& model = read->model;
  if (!product.empty() && !model.gpu.empty() && model.gpu != product)
    return fail(fmt::format("is a model of {}, and the capture is of {}", model.gpu, product), path,
                -1,
                "energies of one chip say nothing of another: calibrate on a GPU of the same kind");
  return std::move(*read);
}

Result<std::optional<EnergyModelFile>> shipped_energy_model(const std::string& product) {
  const auto path = shipped_file("energy", energy_model_name(product));
  if (path.empty()) return std::nullopt;
  auto read = read_energy_model(path);
  if (!read) return tl::unexpected(read.error());
  return std::move(*read);
}

Result<std::optional<CeilingsFile>> find_ceilings(const std::string& asked,
                                                  const Capture& capture) {
  const std::string product = product_of(capture);
  std::string path = asked;
  if (path.empty() && !product.empty()) path = shipped_file("ceilings", ceilings_name(product));
  if (path.empty()) return std::nullopt;
  const auto text = read_small_file(path);
  if (!text) return tl::unexpected(text.error());
  auto file = parse_ceilings(*text, path);
  if (!file) return tl::unexpected(file.error());
  if (!product.empty() && !file->gpu.empty() && file->gpu != product)
    return fail(fmt::format("was measured on {}, and the capture is of {}", file->gpu, product),
                path, -1, "measure the ceilings on a GPU of the same kind");
  return std::optional<CeilingsFile>(std::move(*file));
}

Result<std::string> page_of(const Answer& answer, PageOrder order) {
  if (!answer.context) return analysis_html(answer.analysis, nullptr, order);
  const auto ceilings = find_ceilings({}, answer.context->capture);
  if (!ceilings) return tl::unexpected(ceilings.error());
  return analysis_html(answer.analysis, &*answer.context, order,
                       ceilings->has_value() ? &**ceilings : nullptr);
}

namespace {

ImportOptions import_options(const InputOptions& wanted, const Progress& progress) {
  ImportOptions options;
  options.max_bytes = wanted.max_bytes;
  options.threads = wanted.threads;
  options.progress = progress;
  return options;
}

}  // namespace

Result<std::vector<Capture>> read_graphs(const std::vector<std::string>& paths,
                                         const ImportOptions& options) {
  std::vector<Capture> traces;
  for (const auto& path : paths) {
    auto trace = import_file(path, options);
    if (!trace) return tl::unexpected<Error>(trace.error());
    traces.push_back(std::move(*trace));
  }
  return traces;
}

Error nothing_for_graphs(const std::string& path) {
  return {"no kernel of a graph without an operator, for which --graphs would tell one", path, -1,
          "--graphs goes with a trace that has the kernels of CUDA graphs"};
}

Result<Loaded> load_capture(const InputOptions& wanted, const Progress& progress) {
  auto trace = import_file(wanted.trace, import_options(wanted, progress));
  if (!trace) return tl::unexpected<Error>(trace.error());
  return join_measured(std::move(*trace), wanted, progress);
}

namespace {

/// The readings of a log that does not say which GPU they are of belong to the one that worked. Of
/// several that is the first, and a note says so.
void place_readings(const Capture& capture, Capture& log) {
  if (log.metadata_value(telemetry::kGpuOfLog).empty() || log.devices.size() != 1) return;
  std::set<std::int32_t> worked;
  for (const auto device : capture.activities.device)
    if (device < capture.devices.size()) worked.insert(capture.devices.id[device]);
  if (worked.empty()) return;
  log.devices.id[0] = *worked.begin();
  if (worked.size() > 1)
    log.note_quality(QualityCode::assumed_device,
                     fmt::format("the power log does not say which of {} GPUs it is of: its "
                                 "readings are taken as those of GPU {}; log index too",
                                 worked.size(), log.devices.id[0]));
}

}  // namespace

Result<Loaded> join_measured(Capture trace, const InputOptions& wanted, const Progress& progress) {
  const ImportOptions options = import_options(wanted, progress);
  const auto zone = telemetry::parse_zone(wanted.zone);
  Loaded loaded;
  loaded.threads = wanted.threads;
  const auto capture = std::make_shared<Capture>(std::move(trace));
  if (zone) telemetry::leave_local_time(*capture, *zone);
  link_captured_nodes(*capture);
  if (!wanted.graphs.empty()) {
    const auto others = read_graphs(wanted.graphs, options);
    if (!others) return tl::unexpected<Error>(others.error());
    const auto told = link_captured_nodes(*capture, *others);
    if (!told) return tl::unexpected<Error>(told.error());
    if (*told == 0 && !wanted.among_others)
      return tl::unexpected(nothing_for_graphs(capture->path));
    loaded.told_by_graphs = *told;
  }
  if (!wanted.counters.empty()) {
    const auto report = import_file(wanted.counters, options);
    if (!report) return tl::unexpected<Error>(report.error());
    if (report->report_kernels.empty())
      return fail("contains no kernel counters", wanted.counters, -1,
                  "--counters requires a report of Nsight Compute: .ncu-rep, or its CSV from `ncu "
                  "--import FILE --csv --page raw`");
    loaded.counters = source_of(*report);
    capture->join(*report);
  } else if (says(capture->format, kSamplesBesideKernels)) {
    // Kernels recorded beside counter samples (Nsight Systems: --gpu-metrics-devices): the samples
    // taken apart stand in for a report.
    loaded.kernel_rates = add_solved_counters(*capture);
    if (!loaded.kernel_rates.empty())
      loaded.counters = SourceInfo{capture->path, "kernel_rates", "", 0, 0};
  }
  if (!wanted.power.empty()) {
    auto log = import_file(wanted.power, options);
    if (!log) return tl::unexpected<Error>(log.error());
    if (zone) telemetry::leave_local_time(*log, *zone);
    if (!holds_counter_values(*log))
      return fail("contains no power samples", wanted.power, -1,
                  "--power requires a log of nvidia-smi or NVML as CSV");
    place_readings(*capture, *log);
    capture->join(*log);
    check_cover(*capture);
    loaded.kernel_rates.clear();  // they knew neither its samples nor its devices
    loaded.power = wanted.power;
  }
  loaded.capture = capture;
  return loaded;
}

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

/// The power log that was given, or that was joined into the capture file; empty: none was.
std::string power_log_of(const Loaded& loaded) {
  if (!loaded.power.empty()) return loaded.power;
  constexpr std::string_view kJoined = "joined_";
  const Capture& capture = *loaded.capture;
  for (std::size_t row = 0; row < capture.metadata.size(); ++row)
    if (const auto key = capture.text(capture.metadata.key[row]);
        key.starts_with(kJoined) && says(key.substr(kJoined.size()), kLog))
      return std::string(capture.text(capture.metadata.value[row]));
  return {};
}

}  // namespace

Result<Answer> answer_question(const Loaded& loaded, const Question& question) {
  if (question.progress && !question.progress("analyzing", -1))
    return fail("stopped", loaded.capture->path);
  Answer answer;
  answer.capture = loaded.capture;
  AnalyzeOptions options = question;
  if (!options.threads) options.threads = loaded.threads;
  if (!loaded.kernel_rates.empty()) options.kernel_rates = &loaded.kernel_rates;
  const bool report_alone = question.report_alone && holds_only_report(*loaded.capture);
  if (report_alone && question.window != "auto" && question.window != "all")
    return fail(
        fmt::format("--window {}: a counter report has no times", question.window),
        loaded.capture->path, -1,
        "leave it out, or give a trace of the same program, and the report with --counters");
  if (report_alone) {
    answer.capture = laid_out(*loaded.capture);
    options.window = "all";
    options.brief = false;  // what its time line would say is no part of the answer
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
  if (const auto power = power_log_of(loaded); !power.empty() && analysis->energy.devices.empty())
    answer.missing.push_back("no energy from " + power + ": " + analysis->energy.why_missing);
  answer.analysis = std::move(*analysis);
  return answer;
}

}  // namespace gf
