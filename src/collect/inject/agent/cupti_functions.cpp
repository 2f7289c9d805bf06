#include "collect/inject/agent/cupti_functions.h"

#include "collect/library.h"

namespace gf::inject {

constinit CuptiFunctions cupti{};

std::string load_cupti() {
  auto library = open_cupti();
  if (!library) return library.error().what;
#define X(name) cupti.name = reinterpret_cast<decltype(&::name)>(library->symbol(#name));
  GF_ACTIVITY_FUNCTIONS(X)
  GF_OPTIONAL_FUNCTIONS(X)
#undef X
#define X(name) \
  if (!cupti.name) return library->path() + " lacks " #name;
  GF_ACTIVITY_FUNCTIONS(X)
#undef X
  return {};
}

std::string words(CUptiResult code) {
  const char* text = nullptr;
  cupti.cuptiGetResultString(code, &text);
  return text ? text : "error " + std::to_string(static_cast<int>(code));
}

}  // namespace gf::inject
