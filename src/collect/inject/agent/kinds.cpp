#include "collect/inject/agent/kinds.h"

#include <cupti.h>

#include <string>

#include "collect/inject/agent/cupti_functions.h"
#include "collect/inject/agent/writer.h"

namespace gf::inject {

namespace {

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                         CUPTI_ACTIVITY_KIND_MEMSET};
bool traced = false;

}  // namespace

void trace(bool anew) {
  if (traced && !anew) return;
  for (const auto kind : kKinds)
    if (const auto code = cupti.cuptiActivityEnable(kind); code != CUPTI_SUCCESS)
      Writer::instance().message("activity kind " + std::to_string(kind) + ": " + words(code));
  traced = true;
}

}  // namespace gf::inject
