// What a capture is and how whole: the first section of every answer.
#pragma once

#include "analyze/result.h"
#include "model/capture.h"

namespace gf {

inline void describe_source(const Capture& capture, Analysis& analysis) {
  analysis.source = {capture.path, capture.format, capture.framework, capture.events,
                     capture.bytes};
  const auto& quality = capture.quality;
  for (std::size_t i = 0; i < quality.size(); ++i)
    analysis.quality.push_back({std::string(capture.text(quality.code[i])), quality.count[i],
                                std::string(capture.text(quality.detail[i]))});
}

}  // namespace gf
