#include "import/xplane/programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <protozero/exception.hpp>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "import/xplane/hlo_cost.h"

namespace gf::xplane {

namespace {

/// True for instructions that run nothing themselves: their parts do, or nobody.
bool runs_nothing(std::string_view opcode) {
  static constexpr std::string_view kNames[] = {
      "parameter",    "constant",     "tuple",          "get-tuple-element",
      "bitcast",      "while",        "call",           "conditional",
      "async-start",  "async-update", "async-done",     "after-all",
      "partition-id", "replica-id",   "add-dependency", "opt-barrier"};
  return std::find(std::begin(kNames), std::end(kNames), opcode) != std::end(kNames);
}
/// True for instructions that run the computations they call as parts of the program.
bool runs_what_it_calls(std::string_view opcode) {
  return opcode == "while" || opcode == "call" || opcode == "conditional" ||
         opcode == "async-start";
}

std::string_view word_of(HloWork work) {
  switch (work) {
    case HloWork::unknown:
      return "";
    case HloWork::data_movement:
      return "data_movement";
    case HloWork::elementwise:
      return "elementwise";
    case HloWork::reduction:
      return "reduction";
    case HloWork::product:
      return "product";
    case HloWork::convolution:
      return "convolution";
    case HloWork::attention:
      return "attention";
  }
  return "";
}

/// "gemm_fusion_dot" of "gemm_fusion_dot.2": XLA numbers what would be called alike.
std::string_view without_number(std::string_view name) {
  const auto dot = name.find_last_not_of("0123456789");
  if (dot != name.npos && dot > 0 && dot + 1 < name.size() && name[dot] == '.')
    return name.substr(0, dot);
  return name;
}

std::string_view target_of(const HloInstruction& instruction) {
  if (!instruction.call_target.empty()) return instruction.call_target;
  return instruction.opcode == "fusion" ? without_number(instruction.name) : instruction.opcode;
}

/// A function's name as XLA's code generator writes it.
std::string kernel_name(std::string_view operation) {
  std::string name(operation);
  for (char& letter : name) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9');
    if (!plain) letter = '_';
  }
  return name;
}

bool of_a_library(const HloInstruction& instruction) {
  return instruction.opcode == "custom-call" || instruction.opcode == "convolution" ||
         instruction.backend_config.find("\"__cudnn$") != std::string_view::npos;
}

void mix(std::uint64_t& hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  hash ^= hash >> 29;
}

/// Equal for fusions whose computations are equal but for names.
std::uint64_t likeness_of(const HloModule& module, const HloInstruction& fusion) {
  if (fusion.opcode != "fusion" || fusion.called.empty()) return 0;
  const auto* computation = module.computation(fusion.called[0]);
  if (!computation) return 0;
  std::uint64_t hash = 1;
  for (const auto& instruction : computation->instructions) {
    mix(hash, std::hash<std::string_view>{}(instruction.opcode));
    mix(hash, instruction.shape.type);
    for (const auto size : instruction.shape.dims) mix(hash, static_cast<std::uint64_t>(size));
    for (const auto operand : instruction.operands) mix(hash, operand);
    mix(hash, std::hash<std::string_view>{}(instruction.dot));
  }
  return hash | 1;
}

/// Adds the operations of one program.
class Adder {
 public:
  Adder(Capture& capture, std::int64_t id, const HloModule& module,
        std::unordered_map<std::string_view, std::uint32_t>& rows, ProgramOrder& order)
      : capture_(capture), module_(module), costs_(module), id_(id), rows_(rows), order_(order) {}

  void add_all() { add(module_.entry_id, 0); }
  std::int64_t damaged() const { return damaged_ + costs_.damaged(); }

 private:
  void add(std::uint64_t id, int depth) {
    const auto* computation = module_.computation(id);
    if (!computation || depth > kDeepestCall) {
      ++damaged_;
      return;
    }
    if (!added_.insert(id).second) return;  // two calls of one: its operations are there
    const auto count = static_cast<std::uint32_t>(computation->instructions.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto place = computation->schedule.size() == count ? computation->schedule[i] : i;
      const auto& instruction = computation->instructions[place];
      if (runs_what_it_calls(instruction.opcode))
        for (const auto part : instruction.called) add(part, depth + 1);
      if (!runs_nothing(instruction.opcode)) add(*computation, instruction);
    }
  }

  void add(const HloComputation& computation, const HloInstruction& instruction) {
    const HloCost cost = costs_.of(computation, instruction);
    auto& ops = capture_.program_ops;
    const auto row = ops.add();
    ops.program[row] = id_;
    ops.module[row] = capture_.strings.intern(module_.name);
    ops.name[row] = capture_.strings.intern(instruction.name);
    ops.target[row] = capture_.strings.intern(target_of(instruction));
    ops.scope[row] = capture_.strings.intern(instruction.op_name);
    ops.shapes[row] = capture_.strings.intern(shapes_of(computation, instruction, cost));
    if (cost.work != HloWork::unknown) {
      ops.kind[row] = capture_.strings.intern(word_of(cost.work));
      ops.product_flops[row] = cost.product_flops;
      ops.recomputed_flops[row] = cost.recomputed;
      ops.other_flops[row] = cost.other;
      ops.transcendentals[row] = cost.transcendental;
      ops.bytes[row] = costs_.bytes(computation, instruction);
      const auto type = cost.type.empty() ? hlo_type(instruction.shape.type).name : cost.type;
      ops.type[row] = capture_.strings.intern(type);
      if (!cost.products.empty()) ops.products[row] = capture_.strings.intern(text_of(cost));
    }
    rows_.emplace(instruction.name, row);
    order_.steps.push_back({row, of_a_library(instruction) ? "" : kernel_name(instruction.name),
                            likeness_of(module_, instruction)});
  }

  static std::string text_of(const HloCost& cost) {
    std::vector<std::string> products;
    for (const auto& product : cost.products)
      products.push_back(
          fmt::format("[{},{},{},{}]", product.batch, product.m, product.n, product.k));
    return fmt::format("[{}]", fmt::join(products, ","));
  }

  static std::string shapes_of(const HloComputation& computation, const HloInstruction& instruction,
                               const HloCost& cost) {
    std::vector<std::string> shapes = cost.operands;
    constexpr std::size_t kMost = 8;
    for (std::size_t i = 0; shapes.size() < kMost && i < instruction.operands.size(); ++i) {
      const auto* operand = computation.operand(instruction, i);
      if (!operand || !cost.operands.empty()) continue;
      shapes.push_back(fmt::format("[{}]", fmt::join(operand->shape.dims, ",")));
    }
    return fmt::format("[{}]", fmt::join(shapes, ","));
  }

  Capture& capture_;
  const HloModule& module_;
  HloCosts costs_;
  std::int64_t id_;
  std::unordered_map<std::string_view, std::uint32_t>& rows_;
  ProgramOrder& order_;
  std::unordered_set<std::uint64_t> added_;
  std::int64_t damaged_ = 0;
};

/// "jit_step(7295)" is program 7295; without a number it is the metadata's own.
std::int64_t program_id(const Plane& plane, const EventName& name, std::uint64_t key,
                        std::int64_t of_module) {
  for (const auto message : name.stats) {
    const auto statistic = read_stat(message);
    const auto* known = plane.stat_names.find(statistic.id);
    if (known && known->name == "program_id" && statistic.kind == StatValue::Kind::number)
      return static_cast<std::int64_t>(statistic.bits);
  }
  const auto open = name.name.rfind('(');
  std::int64_t number = -1;
  if (open != name.name.npos && name.name.ends_with(')')) {
    const auto* end = name.name.data() + name.name.size() - 1;
    const auto [stop, error] = std::from_chars(name.name.data() + open + 1, end, number);
    if (error == std::errc() && stop == end && number >= 0) return number;
  }
  return of_module >= 0 ? of_module : static_cast<std::int64_t>(key);
}

}  // namespace

Programs::Programs(Capture& capture, const Space& space) {
  for (const auto& plane : space.planes) {
    if (plane.kind != PlaneKind::metadata) continue;
    plane.event_names.each_id([&](std::uint64_t key, const EventName& name) {
      for (const auto message : name.stats) {
        try {
          const auto statistic = read_stat(message);
          const auto* stat_name = plane.stat_names.find(statistic.id);
          const bool hlo = stat_name && statistic.kind == StatValue::Kind::text &&
                           (stat_name->name == "Hlo Proto" || stat_name->name == "hlo_proto");
          if (!hlo) continue;
          const HloModule module = read_hlo(statistic.text);
          add(capture, program_id(plane, name, key, module.id), module);
        } catch (const protozero::exception&) {
          capture.note_quality(QualityCode::bad_program,
                               fmt::format("program \"{}\" cannot be read", name.name));
        }
      }
    });
  }
}

void Programs::add(Capture& capture, std::int64_t id, const HloModule& module) {
  if (rows_.contains(id)) return;
  Adder adder(capture, id, module, rows_[id], orders_[id]);
  adder.add_all();
  const auto damaged = module.damaged + adder.damaged();
  if (damaged > 0)
    capture.note_quality(
        QualityCode::bad_program,
        fmt::format("program \"{}\" has an operation that cannot be read", module.name), damaged);
}

std::uint32_t Programs::find(std::int64_t program, std::string_view operation) const {
  const auto rows = rows_.find(program);
  if (rows == rows_.end()) return kNoRow;
  const auto at = rows->second.find(operation);
  return at == rows->second.end() ? kNoRow : at->second;
}

// Kernels of a CUDA graph and the operations of the program that the graph is a stretch of. XLA
// names a kernel that it generates after the operation, or after an earlier one that does the same;
// kernels of libraries lie between these in the order of the program.

namespace {

constexpr std::uint32_t kNoStep = UINT32_MAX;

/// Kernels that end what another kernel of the same call began.
bool finishes(std::string_view name) {
  return name.find("splitKreduce") != name.npos || name.find("splitk_reduce") != name.npos;
}

class Placer {
 public:
  Placer(const Capture& capture, const ProgramOrder& order) : capture_(capture), order_(order) {
    const auto count = static_cast<std::uint32_t>(order.steps.size());
    for (std::uint32_t step = 0; step < count; ++step) {
      if (!order.steps[step].kernel.empty()) named_.emplace(order.steps[step].kernel, step);
      if (order.steps[step].likeness != 0) alike_[order.steps[step].likeness].push_back(step);
    }
  }

  /// The row of program_ops of each kernel, in the order of time; kNoRow where it is not known.
  std::vector<std::uint32_t> rows(const std::vector<std::uint32_t>& kernels) {
    std::vector<std::uint32_t> steps(kernels.size(), kNoStep);
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      steps[i] = generated(name_of(kernels[i]), next);
      if (steps[i] != kNoStep && steps[i] >= next) next = steps[i] + 1;
    }
    std::size_t from = 0;
    for (std::size_t i = 0; i <= kernels.size(); ++i) {
      if (i < kernels.size() && steps[i] == kNoStep) continue;
      if (i > from) between(kernels, steps, from, i);
      from = i + 1;
    }
    std::vector<std::uint32_t> rows(kernels.size(), kNoRow);
    for (std::size_t i = 0; i < kernels.size(); ++i)
      if (steps[i] != kNoStep) rows[i] = order_.steps[steps[i]].row;
    return rows;
  }

 private:
  std::string_view name_of(std::uint32_t activity) const {
    auto name = capture_.text(capture_.activities.name[activity]);
    if (name.ends_with(".kd")) name.remove_suffix(3);
    return name;
  }

  /// The next step that runs this kernel: the one of its name, or one that does the same. Behind
  /// the last one (graphs may reorder), the one of its name.
  std::uint32_t generated(std::string_view name, std::uint32_t next) const {
    const auto known = named_.find(name);
    if (known == named_.end()) return kNoStep;
    const auto alike = alike_.find(order_.steps[known->second].likeness);
    if (alike == alike_.end()) return known->second;
    const auto at = std::lower_bound(alike->second.begin(), alike->second.end(), next);
    return at == alike->second.end() ? known->second : *at;
  }

  /// Kernels of libraries [first, last) between two that are known.
  void between(const std::vector<std::uint32_t>& kernels, std::vector<std::uint32_t>& steps,
               std::size_t first, std::size_t last) const {
    const std::uint32_t begin = first == 0 ? 0 : steps[first - 1] + 1;
    const auto end =
        last < steps.size() ? steps[last] : static_cast<std::uint32_t>(order_.steps.size());
    std::vector<std::uint32_t> calls;
    for (auto step = begin; step < end; ++step)
      if (order_.steps[step].kernel.empty()) calls.push_back(step);
    std::size_t heads = 0;
    for (auto i = first; i < last; ++i) heads += finishes(name_of(kernels[i])) ? 0u : 1u;
    if (calls.empty()) return;
    // At an end of the graph calls of its neighbors may lie there too: the nearest count.
    const bool open_front = first == 0;
    const bool open_back = last == steps.size();
    if (calls.size() > heads && open_front && !open_back)
      calls.erase(calls.begin(), calls.end() - static_cast<std::ptrdiff_t>(heads));
    else if (calls.size() > heads && open_back && !open_front)
      calls.resize(heads);
    if (calls.size() == 1) {
      for (auto i = first; i < last; ++i) steps[i] = calls[0];
      return;
    }
    if (calls.size() != heads) return;
    std::size_t call = 0;
    for (auto i = first; i < last; ++i) {
      if (finishes(name_of(kernels[i])) && call > 0)
        steps[i] = calls[call - 1];
      else if (call < calls.size())
        steps[i] = calls[call++];
    }
  }

  const Capture& capture_;
  const ProgramOrder& order_;
  std::unordered_map<std::string_view, std::uint32_t> named_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> alike_;
};

}  // namespace

void Programs::place(Capture& capture, const std::vector<Unplaced>& unplaced) const {
  const auto& activities = std::as_const(capture).activities;  // reading leaves columns narrow
  using Launch = std::tuple<std::int64_t, std::uint32_t, std::int64_t, std::uint32_t>;
  struct Rows {  // [first, end): those of a launch mostly lie in a row
    std::uint32_t first = 0, end = 0;
  };
  std::map<Launch, std::vector<Rows>> launches;
  for (const auto& run : unplaced) {
    if (!orders_.contains(run.program)) continue;
    Launch last;
    std::vector<Rows>* rows = nullptr;
    for (auto row = run.first; row < run.end; ++row) {
      if (activities.kind[row] != ActivityKind::kernel) continue;
      const Launch launch{run.program, activities.device[row], activities.correlation[row],
                          static_cast<std::uint32_t>(activities.op[row])};
      if (!rows || launch != last) rows = &launches[last = launch];
      if (!rows->empty() && rows->back().end == row)
        ++rows->back().end;
      else
        rows->push_back({row, row + 1});
    }
  }
  std::unordered_map<std::int64_t, Placer> placers;
  std::vector<std::uint32_t> members;
  for (const auto& [launch, runs] : launches) {
    const auto& [program, order] = *orders_.find(std::get<0>(launch));
    auto& placer = placers.try_emplace(program, capture, order).first->second;
    members.clear();
    for (const auto& [first, end] : runs)
      for (auto row = first; row < end; ++row) members.push_back(row);
    std::ranges::stable_sort(members, [&](std::uint32_t left, std::uint32_t right) {
      return activities.start_ns[left] < activities.start_ns[right];
    });
    const auto rows = placer.rows(members);
    for (std::size_t i = 0; i < members.size(); ++i)
      if (rows[i] != activities.program_op[members[i]])
        capture.activities.program_op[members[i]] = rows[i];
  }
}

}  // namespace gf::xplane
