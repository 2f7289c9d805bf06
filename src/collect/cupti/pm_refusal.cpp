#include "collect/cupti/pm_refusal.h"

namespace gf {

PmRefusal refusal_of(CUptiResult code) {
  switch (code) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return PmRefusal::permission;
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return PmRefusal::in_use;
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_INVALID_DEVICE:
    case CUPTI_ERROR_CDP_TRACING_NOT_SUPPORTED:
      return PmRefusal::unsupported;
    default:
      return PmRefusal::other;
  }
}

const char* advice_for(PmRefusal why) {
  switch (why) {
    case PmRefusal::permission:
      return "run as root or with CAP_SYS_ADMIN, or load the driver with "
             "NVreg_RestrictProfilingToAdminUsers=0 (options nvidia in /etc/modprobe.d)";
    case PmRefusal::in_use:
      return "another profiler holds this GPU's counters: end it, or wait";
    case PmRefusal::unsupported:
      return "PM sampling needs Turing or newer, without vGPU, MIG or confidential computing";
    case PmRefusal::driver:
      return "PM sampling needs a driver for CUDA 12.6 or newer and a libcupti of the same "
             "generation";
    default:
      return "";
  }
}

}  // namespace gf
