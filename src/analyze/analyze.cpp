#include "analyze/analyze.h"

namespace gf {

Result<Analysis> analyze(const Capture& capture, const AnalyzeOptions& options, std::optional<Context>* context) {
  Analysis a;
  a.source = {capture.path, capture.format, capture.framework, capture.events, capture.bytes};
  for (std::size_t i = 0; i < capture.quality.size(); ++i)
    a.quality.push_back({std::string(capture.text(capture.quality.code[i])), capture.quality.count[i], std::string(capture.text(capture.quality.detail[i]))});
  if (context) context->emplace(Context{capture, options, {}, {}, {}, {}});
  return a;
}

}  // namespace gf
