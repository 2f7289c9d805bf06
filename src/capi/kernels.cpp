#include "capi/kernels.h"

#include <optional>
#include <string>

#include "report/query/kernel_facts.h"

namespace gf {

namespace {

/// Exclusive time by row of activities; -1 outside the window.
Column<I64> exclusive_times(const Context& context) {
  Column<I64> times;
  times.resize(context.capture.activities.size(), -1);
  for (const DeviceTimeline& device : context.devices)
    for (std::size_t i = 0; i < device.rows.size(); ++i)
      times[device.rows[i]] = device.exclusive_ns[i];
  return times;
}

}  // namespace

std::shared_ptr<const AttributedKernels> attributed_kernels(std::shared_ptr<const Capture> capture,
                                                            const Context& context) {
  auto out = std::make_shared<AttributedKernels>();
  const auto exclusive = exclusive_times(context);
  const auto text = [&](Column<Text>& column, const std::optional<std::string>& value) {
    column.push_back(value ? out->texts.intern(*value) : Text::none);
  };
  const auto facts = kernel_facts(context);
  for (const KernelFacts& kernel : facts) {
    out->row.push_back(kernel.row);
    text(out->short_name, kernel.short_name);
    text(out->operation, kernel.operation);
    text(out->module, kernel.module);
    text(out->layer, kernel.layer);
    text(out->phase, kernel.phase);
    text(out->idle_cause, kernel.idle_cause);
    out->exclusive_ns.push_back(exclusive[static_cast<std::size_t>(kernel.row)]);
    out->idle_ns.push_back(kernel.idle_ns.value_or(-1));
  }
  out->activities.visit_pairs(capture->activities, [&](auto& mine, const auto& theirs) {
    for (const KernelFacts& kernel : facts)
      mine.push_back(theirs[static_cast<std::size_t>(kernel.row)]);
  });
  out->capture = std::move(capture);
  return out;
}

}  // namespace gf
