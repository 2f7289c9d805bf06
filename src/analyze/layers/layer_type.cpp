#include "analyze/layers/layer_type.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>

#include "core/text.h"

namespace gf {
namespace {

using enum LayerType;

/// Libraries whose names hold the word of a layer type ("gemm") without being one.
constexpr std::string_view kLibraries[] = {"fbgemm"};

LayerType first_fit(std::span<const LayerPattern> patterns, std::string_view name) {
  std::string lower = lower_case(name);
  for (const auto library : kLibraries)
    for (auto at = lower.find(library); at != std::string::npos; at = lower.find(library, at))
      lower.erase(at, library.size());
  const LetterPairs pairs(lower);
  for (const auto& pattern : patterns)
    if (pairs.may_hold(pattern.glob) && glob_match(pattern.glob, lower)) return pattern.type;
  return other;
}

/// A kernel's name without the list of its parameters, whose types ("curandState *") say nothing of
/// what it does.
std::string_view without_parameters(std::string_view name) {
  if (!name.ends_with(')')) return name;
  int depth = 0;
  for (auto at = name.size(); at-- > 0;) {
    if (name[at] == ')') ++depth;
    if (name[at] == '(' && --depth == 0) return at == 0 ? name : name.substr(0, at);
  }
  return name;
}

bool is_triton_fused(std::string_view name) {
  return name.starts_with("triton_poi_") || name.starts_with("triton_red_") ||
         name.starts_with("triton_per_");
}

/// "triton_poi_fused__to_copy_view_3": every operation in it only copies, converts or reshapes.
/// With arithmetic beside them the cast costs nothing of its own.
bool only_copies(std::string_view name) {
  static constexpr std::string_view kStart = "triton_poi_fused_";
  static constexpr std::string_view kWords[] = {
      "to",     "copy",       "clone",     "view",   "unsafe",  "permute", "transpose",
      "t",      "squeeze",    "unsqueeze", "expand", "reshape", "select",  "slice",
      "detach", "contiguous", "alias",     "as",     "strided"};
  if (!name.starts_with(kStart)) return false;
  bool copies = false;
  for (auto rest = name.substr(kStart.size()); !rest.empty();) {
    const auto end = std::min(rest.find('_'), rest.size());
    const auto word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (word.find_first_not_of("0123456789") == std::string_view::npos) continue;
    if (std::ranges::find(kWords, word) == std::end(kWords)) return false;
    copies |= word == "copy" || word == "clone";
  }
  return copies;
}

LayerType layer_of_fused(std::string_view name) {
  return only_copies(name) ? copy : first_fit(fused_triton_patterns(), name);
}

constexpr std::uint32_t set_of(std::initializer_list<LayerType> types) {
  std::uint32_t bits = 0;
  for (const auto type : types) bits |= 1u << static_cast<unsigned>(type);
  return bits;
}

// For each outer type the inner types it takes over.
constexpr std::uint32_t takes_over(LayerType outer) {
  constexpr std::uint32_t simple = set_of({elementwise, reduction, data_movement});
  switch (outer) {
    case attention:
      return simple | set_of({matmul, softmax, random, activation});
    case convolution:
      return simple | set_of({matmul});
    case normalisation:
    case pooling:
      return simple;
    case matmul:
      return set_of({elementwise, reduction});
    case loss:
      return simple | set_of({softmax});
    case embedding:
      return simple;
    case recurrent:
      return simple | set_of({matmul, activation, random});
    case optimiser:
      return simple | set_of({matmul, activation});
    case softmax:
      return set_of({elementwise, reduction});
    default:
      return 0;
  }
}

}  // namespace

LayerType layer_of_operation(std::string_view name) {
  if (is_triton_fused(name)) return layer_of_fused(name);
  if (name.starts_with("triton_")) return layer_of_kernel(name);
  return first_fit(operation_patterns(), name);
}

LayerType layer_of_module(std::string_view path) {
  auto name = path.substr(path.find_last_of('.') + 1);
  if (const auto number = name.find_last_of('_'); number != std::string_view::npos)
    name = name.substr(0, number);
  return first_fit(module_patterns(), name);
}

LayerType layer_of_kernel(std::string_view name) {
  if (is_triton_fused(name)) return layer_of_fused(name);
  return first_fit(kernel_patterns(), without_parameters(name));
}

std::string_view type_in_scope(std::string_view scope) {
  const std::size_t colon = scope.rfind(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view type = scope.substr(colon + 1);
  const bool word = std::ranges::all_of(
      type, [](unsigned char letter) { return std::isalnum(letter) || letter == '_'; });
  if (!word || type.empty() || !std::isupper(static_cast<unsigned char>(type[0]))) return {};
  return type;
}

bool outer_decides(LayerType outer, LayerType inner) {
  return takes_over(outer) >> static_cast<unsigned>(inner) & 1u;
}

}  // namespace gf
