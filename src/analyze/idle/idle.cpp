#include "analyze/idle/idle.h"

#include <fmt/format.h>

#include "analyze/idle/label_gaps.h"
#include "core/format.h"

namespace gf {

std::vector<DeviceIdle> explain_idle(const Context& context) {
  const LaunchFacts facts = collect_launch_facts(context);
  GapLabeller labeller(context, facts);
  IdleSums sums(context);
  std::vector<DeviceIdle> out;
  for (const auto& device : context.devices) {
    sums.clear();
    DeviceIdle& idle = out.emplace_back();
    idle.pieces = labeller.label(device, sums);
    idle.causes = sums.causes();
  }
  return out;
}

std::optional<QualityNote> unexplained_gaps(const std::vector<DeviceIdle>& idle) {
  Nanos ns = 0;
  std::int64_t gaps = 0;
  for (const auto& device : idle)
    for (const auto& cause : device.causes)
      if (cause.cause == IdleReason::unexplained) {
        ns += cause.ns;
        gaps += cause.gaps;
      }
  if (gaps == 0) return {};
  return QualityNote{
      std::string(name_of(QualityCode::unexplained_gaps)), gaps,
      fmt::format(
          "the device had work queued and idled for longer than hardware needs, {} in total: the "
          "reason is not in the capture (events dropped by the profiler, another process)",
          say_time(ns))};
}

namespace {

void shorten(std::vector<NamedTime>& names, std::size_t most) {
  if (names.size() <= most) return;
  NamedTime others{fmt::format("({} others)", names.size() - most + 1), 0};
  for (std::size_t i = most - 1; i < names.size(); ++i) others.ns += names[i].ns;
  names.resize(most - 1);
  names.push_back(std::move(others));
}

}  // namespace

std::vector<DeviceUse> with_short_idle_lists(std::vector<DeviceUse> devices, std::size_t most) {
  if (most == 0) return devices;
  for (auto& device : devices)
    for (auto& cause : device.idle) {
      shorten(cause.operators, most);
      shorten(cause.modules, most);
    }
  return devices;
}

}  // namespace gf
