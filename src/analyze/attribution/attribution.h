// Who launched what: each device activity to its framework operation, forward operation, module and
// phase.
#pragma once

#include "analyze/attribution/inherited.h"

namespace gf {

/// The host side of every activity (docs/attribution.md) except layers, from the calls that
/// launched them (join_launches). Near-linear in host operations, launch calls and activities;
/// about 4 bytes a host operation and call and 13 bytes an activity.
Attribution attribute(const Capture& capture, const HostThreads& host,
                      const std::vector<std::uint32_t>& launches);

/// The operation that names a layer: the outermost operation of a framework library (a name with
/// "::") around an operation, so that aten::cudnn_convolution inside aten::conv2d is called
/// aten::conv2d. Wrappers (autograd engine, compiled functions, annotations) end the climb. kNoRow
/// stays kNoRow.
class NamingOperations {
 public:
  NamingOperations(const Capture& capture, const Attribution& attribution)
      : capture_(capture), parent_(attribution.op_parent), named_by_(attribution) {}
  std::uint32_t of(std::uint32_t op);

 private:
  const Capture& capture_;
  const std::vector<std::uint32_t>& parent_;
  Inherited named_by_;
};

}  // namespace gf
