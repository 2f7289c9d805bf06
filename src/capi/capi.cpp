#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "capi/arrow.h"
#include "capi/gpufathom.h"
#include "core/version.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/summary.h"
#include "session/answer.h"

struct gpufathom_capture {
  gf::Loaded loaded;
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
  return fmt::format("the argument {} must not be NULL", name);
}

Message no_such_table(const char* name) {
  return fmt::format("no table is called \"{}\" (there are: {})", name, gpufathom_tables());
}

/// The answer of the command line to the same options; of a counter report alone where that is
/// asked for.
gf::Result<gf::Answer> ask(const gpufathom_capture& capture, const gpufathom_options& asked,
                           bool report_alone) {
  gf::Question question;
  if (asked.window) question.window = asked.window;
  question.batch = asked.batch;
  if (asked.energy_model) question.model = asked.energy_model;
  if (asked.devices) question.devices = asked.devices;
  question.report_alone = report_alone;
  return gf::answer_question(capture.loaded, question);
}

/// The caller's options as this version's struct: shorter ones of older programs are filled with
/// defaults, longer ones of newer programs may ask for nothing that is not known here.
gf::Result<gpufathom_options> options_of(const gpufathom_options* given) {
  constexpr std::size_t kKnown = sizeof(gpufathom_options), kStep = sizeof(void*), kMost = 4096;
  gpufathom_options out{};
  if (!given) return out;
  const auto* bytes = reinterpret_cast<const char*>(given);
  const std::size_t size = given->size;
  if (size < kStep || size > kMost || size % kStep != 0)
    return gf::fail(fmt::format("options of {} bytes do not belong to this library", size), "", -1,
                    "set options.size = sizeof(gpufathom_options)");
  if (size > kKnown &&
      std::any_of(bytes + kKnown, bytes + size, [](char byte) { return byte != 0; }))
    return gf::fail("the options request what this version does not have", "", -1,
                    fmt::format("this is version {}: install a newer one", gf::kVersion));
  std::memcpy(&out, bytes, std::min(size, kKnown));
  return out;
}

gf::Result<std::string> written(const gf::Answer& answer, gpufathom_form form) {
  if (form == GPUFATHOM_PAGE) return gf::page_of(answer);
  std::string text;
  gf::to_json(text, answer.analysis);
  return text;
}

}  // namespace

extern "C" {

const char* gpufathom_version(void) { return gf::kVersion; }

int gpufathom_open(const char* path, gpufathom_capture** out, char** error) {
  return gpufathom_open_with(path, nullptr, nullptr, out, error);
}

int gpufathom_open_with(const char* path, const char* counters, const char* power,
                        gpufathom_capture** out, char** error) {
  return gpufathom_open_graphs(path, counters, power, nullptr, out, error);
}

int gpufathom_open_graphs(const char* path, const char* counters, const char* power,
                          const char* const* graphs, gpufathom_capture** out, char** error) {
  return guarded(error, [&]() -> Message {
    if (!out) return null_argument("capture");
    *out = nullptr;
    if (!path) return null_argument("path");
    gf::InputOptions wanted;
    wanted.trace = path;
    if (counters) wanted.counters = counters;
    if (power) wanted.power = power;
    for (; graphs && *graphs; ++graphs) wanted.graphs.emplace_back(*graphs);
    auto loaded = gf::load_capture(wanted, {});
    if (!loaded) return loaded.error().message();
    *out = new gpufathom_capture{std::move(*loaded)};
    return {};
  });
}

void gpufathom_close(gpufathom_capture* capture) { delete capture; }

const char* gpufathom_tables(void) {
  static const std::string names = [] {
    std::string all;
    gf::Tables{}.each_table(
        [&](const auto& table) { (all += all.empty() ? "" : ",") += table.kName; });
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
    if (gf::table_stream(capture->loaded.capture, table, *stream)) return {};
    return no_such_table(table);
  });
}

int gpufathom_shape(const gpufathom_capture* capture, const char* table, long long* rows,
                    char** columns, char** error) {
  return guarded(error, [&]() -> Message {
    if (!capture) return null_argument("capture");
    if (!table) return null_argument("table");
    if (!rows) return null_argument("rows");
    if (!columns) return null_argument("columns");
    *columns = nullptr;
    const auto shape = gf::table_shape(*capture->loaded.capture, table);
    if (!shape) return no_such_table(table);
    *rows = shape->rows;
    *columns = copy(fmt::format("{}", fmt::join(shape->columns, ",")));
    if (*columns) return {};
    return "out of memory";
  });
}

int gpufathom_analyze(const gpufathom_capture* capture, const char* window, char** json,
                      char** error) {
  if (!json) return guarded(error, [] { return Message(null_argument("json")); });
  gpufathom_options options{sizeof options, "all", 0, nullptr, nullptr};
  if (window) options.window = window;
  return gpufathom_report(capture, &options, GPUFATHOM_JSON, json, error);
}

int gpufathom_report(const gpufathom_capture* capture, const gpufathom_options* options,
                     gpufathom_form form, char** out, char** error) {
  char* missing = nullptr;
  const int failed = gpufathom_report_checked(capture, options, form, out, &missing, error);
  std::free(missing);
  return failed;
}

int gpufathom_missing(const gpufathom_capture* capture, char** missing, char** error) {
  return guarded(error, [&]() -> Message {
    if (!capture) return null_argument("capture");
    if (!missing) return null_argument("missing");
    *missing = copy(fmt::format("{}", fmt::join(gf::shortcomings(*capture->loaded.capture), "\n")));
    if (!*missing) return "out of memory";
    return {};
  });
}

int gpufathom_report_checked(const gpufathom_capture* capture, const gpufathom_options* options,
                             gpufathom_form form, char** out, char** missing, char** error) {
  return guarded(error, [&]() -> Message {
    if (!capture) return null_argument("capture");
    if (!out) return null_argument("text");
    if (!missing) return null_argument("missing");
    *out = *missing = nullptr;
    const auto asked = options_of(options);
    if (!asked) return asked.error().message();
    const auto answer = ask(*capture, *asked, true);
    if (!answer) return answer.error().message();
    const auto text = written(*answer, form);
    if (!text) return text.error().message();
    *out = copy(*text);
    *missing = copy(fmt::format("{}", fmt::join(answer->missing, "\n")));
    if (*out && *missing) return {};
    std::free(*out);
    std::free(*missing);
    *out = *missing = nullptr;
    return "out of memory";
  });
}

int gpufathom_kernels(const gpufathom_capture* capture, const char* window,
                      ArrowArrayStream* stream, char** error) {
  return guarded(error, [&]() -> Message {
    if (!capture) return null_argument("capture");
    if (!stream) return null_argument("stream");
    const auto answer =
        ask(*capture, {sizeof(gpufathom_options), window, 0, nullptr, nullptr}, false);
    if (!answer) return answer.error().message();
    if (!answer->context) return "the capture has no kernels";
    gf::kernels_stream(gf::attributed_kernels(answer->capture, *answer->context), *stream);
    return {};
  });
}

void gpufathom_free(char* text) { std::free(text); }
}
