#include "import/xplane/hlo_cost.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <protozero/exception.hpp>

#include "core/text.h"

namespace gf::xplane {

namespace {

constexpr std::size_t kMostProducts = 8;  // of one operation; more become one

constexpr std::string_view kElementwise[] = {"abs",
                                             "add",
                                             "and",
                                             "ceil",
                                             "clamp",
                                             "compare",
                                             "complex",
                                             "convert",
                                             "count-leading-zeros",
                                             "divide",
                                             "floor",
                                             "imag",
                                             "is-finite",
                                             "maximum",
                                             "minimum",
                                             "multiply",
                                             "negate",
                                             "not",
                                             "or",
                                             "popcnt",
                                             "real",
                                             "reduce-precision",
                                             "remainder",
                                             "round-nearest-afz",
                                             "round-nearest-even",
                                             "select",
                                             "shift-left",
                                             "shift-right-arithmetic",
                                             "shift-right-logical",
                                             "sign",
                                             "stochastic-convert",
                                             "subtract",
                                             "xor"};
constexpr std::string_view kTranscendental[] = {
    "acos", "acosh",        "asin",     "asinh", "atan2",       "atanh",
    "cbrt", "cosh",         "cosine",   "erf",   "exponential", "exponential-minus-one",
    "log",  "log-plus-one", "logistic", "power", "rng",         "rsqrt",
    "sine", "sinh",         "sqrt",     "tan",   "tanh"};
/// Instructions that run what they call, once.
constexpr std::string_view kCallers[] = {"fusion", "call", "async-start"};
constexpr std::string_view kReducing[] = {"reduce", "reduce-window", "select-and-scatter",
                                          "scatter"};
constexpr std::string_view kCollectives[] = {"all-reduce", "all-reduce-start", "reduce-scatter"};
constexpr std::string_view kNothing[] = {
    "bitcast", "get-tuple-element", "parameter",    "constant",
    "tuple",   "after-all",         "partition-id", "replica-id"};

}  // namespace

bool one_result_an_element(std::string_view opcode) {
  return one_of(kElementwise, opcode) || one_of(kTranscendental, opcode);
}

namespace {

double window_size(const HloInstruction& instruction) {
  double size = 1;
  for (const auto& dimension : read_window(instruction.window))
    size *= static_cast<double>(dimension.size);
  return size;
}

/// The number of times that a reduction applies its computation.
double applications(const HloComputation& computation, const HloInstruction& instruction) {
  const auto* input = computation.operand(instruction, 0);
  if (!input) return 0;
  const double results = instruction.shape.elements();
  if (instruction.opcode == "reduce") return std::max(0.0, input->shape.elements() - results);
  if (instruction.opcode == "reduce-window")
    return std::max(0.0, window_size(instruction) - 1) * results;
  if (instruction.opcode == "select-and-scatter") {
    const auto* source = computation.operand(instruction, 1);
    return source ? source->shape.elements() : 0;
  }
  // scatter: inputs, indices, and as many updates as inputs
  const auto* updates = computation.operand(instruction, instruction.operands.size() / 2 + 1);
  return updates ? updates->shape.elements() : 0;
}

/// The rounds of a loop that the compiler knows: {"known_trip_count":{"n":"5"}}. protobuf leaves a
/// number of 0 out.
std::optional<double> rounds_of(std::string_view config) {
  constexpr std::string_view kCount = "\"known_trip_count\"", kNumber = "\"n\"",
                             kBetween = " \t\r\n:\"";
  const auto at = config.find(kCount);
  if (at == config.npos) return {};
  const auto open = config.find_first_not_of(kBetween, at + kCount.size());
  if (open == config.npos || config[open] != '{') return {};
  const auto inside = config.substr(open + 1, config.find('}', open) - open - 1);
  const auto number = inside.find(kNumber);
  if (number == inside.npos)
    return trimmed(inside).empty() ? std::optional<double>(0) : std::nullopt;
  const auto digits = inside.find_first_not_of(kBetween, number + kNumber.size());
  if (digits == inside.npos) return {};
  std::int64_t rounds = -1;
  std::from_chars(inside.data() + digits, inside.data() + inside.size(), rounds);
  if (rounds < 0) return {};
  return static_cast<double>(rounds);
}

bool same_sizes(const HloProduct& left, const HloProduct& right) {
  return left.m == right.m && left.n == right.n && left.k == right.k;
}

HloCost operations(double other, double transcendental, HloWork work) {
  HloCost cost;
  cost.other = other + transcendental;
  cost.transcendental = transcendental;
  cost.work = work;
  return cost;
}

}  // namespace

void HloCost::add(const HloCost& part, double times) {
  if (!(times > 0)) return;
  product_flops += part.product_flops * times;
  recomputed += part.recomputed * times;
  other += part.other * times;
  transcendental += part.transcendental * times;
  const double largest = products.empty() ? 0 : products.front().flops();
  for (HloProduct product : part.products) {
    product.batch *= times;
    const auto known = std::ranges::find_if(
        products, [&](const HloProduct& mine) { return same_sizes(mine, product); });
    if (known != products.end()) {
      known->batch += product.batch;
    } else if (products.size() < kMostProducts) {
      products.push_back(product);
    } else if (HloProduct& rest = products.back(); rest.flops() > 0) {
      rest.batch *= 1 + product.flops() / rest.flops();
    }
  }
  if (!part.products.empty() && part.products.front().flops() > largest) {
    type = part.type;
    operands = part.operands;
    std::ranges::stable_sort(products, [](const HloProduct& left, const HloProduct& right) {
      return left.flops() > right.flops();
    });
  }
  const bool unknown = work == HloWork::unknown || part.work == HloWork::unknown;
  work = unknown ? HloWork::unknown : std::max(work, part.work);
}

const HloCost& HloCosts::called(const HloInstruction& instruction, std::size_t which, int depth) {
  static const HloCost kNone;
  if (which >= instruction.called.size()) return kNone;
  return computation_cost(instruction.called[which], depth + 1);
}

const HloCost& HloCosts::computation_cost(std::uint64_t id, int depth) {
  if (const auto at = costs_.find(id); at != costs_.end()) {
    if (open_.contains(id)) ++damaged_;  // it calls itself: no program does
    return at->second;
  }
  HloCost cost;
  const auto* computation = module_.computation(id);
  if (!computation || depth > kDeepestCall) {
    ++damaged_;
    cost.work = HloWork::unknown;
  } else {
    costs_[id].work = HloWork::unknown;
    open_.insert(id);
    for (const auto& instruction : computation->instructions)
      cost.add(instruction_cost(*computation, instruction, depth), 1);
    open_.erase(id);
    if (!computation->whole) cost.work = HloWork::unknown;
  }
  HloCost& known = costs_[id];
  known = std::move(cost);
  return known;
}

HloCost HloCosts::own_cost(const HloComputation& computation, const HloInstruction& instruction,
                           int depth) {
  const auto opcode = instruction.opcode;
  const double results = instruction.shape.elements();
  if (one_of(kNothing, opcode)) return {};
  if (one_of(kElementwise, opcode)) return operations(results, 0, HloWork::elementwise);
  if (one_of(kTranscendental, opcode)) return operations(0, results, HloWork::elementwise);
  if (opcode == "dot" || opcode == "scaled-dot" || opcode == "convolution" ||
      opcode == "custom-call")
    return product_cost(computation, instruction);
  HloCost cost;
  if (one_of(kReducing, opcode)) {
    const double times = applications(computation, instruction);
    const bool selects = opcode == "select-and-scatter";
    if (selects) cost.add(called(instruction, 0, depth), times * (window_size(instruction) - 1));
    cost.add(called(instruction, selects ? 1 : 0, depth), times);
    if (cost.work != HloWork::unknown) cost.work = std::max(cost.work, HloWork::reduction);
  } else if (one_of(kCallers, opcode)) {
    for (std::size_t i = 0; i < instruction.called.size(); ++i)
      cost.add(called(instruction, i, depth), 1);
  } else if (opcode == "while") {
    const auto rounds = rounds_of(instruction.backend_config);
    if (!rounds || instruction.called.size() != 2) return {.work = HloWork::unknown};
    cost.add(called(instruction, 0, depth), *rounds);      // the body
    cost.add(called(instruction, 1, depth), *rounds + 1);  // the condition
  } else if (opcode == "conditional") {
    for (std::size_t i = 0; i < instruction.called.size(); ++i)
      if (const HloCost& branch = called(instruction, i, depth);
          branch.product_flops + branch.other >= cost.product_flops + cost.other)
        cost = branch;
  } else if (opcode == "map") {
    cost.add(called(instruction, 0, depth), results);
  } else if (opcode == "sort") {
    const auto* keys = computation.operand(instruction, 0);
    const double count = keys ? keys->shape.elements() : 0;
    if (count > 1) cost = operations(count * std::ceil(std::log2(count)), 0, HloWork::reduction);
  } else if (one_of(kCollectives, opcode)) {
    cost = operations(results, 0, HloWork::reduction);
  }
  return cost;
}

HloCost HloCosts::instruction_cost(const HloComputation& computation,
                                   const HloInstruction& instruction, int depth) {
  HloCost cost;
  try {
    cost = own_cost(computation, instruction, depth);
  } catch (const protozero::exception&) {
    cost.work = HloWork::unknown;
  }
  constexpr double kMost = 1e24;  // operations: a year of a thousand of the largest GPUs is less
  const double all = cost.product_flops + cost.other;
  if (all >= 0 && all <= kMost) return cost;
  ++damaged_;
  return {.work = HloWork::unknown};
}

}  // namespace gf::xplane
