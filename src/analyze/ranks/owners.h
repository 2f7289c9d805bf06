// Whose time a rank spent before each of its collectives: operators and modules.
#pragma once

#include "analyze/attribution/attribution.h"
#include "analyze/context.h"
#include "analyze/ranks/result.h"
#include "analyze/ranks/texts.h"

namespace gf {

class OwnerNames {
 public:
  explicit OwnerNames(const Context& context)
      : context_(context), naming_(context.capture, context.attribution) {}
  /// Of a kernel or copy: the operation that names its layer.
  std::string_view op_of_activity(std::uint32_t activity);
  /// Of idle time: what the host was in.
  std::string_view op_of_host(std::uint32_t op) const;
  std::string_view module_of(std::uint32_t activity) const;

 private:
  const Context& context_;
  NamingOperations naming_;
};

/// Fills owners of `part`, whose collectives are there: for each the operators with most time since
/// the one before.
void fill_owners(const Context& context, const DeviceTimeline& line, OwnerNames& names,
                 RankPart& part, Texts& texts);

}  // namespace gf
