// What an analysis answers: plain structs, filled by the analyses, read by the reports. Field names
// are the keys of the JSON contract (schema gpufathom.analysis/1): a key may be added, never
// renamed. Empty optionals and NaN are "no data". All `_ns` are integers; parts sum to their totals
// exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/energy/result.h"
#include "analyze/runtime/result.h"
#include "analyze/sampled/result.h"
#include "core/describe.h"
#include "core/statistics.h"
#include "core/time.h"

namespace gf {

using Share = std::optional<double>;  // 0..1, empty = no data

struct SourceInfo {
  std::string path, format, framework;
  std::int64_t events = 0, bytes = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("path", &SourceInfo::path, "input file");
    visit("format", &SourceInfo::format, "importer that read it");
    visit("framework", &SourceInfo::framework, "pytorch, jax, tensorflow or empty");
    visit("events", &SourceInfo::events, "events in the source, damaged ones included");
    visit("bytes", &SourceInfo::bytes, "bytes of the source after decompression");
  }
};

struct QualityNote {
  std::string code;
  std::int64_t count = 0;
  std::string detail;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("code", &QualityNote::code, "kind of damage or doubt");
    visit("count", &QualityNote::count, "how often");
    visit("detail", &QualityNote::detail, "one sentence, with the first place where it happened");
  }
};

struct StepInfo {
  std::int64_t index = 0;
  Nanos start_ns = 0, duration_ns = 0;
  bool stable = false;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("index", &StepInfo::index, "step number of the source");
    visit("start_ns", &StepInfo::start_ns, "start");
    visit("duration_ns", &StepInfo::duration_ns, "duration");
    visit("stable", &StepInfo::stable, "at or after the first stable step");
  }
};

struct WindowInfo {
  std::string kind;  // all, recording_window, steps, stable, step, range
  Nanos start_ns = 0, end_ns = 0, duration_ns = 0;
  std::string step_source;          // marks:NAME, period:N kernels, none
  Share step_confidence;            // of a period found in the kernel sequence; empty with marks
  std::vector<StepInfo> steps;      // steps inside the window
  std::vector<StepInfo> all_steps;  // steps of the whole capture
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("kind", &WindowInfo::kind, "all, recording_window, steps, stable, step or range");
    visit("start_ns", &WindowInfo::start_ns, "start on the capture's clock");
    visit("end_ns", &WindowInfo::end_ns, "end, exclusive");
    visit("duration_ns", &WindowInfo::duration_ns, "length");
    visit("step_source", &WindowInfo::step_source,
          "what made the steps: a mark, a period of the kernel sequence, or none");
    visit("step_confidence", &WindowInfo::step_confidence,
          "how alike the detected steps are, 0..1; null with marks");
    visit("steps", &WindowInfo::steps, "steps inside the window");
    visit("all_steps", &WindowInfo::all_steps, "steps of the whole capture");
  }
};

struct NamedTime {
  std::string name;
  Nanos ns = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("name", &NamedTime::name, "what");
    visit("ns", &NamedTime::ns, "how long");
  }
};

struct IdleCause {
  std::string cause;  // launch_bound, sync, memcpy, input, communication, dependency, kernel_gap,
                      // host_other, no_launch_record; of samples: not_recorded, no_samples
  Nanos ns = 0;
  std::int64_t gaps = 0;
  std::vector<NamedTime> operators,
      modules;  // behind it, largest first; each list sums to at most ns
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("cause", &IdleCause::cause, "why the device idled");
    visit("ns", &IdleCause::ns, "idle time with this cause");
    visit("gaps", &IdleCause::gaps, "number of idle spans");
    visit("operators", &IdleCause::operators, "framework operations on the launching thread");
    visit("modules", &IdleCause::modules, "modules of those operations");
  }
};

/// One rung of the ladder. value = low when everything is known; [low, high] when some kernels have
/// no counters.
struct Level {
  std::string id;
  Share value, low, high;
  std::string unit = "ratio";
  Share coverage;   // share of kernel time that has data for this level
  Share by_cycles;  // like value, but each kernel weighted by the cycles of the report instead of
                    // the trace's time
  std::string formula;      // counters it comes from
  std::string why_missing;  // what to collect, when there is no data
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("id", &Level::id, "metric id of the catalogue");
    visit("value", &Level::value, "share of the window, taking the unknown as 0; null: no data");
    visit("low", &Level::low, "bound with every unknown kernel at 0");
    visit("high", &Level::high, "bound with every unknown kernel at its upper level");
    visit("unit", &Level::unit, "unit");
    visit("coverage", &Level::coverage, "share of kernel time that has data");
    visit("by_cycles", &Level::by_cycles,
          "the same with kernels weighted by the report's cycles instead of the trace's time");
    visit("formula", &Level::formula, "counters it comes from");
    visit("why_missing", &Level::why_missing, "what to collect when there is no data");
  }
};

/// One bar of the waterfall. The bars of a device add up to its window exactly.
struct WaterfallBar {
  std::string id, label;
  Nanos ns = 0;
  std::vector<NamedTime> parts;  // by cause, copy direction or layer type, largest first; sum to ns
  std::vector<NamedTime> kernels;  // by kernel, largest first; sum to ns; empty for idle and copy
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("id", &WaterfallBar::id,
          "bar: idle, copy, sm_inactive, stalled, other_instructions, tensor, unknown");
    visit("label", &WaterfallBar::label, "text for people");
    visit("ns", &WaterfallBar::ns, "time of the window lost or used here");
    visit("parts", &WaterfallBar::parts, "the same time by cause, copy direction or layer type");
    visit("kernels", &WaterfallBar::kernels, "the same time by kernel");
  }
};

struct DeviceUse {
  std::int64_t id = 0;
  std::string name;
  Nanos start_ns = 0, span_ns = 0, busy_ns = 0, kernel_busy_ns = 0, kernel_time_sum_ns = 0,
        copy_only_ns = 0, idle_ns = 0;
  std::int64_t gpu_events = 0, kernels = 0;
  std::vector<IdleCause> idle;
  std::vector<Level> levels;
  std::vector<WaterfallBar> waterfall;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("id", &DeviceUse::id, "device number");
    visit("name", &DeviceUse::name, "product name");
    visit("start_ns", &DeviceUse::start_ns, "start of this device's window");
    visit("span_ns", &DeviceUse::span_ns, "length of this device's window");
    visit("busy_ns", &DeviceUse::busy_ns, "union of kernels, copies and sets");
    visit("kernel_busy_ns", &DeviceUse::kernel_busy_ns, "union of kernels");
    visit("kernel_time_sum_ns", &DeviceUse::kernel_time_sum_ns,
          "sum of kernel durations (the papers' ratio)");
    visit("copy_only_ns", &DeviceUse::copy_only_ns, "busy with copies or sets and no kernel");
    visit("gpu_events", &DeviceUse::gpu_events, "kernels, copies and sets");
    visit("kernels", &DeviceUse::kernels, "kernel instances");
    visit("idle_ns", &DeviceUse::idle_ns, "span less busy");
    visit("idle", &DeviceUse::idle, "idle time by cause; sums to idle_ns");
    visit("levels", &DeviceUse::levels, "the ladder of this device");
    visit("waterfall", &DeviceUse::waterfall, "bars that sum to span_ns");
  }
};

struct MatchInfo {
  std::int64_t trace_kernels = 0, report_kernels = 0, matched = 0, ambiguous = 0, trace_only = 0,
               report_only = 0;
  Share confidence;     // mean score of the matched pairs
  std::string verdict;  // good, partial, different_program, no_report
  std::string note;
  std::int64_t copies_of_report = 0;  // how many steps of the trace the report was laid over
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("trace_kernels", &MatchInfo::trace_kernels, "kernel instances of the trace window");
    visit("report_kernels", &MatchInfo::report_kernels, "kernel instances of the report");
    visit("matched", &MatchInfo::matched, "trace kernels with one best partner");
    visit("ambiguous", &MatchInfo::ambiguous,
          "trace kernels paired with one of several equally good partners");
    visit("trace_only", &MatchInfo::trace_only, "trace kernels without a partner");
    visit("report_only", &MatchInfo::report_only, "report kernels without a partner");
    visit("confidence", &MatchInfo::confidence, "mean score of the pairs");
    visit("verdict", &MatchInfo::verdict, "good, partial, different_program or no_report");
    visit("note", &MatchInfo::note, "one sentence");
    visit("copies_of_report", &MatchInfo::copies_of_report,
          "steps of the trace that the report was laid over");
  }
};

struct LevelSpread {  // one level over the instances of a layer or kernel, weighted by time
  std::string id;
  Share value;
  Distribution spread;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("id", &LevelSpread::id, "metric id");
    visit("value", &LevelSpread::value, "time-weighted mean");
    visit("spread", &LevelSpread::spread, "distribution over instances, weighted by time");
  }
};

struct LayerRow {
  std::string type;   // Convolution, MatMul, Attention, ...
  std::string name;   // module path, or operator when the capture knows no modules
  std::string phase;  // forward, backward, optimizer, other
  std::int64_t kernels = 0;
  Nanos ns = 0;  // exclusive kernel time
  Share share;   // of the window
  std::vector<LevelSpread> levels;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("type", &LayerRow::type, "layer type");
    visit("name", &LayerRow::name, "module path, or operator when no module is known");
    visit("phase", &LayerRow::phase, "forward, backward, optimizer or other");
    visit("kernels", &LayerRow::kernels, "kernel instances");
    visit("ns", &LayerRow::ns, "exclusive kernel time");
    visit("share", &LayerRow::share, "of the window");
    visit("levels", &LayerRow::levels, "levels inside its kernels");
  }
};

struct KernelRow {
  std::string name, short_name, layer_type, operator_name;
  std::int64_t count = 0, counted = 0;  // instances; those with counters
  Nanos ns = 0, duration_sum_ns = 0;
  Share share;
  std::string grid, block;  // of the first instance, "(x, y, z)"
  std::int64_t grids = 0;   // different grids among the instances
  std::int64_t registers = -1, shared_bytes = -1;
  Distribution duration;  // of instances, ns
  std::vector<LevelSpread> levels;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("name", &KernelRow::name, "kernel name");
    visit("short_name", &KernelRow::short_name,
          "name without namespaces, arguments and template details");
    visit("layer_type", &KernelRow::layer_type, "layer type of most of its time");
    visit("operator", &KernelRow::operator_name, "operator of most of its time");
    visit("count", &KernelRow::count, "instances");
    visit("counted", &KernelRow::counted, "instances with counters");
    visit("ns", &KernelRow::ns, "exclusive time");
    visit("duration_sum_ns", &KernelRow::duration_sum_ns, "sum of durations");
    visit("share", &KernelRow::share, "exclusive time as a share of the window");
    visit("grid", &KernelRow::grid, "thread blocks of the first instance");
    visit("block", &KernelRow::block, "threads a block of the first instance");
    visit("grids", &KernelRow::grids, "different grids among the instances");
    visit("registers", &KernelRow::registers, "registers a thread, -1 unknown");
    visit("shared_bytes", &KernelRow::shared_bytes, "shared memory a block, -1 unknown");
    visit("duration", &KernelRow::duration, "distribution of durations in ns");
    visit("levels", &KernelRow::levels, "levels inside the kernel");
  }
};

struct CurvePoint {  // DATE 2024, figure 8: kernels ordered by tensor-issue utilisation
  double utilization = 0, time_share = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("utilization", &CurvePoint::utilization, "tensor-issue utilisation, 0..1");
    visit("time_share", &CurvePoint::time_share, "share of kernel time at or below it");
  }
};

struct Finding {
  std::string id, text, evidence;
  std::optional<Nanos> gain_ns;  // time that acting on it could give back at most (Amdahl)
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("id", &Finding::id, "kind of finding");
    visit("text", &Finding::text, "what, and what to change");
    visit("evidence", &Finding::evidence, "the numbers behind it");
    visit("gain_ns", &Finding::gain_ns, "time it could give back at most");
  }
};

struct Analysis {
  std::string schema = "gpufathom.analysis/1";
  SourceInfo source;
  std::optional<SourceInfo> counters_source;
  std::vector<QualityNote> quality;
  WindowInfo window;
  std::vector<DeviceUse> devices;
  std::vector<Level> levels;
  MatchInfo match;
  RuntimeInfo runtime;
  std::vector<LayerRow> layer_types;  // one row a type, all phases
  std::vector<LayerRow> layers;       // one row a module or operator and phase
  std::vector<KernelRow> kernels;
  std::vector<CurvePoint> tensor_curve;
  EnergyUse energy;
  SampledUse samples;
  std::vector<Finding> findings;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("schema", &Analysis::schema, "name and version of this layout");
    visit("source", &Analysis::source, "the capture");
    visit("counters_source", &Analysis::counters_source, "the counter report, when there is one");
    visit("quality", &Analysis::quality, "damage and doubts");
    visit("window", &Analysis::window, "the analysed span");
    visit("devices", &Analysis::devices, "use of each device");
    visit("levels", &Analysis::levels, "the ladder over all devices");
    visit("match", &Analysis::match, "how trace and report kernels were paired");
    visit("runtime", &Analysis::runtime, "framework runtime phases");
    visit("layer_types", &Analysis::layer_types, "kernel time by layer type");
    visit("layers", &Analysis::layers, "kernel time by layer");
    visit("kernels", &Analysis::kernels, "kernel time by kernel");
    visit("tensor_curve", &Analysis::tensor_curve,
          "cumulative kernel time over tensor-issue utilisation");
    visit("energy", &Analysis::energy,
          "where the joules went; without devices when nothing measured power");
    visit("samples", &Analysis::samples,
          "levels and readings over time; without devices when nothing was sampled");
    visit("findings", &Analysis::findings, "what to change, with evidence");
  }
};

}  // namespace gf
