// Matrix products: 2 m n k operations; both operands read, the result written.
#include <array>

#include "analyze/work/rules.h"

namespace gf::work {
namespace {

Work product_work(const Product& product, const Tensor& left, const Tensor& right,
                  double other_bytes, Element result) {
  Work work;
  work.flops = product.flops();
  work.type = left.type;
  work.bytes = left.bytes() + right.bytes() + other_bytes +
               product.batch * product.m * product.n * static_cast<double>(bytes_of(result));
  work.products.push_back(product);
  return work;
}

double size(const Tensor& tensor, std::size_t dim) { return static_cast<double>(tensor.dim(dim)); }

/// left (m x k) by right (k x n), at inputs `first` and `first` + 1; what stands before them is
/// added to the result.
std::optional<Work> matrix(const Call& call, std::size_t first) {
  const Tensor* left = call.tensor(first);
  const Tensor* right = call.tensor(first + 1);
  if (!left || !right || left->dims.size() != 2 || right->dims.size() != 2) return std::nullopt;
  if (left->dims[1] != right->dims[0]) return std::nullopt;
  const Tensor* added = first > 0 ? call.tensor(0) : nullptr;
  const Product product{1, size(*left, 0), size(*right, 1), size(*left, 1)};
  // A result of 8-bit operands is 16 bits wide unless told otherwise.
  const Element result = left->type == Element::fp8 ? Element::bf16 : left->type;
  return product_work(product, *left, *right, added ? added->bytes() : 0, result);
}

std::optional<Work> mm(const Call& call, const Program&) { return matrix(call, 0); }
std::optional<Work> addmm(const Call& call, const Program&) { return matrix(call, 1); }

std::optional<Work> batched(const Call& call, std::size_t first) {
  const Tensor* left = call.tensor(first);
  const Tensor* right = call.tensor(first + 1);
  if (!left || !right || left->dims.size() != 3 || right->dims.size() != 3) return std::nullopt;
  if (left->dims[2] != right->dims[1] || left->dims[0] != right->dims[0]) return std::nullopt;
  const Tensor* added = first > 0 ? call.tensor(0) : nullptr;
  const Product product{size(*left, 0), size(*left, 1), size(*right, 2), size(*left, 2)};
  return product_work(product, *left, *right, added ? added->bytes() : 0, left->type);
}

std::optional<Work> bmm(const Call& call, const Program&) { return batched(call, 0); }
std::optional<Work> baddbmm(const Call& call, const Program&) { return batched(call, 1); }

std::optional<Work> vector(const Call& call, std::size_t first) {
  const Tensor* left = call.tensor(first);
  const Tensor* right = call.tensor(first + 1);
  if (!left || !right || left->dims.size() != 2 || right->dims.size() != 1) return std::nullopt;
  const Product product{1, size(*left, 0), 1, size(*left, 1)};
  return product_work(product, *left, *right, 0, left->type);
}

std::optional<Work> mv(const Call& call, const Program&) { return vector(call, 0); }
std::optional<Work> addmv(const Call& call, const Program&) { return vector(call, 1); }

std::optional<Work> dot(const Call& call, const Program&) {
  const Tensor* left = call.tensor(0);
  const Tensor* right = call.tensor(1);
  if (!left || !right || left->dims.size() != 1 || right->dims.size() != 1) return std::nullopt;
  return product_work({1, 1, 1, size(*left, 0)}, *left, *right, 0, left->type);
}

/// Rows of several groups by a matrix for each: every row is multiplied once.
std::optional<Work> grouped(const Call& call, const Program&) {
  const Tensor* left = call.tensor(0);
  const Tensor* right = call.tensor(1);
  if (!left || !right || left->dims.size() != 2 || right->dims.size() != 3) return std::nullopt;
  return product_work({1, size(*left, 0), size(*right, 2), size(*left, 1)}, *left, *right, 0,
                      left->type);
}

constexpr auto kProduct = WorkFamily::product;
constexpr std::array kProductRules{
    Rule{"mm", kProduct, mm},
    Rule{"_int_mm", kProduct, mm},
    Rule{"_scaled_mm", kProduct, mm},
    Rule{"addmm", kProduct, addmm},
    Rule{"_addmm_activation", kProduct, addmm},
    Rule{"bmm", kProduct, bmm},
    Rule{"baddbmm", kProduct, baddbmm},
    Rule{"mv", kProduct, mv},
    Rule{"addmv", kProduct, addmv},
    Rule{"dot", kProduct, dot},
    Rule{"vdot", kProduct, dot},
    Rule{"_grouped_mm", kProduct, grouped},
    Rule{"_scaled_grouped_mm", kProduct, grouped},
};

}  // namespace

std::span<const Rule> product_rules() { return kProductRules; }

}  // namespace gf::work
