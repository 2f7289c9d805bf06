// Operations that move or make data and compute nothing.
#include <algorithm>
#include <array>

#include "analyze/work/rules.h"

namespace gf::work {
namespace {

/// (target, source): the source read, the target written.
std::optional<Work> copy(const Call& call, const Program&) {
  const Tensor* target = call.tensor(0);
  const Tensor* source = call.tensor(1);
  if (!target || !source) return std::nullopt;
  Work work;
  work.type = target->type;
  work.bytes = source->bytes() + target->elements() * static_cast<double>(bytes_of(target->type));
  return work;
}

std::optional<Work> written(const Call& call, const Program&) {
  const Tensor* target = call.tensor(0);
  if (!target) return std::nullopt;
  Work work;
  work.type = target->type;
  work.bytes = target->bytes();
  return work;
}

/// All inputs read, as much written.
std::optional<Work> joined(const Call& call, const Program&) {
  const auto tensors = call.tensors();
  if (tensors.empty() || tensors[0]->type == Element::none) return std::nullopt;
  Work work;
  work.type = tensors[0]->type;
  work.bytes = 2 * input_bytes(call);
  return work;
}

/// (source, axis, index): as many elements as the index names, each read and written.
std::optional<Work> gathered(const Call& call, const Program&) {
  const Tensor* source = call.tensor(0);
  const Tensor* index = call.tensor(2);
  if (!source || !index) return std::nullopt;
  Work work;
  work.type = source->type;
  work.bytes = index->bytes() + 2 * index->elements() * static_cast<double>(bytes_of(source->type));
  return work;
}

/// (source, axis, index of one dimension): whole slices.
std::optional<Work> selected(const Call& call, const Program&) {
  const Tensor* source = call.tensor(0);
  const Tensor* index = call.tensor(2);
  const auto axis = call.number(1);
  if (!source || !index || !axis || *axis < 0 ||
      *axis >= static_cast<std::int64_t>(source->dims.size()))
    return std::nullopt;
  const auto rows = static_cast<double>(source->dims[static_cast<std::size_t>(*axis)]);
  const double width = rows > 0 ? source->elements() / rows : 0;
  const double bytes = width * static_cast<double>(bytes_of(source->type));
  Work work;
  work.type = source->type;
  work.bytes =
      index->bytes() + std::min(index->elements(), rows) * bytes + index->elements() * bytes;
  return work;
}

constexpr auto kMovement = WorkFamily::data_movement;
constexpr std::array kMovementRules{
    Rule{"copy_", kMovement, copy},       Rule{"fill_", kMovement, written},
    Rule{"zero_", kMovement, written},    Rule{"normal_", kMovement, written},
    Rule{"uniform_", kMovement, written}, Rule{"bernoulli_", kMovement, written},
    Rule{"random_", kMovement, written},  Rule{"cat", kMovement, joined},
    Rule{"flip", kMovement, joined},      Rule{"roll", kMovement, joined},
    Rule{"gather", kMovement, gathered},  Rule{"index_select", kMovement, selected},
};

}  // namespace

std::span<const Rule> movement_rules() { return kMovementRules; }

}  // namespace gf::work
