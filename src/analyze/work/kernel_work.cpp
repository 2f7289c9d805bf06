#include "analyze/work/kernel_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analyze/findings/facts.h"
#include "analyze/traits.h"
#include "analyze/utilization/kernel_levels.h"
#include "analyze/work/call_finder.h"
#include "core/strings.h"

namespace gf::work {
namespace {

/// The .sum of the counters of a chip's tensor paths, each with the type that it counts.
std::unordered_map<std::string, Element> operation_counters(const Chip* chip) {
  std::unordered_map<std::string, Element> names;
  if (!chip) return names;
  for (const auto& path : tensor_paths())
    if (path.chip == chip->id)
      each_term(path.counters, [&](std::string_view name, bool) {
        names.emplace(fmt::format("{}.sum", name), element_named(name_of(path.type)));
      });
  return names;
}

/// Ways to count the bytes of device memory: one counter, or reads and writes. A report mostly has
/// one of them; the first that it has counts.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kByteCounters{{
    {"dram__bytes.sum", ""},
    {"dram__bytes_read.sum", "dram__bytes_write.sum"},
    {"dram__bytes_op_read.sum", "dram__bytes_op_write.sum"},
    {"dram__sectors_read.sum", "dram__sectors_write.sum"},
}};

/// Operations of an instruction that a counter names ("…_op_ffma_pred_on.sum"); 0 for any other.
double operations_of_instruction(std::string_view counter) {
  constexpr std::string_view kBefore = "__sass_thread_inst_executed_op_", kAfter = "_pred_on.sum";
  const auto at = counter.find(kBefore);
  if (at == counter.npos || !counter.ends_with(kAfter)) return 0;
  if (!counter.starts_with("sm__") && !counter.starts_with("smsp__")) return 0;
  counter.remove_prefix(at + kBefore.size());
  counter.remove_suffix(kAfter.size());
  constexpr std::array<std::pair<std::string_view, double>, 6> kOperations{
      {{"ffma", 2}, {"fadd", 1}, {"fmul", 1}, {"dfma", 2}, {"dadd", 1}, {"dmul", 1}}};
  for (const auto& [name, operations] : kOperations)
    if (name == counter) return operations;
  return 0;
}

void add(double& sum, double value) { sum = (std::isnan(sum) ? 0 : sum) + value; }

}  // namespace

CountedWork::CountedWork(const Context& context) : report_row_(context.matching.report_row) {
  const Capture& capture = context.capture;
  const std::size_t rows = capture.report_kernels.size();
  if (rows == 0) return;
  const auto wanted = operation_counters(chip_of(capture));
  operations_.assign(rows, NAN);
  others_.assign(rows, NAN);
  types_.assign(rows, Element::none);
  std::vector<double> most(rows, 0);  // operations of that type
  std::array<std::vector<double>, kByteCounters.size()> read, written;
  for (auto& column : read) column.assign(rows, NAN);
  for (auto& column : written) column.assign(rows, NAN);
  // The target of a counter's values: a report holds the same names again and again.
  struct Target {
    std::optional<Element> operations;
    std::vector<double>* bytes = nullptr;
    double others = 0;  // operations of an instruction
  };
  std::unordered_map<std::uint32_t, Target> targets;
  const auto& counters = capture.kernel_counters;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const auto row = counters.kernel[i];
    if (row >= rows || std::isnan(counters.value[i])) continue;
    auto [target, fresh] =
        targets.try_emplace(static_cast<std::uint32_t>(counters.metric[i]), Target{});
    if (fresh) {
      const auto name = capture.text(counters.metric[i]);
      const auto path = wanted.find(std::string(name));
      if (path != wanted.end()) target->second.operations = path->second;
      target->second.others = operations_of_instruction(name);
      for (std::size_t way = 0; way < kByteCounters.size(); ++way) {
        if (name == kByteCounters[way].first) target->second.bytes = &read[way];
        if (name == kByteCounters[way].second) target->second.bytes = &written[way];
      }
    }
    if (target->second.operations) {
      add(operations_[row], counters.value[i]);
      if (counters.value[i] > most[row]) types_[row] = *target->second.operations;
      most[row] = std::max(most[row], counters.value[i]);
    }
    if (target->second.others > 0) add(others_[row], target->second.others * counters.value[i]);
    if (target->second.bytes) (*target->second.bytes)[row] = counters.value[i];
  }
  bytes_.assign(rows, NAN);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t way = 0; way < kByteCounters.size() && std::isnan(bytes_[row]); ++way) {
      const double more = kByteCounters[way].second.empty() ? 0 : written[way][row];
      constexpr double kSector = 32;
      bytes_[row] = (read[way][row] + more) * (way == 3 ? kSector : 1);
    }
}

Element CountedWork::tensor_type(std::uint32_t activity) const {
  if (types_.empty() || activity >= report_row_.size()) return Element::none;
  const auto row = report_row_[activity];
  return row < types_.size() ? types_[row] : Element::none;
}

namespace {

/// The call of an activity. Each launch of a graph carries out the operations that it was captured
/// from again.
class ActivityCalls {
 public:
  ActivityCalls(const Context& context, KernelWorks& works)
      : context_(context), works_(works), finder_(context, works) {}

  std::uint32_t place_of(std::uint32_t activity) {
    return finder_.place_of(context_.attribution.op[activity]);
  }

  std::uint32_t of(std::uint32_t activity, std::uint32_t place) {
    const auto call = finder_.call_at(place);
    const bool again = context_.capture.activities.captured_op[activity] != kNoRow;
    if (call == kNoCall || !again) return call;
    const auto [at, fresh] =
        again_.try_emplace(std::pair(call, context_.launches[activity]), works_.calls.size());
    if (fresh) works_.calls.push_back(KnownCall(works_.calls[call]));
    return at->second;
  }

 private:
  const Context& context_;
  KernelWorks& works_;
  CallFinder finder_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> again_;  // by call and launch
};

/// A kernel of a call, in the window or not.
struct Member {
  std::uint32_t activity = 0;
  std::uint32_t instance = UINT32_MAX;  // in the window
  double time = 0;                      // all of it
  KernelWork work{.known = true};       // its share
};

}  // namespace

/// Fills a list. Of works that fall on one place, the last is looked for: the few that a program
/// does are found nearly always, and where all differ none costs more than its own room.
class WorkWriter {
 public:
  explicit WorkWriter(WorkList& list) : list_(list) {}

  void set(std::size_t kernel, const KernelWork& work) {
    std::uint32_t& last = last_[place_of(work)];
    if (list_.distinct_[last] != work) {
      last = static_cast<std::uint32_t>(list_.distinct_.size());
      list_.distinct_.push_back(work);
    }
    list_.of_[kernel] = last;
  }

 private:
  static constexpr unsigned kPlaceBits = 12;
  static std::size_t place_of(const KernelWork& work) {
    const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    const std::uint64_t mixed = bits(work.bytes) * 3 + bits(work.flops) * 5 + bits(work.covered);
    return mixed * 0x9e3779b97f4a7c15u >> (64 - kPlaceBits);
  }

  WorkList& list_;
  std::array<std::uint32_t, 1 << kPlaceBits> last_{};  // place in the list, by place_of
};

namespace {

/// Shares out the work of one call over its kernels.
class Sharing {
 public:
  Sharing(const Context& context, KernelWorks& works)
      : capture_(context.capture),
        kernels_(context.kernels),
        works_(works),
        writer_(works.kernels),
        names_(context.names),
        tile_by_name_(capture_.strings, tile_of) {}

  void share(std::uint32_t call_number, std::span<Member> members) {
    KnownCall& known = works_.calls[call_number];
    double all = 0, inside = 0;
    for (const auto& member : members) {
      all += member.time;
      if (member.instance != UINT32_MAX) inside += time_inside(member);
    }
    known.in_window = all > 0 ? inside / all : 0;
    if (known.of->rule && known.of->rule->family == WorkFamily::convolution)
      known.fewer_operations = std::ranges::any_of(members, [&](const Member& member) {
        return (said(member) & kernel_is::transforms_operands) != 0;
      });
    const bool products = known.of->work.flops > 0;
    auto& main = main_;
    main.clear();
    for (auto& member : members)
      if (!products || work::multiplies(said(member))) main.push_back(&member);
    if (main.empty())
      for (auto& member : members) main.push_back(&member);
    give(known, main);
    for (auto& member : members) {
      if (member.instance == UINT32_MAX) continue;
      // A kernel under an operator that multiplies nothing does not either, whatever its name.
      member.work.multiplies = member.work.flops > 0;
      works_.call[member.instance] = call_number;
      writer_.set(member.instance, member.work);
    }
  }

  /// A kernel whose call is not known.
  void name(std::size_t instance, std::uint32_t activity) {
    if (multiplies(names_.kernel(capture_.activities.name[activity])))
      writer_.set(instance, {.multiplies = true});
  }

 private:
  /// The traits that a kernel's name gives its products.
  NameWord said(const Member& member) const {
    return names_.kernel(capture_.activities.name[member.activity]);
  }
  double time_inside(const Member& member) const {
    return static_cast<double>(kernels_[member.instance].duration_ns);
  }

  /// Products that name a pass go to kernels that name it too; all else by time.
  void give(KnownCall& known, const std::vector<Member*>& main) {
    auto& weight = weight_;
    weight.resize(main.size());
    for (const auto& product : known.of->work.products) {
      const bool named = product.part != Product::Part::whole &&
                         std::ranges::any_of(main, [&](const Member* member) {
                           return part_of(said(*member)) == product.part;
                         });
      double sum = 0;
      for (std::size_t i = 0; i < main.size(); ++i) {
        const auto part = part_of(said(*main[i]));
        const bool other_pass =
            named ? part != product.part
                  : product.part != Product::Part::whole && part != Product::Part::whole;
        weight[i] = other_pass ? 0 : std::max(main[i]->time, 1.0);
        sum += weight[i];
      }
      if (!(sum > 0)) {
        std::fill(weight.begin(), weight.end(), 1.0);
        sum = static_cast<double>(weight.size());
      }
      for (std::size_t i = 0; i < main.size(); ++i)
        if (weight[i] > 0) give_product(known, product, *main[i], weight[i] / sum);
    }
    double sum = 0;
    for (const auto* member : main) sum += std::max(member->time, 1.0);
    for (auto* member : main) {
      if (known.type == Element::none) known.type = number_type(known.of->work.type, said(*member));
      if (member->instance == UINT32_MAX) continue;
      const double part = std::max(member->time, 1.0) / sum * seen(*member);
      member->work.other_flops += part * known.of->work.other_flops;
      member->work.bytes += part * known.of->work.bytes;
    }
  }

  void give_product(const KnownCall& known, const Product& product, Member& member, double share) {
    if (member.instance == UINT32_MAX) return;
    KernelWork& kernel = member.work;
    const double part = share * seen(member), flops = part * product.flops();
    kernel.flops += flops;
    if (known.of->work.flops > 0)
      kernel.recomputed += flops * known.of->work.recomputed / known.of->work.flops;
    const auto tile = known.of->rule->family == WorkFamily::attention
                          ? std::nullopt
                          : tile_by_name_(capture_.activities.name[member.activity]);
    kernel.covered += tile ? std::max(flops, part * covered_flops(product, *tile)) : flops;
    kernel.type = number_type(known.of->work.type, said(member));
  }

  /// The share of a kernel that lies in the window.
  double seen(const Member& member) const {
    return member.time > 0 ? std::min(1.0, time_inside(member) / member.time) : 1;
  }

  const Capture& capture_;
  const std::vector<KernelInstance>& kernels_;
  KernelWorks& works_;
  WorkWriter writer_;
  const Names& names_;
  OncePerText<std::optional<Tile> (*)(std::string_view)> tile_by_name_;
  std::vector<Member*> main_;   // room of the call at hand: who multiplies, or all
  std::vector<double> weight_;  // of these
};

/// Call after call, each with its kernels in the order in which they were recorded.
void share_by_call(const Context& context, const std::vector<std::uint32_t>& call_of,
                   KernelWorks& works) {
  const auto& activities = context.capture.activities;
  std::vector<std::uint32_t> instance_of(activities.size(), UINT32_MAX);
  for (std::size_t i = 0; i < context.kernels.size(); ++i)
    instance_of[context.kernels[i].activity] = static_cast<std::uint32_t>(i);
  std::vector<std::uint32_t> ends(works.calls.size() + 1, 0);
  for (const auto call : call_of)
    if (call != kNoCall) ++ends[call + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<std::uint32_t> rows(ends.back());
  for (std::uint32_t row = 0; row < call_of.size(); ++row)
    if (call_of[row] != kNoCall) rows[ends[call_of[row]]++] = row;
  Sharing sharing(context, works);
  std::vector<Member> members;
  std::uint32_t from = 0;
  for (std::uint32_t call = 0; call < works.calls.size(); ++call) {
    members.clear();
    for (; from < ends[call]; ++from)
      members.push_back({rows[from], instance_of[rows[from]],
                         static_cast<double>(activities.duration_ns[rows[from]])});
    sharing.share(call, members);
  }
  for (std::size_t i = 0; i < context.kernels.size(); ++i)
    if (works.call[i] == kNoCall) sharing.name(i, context.kernels[i].activity);
}

void find_calls(const Context& context, KernelWorks& works) {
  const auto& activities = context.capture.activities;
  const auto& op = context.attribution.op;
  std::vector<std::uint32_t> call_of = find_program_calls(context.capture, works);
  ActivityCalls calls(context, works);
  struct Launched {
    std::uint32_t activity, place;
  };
  std::vector<Launched> launched;
  for (std::uint32_t activity = 0; activity < activities.size(); ++activity)
    if (call_of[activity] == kNoCall && activities.kind[activity] == ActivityKind::kernel &&
        op[activity] != kNoRow)
      launched.push_back({activity, calls.place_of(activity)});
  for (const auto& [activity, place] : launched) call_of[activity] = calls.of(activity, place);
  share_by_call(context, call_of, works);
}

/// Without a device the calls themselves are the work, where they began.
void find_host_calls(const Context& context, KernelWorks& works) {
  const auto& ops = context.capture.host_ops;
  CallFinder finder(context, works);
  ProgramWork programs(context.capture, works);
  const auto begins_inside = [&](std::uint32_t op) {
    return ops.start_ns[op] >= context.window.start_ns &&
           (ops.start_ns[op] < context.window.end_ns || context.window.duration_ns == 0);
  };
  for (std::uint32_t op = 0; op < ops.size(); ++op)
    if (begins_inside(op) && ops.kind[op] == HostKind::op) (void)finder.place_of(op);
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    if (!begins_inside(op)) continue;
    if (const auto* work = programs.of(ops.program_op[op]))
      works.calls.push_back({.host_op = op, .program_op = ops.program_op[op], .of = work});
    else if (ops.kind[op] == HostKind::op)
      (void)finder.call_at(finder.place_of(op));
  }
  for (auto& call : works.calls) {
    call.in_window = 1;
    call.type = number_type(call.of->work.type, 0);
  }
}

}  // namespace

namespace {

/// The operation with the sizes of the gradient that a rank accumulates. Of a tensor of a Python
/// class (DTensor) AccumulateGrad itself has those of all ranks together; what it calls first calls
/// itself again with the rank's own.
class OwnGradients {
 public:
  explicit OwnGradients(const Context& context)
      : ops_(context.capture.host_ops), python_(context.capture.strings.find("PythonSubclass")) {}

  /// `rows[i]` accumulates; rows of one thread by their start, outer ones first.
  std::uint32_t of(std::span<const std::uint32_t> rows, std::size_t i) const {
    if (python_ == Text::none || i + 1 >= rows.size()) return rows[i];
    const Nanos end = end_of(rows[i]), first_end = std::min(end, end_of(rows[i + 1]));
    bool python = false;
    std::uint32_t own = rows[i];
    for (std::size_t at = i + 1; at < rows.size() && ops_.start_ns[rows[at]] < first_end; ++at) {
      python = python || ops_.name[rows[at]] == python_;
      if (python && ops_.name[rows[at]] == ops_.name[rows[i + 1]]) own = rows[at];
    }
    return own;
  }

 private:
  Nanos end_of(std::uint32_t op) const {
    return gf::end_of(ops_.start_ns[op], ops_.duration_ns[op]);
  }

  const decltype(Capture::host_ops)& ops_;
  const Text python_;
};

}  // namespace

Program program_of(const Context& context) {
  const auto& capture = context.capture;
  const auto& ops = capture.host_ops;
  Program program;
  const Text accumulates = capture.strings.find("torch::autograd::AccumulateGrad");
  if (accumulates == Text::none) return program;
  struct Size {
    double elements = 0, bytes = 0;
  };
  std::map<std::pair<Text, Text>, Size> known;  // of a gradient, by sizes and types: few differ
  double elements = 0, bytes = 0;
  const auto add_gradient = [&](std::uint32_t op) {
    const auto [at, fresh] = known.try_emplace({ops.shapes[op], ops.types[op]});
    if (fresh) {
      const auto call = call_of(capture, op);
      if (const Tensor* gradient = call ? call->tensor(0) : nullptr)
        at->second = {gradient->elements(),
                      gradient->elements() * static_cast<double>(bytes_of(gradient->type))};
    }
    elements += at->second.elements;
    bytes += at->second.bytes;
  };
  const OwnGradients own(context);
  for (std::uint32_t thread = 0; thread < context.host.threads(); ++thread) {
    const auto rows = context.host.ops(thread);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (ops.name[rows[i]] == accumulates) add_gradient(own.of(rows, i));
  }
  const auto steps = static_cast<double>(std::max<std::size_t>(context.window.all_steps.size(), 1));
  program.parameters = elements / steps;
  program.parameter_bytes = bytes / steps;
  return program;
}

namespace {

bool has_shapes(const Capture& capture) {
  const auto& shapes = capture.host_ops.shapes;
  if (shapes.folded()) return shapes[0] != Text::none;
  return std::ranges::any_of(shapes.span(), [](Text shape) { return shape != Text::none; });
}

}  // namespace

KernelWorks known_works(const Context& context) {
  const Capture& capture = context.capture;
  const bool known =
      has_shapes(capture) || !capture.report_kernels.empty() || !capture.program_ops.empty();
  return known && !context.devices.empty() ? kernel_works(context) : KernelWorks{};
}

const KernelWorks* works_of(const Context& context) {
  return context.works && !context.works->kernels.empty() ? context.works.get() : nullptr;
}

KernelWorks kernel_works(const Context& context) {
  KernelWorks works;
  works.kernels = WorkList(context.kernels.size());
  works.call.assign(context.kernels.size(), kNoCall);
  works.counted = CountedWork(context);
  works.program = program_of(context);
  if (context.devices.empty())
    find_host_calls(context, works);
  else
    find_calls(context, works);
  return works;
}

}  // namespace gf::work
