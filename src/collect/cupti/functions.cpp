#include "collect/cupti/functions.h"

#include <fmt/format.h>

namespace gf {

const char* CuptiFunctions::load(const Library& library) {
  const char* missing = nullptr;
#define X(entry)                                                        \
  entry = reinterpret_cast<decltype(&::entry)>(library.symbol(#entry)); \
  if (!entry && !missing) missing = #entry;
  GF_CUPTI_FUNCTIONS(X)
#undef X
  cuptiGetVersion = library.function<CUptiResult(std::uint32_t*)>("cuptiGetVersion");
  cuptiGetResultString =
      library.function<CUptiResult(CUptiResult, const char**)>("cuptiGetResultString");
  return missing;
}

std::string CuptiFunctions::text(CUptiResult code) const {
  const char* words = nullptr;
  if (cuptiGetResultString) cuptiGetResultString(code, &words);
  if (words) return fmt::format("{} ({})", words, static_cast<int>(code));
  return fmt::format("CUPTI error {}", static_cast<int>(code));
}

const char* DriverFunctions::load(const Library& library) {
  const char* missing = nullptr;
#define X(entry)                                                        \
  entry = reinterpret_cast<decltype(&::entry)>(library.symbol(#entry)); \
  if (!entry && !missing) missing = #entry;
  GF_DRIVER_FUNCTIONS(X)
#undef X
  return missing;
}

}  // namespace gf
