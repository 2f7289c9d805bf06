#include "report/limit.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/kernel_types.h"
#include "analyze/profiler_cost.h"
#include "report/labels.h"
#include "report/summary.h"
#include "report/text/format.h"

namespace gf {

namespace {

/// Beside kernels that are the limit, a loss below this share of the time is not worth a sentence.
constexpr double kWorthNaming = 0.05;
/// Layer types below this share of the time do not describe a run; more than these do not help.
constexpr double kWorthListing = 0.02;
constexpr std::size_t kTypes = 3;

const Finding* find(const Analysis& analysis, FindingId id) {
  const auto found = std::ranges::find(analysis.findings, id, &Finding::id);
  if (found == analysis.findings.end()) return nullptr;
  return &*found;
}

struct Loss {
  std::string name;
  Nanos ns = 0;
  bool of_host = false;  // which the profiler slowed
};

/// An idle cause, a bar of the waterfall, or communication that nothing hides.
Loss largest_loss(const Analysis& analysis) {
  Loss most;
  auto consider = [&](std::string name, Nanos ns, bool of_host = false) {
    if (ns > most.ns) most = {std::move(name), ns, of_host};
  };
  for (const auto& cause : idle_of_all(analysis)) {
    if (cause.cause == IdleReason::not_recorded)
      consider("the GPU idle", cause.ns);
    else if (cause.cause != IdleReason::no_samples)
      consider("idle, " + std::string(label_of(cause.cause).text), cause.ns,
               cause.cause == IdleReason::launch_bound || cause.cause == IdleReason::host_other);
  }
  Nanos waiting = 0;  // a loss of its own where it is told apart from communication
  for (const auto& bar : waterfall_of_all(analysis)) {
    if (bar.id == Bar::waiting) waiting += bar.ns;
    if (bar.id == Bar::copy || bar.id == Bar::waiting || bar.id == Bar::sm_inactive ||
        bar.id == Bar::stalled)
      consider(std::string(label_of(bar.id).text), bar.ns);
  }
  if (const auto* exposed = find(analysis, FindingId::exposed_communication))
    consider("exposed communication", exposed->gain_ns.value_or(0) - waiting);
  return most;
}

/// "MatMul 91.0 %, Elementwise 5.0 %": shares of the time.
std::string named_shares(const std::vector<NamedTime>& types, Nanos window) {
  std::string text;
  for (std::size_t i = 0; i < std::min(types.size(), kTypes); ++i) {
    const Share share = share_of(types[i].ns, window);
    if (i > 0 && share.value_or(0) < kWorthListing) break;
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", types[i].name, format_share(share));
  }
  return text;
}

}  // namespace

std::string limit_of(const Analysis& analysis) {
  if (find(analysis, FindingId::advice_withheld))
    return " The bottleneck is unknown: the kernel records are inconsistent (see data quality).";
  const Nanos window = device_time(analysis);
  std::string text;
  const auto types = kernel_types_without_counters(analysis);
  // A device that mostly communicates is not held up by what it computes.
  const bool kernels = find(analysis, FindingId::kernel_bound) && !types.empty() &&
                       types.front().name != name_of(LayerType::communication);
  if (kernels) text = fmt::format(" Kernel-bound: {} of the time.", named_shares(types, window));
  const Loss loss = largest_loss(analysis);
  const Share share = share_of(loss.ns, window);
  if (loss.ns == 0 || (kernels && share.value_or(0) < kWorthNaming)) return text;
  text += fmt::format(" The largest loss: {}, {} ({})", loss.name, format_time(loss.ns),
                      format_share(share));
  const Nanos profiler = profiler_cost(analysis);
  if (!loss.of_host || profiler * 10 < loss.ns) return text + ".";
  if (profiler >= loss.ns) return text + ", all of which the profiler itself may have caused.";
  return text + fmt::format(", up to {} of it by the profiler itself.", format_time(profiler));
}

bool shows_kernel_types(const WaterfallBar& bar, Nanos window) {
  return bar.id == Bar::unknown && !bar.parts.empty() && bar.ns * 2 > window;
}

}  // namespace gf
