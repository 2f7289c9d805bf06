// Kernels with what the analysis knows of each, as columns.
// Tables as streams of the Arrow C data interface. The struct layouts are those of the
// specification, https://arrow.apache.org/docs/format/CDataInterface.html.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

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

extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace gf {

/// Fills `stream` with one batch that holds the table's rows, and for counter_samples more with
/// what is packed; numbers stay where they are, kept alive by the stream and whatever is taken from
/// it. False when there is no table of this name.
bool table_stream(std::shared_ptr<const Capture> capture, std::string_view table,
                  ArrowArrayStream& stream);

struct TableShape {
  std::int64_t rows = 0;
  std::vector<std::string_view> columns;
};
/// The shape of table_stream's and, for "kernels", kernels_stream's table, without an analysis.
std::optional<TableShape> table_shape(const Capture& capture, std::string_view table);

struct AttributedKernels;
/// The same of kernels with what the analysis knows of each; one batch.
void kernels_stream(const std::shared_ptr<const AttributedKernels>& kernels,
                    ArrowArrayStream& stream);

}  // namespace gf
