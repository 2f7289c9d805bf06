#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "analyze/analyze.h"
#include "capi/arrow.h"
#include "capi/gpufathom.h"
#include "core/when.h"
#include "import/importer.h"
#include "report/json.h"

struct gpufathom_capture {
  std::shared_ptr<const gf::Capture> capture;
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
  return fmt::format("the argument {} is NULL; only error and window may be", name);
}

}  // namespace

extern "C" {

int gpufathom_open(const char* path, gpufathom_capture** out, char** error) {
  return guarded(error, [&]() -> Message {
    if (!out) return null_argument("capture");
    *out = nullptr;
    if (!path) return null_argument("path");
    auto capture = gf::import_file(path);
    if (!capture) return capture.error().message();
    *out = new gpufathom_capture{std::make_shared<const gf::Capture>(std::move(*capture))};
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
  return guarded(error, [&]() -> Message {
    if (!capture) return null_argument("capture");
    if (!json) return null_argument("json");
    *json = nullptr;
    gf::AnalyzeOptions options;
    if (window) {
      options.window = window;
    } else {
      options.window = "all";
    }
    const auto analysis = gf::analyze(*capture->capture, options);
    if (!analysis) return analysis.error().message();
    std::string text;
    gf::to_json(text, *analysis);
    *json = copy(text);
    if (!*json) return "out of memory";
    return {};
  });
}

void gpufathom_free(char* text) { std::free(text); }
}
