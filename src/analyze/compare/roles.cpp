#include "analyze/compare/roles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "analyze/attribution/attribution.h"
#include "analyze/context.h"
#include "analyze/layers/layer_type.h"
#include "analyze/traits.h"
#include "analyze/work/operands.h"
#include "analyze/work/sections.h"
#include "model/kernel_name.h"

namespace gf {

namespace {

std::string_view name_of_copy(CopyKind kind) {
  switch (kind) {
    case CopyKind::host_to_device:
      return "copy host to device";
    case CopyKind::device_to_host:
      return "copy device to host";
    case CopyKind::device_to_device:
      return "copy on the device";
    case CopyKind::peer:
      return "copy between devices";
    default:
      return "copy";
  }
}

class RoleCollector {
 public:
  explicit RoleCollector(const Context& context)
      : context_(context),
        capture_(context.capture),
        naming_(context.capture, context.names, context.attribution) {
    for (const auto& step : context.window.steps) {
      starts_.push_back(step.start_ns);
      roles_.steps.ns.push_back(step.duration_ns);
    }
  }

  RunRoles collect() {
    for (const auto& line : context_.devices)
      for (const auto row : line.rows)
        if (const auto op = naming_op(row); op != kNoRow) ++activities_in_[op];
    for (const auto& line : context_.devices) {
      for (std::size_t i = 0; i < line.rows.size(); ++i) add(line, i);
      for (const auto& piece : line.idle_pieces) add_idle(piece);
    }
    if (kernels_ > 0) roles_.named = static_cast<double>(with_operator_) / kernels_;
    take_sequence();
    take_outliers();
    take_host();
    return std::move(roles_);
  }

 private:
  using Key = std::tuple<std::uint32_t, int, Text, Text, std::uint32_t, Text>;

  /// The outermost operation of a library around a launch that does what the kernel is for: the
  /// cast inside a convolution is aten::to, its product aten::conv2d.
  std::uint32_t naming_op(std::uint32_t row) {
    const auto op = context_.attribution.op[row];
    if (op == kNoRow) return kNoRow;
    const auto type = type_of(row);
    const auto [known, fresh] = named_by_.try_emplace(std::pair(op, type), op);
    if (!fresh) return known->second;
    const auto last = naming_.of(op);
    for (auto at = op; at != kNoRow; at = context_.attribution.op_parent[at]) {
      if (layer_of_operation(capture_.text(capture_.host_ops.name[at])) == type) known->second = at;
      if (at == last) break;
    }
    return known->second;
  }

  LayerType type_of(std::uint32_t row) const {
    if (capture_.activities.kind[row] != ActivityKind::kernel) return LayerType::copy;
    const auto& layers = context_.attribution.layer;
    return layers.empty() ? layer_of_kernel(capture_.text(capture_.activities.name[row]))
                          : layers[row];
  }

  TrainingPhase phase_of(std::uint32_t row) const {
    const auto phase = static_cast<TrainingPhase>(context_.attribution.phase[row]);
    return phase == TrainingPhase::none ? TrainingPhase::other : phase;
  }

  std::string family_of(std::uint32_t row) {
    const auto& activities = capture_.activities;
    if (activities.kind[row] == ActivityKind::memset) return "memory set";
    if (activities.kind[row] == ActivityKind::memcpy)
      return std::string(name_of_copy(activities.copy[row]));
    const auto type = type_of(row);
    const auto op = context_.attribution.op[row];
    if (type == LayerType::matmul && op != kNoRow &&
        context_.names.host(capture_.host_ops.name[op]) & host_is::batched_product)
      return "MatMul (batched)";
    return std::string(name_of(type));
  }

  void add(const DeviceTimeline& line, std::size_t i) {
    const auto row = line.rows[i];
    const bool is_kernel = capture_.activities.kind[row] == ActivityKind::kernel;
    const auto op = naming_op(row);
    const auto at = number_of(row, op, is_kernel);
    RoleCall& call = roles_.calls[at];
    const auto ns = is_kernel ? line.exclusive_ns[i] : line.spans[i].length();
    call.ns += static_cast<double>(ns);
    call.calls += 1;
    call.bytes += static_cast<double>(std::max<std::int64_t>(0, capture_.activities.bytes[row]));
    if (op != kNoRow)
      call.host_ns += static_cast<double>(std::max<Nanos>(0, capture_.host_ops.duration_ns[op])) /
                      activities_in_.at(op);
    launched_.emplace_back(launch_of(row), line.spans[i].start, at);
    if (!is_kernel) return;
    ++kernels_;
    with_operator_ += op != kNoRow;
    call.blocks += blocks_of(row);
    take_weight(row);
    const auto step = step_at(line.spans[i].start);
    if (!step) return;
    auto& series = roles_.steps.kernels[{call.family, call.phase}];
    series.resize(starts_.size());
    series[*step] += ns;
  }

  std::size_t number_of(std::uint32_t row, std::uint32_t op, bool is_kernel) {
    const auto& ops = capture_.host_ops;
    const auto family = family_of(row);
    const auto number =
        family_number_.try_emplace(family, static_cast<std::uint32_t>(family_number_.size()))
            .first->second;
    const Text name = op == kNoRow ? Text::none : ops.name[op];
    const Text shapes = op == kNoRow ? Text::none : ops.shapes[op];
    const auto module = context_.attribution.module[row];
    const Text kernel = capture_.activities.name[row];
    const auto [known, fresh] = number_of_.try_emplace(
        Key(number, static_cast<int>(phase_of(row)), name, shapes, module, kernel),
        roles_.calls.size());
    if (!fresh) return known->second;
    RoleCall& made = roles_.calls.emplace_back();
    made.family = family;
    made.phase = phase_of(row);
    made.name = capture_.text(name);
    made.module = context_.attribution.modules[module];
    made.kernel = short_kernel_name(capture_.text(kernel));
    made.is_kernel = is_kernel;
    made.fused = is_kernel && context_.names.kernel(kernel) & kernel_is::fused_chain;
    if (op != kNoRow)
      if (const auto call = work::call_of(capture_, op)) made.shapes = work::shapes_text(*call);
    return known->second;
  }

  Nanos launch_of(std::uint32_t row) const {
    const auto launch = context_.launches[row];
    return launch == kNoRow ? capture_.activities.start_ns[row]
                            : capture_.api_calls.start_ns[launch];
  }

  std::optional<std::size_t> step_at(Nanos time) const {
    const auto after = std::ranges::upper_bound(starts_, time);
    if (after == starts_.begin()) return std::nullopt;
    const auto step = static_cast<std::size_t>(after - starts_.begin() - 1);
    if (time >= starts_[step] + roles_.steps.ns[step]) return std::nullopt;
    return step;
  }

  void add_idle(const IdlePiece& piece) {
    for (auto step = step_at(piece.start); step && *step < starts_.size(); ++*step) {
      const Nanos start = std::max(piece.start, starts_[*step]);
      const Nanos end = std::min(piece.span().end, starts_[*step] + roles_.steps.ns[*step]);
      if (end <= start) break;
      auto& series = roles_.steps.idle[piece.reason];
      series.resize(starts_.size());
      series[*step] += end - start;
    }
  }

  double blocks_of(std::uint32_t row) const {
    double blocks = 1;
    for (const auto side : {capture_.activities.grid_x[row], capture_.activities.grid_y[row],
                            capture_.activities.grid_z[row]})
      blocks *= std::max(1, side);
    return blocks;
  }

  /// Weights and tables of a forward pass have the same sizes for every batch.
  void take_weight(std::uint32_t row) {
    const auto phase = phase_of(row);
    if (phase != TrainingPhase::forward && phase != TrainingPhase::other) return;
    if (type_of(row) == LayerType::copy) return;  // casts of a weight
    const auto op = context_.attribution.op[row];
    if (op == kNoRow) return;
    const auto outer = naming_.of(op);
    for (const auto at : {op, outer}) {
      const auto weight = weight_of(at);
      if (weight.empty()) continue;
      if (seen_weights_.emplace(outer, weight).second) roles_.weights[weight] += 1;
      return;
    }
  }

  std::string weight_of(std::uint32_t op) const {
    const NameWord is = context_.names.host(capture_.host_ops.name[op]);
    const auto layer = layer_in(is);
    std::size_t input = 1;
    std::string_view kind = "linear";
    if (layer == LayerType::embedding) {
      input = 0;
      kind = "embedding";
    } else if (layer == LayerType::convolution) {
      kind = "convolution";
    } else if (layer != LayerType::matmul || is & host_is::batched_product) {
      return {};
    }
    const auto call = work::call_of(capture_, op);
    if (!call) return {};
    const bool linear = kind == "linear";
    // A bias comes before the operands of the product.
    if (const auto* first = call->tensor(0); linear && first && first->dims.size() < 2) input = 2;
    const auto* weight = call->tensor(input);
    if (!weight || weight->dims.size() < 2 || (linear && weight->dims.size() > 2)) return {};
    auto dims = weight->dims;
    if (linear) std::ranges::sort(dims);  // transposed or not
    return fmt::format("{} {}", kind, fmt::join(dims, "x"));
  }

  /// Takes the sequence of the step of median length; without steps that of the window.
  void take_sequence() {
    Interval step{INT64_MIN, INT64_MAX};
    if (!starts_.empty()) {
      std::vector<std::size_t> order(starts_.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::ranges::sort(order, {}, [&](std::size_t i) { return roles_.steps.ns[i]; });
      const auto middle = order[(order.size() - 1) / 2];
      step = {starts_[middle], starts_[middle] + roles_.steps.ns[middle]};
    }
    std::ranges::sort(launched_);
    for (const auto& [launch, start, at] : launched_)
      if (start >= step.start && start < step.end)
        roles_.sequence.push_back(static_cast<std::uint32_t>(at));
  }

  /// Steps that the window leaves out since they are far longer than the others, and what the host
  /// did in them that it does not do for as long in the others.
  void take_outliers() {
    std::vector<Interval> outliers, others;
    Nanos longer = 0;
    for (const auto& step : context_.window.all_steps) {
      const Interval span{step.start_ns, step.start_ns + step.duration_ns};
      if (step.role == StepRole::outlier) outliers.push_back(span);
      if (step.role == StepRole::ordinary) others.push_back(span);
    }
    if (outliers.empty() || others.empty()) return;
    const double mean = mean_length(others);
    for (const auto& span : outliers) longer += span.length() - std::llround(mean);
    roles_.outliers = outliers.size();
    roles_.all_steps = outliers.size() + others.size();
    roles_.outlier_ns = longer;
    const auto& ops = capture_.host_ops;
    std::map<Text, std::pair<double, double>> time;  // in outliers, in the others
    const auto inside = [&](const std::vector<Interval>& spans, Nanos start) {
      return std::ranges::any_of(
          spans, [&](const Interval& span) { return start >= span.start && start < span.end; });
    };
    for (std::uint32_t op = 0; op < ops.size(); ++op) {
      if (is_step(op)) continue;
      const auto ns = static_cast<double>(std::max<Nanos>(0, ops.duration_ns[op]));
      if (inside(outliers, ops.start_ns[op]))
        time[ops.name[op]].first += ns;
      else if (inside(others, ops.start_ns[op]))
        time[ops.name[op]].second += ns;
    }
    // The innermost of those that hold most of it.
    double least = 0;
    for (const auto& [name, ns] : time) {
      const double usual =
          ns.second * static_cast<double>(outliers.size()) / static_cast<double>(others.size());
      if (ns.first - usual < static_cast<double>(longer) / 2) continue;
      if (!roles_.in_outliers.empty() && ns.first >= least) continue;
      least = ns.first;
      roles_.in_outliers = capture_.text(name);
    }
  }

  bool is_step(std::uint32_t op) const {
    return context_.names.host(capture_.host_ops.name[op]) & host_is::step;
  }

  void take_host() {
    const auto& ops = capture_.host_ops;
    std::map<Text, double> time;
    for (std::uint32_t op = 0; op < ops.size(); ++op) {
      const Nanos start = ops.start_ns[op];
      if (start < context_.window.start_ns || start >= context_.window.end_ns || is_step(op))
        continue;
      time[ops.name[op]] += static_cast<double>(std::max<Nanos>(0, ops.duration_ns[op]));
    }
    for (const auto& [name, ns] : time) roles_.host_ns[std::string(capture_.text(name))] += ns;
  }

  static double mean_length(const std::vector<Interval>& spans) {
    double sum = 0;
    for (const auto& span : spans) sum += static_cast<double>(span.length());
    return sum / static_cast<double>(spans.size());
  }

  const Context& context_;
  const Capture& capture_;
  NamingOperations naming_;
  RunRoles roles_;
  std::vector<Nanos> starts_;
  std::unordered_map<std::uint32_t, double> activities_in_;  // by operation that names
  std::map<std::pair<std::uint32_t, LayerType>, std::uint32_t> named_by_;
  std::map<std::string, std::uint32_t> family_number_;
  std::map<Key, std::size_t> number_of_;
  std::set<std::pair<std::uint32_t, std::string>> seen_weights_;  // by operation that names
  std::vector<std::tuple<Nanos, Nanos, std::size_t>> launched_;   // launch, start, call
  double kernels_ = 0;
  double with_operator_ = 0;
};

}  // namespace

RunRoles run_roles(const Context& context) { return RoleCollector(context).collect(); }

}  // namespace gf
