// A libcuda.so.1 for machines without a GPU. Options of GPUFATHOM_FAKE: gpus, cuda (version), cuinit (error).
#include <cuda.h>

#include <cstdio>

#include "world.h"

extern "C" {

CUresult cuInit(unsigned) { return static_cast<CUresult>(static_cast<int>(fake::number("cuinit", 0))); }
CUresult cuDriverGetVersion(int* version) {
  *version = static_cast<int>(fake::number("cuda", 13000));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  *count = static_cast<int>(fake::number("gpus", 1));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char* out, int length, CUdevice device) {
  std::snprintf(out, static_cast<std::size_t>(length), "0000:%02X:00.0", device + 1);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute, CUdevice) {
  *value = 0;
  return CUDA_SUCCESS;
}

}  // extern "C"
