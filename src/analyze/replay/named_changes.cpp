#include "analyze/replay/named_changes.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "model/chips.h"

namespace gf {

namespace {

constexpr std::string_view kWithout[] = {
// by Without
#define GF_WITHOUT(id, meaning) meaning,
#include "analyze/names/changes.def"
};
constexpr std::string_view kWith[] = {
// by With
#define GF_WITH(id, meaning) meaning,
#include "analyze/names/changes.def"
};

}  // namespace

std::vector<Named> each_of(const WhatIfChanges& changes) {
  std::vector<Named> all;
  const auto add = [&](std::string_view change, std::string_view meaning) -> WhatIfChanges& {
    all.push_back({std::string(change), std::string(meaning), {}});
    return all.back().changes;
  };
  for (const auto what : changes.without)
    add(name_of(what), kWithout[static_cast<std::size_t>(what)]).without = {what};
  for (const auto what : changes.with)
    add(name_of(what), kWith[static_cast<std::size_t>(what)]).with = {what};
  for (const auto& claim : changes.claims)
    add(claim.name(), "what the finding speaks of is gone").claims = {claim};
  for (const auto& part : changes.operators)
    add("without " + part, "without these operators").operators = {part};
  if (changes.graph) add(WhatIfChanges::kGraph, "launches as one graph").graph = true;
  const auto times = [&](std::string_view change, std::string_view what, std::string_view as,
                         double WhatIfChanges::* factor) {
    if (changes.has(factor))
      add(change, fmt::format("{} {:g} times as {}", what, changes.*factor, as)).*factor =
          changes.*factor;
  };
  times("host", "host", "fast", &WhatIfChanges::host);
  times("gpu", "kernels", "fast", &WhatIfChanges::gpu);
  if (changes.gpu_as)
    add(fmt::format("gpu {}", changes.gpu_as->pattern), "on this GPU, by ceilings").gpu_as =
        changes.gpu_as;
  times("link", "links", "fast", &WhatIfChanges::link);
  if (changes.link_bytes_per_s > 0)
    add("link", fmt::format("a link of {:g} GB/s", changes.link_bytes_per_s * 1e-9))
        .link_bytes_per_s = changes.link_bytes_per_s;
  times("batch", "batch", "large", &WhatIfChanges::batch);
  for (const auto& [part, factor] : changes.kernels)
    add("kernel " + part, fmt::format("these kernels {:g} times as fast", factor)).kernels = {
        {part, factor}};
  return all;
}

std::vector<Named> usual_changes() {
  WhatIfChanges changes;
#define GF_WITHOUT(id, meaning) changes.without.push_back(Without::id);
#include "analyze/names/changes.def"
#define GF_WITH(id, meaning) changes.with.push_back(With::id);
#include "analyze/names/changes.def"
  changes.graph = true;
  changes.host = changes.gpu = 2;
  return each_of(changes);
}

Named larger(double batch) {
  Named named{std::string(WhatIfChanges::kLargerBatch),
              fmt::format("x {:g}, time of an item", batch),
              {},
              batch};
  named.changes.batch = batch;
  return named;
}

}  // namespace gf
