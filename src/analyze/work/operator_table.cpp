#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <compare>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyze/host_nesting.h"
#include "analyze/traits.h"
#include "analyze/utilization/instances.h"
#include "analyze/work/sections.h"
#include "core/format.h"
#include "core/number_map.h"
#include "core/strings.h"
#include "core/text.h"
#include "model/kernel_name.h"

namespace gf::work {
namespace {

/// A measured sum holds only when every kernel of the row was counted.
void add_measured(std::optional<double>& sum, bool first, double value) {
  if (std::isnan(value)) {
    sum.reset();
  } else if (first) {
    sum = value;
  } else if (sum) {
    *sum += value;
  }
}

/// A sum over what is known; nothing where nothing is.
void add_known(std::optional<double>& sum, const std::optional<double>& value) {
  if (value) sum = sum.value_or(0) + *value;
}

/// The answer of the first operation outward from one: those of one path are asked once. No answer
/// is `kUnasked`.
template <class T, T kUnasked>
class Outward {
 public:
  Outward(const std::vector<std::uint32_t>& parent, T otherwise)
      : parent_(parent), otherwise_(otherwise) {}

  /// `said(op)` is nothing where one has to look further out.
  template <class F>
  T operator()(std::uint32_t op, F&& said) {
    if (known_.empty()) known_.assign(parent_.size(), kUnasked);
    path_.clear();
    std::optional<T> found;
    for (; op != kNoRow && !found; op = parent_[op]) {
      if (known_[op] != kUnasked) {
        found = known_[op];
      } else {
        path_.push_back(op);
        found = said(op);
      }
    }
    for (const auto passed : path_) known_[passed] = found.value_or(otherwise_);
    return found.value_or(otherwise_);
  }

 private:
  const std::vector<std::uint32_t>& parent_;
  T otherwise_;
  std::vector<T> known_;  // by operation; empty before the first question
  std::vector<std::uint32_t> path_;
};

/// One call of an operator in the window, or the kernels of an operator without a rule.
struct Seen {
  const Call* call = nullptr;
  const KnownCall* known = nullptr;  // nullptr: no rule says what work it is
  std::uint32_t op = kNoRow;         // of host_ops
  std::uint32_t forward = kNoRow;    // the operation that this one is the backward of
  std::uint32_t module = 0;
  TrainingPhase phase = TrainingPhase::none;
  bool whole = true;  // inside the window
  std::uint32_t kernels = 0;
  Nanos ns = 0;
  double counted_flops = 0, counted_bytes = 0;

  double flops() const {
    return known ? known->in_window * (known->of->work.flops + known->of->work.other_flops) : 0;
  }
  double bytes() const { return known ? known->in_window * known->of->work.bytes : 0; }
};

/// All that is told of a call's inputs.
struct CallTold {
  std::string name, shapes, types, strides, arguments;
  auto operator<=>(const CallTold&) const = default;
};

/// Blocks that differ in their number alone: "layers.3.fc" is "layers.*.fc".
std::string rolled(std::string_view path) {
  std::string out;
  for (const char letter : path) {
    const bool digit = letter >= '0' && letter <= '9';
    if (!digit) out += letter;
    if (digit && !out.ends_with('*')) out += '*';
  }
  return out;
}

/// `put(text, tensor)` of every tensor with sizes.
template <class F>
std::string of_tensors(const Call& call, F&& put) {
  std::string text;
  for (const auto& input : call.inputs)
    for (const auto& tensor : input.tensors) {
      if (tensor.dims.empty()) continue;
      if (!text.empty()) text += " * ";
      put(text, tensor);
    }
  return text;
}

void append_joined(std::string& text, const std::vector<std::int64_t>& numbers, char between) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += between;
    append_signed(text, numbers[i]);
  }
}

bool any_tensor(const Call& call, bool (*is)(const Tensor&)) {
  return std::ranges::any_of(
      call.inputs, [is](const Input& input) { return std::ranges::any_of(input.tensors, is); });
}

std::string strides_text(const Call& call) {
  if (!any_tensor(call, [](const Tensor& tensor) { return !tensor.strides.empty(); })) return {};
  return of_tensors(call, [](std::string& text, const Tensor& tensor) {
    append_joined(text, tensor.strides, ',');
  });
}

std::string arguments_text(const Call& call) {
  std::string text;
  for (const auto& input : call.inputs)
    if (!input.value.empty()) (text += text.empty() ? "" : " ") += input.value;
  return text;
}

/// Least, median and largest; nothing of no values.
template <class T>
void spread(std::vector<T>& values, std::optional<T>& least, std::optional<T>& middle,
            std::optional<T>& most) {
  if (values.empty()) return;
  const auto half = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, half);
  middle = *half;
  least = *std::ranges::min_element(values);
  most = *std::ranges::max_element(values);
}

class Table {
 public:
  Table(const Context& context, const KernelWorks& works, const Roof& roof,
        const HostNesting& nesting)
      : context_(context),
        works_(works),
        roof_(roof),
        nesting_(nesting),
        is_own_(context.capture.strings, is_line_of_program),
        short_name_(context.capture.strings, short_kernel_name),
        with_shapes_(context.attribution.op_parent, kNoRow),
        on_host_(context.attribution.op_parent, TrainingPhase::forward),
        rolled_of_(context.attribution.modules.size(), kNoRow) {}

  std::vector<OperatorWork> rows() {
    seen_.resize(works_.calls.size());
    for (std::size_t i = 0; i < works_.calls.size(); ++i) {
      const auto& known = works_.calls[i];
      seen_[i].call = &known.of->call;
      seen_[i].known = &known;
      seen_[i].op = known.host_op;
      seen_[i].whole = known.in_window >= 1;
    }
    for (std::size_t i = 0; i < works_.kernels.size(); ++i) take_kernel(i);
    row_of_.assign(seen_.size(), kNoRow);
    for (std::uint32_t at = 0; at < seen_.size(); ++at) {
      const bool inside = seen_[at].known && seen_[at].known->in_window > 0;
      if (inside || seen_[at].kernels > 0) take_call(at);
    }
    for (std::size_t i = 0; i < works_.kernels.size(); ++i) name_kernel(i);
    std::ranges::replace(row_of_, kNoRow, static_cast<std::uint32_t>(rows_.size()));
    const Groups calls(row_of_, rows_.size() + 1);
    for (std::size_t i = 0; i < rows_.size(); ++i) finish(rows_[i], calls.members(i));
    if (without_shapes_.row.kernels > 0) {
      finish(without_shapes_, {});
      rows_.push_back(std::move(without_shapes_));
    }
    return sorted();
  }

 private:
  struct Row {
    OperatorWork row;
    std::uint32_t module = 0;  // of its first call
    std::map<Text, Nanos> kernels;
  };

  std::vector<OperatorWork> sorted() {
    std::vector<OperatorWork*> order;
    for (auto& row : rows_) order.push_back(&row.row);
    std::ranges::stable_sort(order, [](const auto* left, const auto* right) {
      const double of_left = left->product_flops.value_or(0),
                   of_right = right->product_flops.value_or(0);
      return std::tuple(-left->ns, -of_left, std::string_view(left->name)) <
             std::tuple(-right->ns, -of_right, std::string_view(right->name));
    });
    std::vector<OperatorWork> table;
    table.reserve(order.size());
    for (auto* row : order) table.push_back(std::move(*row));
    return table;
  }

  /// The call that a kernel belongs to, of seen_; kNoRow where no shapes are known.
  std::uint32_t call_of_kernel(std::size_t i) {
    const auto known = works_.call[i];
    if (known != kNoCall) return known;
    const auto op = op_with_shapes(context_.attribution.op[context_.kernels[i].activity]);
    if (op == kNoRow) return kNoRow;
    const auto activity = context_.kernels[i].activity;
    const bool again = context_.capture.activities.captured_op[activity] != kNoRow;
    const auto launch = again ? context_.launches[activity] : kNoRow;
    const auto [at, fresh] = unknown_.place(std::uint64_t{op} << 32 | launch);
    if (fresh) {
      *at = static_cast<std::uint32_t>(seen_.size());
      Seen& call = seen_.emplace_back();
      call.call = &*call_at(op);
      call.op = op;
    }
    return *at;
  }

  /// The innermost operation around a launch whose inputs were recorded.
  std::uint32_t op_with_shapes(std::uint32_t op) {
    return with_shapes_(op, [&](std::uint32_t at) -> std::optional<std::uint32_t> {
      if (context_.capture.host_ops.kind[at] != HostKind::op || !call_at(at)) return std::nullopt;
      return at;
    });
  }

  TrainingPhase phase_on_host(std::uint32_t op) {
    return on_host_(op, [&](std::uint32_t at) -> std::optional<TrainingPhase> {
      const NameWord is = context_.names.host(context_.capture.host_ops.name[at]);
      if (is & host_is::backward) return TrainingPhase::backward;
      if (is & host_is::optimizer_step) return TrainingPhase::optimizer;
      return std::nullopt;
    });
  }

  /// The recorded inputs of an operation, with sizes; calls with the same inputs share it.
  const std::optional<Call>& call_at(std::uint32_t op) {
    auto [known, fresh] = calls_.try_emplace(call_texts(context_.capture, op));
    if (!fresh) return known->second;
    known->second = call_of(context_.capture, op);
    const auto sized = [](const Tensor& tensor) { return !tensor.dims.empty(); };
    if (known->second && !any_tensor(*known->second, sized)) known->second.reset();
    return known->second;
  }

  void take_kernel(std::size_t i) {
    const auto& kernel = context_.kernels[i];
    const auto at = call_of_kernel(i);
    call_of_.push_back(at);
    if (at == kNoRow) return;
    Seen& call = seen_[at];
    const auto& owners = context_.attribution;
    if (call.kernels++ == 0) {
      call.phase = static_cast<TrainingPhase>(owners.phase[kernel.activity]);
      call.forward = owners.forward_op[kernel.activity];
    }
    if (call.module == 0) call.module = owners.module[kernel.activity];
    if (!call.known)
      call.whole = call.whole &&
                   kernel.duration_ns == context_.capture.activities.duration_ns[kernel.activity];
    call.ns += kernel.exclusive_ns;
    call.counted_flops += works_.counted.tensor_operations(kernel.activity);
    call.counted_bytes += works_.counted.memory_bytes(kernel.activity);
  }

  TrainingPhase phase_of(const Seen& call) {
    const auto program_op = call.known ? call.known->program_op : kNoRow;
    const auto named = phase_in_program(context_.capture, program_op);
    if (named != TrainingPhase::none) return named;
    if (call.phase != TrainingPhase::none || program_op != kNoRow) return call.phase;
    return phase_on_host(call.op);
  }

  /// The number of what is told of a call; calls with the same inputs are asked once.
  std::uint32_t text_of(const Call& call, const KnownCall* known) {
    const auto [asked, fresh] = text_of_call_.place(reinterpret_cast<std::uintptr_t>(&call));
    if (!fresh) return *asked;
    CallTold text;
    text.name = call.name;
    text.shapes = shapes_text(call);
    text.types = of_tensors(
        call, [](std::string& types, const Tensor& tensor) { types += name_of(tensor.type); });
    text.strides = strides_text(call);
    const bool sized_by_arguments = (known && known->of->rule->family == WorkFamily::convolution) ||
                                    call.name.find("pool") != call.name.npos;
    if (sized_by_arguments) text.arguments = arguments_text(call);
    const auto [place, first] =
        number_of_text_.try_emplace(std::move(text), static_cast<std::uint32_t>(texts_.size()));
    if (first) texts_.push_back(&place->first);
    return *asked = place->second;
  }

  std::uint32_t rolled_module(std::uint32_t module) {
    auto& number = rolled_of_[module];
    if (number == kNoRow)
      number = number_of_rolled_
                   .try_emplace(rolled(context_.attribution.modules[module]),
                                static_cast<std::uint32_t>(number_of_rolled_.size()))
                   .first->second;
    return number;
  }

  OperatorWork new_row(const Seen& seen, std::uint32_t text, TrainingPhase phase) const {
    const CallTold& told = *texts_[text];
    OperatorWork row;
    row.name = told.name;
    row.shapes = told.shapes;
    row.types = told.types;
    row.strides = told.strides;
    row.arguments = told.arguments;
    row.phase = phase;
    row.module = context_.attribution.modules[seen.module];
    if (seen.known) {
      const auto type = seen.known->type;
      row.family = seen.known->of->rule->family;
      row.type = name_of(type == Element::none ? seen.known->of->work.type : type);
    } else if (const auto tensors = seen.call->tensors(); !tensors.empty()) {
      row.type = name_of(tensors.front()->type);
    }
    return row;
  }

  void take_call(std::uint32_t at) {
    const Seen& seen = seen_[at];
    const Call& call = *seen.call;
    const auto type = seen.known ? seen.known->type : Element::none;
    const auto text = text_of(call, seen.known);
    const auto module = rolled_module(seen.module);
    const auto phase = phase_of(seen);
    // Texts and modules are far fewer than calls, of which 32 bits count all.
    const auto [place, fresh] = place_of_.place(
        std::uint64_t{text} << 36 | std::uint64_t{module} << 8 |
        static_cast<std::uint64_t>(type) << 4 | static_cast<std::uint64_t>(phase) << 1 |
        std::uint64_t{seen.known != nullptr});
    if (fresh) {
      *place = static_cast<std::uint32_t>(rows_.size());
      Row& made = rows_.emplace_back();
      made.row = new_row(seen, text, phase);
      made.module = seen.module;
    }
    row_of_[at] = *place;
    Row& into = rows_[*place];
    if (into.module != seen.module) {
      const auto& name = context_.attribution.modules[seen.module];
      if (into.row.module != name) into.row.module = rolled(name);
    }
    ++into.row.calls;
    if (!seen.known) return;
    const auto& known = *seen.known;
    add_known(into.row.product_flops, known.in_window * known.of->work.flops);
    add_known(into.row.other_flops, known.in_window * known.of->work.other_flops);
    add_known(into.row.bytes, known.in_window * known.of->work.bytes);
    if (known.fewer_operations) into.row.no_share = NoShare::fewer_operations;
  }

  void name_kernel(std::size_t i) {
    const auto at = call_of_[i];
    Row& row = at == kNoRow ? without_shapes_ : rows_[row_of_[at]];
    const auto& kernel = context_.kernels[i];
    add_measured(row.row.measured_flops, row.row.kernels == 0,
                 works_.counted.tensor_operations(kernel.activity));
    add_measured(row.row.measured_bytes, row.row.kernels == 0,
                 works_.counted.memory_bytes(kernel.activity));
    ++row.row.kernels;
    row.row.ns += kernel.exclusive_ns;
    row.kernels[context_.capture.activities.name[kernel.activity]] += kernel.exclusive_ns;
    all_ns_ += kernel.exclusive_ns;
  }

  /// `calls`: of seen_.
  void finish(Row& made, std::span<const std::uint32_t> calls) {
    OperatorWork& row = made.row;
    std::map<std::string_view, Nanos> kernels;
    for (const auto& [name, ns] : made.kernels) kernels[short_name_(name)] += ns;
    row.by_kernel.reserve(kernels.size());
    for (const auto& [name, ns] : kernels) row.by_kernel.push_back({std::string(name), ns});
    if (kernels.size() > 1) std::ranges::stable_sort(row.by_kernel, std::greater{}, &NamedTime::ns);
    if (all_ns_ > 0) row.share = static_cast<double>(row.ns) / static_cast<double>(all_ns_);
    if (calls.empty()) {
      row.name = kWithoutShapes;
      row.phase = TrainingPhase::all;
      return;
    }
    const Seen& first = seen_[calls.front()];
    place(row, first);
    const bool counted_flops = row.measured_flops.value_or(0) > 0;
    if (counted_flops || first.known)
      row.flops_source = counted_flops ? WorkSource::measured : WorkSource::model;
    if (row.measured_bytes || first.known)
      row.bytes_source = row.measured_bytes ? WorkSource::measured : WorkSource::model;
    times_.clear();
    flops_.clear();
    bytes_.clear();
    for (const auto at : calls) {
      const Seen& call = seen_[at];
      if (!call.whole || call.ns <= 0) continue;
      times_.push_back(call.ns);
      const double seconds = static_cast<double>(call.ns) * 1e-9;
      if (row.flops_source != WorkSource::none)
        flops_.push_back((counted_flops ? call.counted_flops : call.flops()) / seconds);
      if (row.bytes_source != WorkSource::none)
        bytes_.push_back((row.measured_bytes ? call.counted_bytes : call.bytes()) / seconds);
    }
    spread(times_, row.ns_min, row.ns_median, row.ns_max);
    spread(flops_, row.flops_per_s_min, row.flops_per_s_median, row.flops_per_s_max);
    spread(bytes_, row.bytes_per_s_min, row.bytes_per_s_median, row.bytes_per_s_max);
    const RoofPoint point = roof_point(row, roof_);
    row.ceiling = point.limit;
    row.of_ceiling = point.of_ceiling;
    row.no_share = point.no_share;
  }

  /// Sets the place of a row's first call in the program.
  void place(OperatorWork& row, const Seen& first) {
    const auto& ops = context_.capture.host_ops;
    if (first.op == kNoRow) {
      row.path = context_.capture.text(context_.capture.program_ops.scope[first.known->program_op]);
      return;
    }
    for (const auto outer : nesting_.path_to(first.op))
      if (outer != first.op && ops.kind[outer] == HostKind::op) {
        if (!row.path.empty()) row.path += " > ";
        row.path += context_.capture.text(ops.name[outer]);
      }
    auto line = kNoRow;
    if (first.forward != kNoRow) line = line_of_program(first.forward);
    if (line == kNoRow) line = line_of_program(first.op);
    if (line != kNoRow) row.python = context_.capture.text(ops.name[line]);
  }

  /// The innermost Python frame at a span that is not a library's, as "train.py(41): loss";
  /// kNoRow without one.
  std::uint32_t line_of_program(std::uint32_t row) {
    const auto& ops = context_.capture.host_ops;
    while (row != kNoRow && !(ops.kind[row] == HostKind::python && is_own_(ops.name[row])))
      row = nesting_.around(row);
    return row;
  }

  const Context& context_;
  const KernelWorks& works_;
  const Roof& roof_;
  const HostNesting& nesting_;
  OncePerText<bool (*)(std::string_view)> is_own_;
  OncePerText<std::string (*)(std::string_view)> short_name_;
  Outward<std::uint32_t, kNoRow - 1> with_shapes_;
  Outward<TrainingPhase, TrainingPhase::none> on_host_;
  std::deque<Seen> seen_;               // known calls first, in their order
  std::vector<std::uint32_t> call_of_;  // by kernel
  std::vector<std::uint32_t> row_of_;   // by call
  std::unordered_map<CallTexts, std::optional<Call>, HashOfCallTexts> calls_;
  NumberMap unknown_;       // calls without a rule, of seen_: by operation and launch
  NumberMap text_of_call_;  // by the call's address
  std::map<CallTold, std::uint32_t> number_of_text_;
  std::vector<const CallTold*> texts_;    // by number
  std::vector<std::uint32_t> rolled_of_;  // by module; kNoRow: not asked for yet
  std::map<std::string, std::uint32_t> number_of_rolled_;
  NumberMap place_of_;  // rows, by text, module, type, phase and if there is a rule
  std::deque<Row> rows_;
  Row without_shapes_;
  std::vector<Nanos> times_;  // of the calls of one row, as the rates
  std::vector<double> flops_, bytes_;
  Nanos all_ns_ = 0;
};

}  // namespace

std::string shapes_text(const Call& call) {
  return of_tensors(
      call, [](std::string& text, const Tensor& tensor) { append_joined(text, tensor.dims, 'x'); });
}

std::vector<OperatorWork> operator_table(const Context& context, const KernelWorks& works,
                                         const Roof& roof, const HostNesting& nesting) {
  return Table(context, works, roof, nesting).rows();
}

std::vector<OperatorWork> longest_operators(std::vector<OperatorWork> table, std::size_t rows) {
  if (rows == 0 || table.size() <= rows) return table;
  OperatorWork others;
  others.name = fmt::format("({} others)", table.size() - rows);
  others.phase = TrainingPhase::all;
  double share = 0;
  for (std::size_t i = rows; i < table.size(); ++i) {
    const auto& row = table[i];
    others.calls += row.calls;
    others.kernels += row.kernels;
    others.ns += row.ns;
    add_known(others.product_flops, row.product_flops);
    add_known(others.other_flops, row.other_flops);
    add_known(others.bytes, row.bytes);
    share += row.share.value_or(0);
  }
  others.share = share;
  table.resize(rows);
  table.push_back(std::move(others));
  return table;
}

}  // namespace gf::work
