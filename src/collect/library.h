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

}  // namespace gf
