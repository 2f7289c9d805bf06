// The inputs of a framework operation, out of the texts that a profiler recorded of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/capture.h"

namespace gf::work {

/// Number types as frameworks name them; `none` for what is no tensor.
enum class Element : std::uint8_t {
  none,
  fp64,
  fp32,
  fp16,
  bf16,
  fp8,
  int64,
  int32,
  int16,
  int8,
  boolean,
  complex64,
  complex128,
  tf32  // of products alone: FP32 operands, multiplied at lower precision
};
inline constexpr std::size_t kElements = 14;
/// By the framework's word: "c10::BFloat16", "float", "long int".
Element element_of(std::string_view word);
std::int64_t bytes_of(Element type);
std::string_view name_of(Element type);
/// Integers and truth values.
bool is_whole(Element type);
/// By the name that name_of gives.
Element element_named(std::string_view name);

struct Tensor {
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> strides;  // empty: not recorded, taken as dense
  Element type = Element::none;
  bool sparse = false;  // strides are recorded and it has none: what it holds is not known
  double elements() const;
  /// Elements that lie in memory: a broadcast dimension, of stride 0, counts once.
  double distinct() const;
  double bytes() const { return distinct() * static_cast<double>(bytes_of(type)); }
  std::int64_t dim(std::size_t i) const { return i < dims.size() ? dims[i] : 1; }
};

struct Input {
  std::vector<Tensor> tensors;  // one, or those of a list; none for numbers and texts
  bool list = false;
  std::string_view value;  // of a number, a list of numbers or a text, as recorded
};

/// One call. Views point into the capture.
struct Call {
  std::string_view name;
  std::vector<Input> inputs;

  /// Input `i` when it is one tensor, else nullptr.
  const Tensor* tensor(std::size_t i) const;
  /// A number, of an input that is one.
  std::optional<std::int64_t> number(std::size_t i) const;
  /// "[2, 2]"; empty when the input is none.
  std::vector<std::int64_t> numbers(std::size_t i) const;
  /// "True", "[True, False, True]": position `at` of the list; true when nothing is recorded.
  bool flag(std::size_t i, std::size_t at = 0, bool unknown = true) const;
  /// All tensors, those of lists included.
  std::vector<const Tensor*> tensors() const;
};

/// Name, sizes, types, values and strides: calls with the same are one call.
using CallTexts = std::array<Text, 5>;
CallTexts call_texts(const Capture& capture, std::uint32_t host_op);
struct HashOfCallTexts {
  std::size_t operator()(const CallTexts& texts) const {
    std::uint64_t hash = 0;
    for (const auto text : texts) {
      hash = (hash ^ static_cast<std::uint32_t>(text)) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

/// The call behind a row of host_ops; empty without recorded shapes, or with some that no profiler
/// writes.
std::optional<Call> call_of(const Capture& capture, std::uint32_t host_op);

/// The tensors of "[[1,2],[3]]", all of one type.
std::vector<Tensor> tensors_of(std::string_view dims, Element type);
/// The lists of "[[1,2.5],[3]]"; empty when one of them holds something else.
std::vector<std::vector<double>> number_lists_of(std::string_view text);

/// Numbers of "[1, -2]", outermost brackets only.
std::vector<std::int64_t> numbers_of(std::string_view text);

}  // namespace gf::work
