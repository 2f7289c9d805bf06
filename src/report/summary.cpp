#include "report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/sampled/sampled.h"
#include "report/labels.h"
#include "report/text/format.h"

namespace gf {

namespace {

const Level* find_level(const Analysis& a, std::string_view id) {
  for (const auto& level : a.levels)
    if (level.id == id && level.value) return &level;
  return nullptr;
}

void add_named(std::vector<NamedTime>& into, const std::vector<NamedTime>& more) {
  for (const auto& m : more) {
    const auto same =
        std::find_if(into.begin(), into.end(), [&](const auto& i) { return i.name == m.name; });
    if (same == into.end())
      into.push_back(m);
    else
      same->ns += m.ns;
  }
  std::stable_sort(into.begin(), into.end(),
                   [](const auto& a, const auto& b) { return a.ns > b.ns; });
}

/// The largest part of the time in which the device did less than it could: an idle cause or a bar
/// of the waterfall.
std::string largest_loss(const Analysis& a) {
  std::string text;
  Nanos most = 0;
  for (const auto& cause : idle_of_all(a))
    if (cause.ns > most && cause.cause != IdleReason::no_samples)
      most = cause.ns, text = cause.cause == IdleReason::not_recorded
                                  ? "the GPU idle"
                                  : "idle, " + std::string(label_of(cause.cause).text);
  for (const auto& bar : waterfall_of_all(a))
    if ((bar.id == Bar::copy || bar.id == Bar::sm_inactive || bar.id == Bar::stalled) &&
        bar.ns > most)
      most = bar.ns, text = label_of(bar.id).text;
  if (most == 0) return {};
  return fmt::format(" The largest loss: {}, {} ({}).", text, format_time(most),
                     format_share(share_of(most, device_time(a))));
}

}  // namespace

Nanos device_time(const Analysis& a) {
  Nanos sum = 0;
  for (const auto& d : a.devices) sum += d.span_ns;
  return sum;
}

Share share_of(Nanos part, Nanos whole) {
  if (whole <= 0) return {};
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::vector<IdleCause> idle_of_all(const Analysis& a) {
  std::vector<IdleCause> all;
  for (const auto& d : a.devices)
    for (const auto& cause : d.idle) {
      auto same = std::find_if(all.begin(), all.end(),
                               [&](const auto& c) { return c.cause == cause.cause; });
      if (same == all.end()) {
        all.push_back(cause);
        continue;
      }
      same->ns += cause.ns;
      same->gaps += cause.gaps;
      add_named(same->operators, cause.operators);
      add_named(same->modules, cause.modules);
    }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& x, const auto& y) { return x.ns > y.ns; });
  return all;
}

std::vector<WaterfallBar> waterfall_of_all(const Analysis& a) {
  std::vector<WaterfallBar> all;
  for (const auto& d : a.devices)
    for (const auto& bar : d.waterfall) {
      auto same =
          std::find_if(all.begin(), all.end(), [&](const auto& b) { return b.id == bar.id; });
      if (same == all.end()) {
        all.push_back(bar);
        continue;
      }
      same->ns += bar.ns;
      add_named(same->parts, bar.parts);
    }
  return all;
}

namespace {

/// Of samples without kernels: how much, and the two largest components.
std::string energy_headline(const EnergyUse& energy) {
  std::int64_t nj = 0;
  Nanos span = 0;
  std::map<std::string, std::int64_t> parts;
  for (const auto& d : energy.devices) {
    nj += d.nj, span = std::max(span, d.span_ns);
    for (const auto& p : d.parts) parts[p.component] += p.nj;
  }
  std::vector<std::pair<std::int64_t, std::string>> largest;
  for (const auto& [component, part] : parts) largest.emplace_back(part, component);
  std::sort(largest.rbegin(), largest.rend());
  std::string text = fmt::format("{} in {}", format_energy(nj), format_time(span));
  for (std::size_t i = 0; i < std::min<std::size_t>(2, largest.size()); ++i)
    text += fmt::format("{} {} {}", i == 0 ? ":" : ",",
                        label_of(energy_labels(), largest[i].second).text,
                        format_share(share_of(largest[i].first, nj)));
  return text + ".";
}

/// A profiler made the idle time longer than it is without one.
bool slowed_by_profiler(const Analysis& a) {
  return std::ranges::any_of(a.findings,
                             [](const Finding& f) { return f.id == FindingId::observer_effect; });
}

}  // namespace

std::string headline(const Analysis& a) {
  if (a.devices.empty() && !a.runtime.phases.empty())
    return fmt::format(
        "No GPU: kernels of the CPU run {} of the time, the framework's runtime and the program "
        "take the rest.",
        format_share(a.runtime.kernels.cpu_kernel));
  if (a.devices.empty() && !a.energy.devices.empty()) return energy_headline(a.energy);
  if (a.devices.empty())
    return "No GPU event: nothing ran on a device in this window, or the profiler did not record "
           "it.";
  const auto* busy = find_level(a, "gpu.busy");
  Nanos kernels = 0;
  for (const auto& d : a.devices) kernels += d.kernel_busy_ns;
  const Share share = busy ? busy->value : share_of(kernels, device_time(a));
  std::string text =
      fmt::format("The {} {} kernels {}{} of the time", a.devices.size() == 1 ? "GPU" : "GPUs",
                  a.devices.size() == 1 ? "runs" : "run", slowed_by_profiler(a) ? "at least " : "",
                  busy ? format_level(*busy) : format_share(share));
  if (const auto* tensor = find_level(a, "tensor.active"))
    text += fmt::format("; {} tensor cores work {} of it.", a.devices.size() == 1 ? "its" : "their",
                        format_level(*tensor));
  else if (const auto* issue = find_level(a, "issue.active"))
    text += fmt::format("; instructions fill {} of the issue slots.", format_level(*issue));
  else
    text += "; how deep those kernels use it needs counters.";
  return text + largest_loss(a);
}

std::string subject(const Analysis& a) {
  std::string text;
  std::map<std::string, int> names;
  for (const auto& d : a.devices) ++names[d.name.empty() ? "GPU" : d.name];
  if (a.devices.empty())
    for (const auto& d : a.energy.devices) ++names[d.name.empty() ? "GPU" : d.name];
  for (const auto& [name, n] : names)
    text += (text.empty() ? "" : ", ") + (n > 1 ? std::to_string(n) + " x " : "") + name;
  if (a.window.kind == WindowKind::all && only_samples(a))
    text += ", while it worked";
  else if (a.window.kind == WindowKind::all)
    text += text.empty() ? "whole capture" : ", whole capture";
  else if (a.window.kind == WindowKind::stable && a.window.steps.empty())
    text += ", while steady";
  else if (a.window.kind == WindowKind::range)
    text += ", chosen range";
  else if (a.window.kind == WindowKind::recording_window)
    text += text.empty() ? "longest recording window" : ", longest recording window";
  else
    text += (a.window.kind == WindowKind::stable ? ", stable: " : ", ") +
            plural(static_cast<std::int64_t>(a.window.steps.size()), "step");
  return text + ", " +
         format_time(a.window.duration_ns > 0 ? a.window.duration_ns
                     : a.devices.empty()      ? 0
                                              : a.devices.front().span_ns);
}

}  // namespace gf
