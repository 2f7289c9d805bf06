// Work done: operations and bytes by operator, the account of peak x time, the
// roofline, stall reasons, memory and throughput (docs/work.md).
#pragma once

#include "analyze/context.h"
#include "analyze/work/kernel_work.h"
#include "analyze/work/result.h"
#include "core/error.h"

namespace gf {

class HostNesting;
struct CeilingsFile;

/// Measures the work of an analysis that is done (its devices with idle causes and waterfalls, its
/// energy), with the context that it left behind. `ceilings`: measured ones, or nullptr; `nesting`:
/// of the context's host, or nullptr where it is not known yet.
WorkUse measure_work(const Context& context, const Analysis& analysis,
                     const CeilingsFile* ceilings = nullptr, const HostNesting* nesting = nullptr);

/// Work in short for `analyze`. Needs what measure_work() needs, and the context's works.
WorkHeadline work_headline(const Context& context, const Analysis& analysis);

/// Joules an item where shapes tell the items.
EnergyUse with_joules_an_item(EnergyUse energy, const Throughput& throughput);

/// The deepest rung of the ladder by the model, of all devices and of each: where no counter gave
/// it and the sizes of operators are known.
struct ModelledRungs {
  std::optional<Level> all;
  std::vector<std::optional<Level>> devices;
};
ModelledRungs rungs_by_model(const Context& context, const work::KernelWorks& works,
                             const Analysis& analysis);
void put(ModelledRungs rungs, Analysis& analysis);

// The work of a capture without GPU activity: a profile of the CPU alone, or a memory snapshot.

/// True when there is something to say of it: operations or allocations, and no activity of a GPU.
bool has_host_work_alone(const Capture& capture);

/// Operations, bytes, memory and throughput; the window is all of it, or its marked steps. Errors:
/// another window.
Result<WorkUse> measure_host_work(const Capture& capture, const AnalyzeOptions& options);

}  // namespace gf
