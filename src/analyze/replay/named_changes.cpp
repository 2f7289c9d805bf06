#include "analyze/replay/named_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "model/chips.h"

namespace gf {

namespace {

std::string_view meaning_of(Without what) {
  switch (what) {
    case Without::sync:
      return "no synchronization";
    case Without::input:
      return "input ready in time";
    case Without::copies:
      return "copies pinned, async";
    case Without::allocations:
      return "no device allocations";
    case Without::compiling:
      return "nothing compiled";
    case Without::communication:
      return "communication overlapped";
    case Without::pauses:
      return "no other host work";
  }
  return {};
}

Named taken_away(Without what) {
  Named named{std::string(name_of(what)), std::string(meaning_of(what)), {}};
  named.changes.without = {what};
  return named;
}

std::string_view meaning_of(With what) {
  switch (what) {
    case With::fused_optimizer:
      return "in one kernel";
    case With::fused_attention:
      return "in one kernel";
    case With::fused_elementwise:
      return "in fewer passes";
    case With::padded_sizes:
      return "multiples of 8";
    case With::tensor_cores:
      return "TF32 for FP32";
    case With::channels_last:
      return "NHWC throughout";
    case With::one_layout:
      return "no layout conversions";
    case With::sparse_gradients:
      return "of embeddings";
  }
  return {};
}

Named mended(With what) {
  Named named{std::string(name_of(what)), std::string(meaning_of(what)), {}};
  named.changes.with = {what};
  return named;
}

Named without_claim(const FindingClaim& claim) {
  Named named{std::string(claim.name()), "what the finding speaks of is gone", {}};
  named.changes.claims = {claim};
  return named;
}

Named as_one_graph() {
  Named named{"graph", "launches as one graph", {}};
  named.changes.graph = true;
  return named;
}

Named times(const char* change, const char* meaning, double factor, double WhatIfChanges::* what) {
  Named named{change, fmt::format(fmt::runtime(meaning), factor), {}};
  named.changes.*what = factor;
  return named;
}

}  // namespace

std::vector<Named> each_of(const WhatIfChanges& changes) {
  std::vector<Named> all;
  for (const auto what : changes.without) all.push_back(taken_away(what));
  for (const auto what : changes.with) all.push_back(mended(what));
  for (const auto& claim : changes.claims) all.push_back(without_claim(claim));
  for (const auto& part : changes.operators) {
    Named named{"without " + part, "without these operators", {}};
    named.changes.operators = {part};
    all.push_back(std::move(named));
  }
  if (changes.graph) all.push_back(as_one_graph());
  if (changes.has(&WhatIfChanges::host))
    all.push_back(times("host", "host {:g} times as fast", changes.host, &WhatIfChanges::host));
  if (changes.has(&WhatIfChanges::gpu))
    all.push_back(times("gpu", "kernels {:g} times as fast", changes.gpu, &WhatIfChanges::gpu));
  if (changes.gpu_as) {
    Named named{fmt::format("gpu {}", changes.gpu_as->pattern), "on this GPU, by ceilings", {}};
    named.changes.gpu_as = changes.gpu_as;
    all.push_back(std::move(named));
  }
  if (changes.has(&WhatIfChanges::link))
    all.push_back(times("link", "links {:g} times as fast", changes.link, &WhatIfChanges::link));
  if (changes.link_bytes_per_s > 0) {
    Named named{"link", fmt::format("a link of {:g} GB/s", changes.link_bytes_per_s * 1e-9), {}};
    named.changes.link_bytes_per_s = changes.link_bytes_per_s;
    all.push_back(std::move(named));
  }
  if (changes.has(&WhatIfChanges::batch))
    all.push_back(
        times("batch", "batch {:g} times as large", changes.batch, &WhatIfChanges::batch));
  for (const auto& [part, factor] : changes.kernels) {
    Named named{"kernel " + part, fmt::format("these kernels {:g} times as fast", factor), {}};
    named.changes.kernels = {{part, factor}};
    all.push_back(std::move(named));
  }
  return all;
}

std::vector<Named> usual_changes() {
  WhatIfChanges changes;
  changes.without = {Without::sync,        Without::input,     Without::copies,
                     Without::allocations, Without::compiling, Without::communication,
                     Without::pauses};
  changes.with = {With::fused_optimizer, With::fused_attention, With::fused_elementwise,
                  With::padded_sizes,    With::tensor_cores,    With::channels_last,
                  With::one_layout,      With::sparse_gradients};
  changes.graph = true;
  changes.host = changes.gpu = 2;
  return each_of(changes);
}

Named larger(double batch) {
  Named named{std::string(WhatIfChanges::kLargerBatch),
              fmt::format("{:g} times as large, time of an item", batch),
              {},
              batch};
  named.changes.batch = batch;
  return named;
}

}  // namespace gf
