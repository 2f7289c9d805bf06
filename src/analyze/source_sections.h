// What a capture is and how whole: the first sections of every answer.
#pragma once

#include "analyze/result.h"
#include "model/capture.h"

namespace gf {

inline SourceInfo source_of(const Capture& capture) {
  return {capture.path, capture.format, capture.framework, capture.events, capture.bytes};
}

inline std::vector<QualityNote> quality_of(const Capture& capture) {
  std::vector<QualityNote> notes;
  const auto& quality = capture.quality;
  for (std::size_t i = 0; i < quality.size(); ++i)
    notes.push_back({std::string(capture.text(quality.code[i])), quality.count[i],
                     std::string(capture.text(quality.detail[i]))});
  return notes;
}

}  // namespace gf
