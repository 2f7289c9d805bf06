#include "analyze/idle/idle.h"

#include <fmt/format.h>

#include "analyze/idle/label_gaps.h"
#include "analyze/workers.h"
#include "core/format.h"
#include "core/parallel.h"

namespace gf {

namespace {

std::vector<IdleStretch> stretches_of(const DeviceTimeline& line, unsigned count) {
  std::vector<IdleStretch> all;
  IdleStretch next{0, 0, line.window.start};
  for (std::size_t i = 1; i <= count; ++i) {
    next.last = line.rows.size() * i / count;
    all.push_back(next);
    for (; next.first < next.last; ++next.first) next.pass(line, next.first);
  }
  return all;
}

/// The pieces of a device, labelled in stretches side by side. No piece goes over an activity, so
/// that they are the same as in one.
std::vector<IdlePiece> label_apart(const Context& context, const DeviceTimeline& line,
                                   const GapLabeller& labeller,
                                   const std::vector<IdleStretch>& stretches, IdleSums& sums) {
  const auto count = static_cast<unsigned>(stretches.size());
  std::vector<Nanos> borders;
  for (const auto& stretch : stretches) borders.push_back(stretch.covered);
  std::vector<std::uint32_t> threads;
  for (std::uint32_t thread = 0; thread < context.host.threads(); ++thread)
    if (context.host.ops(thread).size() > context.options.rows_a_thread) threads.push_back(thread);
  std::vector<std::vector<ThreadSweep::OpenAt>> open(threads.size());
  for_each_parallel(threads.size(), count, [&](std::size_t i) {
    open[i] = ThreadSweep::open_at(context.capture, context.host.ops(threads[i]), borders);
  });
  std::vector<std::vector<IdlePiece>> pieces(count);
  std::vector<IdleSums> operators(count, IdleSums(context));
  for_each_parallel(count, count, [&](std::size_t i) {
    GapLabeller own(labeller);
    for (std::size_t thread = 0; thread < threads.size(); ++thread)
      own.begin_at(threads[thread], borders[i], open[thread][i]);
    pieces[i] = own.label(line, stretches[i], operators[i]);
  });
  std::size_t number = 0;
  for (const auto& part : pieces) number += part.size();
  std::vector<IdlePiece> all;
  all.reserve(number);
  for (std::size_t i = 0; i < count; ++i) {
    all.insert(all.end(), pieces[i].begin(), pieces[i].end());
    pieces[i] = {};
  }
  for (const auto& part : operators) sums.add_operators(part);
  return all;
}

}  // namespace

std::vector<DeviceIdle> explain_idle(const Context& context, LaunchFacts facts) {
  GapLabeller labeller(context, facts);
  IdleSums sums(context);
  std::vector<DeviceIdle> out;
  for (const auto& line : context.devices) {
    sums.clear();
    DeviceIdle& idle = out.emplace_back();
    const auto stretches =
        stretches_of(line, labeller.may_split() ? workers_for(context, line.rows.size()) : 1);
    idle.pieces = stretches.size() > 1 ? label_apart(context, line, labeller, stretches, sums)
                                       : labeller.label(line, stretches.front(), sums);
    for (const auto& piece : idle.pieces) sums.add(piece);
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
