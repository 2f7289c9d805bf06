// Bytes that an instruction of a compiled program reads and writes at least. A fused computation
// works out what its result needs and nothing else: of each value the elements that are asked for.
// A slice of a table is updated where the table lies.

#include <algorithm>
#include <utility>

#include "import/xplane/hlo_cost.h"

namespace gf::xplane {

namespace {

/// The value of the operand, seen another way.
bool passes_on(std::string_view opcode) { return opcode == "bitcast" || opcode == "reshape"; }
bool takes_a_part(std::string_view opcode) {
  return opcode == "slice" || opcode == "dynamic-slice" || opcode == "gather";
}
/// Operations that read the same share of each operand as is asked of the result.
constexpr std::string_view kInProportion[] = {"bitcast", "bitcast-convert", "concatenate",
                                              "copy",    "reduce",          "reshape",
                                              "reverse", "transpose"};
/// As many elements of operand 0 as are asked for of the result.
constexpr std::string_view kAsMany[] = {"broadcast", "dynamic-slice", "gather", "pad", "slice"};

/// Updates of tables: operands are the tables, what says where, and an update for each table.
struct Updating {
  std::size_t tables = 0;  // 0: no such instruction
  std::size_t first_update = 0;
  bool adds = false;  // reads what stands there

  static Updating of(const HloModule& module, const HloInstruction& instruction) {
    if (instruction.opcode == "dynamic-update-slice") return {1, 1, false};
    if (instruction.opcode != "scatter" || instruction.operands.size() < 3) return {};
    const std::size_t tables = (instruction.operands.size() - 1) / 2;
    return {tables, tables + 1, !replaces(module, instruction)};
  }
  /// True if the computation that it calls returns the new one of two values.
  static bool replaces(const HloModule& module, const HloInstruction& scatter) {
    const auto* called = scatter.called.empty() ? nullptr : module.computation(scatter.called[0]);
    if (!called || called->root >= called->instructions.size()) return false;
    const auto& root = called->instructions[called->root];
    return scatter.operands.size() == 3 && root.opcode == "parameter" && root.parameter == 1;
  }
  const HloInstruction* update(const HloComputation& computation, const HloInstruction& instruction,
                               std::size_t table) const {
    return computation.operand(instruction, first_update + table);
  }
  double update_bytes(const HloComputation& computation, const HloInstruction& instruction) const {
    double sum = 0;
    for (std::size_t table = 0; table < tables; ++table)
      if (const auto* written = update(computation, instruction, table))
        sum += written->shape.bytes;
    return sum;
  }
};

constexpr int kLongestChain = 64;  // updates of a table one after the other

/// A fused computation from its root back to its parameters.
class Fused {
 public:
  Fused(const HloModule& module, const HloComputation& computation)
      : module_(module),
        computation_(computation),
        needed_(computation.instructions.size(), 0),
        in_place_(computation.instructions.size(), false) {
    if (computation.root < needed_.size()) take_result(computation.root, 0);
  }

  double written() const { return written_; }

  /// `reads_of(fusion, i)` are the bytes that a fusion inside reads of its operand `i`.
  template <class ReadsOf>
  std::vector<double> parameter_bytes(ReadsOf&& reads_of) {
    // Operands stand before what uses them.
    for (std::size_t place = needed_.size(); place-- > 0;)
      if (needed_[place] > 0 || in_place_[place])
        ask_operands(computation_.instructions[place], place, reads_of);
    std::vector<double> bytes;
    constexpr std::int64_t kMostParameters = 65536;
    for (std::size_t place = 0; place < needed_.size(); ++place) {
      const auto& at = computation_.instructions[place];
      if (at.opcode != "parameter" || at.parameter < 0 || at.parameter >= kMostParameters) continue;
      const auto number = static_cast<std::size_t>(at.parameter);
      if (number >= bytes.size()) bytes.resize(number + 1, 0);
      bytes[number] = needed_[place] / elements(place) * at.shape.bytes;
    }
    return bytes;
  }

 private:
  double elements(std::size_t place) const {
    return std::max(1.0, computation_.instructions[place].shape.elements());
  }

  void take_result(std::uint32_t place, int depth) {
    const auto& result = computation_.instructions[place];
    if (result.opcode == "tuple" && depth == 0) {
      for (const auto part : result.operands)
        if (part < needed_.size()) take_result(part, 1);
    } else if (!take_update(place)) {
      needed_[place] = elements(place);
      written_ += result.shape.bytes;
    }
  }

  /// True where a result is a parameter with updates, which is then written where it lies.
  bool take_update(std::uint32_t result) {
    std::vector<std::uint32_t> chain;
    double updates = 0;
    bool updated = false;
    double of_tables = 1;  // the results of an instruction come one by one
    for (auto place = result;; place = computation_.instructions[place].operands[0]) {
      const auto& at = computation_.instructions[place];
      if (at.opcode == "parameter") break;
      const auto updating = Updating::of(module_, at);
      if (updating.tables > 0)
        updates += updating.update_bytes(computation_, at) / of_tables;
      else if (at.opcode == "get-tuple-element" && !at.operands.empty())
        of_tables = tables_of(at);
      else if (!passes_on(at.opcode))
        return false;
      updated = updated || updating.tables > 0;
      chain.push_back(place);
      if (at.operands.empty() || at.operands[0] >= place || chain.size() > kLongestChain)
        return false;
    }
    if (!updated) return false;
    for (const auto place : chain) in_place_[place] = true;
    written_ += updates;
    return true;
  }

  double tables_of(const HloInstruction& part) const {
    const auto* whole = computation_.operand(part, 0);
    const auto tables = whole ? Updating::of(module_, *whole).tables : 0;
    return tables > 0 ? static_cast<double>(tables) : 1;
  }

  void need(std::uint32_t place, double count) {
    if (place < needed_.size()) needed_[place] = std::min(elements(place), needed_[place] + count);
  }

  template <class ReadsOf>
  void ask_operands(const HloInstruction& at, std::size_t place, ReadsOf&& reads_of) {
    const double asked = needed_[place];
    const auto updating = Updating::of(module_, at);
    const bool in_proportion = one_result_an_element(at.opcode) || one_of(kInProportion, at.opcode);
    const bool as_many = one_of(kAsMany, at.opcode);
    if (asked == 0 && updating.tables == 0) return;  // it hands an updated table on
    for (std::size_t i = 0; i < at.operands.size(); ++i) {
      const auto operand = at.operands[i];
      if (operand >= needed_.size()) continue;
      const double all = elements(operand);
      if (i < updating.tables) {
        const auto* update = updating.update(computation_, at, i);
        need(operand, asked + (updating.adds && update ? update->shape.elements() : 0));
      } else if (at.opcode == "fusion") {
        need(operand, reads_of(at, i) / std::max(1.0, bytes_of(operand)) * all);
      } else if (in_proportion) {
        need(operand, std::max(1.0, asked / elements(place) * all));
      } else {
        need(operand, as_many && i == 0 ? asked : all);
      }
    }
  }

  double bytes_of(std::uint32_t place) const {
    return computation_.instructions[place].shape.bytes;
  }

  const HloModule& module_;
  const HloComputation& computation_;
  std::vector<double> needed_;  // elements of each value
  std::vector<bool> in_place_;  // on the way from a parameter to the result that replaces it
  double written_ = 0;
};

}  // namespace

const HloCosts::FusedBytes& HloCosts::fused_bytes(std::uint64_t id, int depth) {
  const auto [at, fresh] = fused_.try_emplace(id);
  const auto* computation = module_.computation(id);
  if (!fresh || !computation || depth > kDeepestCall) return at->second;
  Fused fused(module_, *computation);
  auto read = fused.parameter_bytes([&](const HloInstruction& fusion, std::size_t operand) {
    if (fusion.called.empty()) return 0.0;
    const auto& inner = fused_bytes(fusion.called[0], depth + 1).read;
    return operand < inner.size() ? inner[operand] : 0.0;
  });
  return fused_[id] = {std::move(read), fused.written()};
}

double HloCosts::read_bytes(const HloComputation& computation, const HloInstruction& instruction) {
  std::vector<std::pair<std::uint32_t, double>> read;  // place and bytes
  const std::vector<double>* parts = nullptr;
  if (instruction.opcode == "fusion" && !instruction.called.empty())
    parts = &fused_bytes(instruction.called[0], 0).read;
  const auto updating = Updating::of(module_, instruction);
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const auto* operand = computation.operand(instruction, i);
    if (!operand) continue;
    double bytes = operand->shape.bytes;
    if (operand->shape.tuple) bytes = operand->shape.array_bytes();
    if (parts) {
      bytes = std::min(bytes, i < parts->size() ? (*parts)[i] : 0);
    } else if (i == 0 && takes_a_part(instruction.opcode)) {
      bytes = std::min(bytes, instruction.shape.bytes);
    } else if (i < updating.tables) {
      const auto* update = updating.update(computation, instruction, i);
      bytes = updating.adds && update ? std::min(bytes, update->shape.bytes) : 0;
    }
    read.emplace_back(instruction.operands[i], bytes);
  }
  // An operand that is passed twice is read once.
  std::ranges::sort(read);
  double sum = 0;
  for (std::size_t i = 0; i < read.size(); ++i)
    if (i + 1 == read.size() || read[i].first != read[i + 1].first) sum += read[i].second;
  return sum;
}

double HloCosts::bytes(const HloComputation& computation, const HloInstruction& instruction) {
  double written = instruction.shape.bytes;
  if (instruction.opcode == "fusion" && !instruction.called.empty()) {
    if (module_.computation(instruction.called[0]))
      written = fused_bytes(instruction.called[0], 0).written;
  } else if (instruction.opcode == "custom-call" && instruction.shape.tuple) {
    written = instruction.shape.array_bytes();  // what stands behind it is room to work in
  } else if (const auto updating = Updating::of(module_, instruction); updating.tables > 0) {
    written = updating.update_bytes(computation, instruction);
  }
  return read_bytes(computation, instruction) + written;
}

}  // namespace gf::xplane
