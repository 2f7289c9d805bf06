// Tables as streams of the Arrow C data interface. The struct layouts are those of the
// specification, https://arrow.apache.org/docs/format/CDataInterface.html.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "model/capture.h"

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

struct AttributedKernels;
/// The same of kernels with what the analysis knows of each; one batch.
void kernels_stream(const std::shared_ptr<const AttributedKernels>& kernels,
                    ArrowArrayStream& stream);

}  // namespace gf
