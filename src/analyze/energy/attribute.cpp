#include "analyze/energy/attribute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyze/energy/doubts.h"
#include "analyze/energy/power_curve.h"
#include "analyze/energy/split.h"
#include "analyze/energy/work.h"
#include "analyze/layers/layers.h"
#include "model/counter_values.h"
#include "model/kernel_name.h"

namespace gf {

namespace {

constexpr std::uint32_t kIdle = UINT32_MAX, kCopies = UINT32_MAX - 1, kWhole = UINT32_MAX - 2,
                        kNoStep = UINT32_MAX;
constexpr std::size_t kReadings = 2000;

struct Leaves {
  std::vector<EnergyLeaf> list;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t>
      known;
  std::size_t columns = 0;
  EnergyLeaf& at(std::uint32_t step, std::uint32_t type, std::uint32_t layer,
                 std::uint32_t kernel) {
    const auto [it, added] = known.try_emplace({step, type, layer, kernel}, list.size());
    if (added) {
      EnergyLeaf& leaf = list.emplace_back();
      leaf.step = step;
      leaf.type = type;
      leaf.layer = layer;
      leaf.kernel = kernel;
      leaf.work.assign(columns, 0.0);
    }
    return list[it->second];
  }
};

/// Which step a moment lies in.
class StepOf {
 public:
  explicit StepOf(const std::vector<StepInfo>& steps) : steps_(steps) {}
  std::uint32_t at(Nanos time) const {
    const auto it = std::upper_bound(
        steps_.begin(), steps_.end(), time,
        [](Nanos moment, const StepInfo& step_info) { return moment < step_info.start_ns; });
    if (it == steps_.begin()) return kNoStep;
    const auto step = static_cast<std::size_t>(it - steps_.begin()) - 1;
    if (time < steps_[step].start_ns + steps_[step].duration_ns)
      return static_cast<std::uint32_t>(step);
    return kNoStep;
  }
  /// f(step, length) for the pieces of a span.
  template <class F>
  void pieces(Interval span, F apply) const {
    while (span.start < span.end) {
      const auto it = std::upper_bound(
          steps_.begin(), steps_.end(), span.start,
          [](Nanos moment, const StepInfo& step_info) { return moment < step_info.start_ns; });
      const auto step = at(span.start);
      Nanos end = 0;
      if (it == steps_.end()) {
        end = span.end;
      } else {
        end = std::min(span.end, it->start_ns);
      }
      if (step != kNoStep) end = std::min(end, steps_[step].start_ns + steps_[step].duration_ns);
      apply(step, end - span.start);
      span.start = end;
    }
  }

 private:
  const std::vector<StepInfo>& steps_;
};

/// Makes the sums of the leaves what was sampled over the whole window; what no leaf claims goes by
/// the time of running kernels.
void scale_to(const SampledWindow& window, std::vector<EnergyLeaf>& leaves) {
  Nanos running = 0, all = 0;
  for (const auto& leaf : leaves) {
    if (leaf.runs) running += leaf.ns;
    all += leaf.ns;
  }
  for (std::size_t feature = 0; feature < window.work.size(); ++feature) {
    if (feature == EnergyEvaluator::kStatic || feature == EnergyEvaluator::kWarmth ||
        !window.counted[feature])
      continue;
    double sum = 0;
    for (const auto& leaf : leaves) sum += leaf.work[feature];
    for (auto& leaf : leaves) {
      const double time =
          running > 0
              ? (leaf.runs ? static_cast<double>(leaf.ns) / static_cast<double>(running) : 0.0)
          : all > 0 ? static_cast<double>(leaf.ns) / static_cast<double>(all)
                    : 0.0;
      leaf.work[feature] = window.work[feature] * (sum > 0 ? leaf.work[feature] / sum : time);
      if (sum > 0 && !leaf.doubt.empty()) leaf.doubt[feature] *= window.work[feature] / sum;
    }
  }
}

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

const Chip* chip_at(const Capture& capture, std::uint32_t device) {
  return find_chip(capture.text(capture.devices.name[device]),
                   capture.devices.compute_major[device], capture.devices.compute_minor[device]);
}

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
  out.source = curve.source();
  out.nj = std::max<std::int64_t>(0, *nj);
  out.mean_watts = static_cast<double>(out.nj) / static_cast<double>(out.span_ns);
  const auto clock = readings_of(frame.capture, frame.device, frame.window, "clock.sm", 1e-6);
  out.sm_mhz = clock.mean;
  out.sm_mhz_low = clock.low;
  out.celsius = readings_of(frame.capture, frame.device, frame.window, "temperature.gpu", 1).mean;
  for (const auto& reading : curve.readings(frame.window, kReadings))
    out.power.push_back({reading.time - frame.window.start, reading.watts});
  return out;
}

void fill_time(std::vector<EnergyLeaf>& leaves, const EnergyModel& model,
               std::optional<double> celsius) {
  for (auto& leaf : leaves) {
    const double seconds = static_cast<double>(leaf.ns) * 1e-9;
    leaf.work[EnergyEvaluator::kStatic] = seconds;
    if (celsius) {
      leaf.work[EnergyEvaluator::kWarmth] = (*celsius - model.reference_celsius) * seconds;
    } else {
      leaf.work[EnergyEvaluator::kWarmth] = 0;
    }
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

DeviceEnergy with_kernels(const Context& context, const DeviceTimeline& line, const Frame& frame,
                          DeviceEnergy out) {
  const auto& capture = context.capture;
  std::optional<EnergyEvaluator> model;
  if (frame.model) model.emplace(frame.model->model, chip_at(capture, frame.device));

  KernelWork work;
  SampledWindow window;
  out.counts_source = CountsSource::none;
  if (model) {
    window = sampled_window(capture, frame.device, frame.window, *model);
    if (window.hertz > 0) out.sm_mhz = window.hertz * 1e-6;
    const bool report =
        context.matching.info.matched + context.matching.info.ambiguous > 0 &&
        capture.metadata_value(fmt::format("solved.{}", capture.devices.id[frame.device])).empty();
    if (report) {
      out.counts_source = CountsSource::counter_report;
      work = reported_work(capture, context.matching.report_row, *model);
    } else if (has_samples(window)) {
      out.counts_source = CountsSource::samples;
      out.coverage = std::min(1.0, window.coverage);
      work = sampled_work(capture, frame.device, *model);
    }
  }

  std::vector<KernelInstance> instances;
  std::vector<std::size_t> position;  // in the timeline
  for (std::size_t i = 0; i < line.rows.size(); ++i)
    if (capture.activities.kind[line.rows[i]] == ActivityKind::kernel) {
      instances.push_back({line.rows[i], line.exclusive_ns[i], line.spans[i].length()});
      position.push_back(i);
    }
  if (model && out.sm_mhz) model->bring_to_clock(*out.sm_mhz);
  if (model)
    model->allow_for_spread(is_its_board(frame), out.counts_source == CountsSource::samples);
  const LayerGroups layers = group_layers(context, instances);
  const StepOf steps(context.window.steps);
  Leaves leaves;
  if (model) {
    leaves.columns = model->columns();
  } else {
    leaves.columns = 0;
  }
  Nanos counted_ns = 0, kernel_ns = 0;
  for (std::size_t instance = 0; instance < instances.size(); ++instance) {
    const auto activity = instances[instance].activity;
    auto& leaf = leaves.at(steps.at(line.spans[position[instance]].start),
                           context.attribution.layer[activity], layers.group[instance],
                           static_cast<std::uint32_t>(capture.activities.name[activity]));
    leaf.runs = true;
    ++leaf.count;
    leaf.ns += instances[instance].exclusive_ns;
    kernel_ns += instances[instance].exclusive_ns;
    const auto row = activity < work.row_of.size() ? work.row_of[activity] : kNoRow;
    if (row >= work.rows.size()) continue;
    counted_ns += instances[instance].exclusive_ns;
    const double whole = static_cast<double>(capture.activities.duration_ns[activity]),
                 inside = static_cast<double>(instances[instance].duration_ns);
    double times = 1;
    if (work.per_ns) {
      times = inside;
    } else if (whole > 0) {
      times = inside / whole;
    }
    for (std::size_t feature = EnergyEvaluator::kFeatures; feature < leaf.work.size(); ++feature)
      leaf.work[feature] += work.rows[row][feature] * times;
    if (row < work.doubts.size()) {
      leaf.doubt.resize(leaf.work.size(), 0.0);
      for (std::size_t feature = EnergyEvaluator::kFeatures; feature < leaf.work.size(); ++feature)
        leaf.doubt[feature] += work.doubts[row][feature] * times;
      leaf.doubt[EnergyEvaluator::kActive] +=
          work.doubts[row][EnergyEvaluator::kActive] *
          static_cast<double>(instances[instance].exclusive_ns) * 1e-9;
    }
    if (!std::isnan(work.active[row]))
      leaf.work[EnergyEvaluator::kActive] +=
          work.active[row] * static_cast<double>(instances[instance].exclusive_ns) * 1e-9;
  }
  auto without_kernel = [&](const Intervals& spans, std::uint32_t what) {
    for (const auto& span : spans)
      steps.pieces(
          span, [&](std::uint32_t step, Nanos ns) { leaves.at(step, what, what, what).ns += ns; });
  };
  without_kernel(line.idle, kIdle);
  without_kernel(subtract(line.busy, line.kernel_busy), kCopies);
  if (leaves.list.empty()) return out;

  if (model) {
    if (out.counts_source == CountsSource::samples)
      scale_to(window, leaves.list);
    else if (kernel_ns > 0)
      out.coverage = static_cast<double>(counted_ns) / static_cast<double>(kernel_ns);
    fill_time(leaves.list, frame.model->model, out.celsius);
    split_energy(out.nj, *model, leaves.list);
  } else {
    split_by_time(out.nj, leaves.list);
  }

  const EnergyEvaluator* use = nullptr;
  if (model) use = &*model;
  auto outside = [](std::uint32_t what, EnergyRow& row) {
    if (what == kIdle)
      row.name = "(idle)";
    else if (what == kCopies)
      row.name = "(copies)";
    else
      return false;
    row.type = row.name;
    return true;
  };
  fill_parts(out, leaves.list, use);
  out.layer_types = energy_rows(
      leaves.list, use, out.nj, 0, true, [](const auto& leaf) { return leaf.type; },
      [&](const auto& leaf, EnergyRow& row) {
        if (!outside(leaf.type, row))
          row.name = row.type = context.attribution.layer_types[leaf.type];
      });
  out.layers = energy_rows(
      leaves.list, use, out.nj, frame.rows, true, [](const auto& leaf) { return leaf.layer; },
      [&](const auto& leaf, EnergyRow& row) {
        if (outside(leaf.layer, row)) return;
        const auto& layer = layers.rows[leaf.layer];
        row.name = layer.name;
        row.type = name_of(layer.type);
        row.phase = layer.phase;
      });
  out.kernels = energy_rows(
      leaves.list, use, out.nj, frame.rows, true, [](const auto& leaf) { return leaf.kernel; },
      [&](const auto& leaf, EnergyRow& row) {
        if (outside(leaf.kernel, row)) return;
        row.name = short_kernel_name(capture.text(static_cast<Text>(leaf.kernel)));
        row.type = context.attribution.layer_types[leaf.type];
      });
  if (!context.window.steps.empty())
    out.steps = energy_rows(
        leaves.list, use, out.nj, 0, false, [](const auto& leaf) { return leaf.step; },
        [&](const auto& leaf, EnergyRow& row) {
          if (leaf.step == kNoStep)
            row.name = row.type = "(outside)";
          else {
            row.name = fmt::format("{}", context.window.steps[leaf.step].index);
            row.type = "step";
          }
        });
  fill_step_mean(out, context.window.steps, frame.batch);
  const auto& recorded = capture.recording_windows;
  Intervals known;
  for (std::size_t i = 0; i < recorded.size(); ++i)
    known.push_back({recorded.start_ns[i], recorded.start_ns[i] + recorded.duration_ns[i]});
  if (!known.empty())
    add_unrecorded_doubt(
        frame.window.length() - total(clip(normalised(std::move(known)), frame.window)), out);
  if (model)
    add_doubts(capture, frame.device, *model,
               out.counts_source == CountsSource::samples ? window.counted : work.counted,
               out.counts_source == CountsSource::samples && work.rows.empty(), out);
  return out;
}

}  // namespace

EnergyUse measure_energy(const Context& context, const EnergyModelFile* model) {
  EnergyUse use;
  describe_model(use, model);
  bool any_power = false;
  for (const auto& line : context.devices) {
    const PowerCurve curve(context.capture, line.device);
    any_power |= curve.source() != EnergySource::none;
    const Frame frame{context.capture, line.device,           line.window,
                      model,           context.options.batch, context.options.max_rows};
    auto device = measured(frame, curve);
    if (device) {
      auto whole = with_kernels(context, line, frame, std::move(*device));
      add_sensor_doubts(curve.period(), model, whole);
      use.devices.push_back(std::move(whole));
    } else if (curve.source() != EnergySource::none) {
      use.why_missing = outside_readings(curve.known(), line.window);
    }
  }
  if (!any_power)
    use.why_missing = no_power_advice();
  else if (!use.devices.empty() && !model)
    use.why_missing = no_model_advice(use.devices.front().name);
  return use;
}

EnergyUse measure_energy(const Capture& capture, Interval span, const EnergyModelFile* model) {
  EnergyUse use;
  describe_model(use, model);
  bool any_power = false;
  for (std::uint32_t index = 0; index < capture.devices.size(); ++index) {
    const PowerCurve curve(capture, index);
    if (curve.source() == EnergySource::none) continue;
    any_power = true;
    const Frame frame{capture, index, span, model};
    auto device = measured(frame, curve);
    if (!device) {
      use.why_missing = outside_readings(curve.known(), span);
      continue;
    }
    std::vector<EnergyLeaf> leaves(1);
    leaves[0].ns = span.length();
    leaves[0].kernel = kWhole;
    device->counts_source = CountsSource::none;
    if (model) {
      EnergyEvaluator evaluator(model->model, chip_at(capture, index));
      leaves[0].work = evaluator.no_work();
      const auto window = sampled_window(capture, index, span, evaluator);
      if (window.hertz > 0) device->sm_mhz = window.hertz * 1e-6;
      if (device->sm_mhz) evaluator.bring_to_clock(*device->sm_mhz);
      evaluator.allow_for_spread(is_its_board(frame), true);
      if (has_samples(window)) {
        device->counts_source = CountsSource::samples;
        device->coverage = std::min(1.0, window.coverage);
        scale_to(window, leaves);
      }
      fill_time(leaves, model->model, device->celsius);
      split_energy(device->nj, evaluator, leaves);
      fill_parts(*device, leaves, &evaluator);
      add_doubts(capture, index, evaluator, window.counted, false, *device);
    }
    add_sensor_doubts(curve.period(), model, *device);
    use.devices.push_back(std::move(*device));
  }
  if (!any_power)
    use.why_missing = no_power_advice();
  else if (!use.devices.empty() && !model)
    use.why_missing = no_model_advice(use.devices.front().name);
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
