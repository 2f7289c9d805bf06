#include "import/xplane/hlo_cost.h"

#include <algorithm>
#include <cmath>
#include <protozero/exception.hpp>

namespace gf::xplane {

namespace {

constexpr std::size_t kMostProducts = 8;  // of one operation; more become one

template <std::size_t kCount>
bool one_of(const std::string_view (&names)[kCount], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

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
/// Instructions that run what they call, once by what is known before the program runs.
constexpr std::string_view kCallers[] = {"fusion", "call", "async-start", "while"};
constexpr std::string_view kReducing[] = {"reduce", "reduce-window", "select-and-scatter",
                                          "scatter"};
constexpr std::string_view kCollectives[] = {"all-reduce", "all-reduce-start", "reduce-scatter"};
constexpr std::string_view kNothing[] = {
    "bitcast", "get-tuple-element", "parameter",    "constant",
    "tuple",   "after-all",         "partition-id", "replica-id"};

double window_size(const HloInstruction& instruction) {
  double size = 1;
  for (const auto& dimension : read_window(instruction.window))
    size *= static_cast<double>(dimension.size);
  return size;
}

/// How often a reduction applies what it calls.
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

/// True where all that is used of `place` is a part of it.
bool passes_on(std::string_view opcode) { return opcode == "bitcast" || opcode == "reshape"; }
bool takes_a_part(std::string_view opcode) {
  return opcode == "slice" || opcode == "dynamic-slice" || opcode == "gather";
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

const std::vector<double>& HloCosts::parameter_reads(std::uint64_t id, int depth) {
  const auto [at, fresh] = reads_.try_emplace(id);
  const auto* computation = module_.computation(id);
  if (!fresh || !computation || depth > kDeepestCall) return at->second;
  constexpr std::int64_t kMostParameters = 65536;
  const auto count = computation->instructions.size();
  std::vector<std::int64_t> parameter_of(count, -1);  // that a value is, seen another way
  std::vector<double> read;
  const auto read_of = [&](std::int64_t which) -> double& {
    if (static_cast<std::size_t>(which) >= read.size())
      read.resize(static_cast<std::size_t>(which) + 1);
    return read[static_cast<std::size_t>(which)];
  };
  for (std::size_t place = 0; place < count; ++place) {
    const auto& instruction = computation->instructions[place];
    const auto number = instruction.parameter;
    if (instruction.opcode == "parameter" && number >= 0 && number < kMostParameters)
      parameter_of[place] = number;
  }
  for (std::size_t place = 0; place < count; ++place) {
    const auto& instruction = computation->instructions[place];
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      const auto operand = instruction.operands[i];
      if (operand >= count || parameter_of[operand] < 0) continue;
      const auto which = parameter_of[operand];
      double& sum = read_of(which);
      if (passes_on(instruction.opcode) && place != computation->root) {
        parameter_of[place] = which;
      } else if (i == 0 && takes_a_part(instruction.opcode)) {
        if (sum >= 0) sum += instruction.shape.bytes;
      } else if (instruction.opcode == "fusion" && !instruction.called.empty()) {
        const auto& inner = parameter_reads(instruction.called[0], depth + 1);
        const double part = i < inner.size() ? inner[i] : 0;
        sum = sum < 0 || part < 0 ? -1 : sum + part;
      } else if (i > 0 || instruction.opcode != "dynamic-update-slice") {
        sum = -1;
      }
    }
  }
  auto& known = reads_[id];
  known = std::move(read);
  return known;
}

double HloCosts::read_bytes(const HloComputation& computation, const HloInstruction& instruction) {
  std::vector<std::pair<std::uint32_t, double>> read;  // place and bytes
  const std::vector<double>* parts = nullptr;
  if (instruction.opcode == "fusion" && !instruction.called.empty())
    parts = &parameter_reads(instruction.called[0], 0);
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const auto* operand = computation.operand(instruction, i);
    if (!operand) continue;
    double bytes = operand->shape.bytes;
    if (operand->shape.tuple) bytes = operand->shape.array_bytes();
    if (parts) {
      const double part = i < parts->size() ? (*parts)[i] : 0;
      if (part >= 0) bytes = std::min(bytes, part);
    } else if (i == 0 && takes_a_part(instruction.opcode)) {
      bytes = std::min(bytes, instruction.shape.bytes);
    } else if (i == 0 &&
               (instruction.opcode == "dynamic-update-slice" || instruction.opcode == "scatter")) {
      bytes = 0;  // in place
    }
    read.emplace_back(instruction.operands[i], bytes);
  }
  // What is handed over twice is read once.
  std::ranges::sort(read);
  double sum = 0;
  for (std::size_t i = 0; i < read.size(); ++i)
    if (i + 1 == read.size() || read[i].first != read[i + 1].first) sum += read[i].second;
  return sum;
}

double HloCosts::written_bytes(const HloComputation& computation, std::uint32_t place,
                               int depth) const {
  if (place >= computation.instructions.size()) return 0;
  const auto& instruction = computation.instructions[place];
  if (depth > kDeepestCall) return instruction.shape.bytes;
  if (instruction.opcode == "tuple") {
    double sum = 0;
    for (const auto part : instruction.operands)
      sum +=
          part < computation.instructions.size() && computation.instructions[part].opcode == "tuple"
              ? computation.instructions[part].shape.bytes
              : written_bytes(computation, part, depth + 1);
    return sum;
  }
  if (passes_on(instruction.opcode) && !instruction.operands.empty())
    return written_bytes(computation, instruction.operands[0], depth + 1);
  if (instruction.opcode == "dynamic-update-slice")
    if (const auto* update = computation.operand(instruction, 1)) return update->shape.bytes;
  if (instruction.opcode == "scatter")
    if (const auto* updates = computation.operand(instruction, instruction.operands.size() / 2 + 1))
      return updates->shape.bytes;
  return instruction.shape.bytes;
}

double HloCosts::bytes(const HloComputation& computation, const HloInstruction& instruction) {
  double written = 0;
  const auto place = static_cast<std::uint32_t>(&instruction - computation.instructions.data());
  if (instruction.opcode == "fusion" && !instruction.called.empty()) {
    const auto* fused = module_.computation(instruction.called[0]);
    written = fused ? written_bytes(*fused, fused->root, 0) : instruction.shape.bytes;
  } else if (instruction.opcode == "custom-call" && instruction.shape.tuple) {
    written = instruction.shape.array_bytes();  // what stands behind it is room to work in
  } else {
    written = written_bytes(computation, place, 0);
  }
  return read_bytes(computation, instruction) + written;
}

}  // namespace gf::xplane
