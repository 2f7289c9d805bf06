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
      EnergyLeaf& l = list.emplace_back();
      l.step = step, l.type = type, l.layer = layer, l.kernel = kernel;
      l.work.assign(columns, 0.0);
    }
    return list[it->second];
  }
};

/// Which step a moment lies in.
class StepOf {
 public:
  explicit StepOf(const std::vector<StepInfo>& steps) : steps_(steps) {}
  std::uint32_t at(Nanos t) const {
    const auto it = std::upper_bound(steps_.begin(), steps_.end(), t,
                                     [](Nanos x, const StepInfo& s) { return x < s.start_ns; });
    if (it == steps_.begin()) return kNoStep;
    const auto i = static_cast<std::size_t>(it - steps_.begin()) - 1;
    return t < steps_[i].start_ns + steps_[i].duration_ns ? static_cast<std::uint32_t>(i) : kNoStep;
  }
  /// f(step, length) for the pieces of a span.
  template <class F>
  void pieces(Interval span, F f) const {
    while (span.start < span.end) {
      const auto it = std::upper_bound(steps_.begin(), steps_.end(), span.start,
                                       [](Nanos x, const StepInfo& s) { return x < s.start_ns; });
      const auto step = at(span.start);
      Nanos end = it == steps_.end() ? span.end : std::min(span.end, it->start_ns);
      if (step != kNoStep) end = std::min(end, steps_[step].start_ns + steps_[step].duration_ns);
      f(step, end - span.start);
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
  for (const auto& l : leaves) running += l.runs ? l.ns : 0, all += l.ns;
  for (std::size_t c = 0; c < window.work.size(); ++c) {
    if (c == EnergyEvaluator::kStatic || c == EnergyEvaluator::kWarmth || !window.counted[c])
      continue;
    double sum = 0;
    for (const auto& l : leaves) sum += l.work[c];
    for (auto& l : leaves) {
      const double time =
          running > 0 ? (l.runs ? static_cast<double>(l.ns) / static_cast<double>(running) : 0.0)
          : all > 0   ? static_cast<double>(l.ns) / static_cast<double>(all)
                      : 0.0;
      l.work[c] = window.work[c] * (sum > 0 ? l.work[c] / sum : time);
      if (sum > 0 && !l.doubt.empty()) l.doubt[c] *= window.work[c] / sum;
    }
  }
}

/// Mean, lowest and highest of a reading inside a span; the last one before it when there is none
/// inside.
struct Readings {
  std::optional<double> mean, low, high;
};
Readings readings_of(const Capture& c, std::uint32_t device, Interval span, std::string_view metric,
                     double scale) {
  Readings out;
  const Text id = c.strings.find(metric);
  if (id == Text::none) return out;
  double sum = 0, n = 0;
  std::optional<double> before;
  each_counter_value(c, {kAllTime.start, span.end}, {device, {id}},
                     [&](std::uint32_t, Text, Nanos start, Nanos, double value) {
                       if (!std::isfinite(value)) return;
                       const double v = value * scale;
                       if (start < span.start) {
                         before = v;
                         return;
                       }
                       sum += v, ++n;
                       out.low = std::min(out.low.value_or(v), v),
                       out.high = std::max(out.high.value_or(v), v);
                     });
  if (n > 0)
    out.mean = sum / n;
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

const Chip* chip_at(const Capture& c, std::uint32_t device) {
  return find_chip(c.text(c.devices.name[device]), c.devices.compute_major[device],
                   c.devices.compute_minor[device]);
}

bool has_samples(const SampledWindow& s) {
  return s.coverage > 0 && std::any_of(s.counted.begin() + EnergyEvaluator::kFeatures,
                                       s.counted.end(), [](bool b) { return b; });
}

/// Fills what does not depend on leaves; empty when nothing measured the window.
std::optional<DeviceEnergy> measured(const Frame& f, const PowerCurve& curve) {
  const auto nj = curve.nanojoules(f.window);
  if (!nj || f.window.length() <= 0) return std::nullopt;
  DeviceEnergy out;
  out.device = f.capture.devices.id[f.device];
  out.name = f.capture.text(f.capture.devices.name[f.device]);
  out.start_ns = f.window.start, out.span_ns = f.window.length();
  out.source = curve.source();
  out.nj = std::max<std::int64_t>(0, *nj);
  out.mean_watts = static_cast<double>(out.nj) / static_cast<double>(out.span_ns);
  const auto clock = readings_of(f.capture, f.device, f.window, "clock.sm", 1e-6);
  out.sm_mhz = clock.mean, out.sm_mhz_low = clock.low;
  out.celsius = readings_of(f.capture, f.device, f.window, "temperature.gpu", 1).mean;
  for (const auto& p : curve.readings(f.window, kReadings))
    out.power.push_back({p.time - f.window.start, p.watts});
  return out;
}

void fill_time(std::vector<EnergyLeaf>& leaves, const EnergyModel& model,
               std::optional<double> celsius) {
  for (auto& l : leaves) {
    const double s = static_cast<double>(l.ns) * 1e-9;
    l.work[EnergyEvaluator::kStatic] = s;
    l.work[EnergyEvaluator::kWarmth] = celsius ? (*celsius - model.reference_celsius) * s : 0;
  }
}

std::vector<const EnergyLeaf*> pointers(const std::vector<EnergyLeaf>& leaves) {
  std::vector<const EnergyLeaf*> out;
  for (const auto& l : leaves) out.push_back(&l);
  return out;
}

void fill_parts(DeviceEnergy& out, const std::vector<EnergyLeaf>& leaves,
                const EnergyEvaluator* model) {
  out.parts = energy_parts(pointers(leaves), model, true);
  if (!model || out.parts.empty()) return;
  const auto& rest = out.parts.back();
  out.predicted_low_nj = out.nj - rest.high_nj, out.predicted_high_nj = out.nj - rest.low_nj;
}

void fill_step_mean(DeviceEnergy& out, const std::vector<StepInfo>& steps, std::int64_t batch) {
  if (steps.empty()) return;
  EnergyStepMean mean;
  mean.count = static_cast<std::int64_t>(steps.size());
  std::int64_t nj = 0;
  Nanos ns = 0;
  for (const auto& row : out.steps)
    if (row.type == "step") nj += row.nj;
  for (const auto& s : steps) ns += s.duration_ns;
  mean.joules = static_cast<double>(nj) * 1e-9 / static_cast<double>(mean.count);
  mean.seconds = static_cast<double>(ns) * 1e-9 / static_cast<double>(mean.count);
  mean.edp = mean.joules * mean.seconds;
  if (batch > 0) mean.joules_per_item = mean.joules / static_cast<double>(batch);
  out.step = mean;
}

void describe_model(EnergyUse& out, const EnergyModelFile* file) {
  if (!file) return;
  out.model = file->path;
  out.model_gpu = file->model.gpu, out.model_date = file->model.date;
  out.gain_error = file->model.gain_error;
}

DeviceEnergy with_kernels(const Context& context, const DeviceTimeline& line, const Frame& f,
                          DeviceEnergy out) {
  const auto& capture = context.capture;
  std::optional<EnergyEvaluator> model;
  if (f.model) model.emplace(f.model->model, chip_at(capture, f.device));

  KernelWork work;
  SampledWindow window;
  out.counts_source = CountsSource::none;
  if (model) {
    window = sampled_window(capture, f.device, f.window, *model);
    if (window.hertz > 0) out.sm_mhz = window.hertz * 1e-6;
    const bool report =
        context.matching.info.matched + context.matching.info.ambiguous > 0 &&
        capture.metadata_value(fmt::format("solved.{}", capture.devices.id[f.device])).empty();
    if (report) {
      out.counts_source = CountsSource::counter_report;
      work = reported_work(capture, context.matching.report_row, *model);
    } else if (has_samples(window)) {
      out.counts_source = CountsSource::samples;
      out.coverage = std::min(1.0, window.coverage);
      work = sampled_work(capture, f.device, *model);
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
  const LayerGroups layers = group_layers(context, instances);
  const StepOf steps(context.window.steps);
  Leaves leaves;
  leaves.columns = model ? model->columns() : 0;
  Nanos counted_ns = 0, kernel_ns = 0;
  for (std::size_t k = 0; k < instances.size(); ++k) {
    const auto a = instances[k].activity;
    auto& leaf = leaves.at(steps.at(line.spans[position[k]].start), context.attribution.layer[a],
                           layers.group[k], static_cast<std::uint32_t>(capture.activities.name[a]));
    leaf.runs = true;
    ++leaf.count;
    leaf.ns += instances[k].exclusive_ns;
    kernel_ns += instances[k].exclusive_ns;
    const auto row = a < work.row_of.size() ? work.row_of[a] : kNoRow;
    if (row >= work.rows.size()) continue;
    counted_ns += instances[k].exclusive_ns;
    const double whole = static_cast<double>(capture.activities.duration_ns[a]),
                 inside = static_cast<double>(instances[k].duration_ns);
    const double times = work.per_ns ? inside : whole > 0 ? inside / whole : 1;
    for (std::size_t c = EnergyEvaluator::kFeatures; c < leaf.work.size(); ++c)
      leaf.work[c] += work.rows[row][c] * times;
    if (row < work.doubts.size()) {
      leaf.doubt.resize(leaf.work.size(), 0.0);
      for (std::size_t c = EnergyEvaluator::kFeatures; c < leaf.work.size(); ++c)
        leaf.doubt[c] += work.doubts[row][c] * times;
      leaf.doubt[EnergyEvaluator::kActive] += work.doubts[row][EnergyEvaluator::kActive] *
                                              static_cast<double>(instances[k].exclusive_ns) * 1e-9;
    }
    if (!std::isnan(work.active[row]))
      leaf.work[EnergyEvaluator::kActive] +=
          work.active[row] * static_cast<double>(instances[k].exclusive_ns) * 1e-9;
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
    fill_time(leaves.list, f.model->model, out.celsius);
    split_energy(out.nj, *model, leaves.list);
  } else {
    split_by_time(out.nj, leaves.list);
  }

  const EnergyEvaluator* use = model ? &*model : nullptr;
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
      leaves.list, use, out.nj, 0, true, [](const auto& l) { return l.type; },
      [&](const auto& l, EnergyRow& row) {
        if (!outside(l.type, row)) row.name = row.type = context.attribution.layer_types[l.type];
      });
  out.layers = energy_rows(
      leaves.list, use, out.nj, f.rows, true, [](const auto& l) { return l.layer; },
      [&](const auto& l, EnergyRow& row) {
        if (outside(l.layer, row)) return;
        const auto& layer = layers.rows[l.layer];
        row.name = layer.name, row.type = name_of(layer.type), row.phase = layer.phase;
      });
  out.kernels = energy_rows(
      leaves.list, use, out.nj, f.rows, true, [](const auto& l) { return l.kernel; },
      [&](const auto& l, EnergyRow& row) {
        if (outside(l.kernel, row)) return;
        row.name = short_kernel_name(capture.text(static_cast<Text>(l.kernel)));
        row.type = context.attribution.layer_types[l.type];
      });
  if (!context.window.steps.empty())
    out.steps = energy_rows(
        leaves.list, use, out.nj, 0, false, [](const auto& l) { return l.step; },
        [&](const auto& l, EnergyRow& row) {
          if (l.step == kNoStep)
            row.name = row.type = "(outside)";
          else
            row.name = fmt::format("{}", context.window.steps[l.step].index), row.type = "step";
        });
  fill_step_mean(out, context.window.steps, f.batch);
  const auto& recorded = capture.recording_windows;
  Intervals known;
  for (std::size_t i = 0; i < recorded.size(); ++i)
    known.push_back({recorded.start_ns[i], recorded.start_ns[i] + recorded.duration_ns[i]});
  if (!known.empty())
    add_unrecorded_doubt(f.window.length() - total(clip(normalised(std::move(known)), f.window)),
                         out);
  if (model)
    add_doubts(capture, f.device, *model,
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
    const Frame f{context.capture, line.device,           line.window,
                  model,           context.options.batch, context.options.max_rows};
    auto device = measured(f, curve);
    if (device) {
      auto whole = with_kernels(context, line, f, std::move(*device));
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
  for (std::uint32_t d = 0; d < capture.devices.size(); ++d) {
    const PowerCurve curve(capture, d);
    if (curve.source() == EnergySource::none) continue;
    any_power = true;
    const Frame f{capture, d, span, model};
    auto device = measured(f, curve);
    if (!device) {
      use.why_missing = outside_readings(curve.known(), span);
      continue;
    }
    std::vector<EnergyLeaf> leaves(1);
    leaves[0].ns = span.length();
    leaves[0].kernel = kWhole;
    device->counts_source = CountsSource::none;
    if (model) {
      EnergyEvaluator evaluator(model->model, chip_at(capture, d));
      leaves[0].work = evaluator.no_work();
      const auto window = sampled_window(capture, d, span, evaluator);
      if (window.hertz > 0) device->sm_mhz = window.hertz * 1e-6;
      if (device->sm_mhz) evaluator.bring_to_clock(*device->sm_mhz);
      if (has_samples(window)) {
        device->counts_source = CountsSource::samples;
        device->coverage = std::min(1.0, window.coverage);
        scale_to(window, leaves);
      }
      fill_time(leaves, model->model, device->celsius);
      split_energy(device->nj, evaluator, leaves);
      fill_parts(*device, leaves, &evaluator);
      add_doubts(capture, d, evaluator, window.counted, false, *device);
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
  for (std::uint32_t d = 0; d < capture.devices.size(); ++d) {
    const PowerCurve curve(capture, d);
    if (curve.source() == EnergySource::none) continue;
    span.start = std::min(span.start, curve.known().start);
    span.end = std::max(span.end, curve.known().end);
  }
  if (span.start >= span.end) return std::nullopt;
  return span;
}

}  // namespace gf
