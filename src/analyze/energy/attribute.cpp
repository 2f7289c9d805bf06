#include "analyze/energy/attribute.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyze/energy/power_curve.h"
#include "analyze/energy/split.h"
#include "analyze/energy/work.h"
#include "analyze/layers/layers.h"
#include "model/counter_values.h"
#include "model/kernel_name.h"
#include "model/metrics.h"

namespace gf {

namespace {

constexpr std::size_t kReadings = 2000;

/// Mean, lowest and highest of a reading inside a span; the last one before it when there is none
/// inside.
struct Readings {
  std::optional<double> mean, low, high;
};
Readings readings_of(const Capture& capture, std::uint32_t device, Interval span,
                     std::string_view metric, double scale) {
  Readings out;
  const Text id = capture.strings.find(metric);
  if (id == Text::none) return out;
  double sum = 0, count = 0;
  std::optional<double> before;
  each_counter_value(capture, {kAllTime.start, span.end}, {device, {id}},
                     [&](std::uint32_t, Text, Nanos start, Nanos, double value) {
                       if (!std::isfinite(value)) return;
                       const double scaled = value * scale;
                       if (start < span.start) {
                         before = scaled;
                         return;
                       }
                       sum += scaled;
                       ++count;
                       out.low = std::min(out.low.value_or(scaled), scaled);
                       out.high = std::max(out.high.value_or(scaled), scaled);
                     });
  if (count > 0)
    out.mean = sum / count;
  else
    out.mean = out.low = out.high = before;
  return out;
}

struct Frame {
  const Capture& capture;
  std::uint32_t device;
  Interval window;
  const EnergyModelFile* model;
  std::int64_t batch = 0;
  std::size_t rows = 0;
};

bool has_samples(const SampledWindow& sampled_window) {
  return sampled_window.coverage > 0 &&
         std::any_of(sampled_window.counted.begin() + EnergyEvaluator::kFeatures,
                     sampled_window.counted.end(), [](bool right) { return right; });
}

/// Fills what does not depend on leaves; empty when nothing measured the window.
std::optional<DeviceEnergy> measured(const Frame& frame, const PowerCurve& curve) {
  const auto nj = curve.nanojoules(frame.window);
  if (!nj || frame.window.length() <= 0) return std::nullopt;
  DeviceEnergy out;
  out.device = frame.capture.devices.id[frame.device];
  out.name = frame.capture.text(frame.capture.devices.name[frame.device]);
  out.start_ns = frame.window.start;
  out.span_ns = frame.window.length();
  out.period_ns = curve.period();
  out.source = curve.source();
  out.nj = std::max<std::int64_t>(0, *nj);
  out.mean_watts = static_cast<double>(out.nj) / static_cast<double>(out.span_ns);
  const auto clock =
      readings_of(frame.capture, frame.device, frame.window, "clock.sm"_metric, 1e-6);
  out.sm_mhz = clock.mean;
  out.sm_mhz_low = clock.low;
  out.celsius =
      readings_of(frame.capture, frame.device, frame.window, "temperature.gpu"_metric, 1).mean;
  for (const auto& reading : curve.readings(frame.window, kReadings))
    out.power.push_back({reading.time - frame.window.start, reading.watts});
  return out;
}

void fill_time(std::vector<EnergyLeaf>& leaves, const EnergyEvaluator& evaluator,
               std::optional<double> celsius) {
  const EnergyModel& model = evaluator.model();
  for (auto& leaf : leaves) {
    const double seconds = static_cast<double>(leaf.ns) * 1e-9;
    leaf.work[EnergyEvaluator::kStatic] = seconds;
    const double above = celsius.value_or(model.reference_celsius) - model.reference_celsius;
    leaf.work[EnergyEvaluator::kWarmth] = above * seconds;
    evaluator.derive(leaf.work, seconds);
  }
}

std::vector<const EnergyLeaf*> pointers(const std::vector<EnergyLeaf>& leaves) {
  std::vector<const EnergyLeaf*> out;
  for (const auto& leaf : leaves) out.push_back(&leaf);
  return out;
}

void fill_parts(DeviceEnergy& out, const std::vector<EnergyLeaf>& leaves,
                const EnergyEvaluator* model) {
  out.parts = energy_parts(pointers(leaves), model, true);
  if (!model || out.parts.empty()) return;
  const auto& rest = out.parts.back();
  out.predicted_low_nj = out.nj - rest.high_nj;
  out.predicted_high_nj = out.nj - rest.low_nj;
  for (std::size_t i = EnergyEvaluator::kFeatures; i < model->columns(); ++i) {
    double count = 0;
    for (const auto& leaf : leaves) count += leaf.work[i];
    if (count > 0) out.counts.push_back({model->feature(i), count});
  }
}

void fill_step_mean(DeviceEnergy& out, const std::vector<StepInfo>& steps, std::int64_t batch) {
  if (steps.empty()) return;
  EnergyStepMean mean;
  mean.count = static_cast<std::int64_t>(steps.size());
  std::int64_t nj = 0;
  Nanos ns = 0;
  for (const auto& row : out.steps)
    if (row.type == "step") nj += row.nj;
  for (const auto& step : steps) ns += step.duration_ns;
  mean.joules = static_cast<double>(nj) * 1e-9 / static_cast<double>(mean.count);
  mean.seconds = static_cast<double>(ns) * 1e-9 / static_cast<double>(mean.count);
  mean.edp = mean.joules * mean.seconds;
  if (batch > 0) mean.joules_per_item = mean.joules / static_cast<double>(batch);
  out.step = mean;
}

void describe_model(EnergyUse& out, const EnergyModelFile* file) {
  if (!file) return;
  out.model = file->path;
  out.model_gpu = file->model.gpu;
  out.model_date = file->model.date;
  out.gain_error = file->model.gain_error;
}

/// The board that the model was calibrated on: no spread between boards.
bool is_its_board(const Frame& frame) {
  const auto uuid = frame.capture.text(frame.capture.devices.uuid[frame.device]);
  return !uuid.empty() && uuid == frame.model->model.uuid;
}

/// The counted work of kernels, from a counter report or else from samples.
struct CountedWork {
  KernelWork kernels;
  SampledWindow window;
};

bool has_report(const Context& context, std::uint32_t device) {
  const auto& capture = context.capture;
  return context.matching.info.matched + context.matching.info.ambiguous > 0 &&
         capture.metadata_value(fmt::format("solved.{}", capture.devices.id[device])).empty();
}

/// Rates are solved once for each capture: when it was read, or else here.
KernelWork work_by_rates(const Context& context, const Frame& frame, const EnergyEvaluator& model) {
  if (const auto* solved = context.options.kernel_rates)
    return sampled_work(frame.capture, frame.device, (*solved)[frame.device], model);
  return sampled_work(frame.capture, frame.device, solve_kernel_rates(frame.capture, frame.device),
                      model);
}

CountedWork counted_work(const Context& context, const Frame& frame, const EnergyEvaluator& model,
                         DeviceEnergy& out) {
  CountedWork work;
  work.window = sampled_window(frame.capture, frame.device, frame.window, model);
  if (!out.sm_mhz && work.window.hertz > 0) out.sm_mhz = work.window.hertz * 1e-6;
  if (has_report(context, frame.device)) {
    out.counts_source = CountsSource::counter_report;
    work.kernels = reported_work(frame.capture, context.matching.report_row, model);
  } else if (has_samples(work.window)) {
    out.counts_source = CountsSource::samples;
    out.coverage = std::min(1.0, work.window.coverage);
    work.kernels = work_by_rates(context, frame, model);
  }
  return work;
}

/// Names a row of time without kernels.
bool name_without_kernel(std::uint32_t what, EnergyRow& row) {
  if (what == kIdleLeaf)
    row.name = "(idle)";
  else if (what == kCopiesLeaf)
    row.name = "(copies)";
  else
    return false;
  row.type = row.name;
  return true;
}

/// The tables of a device: by type and name of the layer, by kernel, by step.
void fill_tables(const Context& context, const Frame& frame, const LayerGroups& layers,
                 const std::vector<EnergyLeaf>& leaves, const EnergyEvaluator* model,
                 DeviceEnergy& out) {
  const auto& types = EnumNames<LayerType>::names;
  const auto& steps = context.window.steps;
  out.layer_types = energy_rows(
      leaves, model, out.nj, 0, true, [](const auto& leaf) { return leaf.type; },
      [&](const auto& leaf, EnergyRow& row) {
        if (!name_without_kernel(leaf.type, row)) row.name = row.type = types[leaf.type];
      });
  out.layers = energy_rows(
      leaves, model, out.nj, frame.rows, true, [](const auto& leaf) { return leaf.layer; },
      [&](const auto& leaf, EnergyRow& row) {
        if (name_without_kernel(leaf.layer, row)) return;
        const auto& layer = layers.rows[leaf.layer];
        row.name = layer.name;
        row.type = name_of(layer.type);
        row.phase = layer.phase;
      });
  out.kernels = energy_rows(
      leaves, model, out.nj, frame.rows, true, [](const auto& leaf) { return leaf.kernel; },
      [&](const auto& leaf, EnergyRow& row) {
        if (name_without_kernel(leaf.kernel, row)) return;
        row.name = short_kernel_name(frame.capture.text(static_cast<Text>(leaf.kernel)));
        row.type = types[leaf.type];
      });
  if (steps.empty()) return;
  out.steps = energy_rows(
      leaves, model, out.nj, 0, false, [](const auto& leaf) { return leaf.step; },
      [&](const auto& leaf, EnergyRow& row) {
        if (leaf.step == kNoStep) {
          row.name = row.type = "(outside)";
          return;
        }
        row.name = fmt::format("{}", steps[leaf.step].index);
        row.type = "step";
      });
}

/// Says how much of the window no recording covers, where recordings came in windows.
void doubt_unrecorded(const Frame& frame, DeviceEnergy& out) {
  const auto& recorded = frame.capture.recording_windows;
  if (recorded.size() == 0) return;
  Intervals known;
  for (std::size_t i = 0; i < recorded.size(); ++i) known.push_back(span_of(recorded, i));
  add_unrecorded_doubt(frame.window.length() - covered(normalised(std::move(known)), frame.window),
                       out);
}

DeviceEnergy with_kernels(const Context& context, const DeviceTimeline& line, const Frame& frame,
                          DeviceEnergy out) {
  const auto& capture = context.capture;
  std::optional<EnergyEvaluator> evaluator;
  if (frame.model) evaluator.emplace(frame.model->model, chip_at(capture, frame.device));

  out.counts_source = CountsSource::none;
  CountedWork work;
  if (evaluator) {
    work = counted_work(context, frame, *evaluator, out);
    if (out.sm_mhz) evaluator->bring_to_clock(*out.sm_mhz);
    evaluator->allow_for_spread(is_its_board(frame), out.counts_source == CountsSource::samples);
  }
  const PlacedKernels kernels = placed_kernels(capture, line);
  const LayerGroups layers = group_layers(context, kernels.instances);
  Leaves leaves = energy_leaves(context, line, kernels, layers, work.kernels,
                                evaluator ? &*evaluator : nullptr);
  if (leaves.list.empty()) return out;

  const EnergyEvaluator* model = nullptr;
  if (evaluator) {
    model = &*evaluator;
    if (out.counts_source == CountsSource::samples)
      scale_to(work.window, leaves.list);
    else if (leaves.kernel_ns > 0)
      out.coverage = static_cast<double>(leaves.counted_ns) / static_cast<double>(leaves.kernel_ns);
    fill_time(leaves.list, *model, out.celsius);
    split_energy(out.nj, *model, leaves.list);
  } else {
    split_by_time(out.nj, leaves.list);
  }
  fill_parts(out, leaves.list, model);
  fill_tables(context, frame, layers, leaves.list, model, out);
  out.waiting = waiting_row(leaves.list, model, out.nj);
  fill_step_mean(out, context.window.steps, frame.batch);
  doubt_unrecorded(frame, out);
  if (!model) return out;
  if (out.counts_source == CountsSource::samples)
    add_doubts(capture, frame.device, *model, work.window.counted, work.kernels.rows.empty(), out);
  else
    add_doubts(capture, frame.device, *model, work.kernels.counted, false, out);
  add_termless_doubt(leaves, out);
  return out;
}

}  // namespace

namespace {

/// The reasons why devices with readings have no energy, and what is missing for more; the devices
/// by their reason.
using Reasons = std::map<std::string, std::vector<std::int32_t>>;

void put_missing(const Capture& capture, const Reasons& reasons, bool any_power,
                 const EnergyModelFile* model, EnergyUse& use) {
  std::vector<std::string> sentences;
  for (const auto& [why, devices] : reasons)
    sentences.push_back(capture.devices.size() == 1
                            ? why
                            : fmt::format("GPU {}: {}", fmt::join(devices, ", "), why));
  if (!any_power)
    sentences.push_back(no_power_advice(capture));
  else if (!use.devices.empty() && !model)
    sentences.push_back(no_model_advice(use.devices.front().name));
  use.why_missing = fmt::format("{}", fmt::join(sentences, ". "));
}

}  // namespace

EnergyUse measure_energy(const Context& context, const EnergyModelFile* model) {
  EnergyUse use;
  describe_model(use, model);
  bool any_power = false;
  Reasons reasons;
  for (const auto& line : context.devices) {
    const PowerCurve curve(context.capture, line.device);
    any_power |= curve.source() != EnergySource::none;
    const Frame frame{context.capture, line.device,           line.window,
                      model,           context.options.batch, context.options.max_rows};
    auto device = measured(frame, curve);
    if (device) {
      auto whole = with_kernels(context, line, frame, std::move(*device));
      add_sensor_doubts(context.capture, curve.period(), model, whole);
      use.devices.push_back(std::move(whole));
    } else if (curve.source() != EnergySource::none) {
      reasons[outside_readings(curve.known(), line.window)].push_back(
          context.capture.devices.id[line.device]);
    }
  }
  put_missing(context.capture, reasons, any_power, model, use);
  return use;
}

EnergyUse measure_energy(const Capture& capture, Interval span, const EnergyModelFile* model) {
  EnergyUse use;
  describe_model(use, model);
  bool any_power = false;
  Reasons reasons;
  for (std::uint32_t index = 0; index < capture.devices.size(); ++index) {
    const PowerCurve curve(capture, index);
    if (curve.source() == EnergySource::none) continue;
    any_power = true;
    const Frame frame{capture, index, span, model};
    auto device = measured(frame, curve);
    if (!device) {
      reasons[outside_readings(curve.known(), span)].push_back(capture.devices.id[index]);
      continue;
    }
    std::vector<EnergyLeaf> leaves(1);
    leaves[0].ns = span.length();
    leaves[0].kernel = kWholeLeaf;
    device->counts_source = CountsSource::none;
    if (model) {
      EnergyEvaluator evaluator(model->model, chip_at(capture, index));
      leaves[0].work = evaluator.no_work();
      const auto window = sampled_window(capture, index, span, evaluator);
      if (!device->sm_mhz && window.hertz > 0) device->sm_mhz = window.hertz * 1e-6;
      if (device->sm_mhz) evaluator.bring_to_clock(*device->sm_mhz);
      evaluator.allow_for_spread(is_its_board(frame), true);
      if (has_samples(window)) {
        device->counts_source = CountsSource::samples;
        device->coverage = std::min(1.0, window.coverage);
        scale_to(window, leaves);
      }
      fill_time(leaves, evaluator, device->celsius);
      split_energy(device->nj, evaluator, leaves);
      fill_parts(*device, leaves, &evaluator);
      add_doubts(capture, index, evaluator, window.counted, false, *device);
    }
    add_sensor_doubts(capture, curve.period(), model, *device);
    use.devices.push_back(std::move(*device));
  }
  put_missing(capture, reasons, any_power, model, use);
  return use;
}

std::optional<Interval> sampled_span(const Capture& capture) {
  Interval span{INT64_MAX, INT64_MIN};
  // Readings of power bound what can be attributed; samples of counters alone cannot.
  for (std::uint32_t device = 0; device < capture.devices.size(); ++device) {
    const PowerCurve curve(capture, device);
    if (curve.source() == EnergySource::none) continue;
    span.start = std::min(span.start, curve.known().start);
    span.end = std::max(span.end, curve.known().end);
  }
  if (span.start >= span.end) return std::nullopt;
  return span;
}

}  // namespace gf
