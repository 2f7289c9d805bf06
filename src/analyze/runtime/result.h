// What the analysis of the framework runtime answers; part of the JSON contract like
// analyze/result.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/describe.h"
#include "core/statistics.h"
#include "core/time.h"

namespace gf {

using Share = std::optional<double>;

struct PhaseTime {
  std::string phase;
  Nanos ns = 0;
  Share share;
  Nanos present_ns = 0;
  std::optional<double> per_item_ns;
  static constexpr auto fields() {
    using P = PhaseTime;
    return std::tuple{field("phase", &P::phase, "runtime phase"),
                      field("ns", &P::ns,
                            "time labelled with this phase: where several hold at once the first "
                            "in the order of this list; the list sums to its span"),
                      field("share", &P::share, "ns as a share of the span"),
                      field("present_ns", &P::present_ns,
                            "time in which this phase held at all, on any thread or device"),
                      field("per_item_ns", &P::per_item_ns,
                            "ns for one item of the batch; null without a batch size or steps")};
  }
};

/// Who computes: the four parts sum to the window.
struct KernelShares {
  Nanos cpu_kernel_ns = 0, gpu_kernel_ns = 0, both_ns = 0, overhead_ns = 0;
  Share cpu_kernel, gpu_kernel, both, overhead;
  std::optional<double> overhead_per_item_ns;
  static constexpr auto fields() {
    using K = KernelShares;
    return std::tuple{
        field("cpu_kernel_ns", &K::cpu_kernel_ns, "only kernels of the CPU run"),
        field("gpu_kernel_ns", &K::gpu_kernel_ns, "only kernels of GPUs run"),
        field("both_ns", &K::both_ns, "kernels of both run"),
        field("overhead_ns", &K::overhead_ns, "no kernel runs: runtime overhead"),
        field("cpu_kernel", &K::cpu_kernel, "share of the window"),
        field("gpu_kernel", &K::gpu_kernel, "share of the window"),
        field("both", &K::both, "share of the window"),
        field("overhead", &K::overhead, "share of the window"),
        field("overhead_per_item_ns", &K::overhead_per_item_ns,
              "runtime overhead for one item of the batch; null without a batch size or steps")};
  }
};

struct PhaseSpread {
  std::string phase;
  Nanos total_ns = 0;
  Distribution spread;
  static constexpr auto fields() {
    using P = PhaseSpread;
    return std::tuple{field("phase", &P::phase, "runtime phase"),
                      field("total_ns", &P::total_ns, "sum over the operations"),
                      field("spread", &P::spread,
                            "distribution over the operations that have this phase, in ns")};
  }
};

struct OperationType {
  std::string type;
  std::int64_t count = 0;
  Nanos total_ns = 0;
  std::vector<PhaseSpread> phases;
  static constexpr auto fields() {
    using O = OperationType;
    return std::tuple{field("type", &O::type, "operation type, as the framework names it"),
                      field("count", &O::count, "operations that began in the window"),
                      field("total_ns", &O::total_ns,
                            "all their phases together, host and device, overlaps included"),
                      field("phases", &O::phases, "how long each phase took")};
  }
};

struct DepthBucket {
  Nanos start_ns = 0, duration_ns = 0;
  std::int64_t min = 0, max = 0;
  double mean = 0;
  static constexpr auto fields() {
    using D = DepthBucket;
    return std::tuple{field("start_ns", &D::start_ns, "start"),
                      field("duration_ns", &D::duration_ns, "length"),
                      field("min", &D::min, "smallest depth inside"),
                      field("max", &D::max, "largest depth inside"),
                      field("mean", &D::mean, "mean depth inside")};
  }
};

/// A stretch in which a queue was empty.
struct DrySpell {
  Nanos start_ns = 0, duration_ns = 0;
  std::vector<PhaseTime> phases;
  std::string host;
  static constexpr auto fields() {
    using D = DrySpell;
    return std::tuple{field("start_ns", &D::start_ns, "start"),
                      field("duration_ns", &D::duration_ns, "length"),
                      field("phases", &D::phases, "what went on meanwhile; sums to duration_ns"),
                      field("host", &D::host,
                            "what the thread that fills the queue was in for most of it: Python "
                            "line or operation")};
  }
};

struct QueueInfo {
  std::string id, kind;
  std::int64_t items = 0, from_before = 0, max_depth = 0;
  double mean_depth = 0;
  Nanos empty_ns = 0;
  Share empty;
  Distribution wait;
  std::vector<PhaseTime> when_empty, when_loaded;
  std::vector<DrySpell> dry;
  std::vector<DepthBucket> curve;
  static constexpr auto fields() {
    using Q = QueueInfo;
    return std::tuple{
        field("id", &Q::id, "framework, threadpool, or device:N"),
        field("kind", &Q::kind,
              "framework (operations waiting to be taken) or device (launches waiting to start)"),
        field("items", &Q::items, "items that entered in the window"),
        field("from_before", &Q::from_before,
              "items that were in the queue before the capture began"),
        field("max_depth", &Q::max_depth, "largest depth"),
        field("mean_depth", &Q::mean_depth, "mean depth over the window"),
        field("empty_ns", &Q::empty_ns, "time in which nothing was queued"),
        field("empty", &Q::empty, "empty_ns as a share of the window"),
        field("wait", &Q::wait, "time from entering to leaving, in ns"),
        field("when_empty", &Q::when_empty, "phases while it was empty; sums to empty_ns"),
        field("when_loaded", &Q::when_loaded,
              "phases while it was not; sums to the rest of the window"),
        field("dry", &Q::dry, "the longest stretches in which it was empty"),
        field("curve", &Q::curve, "depth over the window in equal parts")};
  }
};

/// A wait of a host thread for a value or for the device, or a transfer of data.
struct RuntimeMark {
  std::string kind, name;
  Nanos start_ns = 0, duration_ns = 0;
  std::int64_t bytes = -1;
  static constexpr auto fields() {
    using R = RuntimeMark;
    return std::tuple{field("kind", &R::kind, "wait, or the direction of a transfer"),
                      field("name", &R::name, "operation and event"),
                      field("start_ns", &R::start_ns, "start"),
                      field("duration_ns", &R::duration_ns, "length"),
                      field("bytes", &R::bytes, "bytes moved, -1 unknown")};
  }
};

/// Why the GPU idled: idle time with one cause, one operation and one line of the program behind
/// it.
struct IdleOrigin {
  std::string cause, phase, operation, module, python;
  Nanos ns = 0;
  std::int64_t gaps = 0;
  Share share;
  std::optional<double> speedup;
  static constexpr auto fields() {
    using I = IdleOrigin;
    return std::tuple{
        field("cause", &I::cause, "idle cause"),
        field("phase", &I::phase, "runtime phase of the thread that launches"),
        field("operation", &I::operation, "framework operation it was in"),
        field("module", &I::module, "module of the kernel that came next"),
        field("python", &I::python, "Python line it was in, when the capture has stacks"),
        field("ns", &I::ns, "idle time, summed over the devices"),
        field("gaps", &I::gaps, "stretches of idle time"),
        field("share", &I::share, "of the devices' windows"),
        field("speedup", &I::speedup,
              "Amdahl's bound: how many times faster the window would be without this idle time")};
  }
};

struct PhaseSource {
  std::string phase, event, source;
  std::int64_t events = 0;
  static constexpr auto fields() {
    using P = PhaseSource;
    return std::tuple{
        field("phase", &P::phase, "runtime phase"),
        field("event", &P::event,
              "events that the rule takes: exact text, or a text with * where anything may stand"),
        field("source", &P::source, "where the framework writes them"),
        field("events", &P::events, "events of this capture it took")};
  }
};

struct RuntimeInfo {
  Nanos start_ns = 0, duration_ns = 0;
  std::vector<std::string> modes;
  std::optional<std::int64_t> items;
  std::vector<PhaseTime> phases;
  KernelShares kernels;
  std::int64_t operation_count = 0;
  std::vector<OperationType> operations;
  std::vector<QueueInfo> queues;
  std::vector<RuntimeMark> waits, transfers;
  std::vector<IdleOrigin> idle;
  std::vector<PhaseSource> rules;
  static constexpr auto fields() {
    using R = RuntimeInfo;
    return std::tuple{
        field("start_ns", &R::start_ns, "start of the span"),
        field("duration_ns", &R::duration_ns, "length of the span"),
        field("modes", &R::modes,
              "ways of execution seen: eager, eager_sync, eager_async, function, xla, compile, "
              "cuda_graphs"),
        field("items", &R::items,
              "batch size x steps in the span; null when one of them is not known"),
        field("phases", &R::phases, "phases of host and device; ns sums to duration_ns"),
        field("kernels", &R::kernels, "who computes"),
        field("operation_count", &R::operation_count, "operations that began in the span"),
        field("operations", &R::operations,
              "phases by type of operation, most time first; the first row, *, is all of them"),
        field("queues", &R::queues, "queues over time"),
        field("waits", &R::waits, "longest waits of the host"),
        field("transfers", &R::transfers, "longest transfers"),
        field("idle", &R::idle, "why the GPU idled, most time first"),
        field("rules", &R::rules, "which events were taken for which phase")};
  }
};

}  // namespace gf
