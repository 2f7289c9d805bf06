#include "collect/record/mps.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace gf {

bool mps_serves() {
  std::string folder = "/tmp/nvidia-mps";
  if (const char* said = std::getenv("CUDA_MPS_PIPE_DIRECTORY"); said && *said) folder = said;
  return ::access((folder + "/control").c_str(), F_OK) == 0;
}

}  // namespace gf
