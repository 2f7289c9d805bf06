// How much work was done: operations and bytes by operator, the account of peak x time, the
// roofline, stall reasons, memory and throughput (docs/work.md).
#pragma once

#include "analyze/context.h"
#include "analyze/work/kernel_work.h"
#include "analyze/work/result.h"

namespace gf {

struct CeilingsFile;

/// Of an analysis that is done (its devices with idle causes and waterfalls, its energy), with the
/// context that it left behind. `ceilings`: measured ones, or nullptr.
WorkUse measure_work(const Context& context, const Analysis& analysis,
                     const CeilingsFile* ceilings = nullptr);

/// analysis.work, and joules an item where shapes tell the items. Needs what measure_work() needs;
/// the work of the kernels comes back for what follows, empty where neither sizes nor counters are
/// known.
work::KernelWorks fill_work_headline(const Context& context, Analysis& analysis);

/// The deepest rung of the ladder by the model, of all devices and of each, where no counter gave
/// it and the sizes of operators are known.
void fill_rung_by_model(const Context& context, const work::KernelWorks& works, Analysis& analysis);

}  // namespace gf
