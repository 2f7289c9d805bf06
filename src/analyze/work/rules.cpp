#include "analyze/work/rules.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace gf::work {
namespace {

using Table = std::unordered_map<std::string_view, const Rule*>;

Table table_of_rules() {
  Table table;
  for (const auto rules :
       {product_rules(), convolution_rules(), attention_rules(), normalisation_rules(),
        embedding_rules(), optimiser_rules(), pooling_rules(), reduction_rules(),
        elementwise_rules(), movement_rules()})
    for (const auto& rule : rules) table.emplace(rule.name, &rule);
  return table;
}

std::optional<Work> fused(const Call& call, const Program&) { return fused_work(call); }
constexpr Rule kFused{"triton_", WorkFamily::fused, fused};

}  // namespace

bool is_in_place(std::string_view operation) {
  return operation.ends_with('_') && !operation.ends_with("__");
}

const Rule* rule_of(std::string_view operation) {
  static const Table kTable = table_of_rules();
  if (operation.starts_with("triton_")) return &kFused;
  if (operation.starts_with("aten::")) operation.remove_prefix(6);
  if (const auto at = kTable.find(operation); at != kTable.end()) return at->second;
  // An in-place operation does what its name says otherwise.
  if (is_in_place(operation))
    if (const auto at = kTable.find(operation.substr(0, operation.size() - 1)); at != kTable.end())
      return at->second;
  return nullptr;
}

double at_or(const std::vector<std::int64_t>& list, std::size_t axis, double otherwise) {
  return list.empty() ? otherwise : static_cast<double>(list[std::min(axis, list.size() - 1)]);
}

double input_bytes(const Call& call) {
  double sum = 0;
  for (const auto& input : call.inputs)
    for (const auto& tensor : input.tensors) sum += tensor.bytes();
  return sum;
}

}  // namespace gf::work
