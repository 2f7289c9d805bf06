// Products that an instruction carries out itself.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "import/xplane/hlo_cost.h"

namespace gf::xplane {

namespace {

HloCost one_product(HloProduct product, HloWork work, const HloInstruction& left,
                    const HloInstruction& right) {
  HloCost cost;
  cost.product_flops = product.flops();
  cost.products.push_back(product);
  cost.work = work;
  cost.type = hlo_type(left.shape.type).name;
  for (const auto* operand : {&left, &right})
    cost.operands.push_back(fmt::format("[{}]", fmt::join(operand->shape.dims, ",")));
  return cost;
}

double over(const HloShape& shape, const std::vector<std::int64_t>& dims) {
  double product = 1;
  for (const auto which : dims) product *= shape.dim(which);
  return product;
}

HloCost matrix_product(const HloComputation& computation, const HloInstruction& instruction,
                       const HloDot& dot) {
  const auto* left = computation.operand(instruction, 0);
  const auto* right = computation.operand(instruction, 1);
  if (!left || !right) return {};
  HloProduct product;
  product.batch = over(left->shape, dot.left_batch);
  product.k = over(left->shape, dot.left_contracting);
  const double shared = product.batch * product.k;
  if (!(shared > 0)) return {};
  product.m = left->shape.elements() / shared;
  product.n = right->shape.elements() / shared;
  return one_product(product, HloWork::product, *left, *right);
}

/// Positions of the result, along one dimension, at which a tap of the window meets the input.
std::int64_t meets(const HloWindowDimension& window, std::int64_t tap, std::int64_t positions,
                   std::int64_t inputs) {
  // The input's elements lie at 0, holes, 2 holes, ... of the dilated one.
  const auto holes = std::max<std::int64_t>(window.base_dilation, 1);
  const auto offset = tap * window.window_dilation - window.padding_low;
  const auto last = (inputs - 1) * holes;
  if (holes == 1 && window.stride > 0) {
    const auto stride = window.stride;
    const auto first_position = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    const auto last_position = last < offset ? -1 : (last - offset) / stride;
    return std::max<std::int64_t>(0, std::min(positions - 1, last_position) - first_position + 1);
  }
  std::int64_t count = 0;
  for (std::int64_t at = 0; at < positions; ++at) {
    const auto place = at * window.stride + offset;
    if (place >= 0 && place <= last && place % holes == 0) ++count;
  }
  return count;
}

/// Taps over all positions, along one dimension, that meet the input: neither its padding nor a
/// hole of a dilated one.
double meeting_taps(const HloWindowDimension& window, double positions, double inputs) {
  constexpr double kMost = 1 << 20;       // of each number: no convolution is larger
  constexpr double kMostPairs = 1 << 16;  // that are tried out
  const auto of = [](std::int64_t number) { return static_cast<double>(number); };
  const auto usual = [](double number) { return number >= -kMost && number <= kMost; };
  const double all = positions * of(window.size);
  const bool plain = window.base_dilation <= 1 && window.stride > 0;
  const double tried = plain ? of(window.size) : all;
  const bool small = tried <= kMostPairs && usual(positions) && usual(inputs) &&
                     usual(of(window.stride)) && usual(of(window.padding_low)) &&
                     usual(of(window.window_dilation)) && usual(of(window.base_dilation));
  if (!(all > 0)) return 0;
  if (!small) return all / std::max(1.0, of(window.base_dilation));
  std::int64_t taps = 0;
  for (std::int64_t tap = 0; tap < window.size; ++tap)
    taps +=
        meets(window, tap, static_cast<std::int64_t>(positions), static_cast<std::int64_t>(inputs));
  return of(taps);
}

/// In the forward direction: `result` is what is computed from an input and `kernel`. A library's
/// gradients are told by the forward pass that they belong to.
HloProduct convolution_product(const HloInstruction& instruction, const HloConvolution& numbers,
                               const HloShape& result, const HloShape& kernel) {
  HloProduct product;
  product.batch = static_cast<double>(std::max<std::int64_t>(instruction.feature_groups, 1));
  const double channels = kernel.dim(numbers.kernel_output_feature);
  product.n = channels / product.batch;
  product.m = channels > 0 ? result.elements() / channels : 0;
  product.k = kernel.dim(numbers.kernel_input_feature);
  for (const auto which : numbers.kernel_spatial) product.k *= kernel.dim(which);
  return product;
}

/// A convolution of the program itself: what meets the input counts, as XLA counts.
HloCost plain_convolution(const HloInstruction& instruction, const HloInstruction& left,
                          const HloInstruction& right) {
  const HloConvolution numbers = read_convolution(instruction.convolution);
  const auto window = read_window(instruction.window);
  HloProduct product = convolution_product(instruction, numbers, instruction.shape, right.shape);
  double all = 1, meeting = 1;
  for (std::size_t i = 0; i < window.size(); ++i) {
    if (i >= numbers.output_spatial.size() || i >= numbers.input_spatial.size()) break;
    const double positions = instruction.shape.dim(numbers.output_spatial[i]);
    all *= positions * static_cast<double>(window[i].size);
    meeting *= meeting_taps(window[i], positions, left.shape.dim(numbers.input_spatial[i]));
  }
  if (!(all > 0)) return {};
  const double exact = product.flops() / all * meeting;  // whole numbers: the share is none
  product.m *= meeting / all;
  HloCost cost = one_product(product, HloWork::convolution, left, right);
  cost.product_flops = exact;
  return cost;
}

/// Numbers of `"key":["1","2"]` in a JSON text behind `from`; empty when it is not there.
std::vector<std::int64_t> numbers_at(std::string_view json, std::string_view key,
                                     std::size_t from = 0) {
  std::vector<std::int64_t> numbers;
  const auto at = json.find(fmt::format("\"{}\":[", key), from);
  if (at == json.npos) return numbers;
  const auto end = json.find(']', at);
  auto place = json.find('[', at);
  while (place < end && numbers.size() < 16) {
    place = json.find_first_of("0123456789]", place + 1);
    if (place >= end) break;
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(json.data() + place, json.data() + end, number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    place = static_cast<std::size_t>(stop - json.data());
  }
  return numbers;
}

HloCost library_product(const HloComputation& computation, const HloInstruction& instruction) {
  HloDot dot;
  dot.left_contracting = numbers_at(instruction.backend_config, "lhs_contracting_dimensions");
  dot.left_batch = numbers_at(instruction.backend_config, "lhs_batch_dimensions");
  if (dot.left_contracting.empty()) return {.work = HloWork::unknown};
  return matrix_product(computation, instruction, dot);
}

/// A convolution of cuDNN: its padding counts, as it does for other frameworks.
HloCost library_convolution(const HloComputation& computation, const HloInstruction& instruction) {
  const auto* left = computation.operand(instruction, 0);
  const auto* right = computation.operand(instruction, 1);
  if (!left || !right || instruction.convolution.empty()) return {.work = HloWork::unknown};
  const auto target = instruction.call_target;
  const HloShape* result = &instruction.shape;
  const HloShape* kernel = &right->shape;
  if (target.find("BackwardInput") != target.npos) result = &left->shape;
  if (target.find("BackwardFilter") != target.npos) {
    result = &right->shape;
    kernel = &instruction.shape;
  }
  const HloConvolution numbers = read_convolution(instruction.convolution);
  return one_product(convolution_product(instruction, numbers, *result, *kernel),
                     HloWork::convolution, *left, *right);
}

/// cuDNN's fused attention: the sizes of the scores stand in the call's configuration, the widths
/// of a head are the last but two of the query's and the value's (batch, position, head, width).
HloCost library_attention(const HloComputation& computation, const HloInstruction& instruction) {
  HloCost cost{.work = HloWork::unknown};
  const auto config = instruction.backend_config;
  const auto shape = config.find("\"intermediate_tensor_shape\"");
  const auto scores =
      shape == config.npos ? std::vector<std::int64_t>{} : numbers_at(config, "dimensions", shape);
  const auto* query = computation.operand(instruction, 0);
  const auto* key = computation.operand(instruction, 1);
  const auto* value = computation.operand(instruction, 2);
  if (scores.size() != 4 || !query || !key || !value || value->shape.dims.size() != 4) return cost;
  HloProduct first;
  first.batch = static_cast<double>(scores[0]) * static_cast<double>(scores[1]);
  first.m = static_cast<double>(scores[2]);
  first.n = static_cast<double>(scores[3]);
  first.k = query->shape.dim(3);
  HloProduct second = first;
  second.k = value->shape.dim(3);
  const bool backward = instruction.call_target.find("Backward") != std::string_view::npos;
  cost = one_product(first, HloWork::attention, *query, *key);
  cost.product_flops = first.flops() + second.flops();
  if (backward) {
    cost.recomputed = first.flops();
    cost.product_flops = 3 * first.flops() + 2 * second.flops();
    first.batch *= 3;
    second.batch *= 2;
  }
  cost.products = {first, second};
  cost.other = (backward ? 8 : 5) * static_cast<double>(scores[0]) *
               static_cast<double>(scores[1]) * first.m * first.n;
  return cost;
}

}  // namespace

HloCost product_cost(const HloComputation& computation, const HloInstruction& instruction) {
  const auto opcode = instruction.opcode;
  if (opcode == "dot" || opcode == "scaled-dot")
    return matrix_product(computation, instruction, read_dot(instruction.dot));
  if (opcode == "convolution") {
    const auto* left = computation.operand(instruction, 0);
    const auto* right = computation.operand(instruction, 1);
    if (!left || !right) return {};
    return plain_convolution(instruction, *left, *right);
  }
  const auto target = instruction.call_target;
  if (target.starts_with("__cublas$") || target.starts_with("__onednn$matmul"))
    return library_product(computation, instruction);
  if (target.starts_with("__cudnn$conv")) return library_convolution(computation, instruction);
  if (target.starts_with("__cudnn$fmha")) return library_attention(computation, instruction);
  return {.work = HloWork::unknown};
}

}  // namespace gf::xplane
