// Vendor libraries are found at run time, so that the program runs anywhere, GPU or not.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"

namespace gf {

/// A shared library opened with dlopen, closed never: drivers do not survive being unloaded.
class Library {
 public:
  /// Opens the first name that loads. Looked at in this order: the directories of
  /// GPUFATHOM_LIBRARY_PATH (colon separated), a copy that the process already holds (RTLD_NOLOAD),
  /// then the names as the dynamic linker finds them.
  static Result<Library> open(const std::vector<std::string>& names);
  /// The address of a symbol, null when absent.
  void* symbol(const char* name) const;
  template <class F>
  F* function(const char* name) const {
    return reinterpret_cast<F*>(symbol(name));
  }
  const std::string& name() const { return name_; }
  /// The file that was loaded, as the dynamic linker knows it; the name when it does not say.
  std::string path() const;

 private:
  void* handle_ = nullptr;
  std::string name_;
};

// Paths of CUPTI: several copies exist on a usual machine (toolkit, PyTorch's wheel, Nsight
// Compute).

/// Opens libcupti (13, then 12) and the two libraries it needs beside it. Looked at in this order:
/// GPUFATHOM_LIBRARY_PATH, a copy that the process already holds, the dynamic linker's places,
/// Python environments (VIRTUAL_ENV, CONDA_PREFIX, the python3 of PATH), toolkits (CUDA_HOME,
/// CUDA_PATH, /usr/local/cuda*).
Result<Library> open_cupti();

/// The folders of Python environments and toolkits that hold a libcupti here, in that order.
std::vector<std::string> cupti_directories();

}  // namespace gf
