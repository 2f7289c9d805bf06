// Where a step cannot begin: inside something that the host does as one.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/host_threads.h"
#include "model/capture.h"

namespace gf {

class EnclosingSpans {
 public:
  EnclosingSpans(const Capture& capture, const std::vector<std::uint32_t>& launch,
                 const HostThreads& host);

  /// True when one graph launch, or one framework operation or module call, launched both
  /// activities.
  bool share(std::uint32_t activity, std::uint32_t other) const;

 private:
  struct Outermost {
    Nanos start, end;
  };
  const Capture& capture_;
  const std::vector<std::uint32_t>& launch_;
  std::vector<std::vector<Outermost>>
      by_thread_;  // by start; ends ascend too: what another span encloses is left out
};

}  // namespace gf
