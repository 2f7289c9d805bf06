#include "analyze/idle/shorten.h"

#include <fmt/format.h>

namespace gf {

namespace {

void shorten(std::vector<NamedTime>& names, std::size_t most) {
  if (names.size() <= most) return;
  NamedTime others{fmt::format("({} others)", names.size() - most + 1), 0};
  for (std::size_t i = most - 1; i < names.size(); ++i) others.ns += names[i].ns;
  names.resize(most - 1);
  names.push_back(std::move(others));
}

}  // namespace

void shorten_idle_names(Analysis& analysis, std::size_t most) {
  if (most == 0) return;
  for (auto& device : analysis.devices)
    for (auto& cause : device.idle) {
      shorten(cause.operators, most);
      shorten(cause.modules, most);
    }
}

}  // namespace gf
