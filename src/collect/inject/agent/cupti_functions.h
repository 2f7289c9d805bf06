// The functions of CUPTI that the library calls, found at run time.
#pragma once

#include <cupti.h>

#include <string>

namespace gf::inject {

#define GF_ACTIVITY_FUNCTIONS(X)       \
  X(cuptiSubscribe)                    \
  X(cuptiUnsubscribe)                  \
  X(cuptiActivityEnable)               \
  X(cuptiActivityDisable)              \
  X(cuptiActivityRegisterCallbacks)    \
  X(cuptiActivityFlushAll)             \
  X(cuptiActivityGetNextRecord)        \
  X(cuptiActivityGetNumDroppedRecords) \
  X(cuptiEnableCallback)               \
  X(cuptiGetCallbackName)              \
  X(cuptiGetResultString)
#define GF_OPTIONAL_FUNCTIONS(X)            \
  X(cuptiGetGraphNodeId)                    \
  X(cuptiSubscribe_v2)                      \
  X(cuptiActivityRegisterTimestampCallback) \
  X(cuptiActivityFlushPeriod)

struct CuptiFunctions {
#define X(name) decltype(&::name) name = nullptr;
  GF_ACTIVITY_FUNCTIONS(X)
  GF_OPTIONAL_FUNCTIONS(X)
#undef X
};
extern CuptiFunctions cupti;

/// Empty, or why CUPTI cannot be used.
std::string load_cupti();
/// CUPTI's words for its own result.
std::string words(CUptiResult code);

}  // namespace gf::inject
