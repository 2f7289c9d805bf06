#include "analyze/sweep/sweep.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <vector>

#include "analyze/utilization/kernel_levels.h"
#include "analyze/work/ceilings.h"
#include "core/statistics.h"
#include "model/levels.h"
#include "model/metrics.h"

namespace gf {

namespace {

constexpr double kSaturated = 0.95;   // of the highest throughput
constexpr std::size_t kDeviates = 3;  // repeats, for a standard deviation
constexpr double kUsesTensor = 0.03;  // without instructions: packed arithmetic's cycles stay below

/// The key that runs of one series share.
std::string series_key(const SweepRun& run) {
  std::string key;
  for (const auto& axis : sweep_axes()) (key += run.*(axis.member)) += '\n';
  return key;
}

/// The model and the axes that vary in the sweep.
std::string series_name(const SweepRun& run, const std::vector<std::string>& axes) {
  std::string name;
  for (const auto& axis : sweep_axes()) {
    const std::string& value = run.*(axis.member);
    const bool told =
        axis.name == "model" || std::find(axes.begin(), axes.end(), axis.name) != axes.end();
    if (!told || value.empty()) continue;
    name += (name.empty() ? "" : " ") + (axis.name == "gpu" ? gpu_in_names(value) : value);
  }
  return name.empty() ? "(no name)" : name;
}

double deviation(const std::vector<double>& values, double mean) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Energy of a step and of an item, with what the sensor and the repeats leave open. Of one
/// measurement without a sensor, as in a table, that is not known.
void finish_energy(SweepInput& input) {
  SweepRun& run = input.run;
  const auto& joules = input.step_joules;
  if (joules.empty()) return;
  run.joules = mean_of(joules);
  if (!run.batch || *run.batch <= 0) return;
  run.joules_per_item = *run.joules / static_cast<double>(*run.batch);
  const auto count = static_cast<double>(joules.size());
  double half = input.joules_doubt * *run.joules / std::sqrt(count);
  if (joules.size() > 1)
    half = root_of_squares(half, student_quantile95(static_cast<std::int64_t>(joules.size()) - 1) *
                                     deviation(joules, *run.joules) / std::sqrt(count));
  if (half <= 0) return;
  const double relative = std::min(1.0, half / *run.joules);
  run.joules_low = *run.joules_per_item * (1 - relative);
  run.joules_high = *run.joules_per_item * (1 + relative);
}

void finish(SweepInput& input) {
  SweepRun& run = input.run;
  finish_energy(input);
  const auto& seconds = input.step_seconds;
  if (!seconds.empty()) {
    const double mean = mean_of(seconds);
    run.step_ns = std::llround(mean * 1e9);
    run.repeats = static_cast<std::int64_t>(seconds.size());
    if (seconds.size() > 1 && mean > 0) {
      const auto [fastest, slowest] = std::minmax_element(seconds.begin(), seconds.end());
      run.spread = (*slowest - *fastest) / mean;
      run.fastest_ns = std::llround(*fastest * 1e9);
      run.slowest_ns = std::llround(*slowest * 1e9);
      if (seconds.size() >= kDeviates) run.deviation = deviation(seconds, mean) / mean;
    }
    if (run.batch && mean > 0) run.throughput = static_cast<double>(*run.batch) / mean;
  }
  if (!run.throughput || input.flops_per_item <= 0) return;
  run.flops = *run.throughput * input.flops_per_item;
  const Product* product = find_product(run.gpu);
  if (!product) return;
  std::string_view type = run.precision;
  if (type == "amp") type = "bf16";
  if (const auto peak = stated_peak(*product, type); peak && *peak > 0)
    run.mfu = *run.flops / *peak;
}

}  // namespace

void set_repeats(const std::vector<double>& values, SweepLevel& level) {
  level.value = mean_of(values);
  if (values.size() < 2) return;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  level.least = *least;
  level.most = *most;
}

namespace {

/// Runs of one setting become one with more repeats; its levels are their means, its kernels those
/// of the first that has any.
std::vector<SweepInput> merge_repeats(std::vector<SweepInput> inputs) {
  std::vector<SweepInput> merged;
  std::map<std::pair<std::string, std::optional<std::int64_t>>, std::size_t> known;
  std::vector<std::map<std::string, std::vector<double>>> levels;
  for (auto& input : inputs) {
    const auto [at, added] =
        known.try_emplace({series_key(input.run), input.run.batch}, merged.size());
    if (added) levels.emplace_back();
    for (const auto& level : input.run.levels)
      if (level.value) levels[at->second][level.id].push_back(*level.value);
    if (added) {
      merged.push_back(std::move(input));
      continue;
    }
    SweepInput& first = merged[at->second];
    first.step_seconds.insert(first.step_seconds.end(), input.step_seconds.begin(),
                              input.step_seconds.end());
    first.step_joules.insert(first.step_joules.end(), input.step_joules.begin(),
                             input.step_joules.end());
    first.joules_doubt = std::max(first.joules_doubt, input.joules_doubt);
    first.boards.insert(first.boards.end(), input.boards.begin(), input.boards.end());
    if (first.kernels.empty()) first.kernels = std::move(input.kernels);
    if (!first.run.memory_bytes) first.run.memory_bytes = input.run.memory_bytes;
  }
  for (std::size_t i = 0; i < merged.size(); ++i)
    for (auto& level : merged[i].run.levels) {
      const auto& values = levels[i][level.id];
      if (values.size() > 1) set_repeats(values, level);
    }
  return merged;
}

void normalise(std::vector<SweepRun>& runs) {
  std::map<std::string, double> highest;
  for (const auto& run : runs)
    if (run.throughput) highest[run.model] = std::max(highest[run.model], *run.throughput);
  for (auto& run : runs)
    if (run.throughput && highest[run.model] > 0)
      run.normalised = *run.throughput / highest[run.model];
}

/// Marks where more batch stops paying.
void saturate(SweepSeries& series, const std::vector<SweepRun>& runs) {
  double highest = 0;
  for (const auto at : series.runs)
    highest = std::max(highest, runs[static_cast<std::size_t>(at)].throughput.value_or(0));
  series.representative = series.runs.back();
  if (highest <= 0) return;
  for (const auto at : series.runs) {
    const SweepRun& run = runs[static_cast<std::size_t>(at)];
    if (run.throughput.value_or(0) < kSaturated * highest) continue;
    series.representative = at;
    if (at != series.runs.back()) series.saturation_batch = run.batch;
    return;
  }
}

Share value_in(const std::vector<SweepLevel>& levels, std::string_view id) {
  for (const auto& level : levels)
    if (level.id == id) return level.value;
  return {};
}

/// Each level over the kernels that have it, weighted by their time.
std::vector<LevelSpread> spreads_of(const std::vector<SweepKernel>& kernels) {
  std::vector<std::string> ids;
  for (const auto& kernel : kernels)
    for (const auto& level : kernel.levels)
      if (level.value && std::find(ids.begin(), ids.end(), level.id) == ids.end())
        ids.push_back(level.id);
  std::vector<LevelSpread> spreads;
  for (const auto& id : ids) {
    std::vector<double> values, weights;
    for (const auto& kernel : kernels) {
      const Share value = value_in(kernel.levels, id);
      if (!value) continue;
      values.push_back(*value);
      weights.push_back(static_cast<double>(kernel.ns));
    }
    LevelSpread spread;
    spread.id = id;
    spread.spread = distribution(values, weights);
    spread.value = spread.spread.mean;
    spreads.push_back(std::move(spread));
  }
  return spreads;
}

std::vector<SweepLayer> layers_of(const std::vector<SweepKernel>& kernels) {
  std::map<LayerType, std::vector<SweepKernel>> by_type;
  for (const auto& kernel : kernels)
    if (!kernel.levels.empty()) by_type[kernel.layer].push_back(kernel);
  std::vector<SweepLayer> layers;
  for (const auto& [type, of_type] : by_type) {
    layers.push_back({type, 0, spreads_of(of_type)});
    for (const auto& kernel : of_type) layers.back().ns += kernel.ns;
  }
  std::ranges::stable_sort(layers, std::greater<>(), &SweepLayer::ns);
  return layers;
}

std::vector<CurvePoint> curve_of(const std::vector<SweepKernel>& kernels, std::string_view id) {
  std::map<double, double> time_at;
  double whole = 0;
  for (const auto& kernel : kernels) {
    const Share value = value_in(kernel.levels, id);
    if (!value) continue;
    time_at[*value] += static_cast<double>(kernel.ns);
    whole += static_cast<double>(kernel.ns);
  }
  std::vector<CurvePoint> curve;
  double below = 0;
  for (const auto& [value, ns] : time_at) {
    below += ns;
    if (whole > 0) curve.push_back({value, below / whole});
  }
  return curve;
}

/// True if the kernel has matrix instructions, by its levels; empty where they do not tell.
std::optional<bool> multiplies(const SweepKernel& kernel) {
  const Share active = value_in(kernel.levels, "tensor.active"_metric);
  const Share issued = value_in(kernel.levels, "tensor.issue"_metric);
  if (!active) return {};
  return !issued ? *active >= kUsesTensor : *issued > 0 && *active >= kMatrixCycles * *issued;
}

/// The part of a whole that has a property.
struct Part {
  double part = 0, whole = 0;
  void add(double weight, bool has) {
    whole += weight;
    if (has) part += weight;
  }
  Share share() const {
    if (whole > 0) return part / whole;
    return {};
  }
};

void describe_kernels(SweepSeries& series, const std::vector<SweepKernel>& kernels) {
  Part without, time_without, no_instructions, time_no_instructions, packed;
  series.kernels = 0;
  for (const auto& kernel : kernels) {
    const auto count = static_cast<double>(kernel.count);
    series.kernels += kernel.count;
    const auto ns = static_cast<double>(kernel.ns);
    const Share issued = value_in(kernel.levels, "tensor.issue"_metric);
    const auto tensor = multiplies(kernel);
    if (issued) {
      no_instructions.add(count, *issued <= 0);
      time_no_instructions.add(ns, *issued <= 0);
    }
    if (tensor) {
      without.add(count, !*tensor);
      time_without.add(ns, !*tensor);
    }
    if (issued && tensor) packed.add(*issued * ns, !*tensor);
  }
  series.instances_without_tensor = without.share();
  series.instances_without_tensor_instructions = no_instructions.share();
  series.packed_instructions = packed.share();
  series.time_without_tensor = time_without.share();
  series.time_without_tensor_instructions = time_no_instructions.share();
  for (const std::string_view id : {"tensor.issue"_metric, "tensor.active"_metric}) {
    series.tensor_curve = curve_of(kernels, id);
    series.curve_level = id;
    if (!series.tensor_curve.empty()) return;
  }
  series.curve_level.clear();
}

/// Samples cannot tell tensor instructions, counters of the kernels can: their mean by time, for
/// the time that kernels run.
void complete_tensor_issue(SweepRun& run) {
  constexpr std::string_view kId = "tensor.issue"_metric;
  const Share busy = level_of(run, "gpu.busy"_metric);
  if (!busy || level_of(run, kId)) return;
  for (const auto& spread : run.spreads)
    if (spread.id == kId && spread.value) run.levels.push_back({spread.id, *spread.value * *busy});
}

bool counts_tensor_instructions(const SweepRun& run) {
  return std::any_of(run.spreads.begin(), run.spreads.end(),
                     [](const LevelSpread& spread) { return spread.id == "tensor.issue"_metric; });
}

/// True if the sensors of different boards measured the two, as far as that is known.
bool on_other_boards(const SweepInput& one, const SweepInput& other) {
  if (one.run.gpu != other.run.gpu) return true;
  if (one.boards.empty() || other.boards.empty()) return false;
  return std::ranges::any_of(one.boards, [&](const std::string& board) {
    return std::ranges::find(other.boards, board) == other.boards.end();
  });
}

/// Joules an item of one run over another's, with the 95 % interval; NaN bounds: not known.
struct EnergyRatio {
  double ratio = 0, low = 0, high = 0;
};
EnergyRatio energy_ratio(const SweepInput& one, const SweepInput& base) {
  constexpr double kGain = 0.05;  // of a board's sensor, which nothing but another one shows
  const auto relative = [](const SweepRun& run) {
    return run.joules_high ? *run.joules_high / *run.joules_per_item - 1 : std::nan("");
  };
  const double gain = on_other_boards(one, base) ? root_of_squares(kGain, kGain) : 0;
  const double half = root_of_squares(root_of_squares(relative(one.run), relative(base.run)), gain);
  const double ratio = *one.run.joules_per_item / *base.run.joules_per_item;
  return {ratio, ratio * (1 - half), ratio * (1 + half)};
}

/// Of each model's runs the one that takes least for an item, and which it cannot be told from.
std::vector<CheapestRun> cheapest_of(const std::vector<SweepInput>& inputs) {
  std::vector<CheapestRun> out;
  std::map<std::string, std::vector<std::size_t>> of_model;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].run.joules_per_item.value_or(0) > 0) of_model[inputs[i].run.model].push_back(i);
  for (auto& [model, runs] : of_model) {
    if (runs.size() < 2) continue;
    std::ranges::stable_sort(runs, {},
                             [&](std::size_t i) { return *inputs[i].run.joules_per_item; });
    const SweepInput& least = inputs[runs.front()];
    CheapestRun row;
    row.model = model;
    row.run = static_cast<std::int64_t>(runs.front());
    row.next = static_cast<std::int64_t>(runs[1]);
    if (const auto next = energy_ratio(inputs[runs[1]], least); !std::isnan(next.low)) {
      row.next_low = next.low;
      row.next_high = next.high;
    }
    for (std::size_t i = 1; i < runs.size(); ++i)
      if (energy_ratio(inputs[runs[i]], least).low <= 1)
        row.alike.push_back(static_cast<std::int64_t>(runs[i]));
    out.push_back(std::move(row));
  }
  return out;
}

/// Axes with more than one value, behind those that were asked for.
void add_varying(std::vector<std::string>& axes, const std::vector<SweepRun>& runs) {
  const auto add = [&](std::string_view name, bool varies) {
    if (varies && std::find(axes.begin(), axes.end(), name) == axes.end()) axes.emplace_back(name);
  };
  for (const auto& axis : sweep_axes())
    add(axis.name, std::any_of(runs.begin(), runs.end(), [&](const SweepRun& run) {
          return run.*(axis.member) != runs.front().*(axis.member);
        }));
  add("batch", std::any_of(runs.begin(), runs.end(),
                           [&](const SweepRun& run) { return run.batch != runs.front().batch; }));
}

}  // namespace

Share level_of(const SweepRun& run, std::string_view id) { return value_in(run.levels, id); }

/// Kernels of one name need not all use the tensor cores: each instance that has counters is one.
std::vector<SweepKernel> instances_of(const Context& context) {
  const KernelLevels levels(context.capture, context.matching);
  std::vector<SweepKernel> kernels;
  for (const auto& instance : context.kernels) {
    SweepKernel kernel{1, instance.exclusive_ns, {}, LayerType::other};
    if (const auto& layers = context.attribution.layer; !layers.empty())
      kernel.layer = layers[instance.activity];
    for (std::size_t at = 0; at < kKernelLevels; ++at) {
      const auto level = static_cast<KernelLevel>(at);
      if (const double value = levels.of(instance.activity, level); !std::isnan(value))
        kernel.levels.push_back({std::string(id_of(level)), value});
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

namespace {

/// Of all devices that worked, or of none: a part of them is not the energy of a step.
void put_energy(const Analysis& analysis, const Context& context, SweepInput& input) {
  const auto& devices = analysis.energy.devices;
  double joules = 0;
  if (devices.empty() || devices.size() != analysis.devices.size()) return;
  for (const auto& device : devices) {
    if (!device.step) return;
    joules += device.step->joules;
    // Each end of the window is known to one update of the sensor.
    if (device.span_ns > 0)
      input.joules_doubt =
          std::max(input.joules_doubt, std::min(1.0, static_cast<double>(device.period_ns) /
                                                         static_cast<double>(device.span_ns)));
    for (std::size_t row = 0; row < context.capture.devices.size(); ++row)
      if (context.capture.devices.id[row] == device.device)
        if (const auto uuid = context.capture.text(context.capture.devices.uuid[row]);
            !uuid.empty())
          input.boards.emplace_back(uuid);
  }
  input.step_joules.push_back(joules);
}

}  // namespace

SweepInput sweep_input(const Analysis& analysis, const Context& context) {
  SweepInput input;
  SweepRun& run = input.run;
  run.source = analysis.source.path;
  run.framework = analysis.source.framework;
  if (!analysis.devices.empty()) run.gpu = analysis.devices.front().name;
  const auto steps = analysis.window.steps.size();
  if (steps > 0)
    input.step_seconds.push_back(static_cast<double>(analysis.window.duration_ns) * 1e-9 /
                                 static_cast<double>(steps));
  put_energy(analysis, context, input);
  for (const auto& level : analysis.levels)
    if (level.value) run.levels.push_back({level.id, level.value});
  if (context.capture.kernel_counters.size() > 0) {
    input.kernels = instances_of(context);
    return input;
  }
  for (const auto& row : analysis.kernels)
    input.kernels.push_back({row.count, row.ns, {}, LayerType::other});
  return input;
}

Sweep make_sweep(std::vector<SweepInput> inputs, std::vector<std::string> axes) {
  Sweep sweep;
  inputs = merge_repeats(std::move(inputs));
  for (auto& input : inputs) {
    finish(input);
    input.run.spreads = spreads_of(input.kernels);
    input.run.layers = layers_of(input.kernels);
    complete_tensor_issue(input.run);
  }
  // Series in the order in which they first appear, the runs of each by batch.
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < inputs.size(); ++i) first.try_emplace(series_key(inputs[i].run), i);
  std::stable_sort(inputs.begin(), inputs.end(), [&](const auto& left, const auto& right) {
    return std::tuple(first.at(series_key(left.run)), left.run.batch) <
           std::tuple(first.at(series_key(right.run)), right.run.batch);
  });
  for (const auto& input : inputs) sweep.runs.push_back(input.run);
  normalise(sweep.runs);
  if (!sweep.runs.empty()) add_varying(axes, sweep.runs);
  sweep.axes = std::move(axes);
  std::string before;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (const std::string key = series_key(inputs[i].run); i == 0 || key != before) {
      before = key;
      sweep.series.emplace_back();
      sweep.series.back().name = series_name(inputs[i].run, sweep.axes);
      sweep.series.back().model = inputs[i].run.model;
    }
    SweepSeries& series = sweep.series.back();
    series.runs.push_back(static_cast<std::int64_t>(i));
    if (inputs[i].kernels.empty()) continue;
    const bool counted = counts_tensor_instructions(inputs[i].run);
    if (!counted && series.kernels_run >= 0 &&
        counts_tensor_instructions(sweep.runs[static_cast<std::size_t>(series.kernels_run)]))
      continue;
    series.kernels_run = static_cast<std::int64_t>(i);
    describe_kernels(series, inputs[i].kernels);
  }
  for (auto& series : sweep.series) saturate(series, sweep.runs);
  sweep.cheapest = cheapest_of(inputs);
  return sweep;
}

}  // namespace gf
