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
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("phase", &PhaseTime::phase, "runtime phase");
    visit("ns", &PhaseTime::ns,
          "time labelled with this phase: where several hold at once the first "
          "in the order of this list; the list sums to its span");
    visit("share", &PhaseTime::share, "ns as a share of the span");
    visit("present_ns", &PhaseTime::present_ns,
          "time in which this phase held at all, on any thread or device");
    visit("per_item_ns", &PhaseTime::per_item_ns,
          "ns for one item of the batch; null without a batch size or steps");
  }
};

/// Who computes: the four parts sum to the window.
struct KernelShares {
  Nanos cpu_kernel_ns = 0, gpu_kernel_ns = 0, both_ns = 0, overhead_ns = 0;
  Share cpu_kernel, gpu_kernel, both, overhead;
  std::optional<double> overhead_per_item_ns;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("cpu_kernel_ns", &KernelShares::cpu_kernel_ns, "only kernels of the CPU run");
    visit("gpu_kernel_ns", &KernelShares::gpu_kernel_ns, "only kernels of GPUs run");
    visit("both_ns", &KernelShares::both_ns, "kernels of both run");
    visit("overhead_ns", &KernelShares::overhead_ns, "no kernel runs: runtime overhead");
    visit("cpu_kernel", &KernelShares::cpu_kernel, "share of the window");
    visit("gpu_kernel", &KernelShares::gpu_kernel, "share of the window");
    visit("both", &KernelShares::both, "share of the window");
    visit("overhead", &KernelShares::overhead, "share of the window");
    visit("overhead_per_item_ns", &KernelShares::overhead_per_item_ns,
          "runtime overhead for one item of the batch; null without a batch size or steps");
  }
};

struct PhaseSpread {
  std::string phase;
  Nanos total_ns = 0;
  Distribution spread;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("phase", &PhaseSpread::phase, "runtime phase");
    visit("total_ns", &PhaseSpread::total_ns, "sum over the operations");
    visit("spread", &PhaseSpread::spread,
          "distribution over the operations that have this phase, in ns");
  }
};

struct OperationType {
  std::string type;
  std::int64_t count = 0;
  Nanos total_ns = 0;
  std::vector<PhaseSpread> phases;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("type", &OperationType::type, "operation type, as the framework names it");
    visit("count", &OperationType::count, "operations that began in the window");
    visit("total_ns", &OperationType::total_ns,
          "all their phases together, host and device, overlaps included");
    visit("phases", &OperationType::phases, "how long each phase took");
  }
};

struct DepthBucket {
  Nanos start_ns = 0, duration_ns = 0;
  std::int64_t min = 0, max = 0;
  double mean = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("start_ns", &DepthBucket::start_ns, "start");
    visit("duration_ns", &DepthBucket::duration_ns, "length");
    visit("min", &DepthBucket::min, "smallest depth inside");
    visit("max", &DepthBucket::max, "largest depth inside");
    visit("mean", &DepthBucket::mean, "mean depth inside");
  }
};

/// A stretch in which a queue was empty.
struct DrySpell {
  Nanos start_ns = 0, duration_ns = 0;
  std::vector<PhaseTime> phases;
  std::string host;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("start_ns", &DrySpell::start_ns, "start");
    visit("duration_ns", &DrySpell::duration_ns, "length");
    visit("phases", &DrySpell::phases, "what went on meanwhile; sums to duration_ns");
    visit("host", &DrySpell::host,
          "what the thread that fills the queue was in for most of it: Python "
          "line or operation");
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
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("id", &QueueInfo::id, "framework, threadpool, or device:N");
    visit("kind", &QueueInfo::kind,
          "framework (operations waiting to be taken) or device (launches waiting to start)");
    visit("items", &QueueInfo::items, "items that entered in the window");
    visit("from_before", &QueueInfo::from_before,
          "items that were in the queue before the capture began");
    visit("max_depth", &QueueInfo::max_depth, "largest depth");
    visit("mean_depth", &QueueInfo::mean_depth, "mean depth over the window");
    visit("empty_ns", &QueueInfo::empty_ns, "time in which nothing was queued");
    visit("empty", &QueueInfo::empty, "empty_ns as a share of the window");
    visit("wait", &QueueInfo::wait, "time from entering to leaving, in ns");
    visit("when_empty", &QueueInfo::when_empty, "phases while it was empty; sums to empty_ns");
    visit("when_loaded", &QueueInfo::when_loaded,
          "phases while it was not; sums to the rest of the window");
    visit("dry", &QueueInfo::dry, "the longest stretches in which it was empty");
    visit("curve", &QueueInfo::curve, "depth over the window in equal parts");
  }
};

/// A wait of a host thread for a value or for the device, or a transfer of data.
struct RuntimeMark {
  std::string kind, name;
  Nanos start_ns = 0, duration_ns = 0;
  std::int64_t bytes = -1;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("kind", &RuntimeMark::kind, "wait, or the direction of a transfer");
    visit("name", &RuntimeMark::name, "operation and event");
    visit("start_ns", &RuntimeMark::start_ns, "start");
    visit("duration_ns", &RuntimeMark::duration_ns, "length");
    visit("bytes", &RuntimeMark::bytes, "bytes moved, -1 unknown");
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
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("cause", &IdleOrigin::cause, "idle cause");
    visit("phase", &IdleOrigin::phase, "runtime phase of the thread that launches");
    visit("operation", &IdleOrigin::operation, "framework operation it was in");
    visit("module", &IdleOrigin::module, "module of the kernel that came next");
    visit("python", &IdleOrigin::python, "Python line it was in, when the capture has stacks");
    visit("ns", &IdleOrigin::ns, "idle time, summed over the devices");
    visit("gaps", &IdleOrigin::gaps, "stretches of idle time");
    visit("share", &IdleOrigin::share, "of the devices' windows");
    visit("speedup", &IdleOrigin::speedup,
          "Amdahl's bound: how many times faster the window would be without this idle time");
  }
};

struct PhaseSource {
  std::string phase, event, source;
  std::int64_t events = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("phase", &PhaseSource::phase, "runtime phase");
    visit("event", &PhaseSource::event,
          "events that the rule takes: exact text, or a text with * where anything may stand");
    visit("source", &PhaseSource::source, "where the framework writes them");
    visit("events", &PhaseSource::events, "events of this capture it took");
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
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("start_ns", &RuntimeInfo::start_ns, "start of the span");
    visit("duration_ns", &RuntimeInfo::duration_ns, "length of the span");
    visit("modes", &RuntimeInfo::modes,
          "ways of execution seen: eager, eager_sync, eager_async, function, xla, compile, "
          "cuda_graphs");
    visit("items", &RuntimeInfo::items,
          "batch size x steps in the span; null when one of them is not known");
    visit("phases", &RuntimeInfo::phases, "phases of host and device; ns sums to duration_ns");
    visit("kernels", &RuntimeInfo::kernels, "who computes");
    visit("operation_count", &RuntimeInfo::operation_count, "operations that began in the span");
    visit("operations", &RuntimeInfo::operations,
          "phases by type of operation, most time first; the first row, *, is all of them");
    visit("queues", &RuntimeInfo::queues, "queues over time");
    visit("waits", &RuntimeInfo::waits, "longest waits of the host");
    visit("transfers", &RuntimeInfo::transfers, "longest transfers");
    visit("idle", &RuntimeInfo::idle, "why the GPU idled, most time first");
    visit("rules", &RuntimeInfo::rules, "which events were taken for which phase");
  }
};

}  // namespace gf
