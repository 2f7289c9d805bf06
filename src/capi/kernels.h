// Kernels with what the analysis knows of each, as columns.
#pragma once

#include <memory>

#include "analyze/context.h"
#include "core/strings.h"
#include "model/capture.h"

namespace gf {

struct AttributedKernels {
  std::shared_ptr<const Capture> capture;  // its strings name what `activities` names
  activities_table activities;             // those that are kernels
  StringPool texts;                        // of the columns below
  Column<Text> short_name, operation, module, layer, phase, idle_cause;
  Column<I64> row, exclusive_ns, idle_ns;

  /// f(ColumnRef) for every column besides those of activities.
  template <class Visit>
  void each_fact_ref(Visit&& visit) const {
    auto& self = const_cast<AttributedKernels&>(*this);
    using Number = declared::Maybe<I64>;
    visit(ColumnRef<Number>{{"Row", "row", "row of activities"}, self.row});
    visit(ColumnRef<Text>{{"Text", "short_name", "name without details"}, self.short_name});
    visit(ColumnRef<Text>{{"Text", "operator", "operation at the launch"}, self.operation});
    visit(ColumnRef<Text>{{"Text", "module", "module of the operation"}, self.module});
    visit(ColumnRef<Text>{{"Text", "layer", "type of layer"}, self.layer});
    visit(ColumnRef<Text>{{"Text", "phase", "phase of training"}, self.phase});
    visit(ColumnRef<Number>{{"Time", "exclusive_ns", "share of its time"}, self.exclusive_ns});
    visit(ColumnRef<Number>{{"Time", "idle_ns", "idle time before it"}, self.idle_ns});
    visit(ColumnRef<Text>{{"Text", "idle_cause", "why, mostly"}, self.idle_cause});
  }
};

/// `context` is of an analysis of `capture`.
std::shared_ptr<const AttributedKernels> attributed_kernels(std::shared_ptr<const Capture> capture,
                                                            const Context& context);

}  // namespace gf
