// Cost that the library in a recorded program adds to a launch in a window, beside CUPTI's
// itself: the four callbacks of one cudaLaunchKernel, with a CUPTI that does nothing, and the write
// of its record. Prints nanoseconds of processor time a launch. Usage: agent_calls [LAUNCHES]
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "collect/inject/agent/calls.h"
#include "collect/inject/agent/cupti_functions.h"
#include "collect/inject/agent/windows.h"
#include "collect/inject/stream.h"

namespace {

using namespace gf::inject;

double thread_seconds() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

void use_idle_cupti() {
  cupti.cuptiSubscribe = [](CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*) {
    return CUPTI_SUCCESS;
  };
  cupti.cuptiActivityEnable = [](CUpti_ActivityKind) { return CUPTI_SUCCESS; };
  cupti.cuptiActivityRegisterCallbacks = [](CUpti_BuffersCallbackRequestFunc,
                                            CUpti_BuffersCallbackCompleteFunc) {
    return CUPTI_SUCCESS;
  };
  cupti.cuptiActivityFlushAll = [](std::uint32_t) { return CUPTI_SUCCESS; };
  cupti.cuptiActivityGetNumDroppedRecords = [](CUcontext, std::uint32_t, std::size_t* lost) {
    *lost = 0;
    return CUPTI_SUCCESS;
  };
  cupti.cuptiEnableCallback = [](std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain,
                                 CUpti_CallbackId) { return CUPTI_SUCCESS; };
  cupti.cuptiGetCallbackName = [](CUpti_CallbackDomain, std::uint32_t, const char** name) {
    *name = "cudaLaunchKernel_v7000";
    return CUPTI_SUCCESS;
  };
}

/// As cudaLaunchKernel and the driver's call in it.
void launch(std::uint32_t number) {
  std::uint64_t kept[2] = {};
  CUpti_CallbackData calls[2]{};
  const auto tell = [&](int which, CUpti_ApiCallbackSite site) {
    calls[which].callbackSite = site;
    calls[which].correlationId = number;
    calls[which].correlationData = &kept[which];
    if (which == 0)
      on_call(nullptr, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
              &calls[0]);
    else
      on_call(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
              &calls[1]);
  };
  tell(0, CUPTI_API_ENTER);
  tell(1, CUPTI_API_ENTER);
  tell(1, CUPTI_API_EXIT);
  tell(0, CUPTI_API_EXIT);
}

/// Plays the recorder: a folder, and the lock in it. Starts this program anew within.
int start_recorded(char** words) {
  char folder[] = "/tmp/gpufathom-agent-calls-XXXXXX";
  if (!mkdtemp(folder)) return 1;
  const std::string lock = std::string(folder) + "/" + kRecorderFile;
  const int held = ::open(lock.c_str(), O_RDWR | O_CREAT, 0600);
  if (held < 0 || ::flock(held, LOCK_EX) != 0) return 1;
  setenv(kDirectory, folder, 1);
  ::execv("/proc/self/exe", words);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const char* folder = std::getenv(kDirectory);
  if (!folder) return start_recorded(argv);
  const int launches = argc > 1 ? std::atoi(argv[1]) : 1000000;
  use_idle_cupti();
  {
    const WindowLock lock;
    if (!begin_window(1)) return 1;
  }
  double least = 1e9;
  for (int round = 0; round < 5; ++round) {
    const double begin = thread_seconds();
    for (int i = 1; i <= launches; ++i) launch(static_cast<std::uint32_t>(i));
    least = std::min(least, (thread_seconds() - begin) / launches * 1e9);
  }
  fmt::print("{{\"agent_ns_a_launch\":{:.0f},\"launches\":{},\"rounds\":5}}\n", least, launches);
  std::fflush(stdout);
  const int removed = std::system(fmt::format("rm -rf '{}'", folder).c_str());
  std::_Exit(removed == 0 ? 0 : 1);  // the library's handlers would look for the recorder
}
