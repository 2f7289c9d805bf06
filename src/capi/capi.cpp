#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "analyze/analyze.h"
#include "analyze/energy/model_file.h"
#include "analyze/kernel_rates/kernel_rates.h"
#include "capi/arrow.h"
#include "capi/gpufathom.h"
#include "capi/kernels.h"
#include "core/when.h"
#include "import/importer.h"
#include "model/counter_values.h"
#include "report/html/page.h"
#include "report/json.h"

struct gpufathom_capture {
  std::shared_ptr<const gf::Capture> capture;
  std::optional<gf::SourceInfo> counters;     // the counter report that was joined
  std::vector<gf::KernelRates> kernel_rates;  // by device, when samples stand in for a report
};

namespace {

char* copy(const std::string& text) {
  auto* out = static_cast<char*>(std::malloc(text.size() + 1));
  if (out) std::memcpy(out, text.c_str(), text.size() + 1);
  return out;
}

using Message = std::optional<std::string>;

/// Runs `body`, which gives an error message or nothing; no exception crosses the C border.
template <class F>
int guarded(char** error, F&& body) {
  Message message;
  try {
    message = body();
  } catch (const std::bad_alloc&) {
    message = "out of memory";
  } catch (const std::exception& thrown) {
    message = thrown.what();
  } catch (...) {
    message = "failed for an unknown reason";
  }
  if (!message) return 0;
  if (error) *error = copy(*message);
  return 1;
}

Message null_argument(const char* name) {
  return fmt::format("the argument {} is NULL; this one may not be", name);
}

/// Whether two files that are to be joined hold what they should.
gf::Status join(gf::Capture& capture, const char* path, bool counters) {
  auto other = gf::import_file(path);
  if (!other) return tl::unexpected(other.error());
  if (counters && other->report_kernels.empty())
    return gf::fail("holds no kernel counters", path, -1,
                    "a report of Nsight Compute is wanted: .ncu-rep, or its CSV");
  if (!counters && !gf::holds_counter_values(*other))
    return gf::fail("holds no power samples", path, -1,
                    "a log of nvidia-smi or NVML as CSV is wanted");
  capture.join(*other);
  return {};
}

/// As the command line reads it: joined with what was measured beside it.
gf::Result<gpufathom_capture> open_joined(const char* path, const char* counters,
                                          const char* power) {
  auto capture = gf::import_file(path);
  if (!capture) return tl::unexpected(capture.error());
  gpufathom_capture opened;
  const bool has_samples =
      capture->format == "gpufathom_record" || capture->format == "nsight_systems";
  if (counters) {
    opened.counters = gf::SourceInfo{counters, "", "", 0, 0};
    if (auto joined = join(*capture, counters, true); !joined)
      return tl::unexpected(joined.error());
  } else if (has_samples) {
    opened.kernel_rates = gf::add_solved_counters(*capture);
    if (!opened.kernel_rates.empty())
      opened.counters = gf::SourceInfo{capture->path, "kernel_rates", "", 0, 0};
  }
  if (power) {
    if (auto joined = join(*capture, power, false); !joined) return tl::unexpected(joined.error());
    opened.kernel_rates.clear();  // they knew neither its samples nor its devices
  }
  opened.capture = std::make_shared<const gf::Capture>(std::move(*capture));
  return opened;
}

struct Analysed {
  gf::Analysis analysis;
  std::optional<gf::Context> context;
};

gf::Result<Analysed> analyse(const gpufathom_capture& capture, const gpufathom_options& asked) {
  gf::AnalyzeOptions options;
  options.window = "auto";
  if (asked.window) options.window = asked.window;
  options.batch = asked.batch;
  std::optional<gf::EnergyModelFile> model;
  if (asked.energy_model) {
    auto read = gf::read_energy_model(asked.energy_model);
    if (!read) return tl::unexpected(read.error());
    model = std::move(*read);
    options.energy_model = &*model;
  }
  if (!capture.kernel_rates.empty()) options.kernel_rates = &capture.kernel_rates;
  Analysed out;
  auto analysis = gf::analyze(*capture.capture, options, &out.context);
  if (!analysis) return tl::unexpected(analysis.error());
  out.analysis = std::move(*analysis);
  out.analysis.counters_source = capture.counters;
  return out;
}

gf::Result<std::string> written(const Analysed& analysed, gpufathom_form form) {
  if (form == GPUFATHOM_PAGE)
    return gf::analysis_html(analysed.analysis, analysed.context ? &*analysed.context : nullptr);
  std::string text;
  gf::to_json(text, analysed.analysis);
  return text;
}

}  // namespace

extern "C" {

int gpufathom_open(const char* path, gpufathom_capture** out, char** error) {
  return gpufathom_open_with(path, nullptr, nullptr, out, error);
}

int gpufathom_open_with(const char* path, const char* counters, const char* power,
                        gpufathom_capture** out, char** error) {
  return guarded(error, [&]() -> Message {
    if (!out) return null_argument("capture");
    *out = nullptr;
    if (!path) return null_argument("path");
    auto capture = open_joined(path, counters, power);
    if (!capture) return capture.error().message();
    *out = new gpufathom_capture(std::move(*capture));
    return {};
  });
}

void gpufathom_close(gpufathom_capture* capture) { delete capture; }

const char* gpufathom_tables(void) {
  static const std::string names = [] {
    std::string all;
    gf::Tables{}.each_table(
        [&](const auto& table) { (all += gf::when(!all.empty(), ",")) += table.kName; });
    return all;
  }();
  return names.c_str();
}

int gpufathom_table(const gpufathom_capture* capture, const char* table, ArrowArrayStream* stream,
                    char** error) {
  return guarded(error, [&]() -> Message {
    if (!capture) return null_argument("capture");
    if (!table) return null_argument("table");
    if (!stream) return null_argument("stream");
    if (gf::table_stream(capture->capture, table, *stream)) return {};
    return std::string("no table is called \"") + table + "\" (there are: " + gpufathom_tables() +
           ")";
  });
}

int gpufathom_analyze(const gpufathom_capture* capture, const char* window, char** json,
                      char** error) {
  if (!json) return guarded(error, [] { return Message(null_argument("json")); });
  gpufathom_options options{"all", 0, nullptr};
  if (window) options.window = window;
  return gpufathom_report(capture, &options, GPUFATHOM_JSON, json, error);
}

int gpufathom_report(const gpufathom_capture* capture, const gpufathom_options* options,
                     gpufathom_form form, char** out, char** error) {
  return guarded(error, [&]() -> Message {
    if (!capture) return null_argument("capture");
    if (!out) return null_argument("text");
    *out = nullptr;
    const auto analysed = analyse(*capture, options ? *options : gpufathom_options{});
    if (!analysed) return analysed.error().message();
    const auto text = written(*analysed, form);
    if (!text) return text.error().message();
    *out = copy(*text);
    if (!*out) return "out of memory";
    return {};
  });
}

int gpufathom_kernels(const gpufathom_capture* capture, const char* window,
                      ArrowArrayStream* stream, char** error) {
  return guarded(error, [&]() -> Message {
    if (!capture) return null_argument("capture");
    if (!stream) return null_argument("stream");
    const auto analysed = analyse(*capture, {window, 0, nullptr});
    if (!analysed) return analysed.error().message();
    if (!analysed->context) return "the capture holds no kernels";
    gf::kernels_stream(gf::attributed_kernels(capture->capture, *analysed->context), *stream);
    return {};
  });
}

void gpufathom_free(char* text) { std::free(text); }
}
