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
  static constexpr auto fields() {
    using S = SourceInfo;
    return std::tuple{field("path", &S::path, "input file"),
                      field("format", &S::format, "importer that read it"),
                      field("framework", &S::framework, "pytorch, jax, tensorflow or empty"),
                      field("events", &S::events, "events in the source, damaged ones included"),
                      field("bytes", &S::bytes, "bytes of the source after decompression")};
  }
};

struct QualityNote {
  std::string code;
  std::int64_t count = 0;
  std::string detail;
  static constexpr auto fields() {
    using Q = QualityNote;
    return std::tuple{
        field("code", &Q::code, "kind of damage or doubt"), field("count", &Q::count, "how often"),
        field("detail", &Q::detail, "one sentence, with the first place where it happened")};
  }
};

struct StepInfo {
  std::int64_t index = 0;
  Nanos start_ns = 0, duration_ns = 0;
  bool stable = false;
  static constexpr auto fields() {
    using S = StepInfo;
    return std::tuple{field("index", &S::index, "step number of the source"),
                      field("start_ns", &S::start_ns, "start"),
                      field("duration_ns", &S::duration_ns, "duration"),
                      field("stable", &S::stable, "at or after the first stable step")};
  }
};

struct WindowInfo {
  std::string kind;  // all, recording_window, steps, stable, step, range
  Nanos start_ns = 0, end_ns = 0, duration_ns = 0;
  std::string step_source;          // marks:NAME, period:N kernels, none
  Share step_confidence;            // of a period found in the kernel sequence; empty with marks
  std::vector<StepInfo> steps;      // steps inside the window
  std::vector<StepInfo> all_steps;  // steps of the whole capture
  static constexpr auto fields() {
    using W = WindowInfo;
    return std::tuple{
        field("kind", &W::kind, "all, recording_window, steps, stable, step or range"),
        field("start_ns", &W::start_ns, "start on the capture's clock"),
        field("end_ns", &W::end_ns, "end, exclusive"),
        field("duration_ns", &W::duration_ns, "length"),
        field("step_source", &W::step_source,
              "what made the steps: a mark, a period of the kernel sequence, or none"),
        field("step_confidence", &W::step_confidence,
              "how alike the detected steps are, 0..1; null with marks"),
        field("steps", &W::steps, "steps inside the window"),
        field("all_steps", &W::all_steps, "steps of the whole capture")};
  }
};

struct NamedTime {
  std::string name;
  Nanos ns = 0;
  static constexpr auto fields() {
    using N = NamedTime;
    return std::tuple{field("name", &N::name, "what"), field("ns", &N::ns, "how long")};
  }
};

struct IdleCause {
  std::string cause;  // launch_bound, sync, memcpy, input, communication, dependency, kernel_gap,
                      // host_other, no_launch_record; of samples: not_recorded, no_samples
  Nanos ns = 0;
  std::int64_t gaps = 0;
  std::vector<NamedTime> operators,
      modules;  // behind it, largest first; each list sums to at most ns
  static constexpr auto fields() {
    using I = IdleCause;
    return std::tuple{
        field("cause", &I::cause, "why the device idled"),
        field("ns", &I::ns, "idle time with this cause"),
        field("gaps", &I::gaps, "number of idle spans"),
        field("operators", &I::operators, "framework operations on the launching thread"),
        field("modules", &I::modules, "modules of those operations")};
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
  static constexpr auto fields() {
    using L = Level;
    return std::tuple{
        field("id", &L::id, "metric id of the catalogue"),
        field("value", &L::value, "share of the window, taking the unknown as 0; null: no data"),
        field("low", &L::low, "bound with every unknown kernel at 0"),
        field("high", &L::high, "bound with every unknown kernel at its upper level"),
        field("unit", &L::unit, "unit"),
        field("coverage", &L::coverage, "share of kernel time that has data"),
        field("by_cycles", &L::by_cycles,
              "the same with kernels weighted by the report's cycles instead of the trace's time"),
        field("formula", &L::formula, "counters it comes from"),
        field("why_missing", &L::why_missing, "what to collect when there is no data")};
  }
};

/// One bar of the waterfall. The bars of a device add up to its window exactly.
struct WaterfallBar {
  std::string id, label;
  Nanos ns = 0;
  std::vector<NamedTime> parts;  // by cause, copy direction or layer type, largest first; sum to ns
  std::vector<NamedTime> kernels;  // by kernel, largest first; sum to ns; empty for idle and copy
  static constexpr auto fields() {
    using W = WaterfallBar;
    return std::tuple{
        field("id", &W::id,
              "bar: idle, copy, sm_inactive, stalled, other_instructions, tensor, unknown"),
        field("label", &W::label, "text for people"),
        field("ns", &W::ns, "time of the window lost or used here"),
        field("parts", &W::parts, "the same time by cause, copy direction or layer type"),
        field("kernels", &W::kernels, "the same time by kernel")};
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
  static constexpr auto fields() {
    using D = DeviceUse;
    return std::tuple{
        field("id", &D::id, "device number"),
        field("name", &D::name, "product name"),
        field("start_ns", &D::start_ns, "start of this device's window"),
        field("span_ns", &D::span_ns, "length of this device's window"),
        field("busy_ns", &D::busy_ns, "union of kernels, copies and sets"),
        field("kernel_busy_ns", &D::kernel_busy_ns, "union of kernels"),
        field("kernel_time_sum_ns", &D::kernel_time_sum_ns,
              "sum of kernel durations (the papers' ratio)"),
        field("copy_only_ns", &D::copy_only_ns, "busy with copies or sets and no kernel"),
        field("gpu_events", &D::gpu_events, "kernels, copies and sets"),
        field("kernels", &D::kernels, "kernel instances"),
        field("idle_ns", &D::idle_ns, "span less busy"),
        field("idle", &D::idle, "idle time by cause; sums to idle_ns"),
        field("levels", &D::levels, "the ladder of this device"),
        field("waterfall", &D::waterfall, "bars that sum to span_ns")};
  }
};

struct MatchInfo {
  std::int64_t trace_kernels = 0, report_kernels = 0, matched = 0, ambiguous = 0, trace_only = 0,
               report_only = 0;
  Share confidence;     // mean score of the matched pairs
  std::string verdict;  // good, partial, different_program, no_report
  std::string note;
  std::int64_t copies_of_report = 0;  // how many steps of the trace the report was laid over
  static constexpr auto fields() {
    using M = MatchInfo;
    return std::tuple{
        field("trace_kernels", &M::trace_kernels, "kernel instances of the trace window"),
        field("report_kernels", &M::report_kernels, "kernel instances of the report"),
        field("matched", &M::matched, "trace kernels with one best partner"),
        field("ambiguous", &M::ambiguous,
              "trace kernels paired with one of several equally good partners"),
        field("trace_only", &M::trace_only, "trace kernels without a partner"),
        field("report_only", &M::report_only, "report kernels without a partner"),
        field("confidence", &M::confidence, "mean score of the pairs"),
        field("verdict", &M::verdict, "good, partial, different_program or no_report"),
        field("note", &M::note, "one sentence"),
        field("copies_of_report", &M::copies_of_report,
              "steps of the trace that the report was laid over")};
  }
};

struct LevelSpread {  // one level over the instances of a layer or kernel, weighted by time
  std::string id;
  Share value;
  Distribution spread;
  static constexpr auto fields() {
    using L = LevelSpread;
    return std::tuple{field("id", &L::id, "metric id"),
                      field("value", &L::value, "time-weighted mean"),
                      field("spread", &L::spread, "distribution over instances, weighted by time")};
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
  static constexpr auto fields() {
    using L = LayerRow;
    return std::tuple{field("type", &L::type, "layer type"),
                      field("name", &L::name, "module path, or operator when no module is known"),
                      field("phase", &L::phase, "forward, backward, optimizer or other"),
                      field("kernels", &L::kernels, "kernel instances"),
                      field("ns", &L::ns, "exclusive kernel time"),
                      field("share", &L::share, "of the window"),
                      field("levels", &L::levels, "levels inside its kernels")};
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
  static constexpr auto fields() {
    using K = KernelRow;
    return std::tuple{field("name", &K::name, "kernel name"),
                      field("short_name", &K::short_name,
                            "name without namespaces, arguments and template details"),
                      field("layer_type", &K::layer_type, "layer type of most of its time"),
                      field("operator", &K::operator_name, "operator of most of its time"),
                      field("count", &K::count, "instances"),
                      field("counted", &K::counted, "instances with counters"),
                      field("ns", &K::ns, "exclusive time"),
                      field("duration_sum_ns", &K::duration_sum_ns, "sum of durations"),
                      field("share", &K::share, "exclusive time as a share of the window"),
                      field("grid", &K::grid, "thread blocks of the first instance"),
                      field("block", &K::block, "threads a block of the first instance"),
                      field("grids", &K::grids, "different grids among the instances"),
                      field("registers", &K::registers, "registers a thread, -1 unknown"),
                      field("shared_bytes", &K::shared_bytes, "shared memory a block, -1 unknown"),
                      field("duration", &K::duration, "distribution of durations in ns"),
                      field("levels", &K::levels, "levels inside the kernel")};
  }
};

struct CurvePoint {  // DATE 2024, figure 8: kernels ordered by tensor-issue utilisation
  double utilization = 0, time_share = 0;
  static constexpr auto fields() {
    using C = CurvePoint;
    return std::tuple{field("utilization", &C::utilization, "tensor-issue utilisation, 0..1"),
                      field("time_share", &C::time_share, "share of kernel time at or below it")};
  }
};

struct Finding {
  std::string id, text, evidence;
  std::optional<Nanos> gain_ns;  // time that acting on it could give back at most (Amdahl)
  static constexpr auto fields() {
    using F = Finding;
    return std::tuple{field("id", &F::id, "kind of finding"),
                      field("text", &F::text, "what, and what to change"),
                      field("evidence", &F::evidence, "the numbers behind it"),
                      field("gain_ns", &F::gain_ns, "time it could give back at most")};
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
  static constexpr auto fields() {
    using A = Analysis;
    return std::tuple{
        field("schema", &A::schema, "name and version of this layout"),
        field("source", &A::source, "the capture"),
        field("counters_source", &A::counters_source, "the counter report, when there is one"),
        field("quality", &A::quality, "damage and doubts"),
        field("window", &A::window, "the analysed span"),
        field("devices", &A::devices, "use of each device"),
        field("levels", &A::levels, "the ladder over all devices"),
        field("match", &A::match, "how trace and report kernels were paired"),
        field("runtime", &A::runtime, "framework runtime phases"),
        field("layer_types", &A::layer_types, "kernel time by layer type"),
        field("layers", &A::layers, "kernel time by layer"),
        field("kernels", &A::kernels, "kernel time by kernel"),
        field("tensor_curve", &A::tensor_curve,
              "cumulative kernel time over tensor-issue utilisation"),
        field("energy", &A::energy,
              "where the joules went; without devices when nothing measured power"),
        field("samples", &A::samples,
              "levels and readings over time; without devices when nothing was sampled"),
        field("findings", &A::findings, "what to change, with evidence")};
  }
};

}  // namespace gf
