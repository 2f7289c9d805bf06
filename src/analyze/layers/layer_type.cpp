#include "analyze/layers/layer_type.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>

#include "analyze/vocabulary.h"
#include "core/text.h"

namespace gf {
namespace {

using enum LayerType;

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

LayerType layer_of_operation(std::string_view name) { return layer_in(host_word(name)); }

LayerType layer_of_module(std::string_view path) {
  auto name = path.substr(path.find_last_of('.') + 1);
  if (const auto number = name.find_last_of('_'); number != std::string_view::npos)
    name = name.substr(0, number);
  return layer_in(word_of(NameKind::module, lower_case(name)));
}

LayerType layer_of_kernel(std::string_view name) { return layer_in(kernel_word(name)); }

std::string_view type_in_scope(std::string_view scope) {
  const std::size_t colon = scope.rfind(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view type = scope.substr(colon + 1);
  const bool word = std::ranges::all_of(
      type, [](unsigned char letter) { return std::isalnum(letter) || letter == '_'; });
  if (!word || type.empty() || !std::isupper(static_cast<unsigned char>(type[0]))) return {};
  return type;
}

bool names_scopes(const Capture& capture) { return capture.framework == "tensorflow"; }

std::string_view around_operation(std::string_view scope) {
  constexpr std::string_view kReplica = "replica_";
  if (scope.starts_with(kReplica)) {
    const std::size_t end = scope.find_first_not_of("0123456789", kReplica.size());
    if (end > kReplica.size() && end < scope.size() && scope[end] == '/')
      scope.remove_prefix(end + 1);
  }
  return scope.substr(0, std::min(scope.rfind('/'), scope.rfind(':')));
}

bool outer_decides(LayerType outer, LayerType inner) {
  return takes_over(outer) >> static_cast<unsigned>(inner) & 1u;
}

}  // namespace gf
