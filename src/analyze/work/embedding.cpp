// Look-ups: the rows that are asked for, read once and written once, whatever the table's size.
// The same row asked for twice may come out of a cache: at most one read of each row is least.
#include <algorithm>
#include <array>

#include "analyze/work/rules.h"

namespace gf::work {
namespace {

/// Bytes of `asked` rows of a table; of no more rows than it has.
double row_bytes(const Tensor& table, double asked, double row_elements) {
  const double rows = std::min(asked, static_cast<double>(table.dim(0)));
  return rows * row_elements * static_cast<double>(bytes_of(table.type));
}

double row_elements(const Tensor& table) {
  return table.dim(0) > 0 ? table.elements() / static_cast<double>(table.dim(0)) : 0;
}

std::optional<Work> lookup(const Call& call, std::size_t index_at) {
  const Tensor* table = call.tensor(0);
  const Tensor* index = call.tensor(index_at);
  if (!table || !index || table->dims.empty()) return std::nullopt;
  const double width = row_elements(*table), asked = index->elements();
  Work work;
  work.type = table->type;
  work.bytes = row_bytes(*table, asked, width) + index->bytes() +
               asked * width * static_cast<double>(bytes_of(table->type));
  return work;
}

std::optional<Work> embedding(const Call& call, const Program&) { return lookup(call, 1); }

/// (gradient, indices, rows of the table, ...): the gradient of the whole table is written.
std::optional<Work> gradient(const Call& call, const Program&) {
  const Tensor* gradient = call.tensor(0);
  const Tensor* index = call.tensor(1);
  const auto rows = call.number(2);
  if (!gradient || !index || gradient->dims.empty()) return std::nullopt;
  const auto width = static_cast<double>(gradient->dims.back());
  Work work;
  work.type = gradient->type;
  work.other_flops = gradient->elements();
  work.bytes = gradient->bytes() + index->bytes();
  if (rows)
    work.bytes +=
        static_cast<double>(*rows) * width * static_cast<double>(bytes_of(gradient->type));
  return work;
}

/// (table, indices, offsets, ...): the sum of the rows of each bag.
std::optional<Work> bag(const Call& call, const Program&) {
  const Tensor* table = call.tensor(0);
  const Tensor* index = call.tensor(1);
  const Tensor* offsets = call.tensor(2);
  if (!table || !index || !offsets || table->dims.empty()) return std::nullopt;
  const double width = row_elements(*table);
  Work work;
  work.type = table->type;
  work.other_flops = index->elements() * width;
  work.bytes = row_bytes(*table, index->elements(), width) + index->bytes() + offsets->bytes() +
               offsets->elements() * width * static_cast<double>(bytes_of(table->type));
  return work;
}

constexpr auto kEmbedding = WorkFamily::embedding;
constexpr std::array kEmbeddingRules{
    Rule{"embedding", kEmbedding, embedding},
    Rule{"embedding_dense_backward", kEmbedding, gradient},
    Rule{"_embedding_bag", kEmbedding, bag},
    Rule{"_embedding_bag_forward_only", kEmbedding, bag},
};

}  // namespace

std::span<const Rule> embedding_rules() { return kEmbeddingRules; }

}  // namespace gf::work
