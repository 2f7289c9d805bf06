#include "report/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>

#include "analyze/device_use.h"
#include "analyze/findings/finding_rows.h"
#include "analyze/profiler_cost.h"
#include "analyze/ranks/names.h"
#include "analyze/report_alone.h"
#include "analyze/sampled/sampled.h"
#include "analyze/utilization/waterfall.h"
#include "core/statistics.h"
#include "core/text.h"
#include "model/metrics.h"
#include "model/quality.h"
#include "report/labels.h"
#include "report/text/format.h"

namespace gf {

namespace {

const Level* find_level(const Analysis& analysis, std::string_view id) {
  for (const auto& level : analysis.levels)
    if (level.id == id && level.value) return &level;
  return nullptr;
}

void add_named(std::vector<NamedTime>& into, const std::vector<NamedTime>& more) {
  for (const auto& part : more) {
    const auto same =
        std::find_if(into.begin(), into.end(), [&](const auto& i) { return i.name == part.name; });
    if (same == into.end())
      into.push_back(part);
    else
      same->ns += part.ns;
  }
  std::stable_sort(into.begin(), into.end(),
                   [](const auto& left, const auto& right) { return left.ns > right.ns; });
}

}  // namespace

Nanos device_time(const Analysis& analysis) {
  Nanos sum = 0;
  for (const auto& device : analysis.devices) sum += device.span_ns;
  return sum;
}

std::vector<IdleCause> idle_of_all(const Analysis& analysis) {
  std::vector<IdleCause> all;
  for (const auto& device : analysis.devices)
    for (const auto& cause : device.idle) {
      auto same = std::find_if(all.begin(), all.end(),
                               [&](const auto& idle) { return idle.cause == cause.cause; });
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
                   [](const auto& left, const auto& right) { return left.ns > right.ns; });
  return all;
}

std::vector<WaterfallBar> waterfall_of_all(const Analysis& analysis) {
  std::vector<WaterfallBar> all;
  for (const auto& device : analysis.devices)
    for (const auto& bar : device.waterfall) {
      auto same = std::find_if(all.begin(), all.end(),
                               [&](const auto& right) { return right.id == bar.id; });
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

/// The headline of samples without kernels: the energy and what it went to.
std::string energy_headline(const EnergyUse& energy) {
  std::int64_t nj = 0;
  Nanos span = 0;
  for (const auto& device : energy.devices) {
    nj += device.nj;
    span = std::max(span, device.span_ns);
  }
  std::string text = fmt::format("{} in {}", format_energy(nj), format_time(span));
  const char* before = ": ";
  for (const auto& part : energy_headline_parts(energy)) {
    const Share share = share_of(part.nj, nj);
    text += fmt::format(
        "{}{} {}", before, part.name,
        share.value_or(0) < 0 ? fmt::format("{:.1f} %", 100 * *share) : format_share(share));
    before = ", ";
  }
  return text + ".";
}

/// The headline of a counter report alone: the levels inside its kernels.
std::string report_headline(const Analysis& analysis) {
  std::string text = "Counter report only: how long the GPU was active is unknown.";
  std::string_view before = " During its kernels: ";
  for (const auto& [id, name] : {std::pair{"sm.active"_metric, "SM active"},
                                 {"issue.active"_metric, "issue slot utilization"},
                                 {"tensor.active"_metric, "tensor pipe active"}}) {
    const auto* level = find_level(analysis, id);
    if (!level) continue;
    text += fmt::format("{}{} {}", before, name, format_level(*level));
    before = ", ";
  }
  if (before == ", ") text += ".";
  return text + limit_of(analysis);
}

/// A profiler made the idle time longer than it is without one.
bool slowed_by_profiler(const Analysis& analysis) {
  return find_with(analysis.findings, &FindingRow::of_profiler) != nullptr;
}

/// The equal blocks that repeat, where nothing shows that they are steps.
std::string blocks_of(const WindowInfo& window) {
  const BlockInfo& blocks = window.blocks;
  if (blocks.count == 0) return {};
  std::string before;
  constexpr double kMuch = 0.1;
  const Nanos once = blocks.begin_ns.value_or(window.start_ns) - window.start_ns;
  if (const Share share = share_of(once, window.duration_ns); share.value_or(0) >= kMuch)
    before =
        fmt::format(", after {} ({}) of one-time work", format_time(once), format_share(share));
  if (window.kind == WindowKind::stable)
    before = "; the time before and after them is left out (--window all includes it)";
  return fmt::format(" No steps are known: {} equal blocks{} of {}, {} each{}.", blocks.count,
                     blocks.module.empty() ? "" : " (" + blocks.module + ")",
                     plural(blocks.kernels, "kernel"), format_time(blocks.duration_ns), before);
}

std::string idle_time(const Label& cause) { return fmt::format("idle time ({})", cause.text); }

/// If one gap takes most of the time, shares of all of it say little about the program.
std::string beside_the_gap(const WindowInfo& window) {
  const auto& dense = window.dense;
  if (!dense) return {};
  std::string loss;
  if (dense->loss_ns > 0) {
    const bool copies = dense->loss == name_of(Bar::copy);
    const auto label = label_of(copies ? bar_labels() : cause_labels(), dense->loss);
    loss = fmt::format(", and the largest loss is {}, {} ({})",
                       copies ? std::string(label.text) : idle_time(label),
                       format_time(dense->loss_ns), format_share(dense->loss_share));
  }
  return fmt::format(
      " One gap takes {}; {} it the GPU is active {} of {}{} (--window {} analyzes that).",
      format_time(dense->gap_ns), dense->start_ns > window.start_ns ? "after" : "before",
      format_share(dense->kernel_busy), format_time(dense->duration_ns), loss, dense->window);
}

/// A fit of a few steps is mostly what comes before and after them.
std::string outside(const std::optional<OutsideSteps>& outside, WindowKind kind) {
  constexpr double kMuch = 0.2;
  if (!outside) return {};
  std::string text;
  const auto add = [&](std::string_view label, Nanos ns) {
    const Share share = share_of(ns, outside->duration_ns);
    if (share.value_or(0) < kMuch) return;
    text += fmt::format("{} {}, {} ({})", text.empty() ? ":" : ";", label, format_time(ns),
                        format_share(share));
  };
  const auto copies = [&] { add(label_of(Bar::copy).text, outside->copies_ns); };
  const auto allocation = [&] {
    add(idle_time(label_of(IdleReason::allocation)), outside->allocation_ns);
  };
  add("kernels", outside->kernel_busy_ns);
  if (outside->copies_ns > outside->allocation_ns) {
    copies();
    allocation();
  } else {
    allocation();
    copies();
  }
  if (text.empty()) return {};
  return fmt::format(" Outside the {}, {} more{} (--window all includes it).",
                     kind == WindowKind::stable ? "loop" : "steps",
                     format_time(outside->duration_ns), text);
}

/// The headline of samples that do not show when a kernel ran.
std::string headline_of_levels(const Analysis& analysis) {
  for (const auto& level : analysis.levels)
    if (level.value)
      return fmt::format("{}: {} on average. The log has no kernel times, so idle time is unknown.",
                         label_of_metric(level.id).text, format_level(level));
  return "The log has no kernel times, so idle time is unknown.";
}

std::string work_of(const OtherDevice& device) {
  std::string text = device.kernels > 0 ? plural(device.kernels, "kernel") : std::string();
  if (device.copies > 0)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", format_count(device.copies),
                        device.copies == 1 ? "copy" : "copies");
  return fmt::format("{}, {}", text, format_time(device.busy_ns));
}

/// One sentence on the devices of which nothing else is said; empty without any.
std::string others_of(const std::vector<OtherDevice>& devices) {
  std::map<OtherReason, OtherDevice> sums;
  std::map<OtherReason, std::vector<std::int64_t>> numbers;
  for (const auto& device : devices) {
    OtherDevice& sum = sums[device.why];
    sum.kernels += device.kernels;
    sum.copies += device.copies;
    sum.busy_ns += device.busy_ns;
    numbers[device.why].push_back(device.id);
  }
  std::string text;
  for (const auto& [why, sum] : sums) {
    const bool one = numbers[why].size() == 1;
    text += fmt::format("{}{} {}", text.empty() ? " " : "; ", one ? "GPU" : "GPUs",
                        fmt::join(numbers[why], ", "));
    switch (why) {
      case OtherReason::copies_only:
        text += fmt::format(" only cop{}: {}", one ? "ies" : "y", work_of(sum));
        break;
      case OtherReason::few_kernels:
        text += fmt::format(" {} almost idle: {}", one ? "is" : "are", work_of(sum));
        break;
      case OtherReason::idle:
        text += fmt::format(" {} idle in this window", one ? "is" : "are");
        break;
      case OtherReason::not_chosen:
        text += one ? " is left out" : " are left out";
        break;
    }
  }
  return text.empty() ? text : text + ".";
}

/// Ordinary steps on the shorter side of an outlier: one window has no hole.
std::string beyond_outlier(const WindowInfo& window) {
  std::vector<std::int64_t> beyond;
  for (const auto& step : window.all_steps)
    if (step.role == StepRole::ordinary &&
        (step.start_ns < window.start_ns || step.start_ns >= window.end_ns))
      beyond.push_back(step.index);
  if (beyond.empty()) return {};
  if (beyond.size() == 1)
    return fmt::format(" Step {} on its other side is not analyzed.", beyond.front());
  return fmt::format(" Steps {} to {} on its other side are not analyzed.", beyond.front(),
                     beyond.back());
}

/// The steps of a role, as the subject of a sentence: "Step 5 takes", "Steps 5 to 7 take up to".
std::string subject_of(const std::vector<StepInfo>& steps) {
  if (steps.size() == 1) return fmt::format("Step {} takes", steps.front().index);
  return fmt::format("Steps {} to {} take up to", steps.front().index, steps.back().index);
}

/// Steps that the window leaves out since they are far from the others.
std::string left_out(const WindowInfo& window) {
  if (window.kind != WindowKind::steps) return {};
  std::vector<double> durations;
  for (const auto& step : window.steps) durations.push_back(static_cast<double>(step.duration_ns));
  const double middle = durations.empty() ? 0 : median(std::move(durations));
  if (middle <= 0) return {};
  std::string text;
  for (const auto& [role, name] :
       {std::pair{StepRole::start_up, "start-up"}, {StepRole::outlier, "an outlier"}}) {
    std::vector<StepInfo> steps;
    double times = 0;
    for (const auto& step : window.all_steps)
      if (step.role == role) {
        steps.push_back(step);
        times = std::max(times, static_cast<double>(step.duration_ns) / middle);
      }
    if (steps.empty()) continue;
    text += fmt::format(
        " {} {:.3g} times the median step and {} left out as {} (--window step:{}).",
        subject_of(steps), times, steps.size() == 1 ? "is" : "are", name, steps.front().index);
  }
  return text + beyond_outlier(window);
}

}  // namespace

std::string step_label(const StepInfo& step) {
  constexpr const char* kRoles[] = {"", " (start-up)", " (outlier)"};  // by StepRole
  return fmt::format("step {}{}", step.index, kRoles[static_cast<std::size_t>(step.role)]);
}

std::vector<NamedEnergy> energy_headline_parts(const EnergyUse& energy) {
  constexpr std::size_t kNamed = 2;
  std::map<std::string, std::int64_t> parts;
  std::int64_t rest = 0;
  for (const auto& device : energy.devices) {
    if (device.parts.empty()) rest += device.nj;  // without a model nothing of it is explained
    for (const auto& part : device.parts)
      (part.component == "rest" ? rest : parts[part.component]) += part.nj;
  }
  std::vector<NamedEnergy> all;
  for (const auto& [component, nj] : parts)
    all.push_back({std::string(label_of(energy_labels(), component).text), nj});
  std::ranges::stable_sort(all, std::greater{}, &NamedEnergy::nj);
  std::int64_t others = 0;
  for (std::size_t i = kNamed; i < all.size(); ++i) others += all[i].nj;
  if (all.size() > kNamed + 1) {
    all.resize(kNamed);
    all.push_back({"other parts", others});
  }
  all.push_back({std::string(label_of(energy_labels(), "rest").text), rest});
  return all;
}

std::string headline(const Analysis& analysis) {
  if (analysis.devices.empty() && !analysis.runtime.phases.empty() &&
      analysis.runtime.kernels.cpu_kernel_ns == 0)
    return "No GPU, and no kernel of the CPU was recorded: how long kernels run is unknown.";
  if (analysis.devices.empty() && !analysis.runtime.phases.empty())
    return fmt::format(
        "No GPU: CPU kernels run {} of the time; the framework runtime and the program take the "
        "rest.",
        format_share(analysis.runtime.kernels.cpu_kernel));
  if (analysis.devices.empty() && !analysis.energy.devices.empty())
    return energy_headline(analysis.energy);
  if (analysis.devices.empty())
    return "No GPU event: nothing ran on a device in this window, or the profiler did not record "
           "it.";
  if (is_report_alone(analysis)) return report_headline(analysis);
  const auto* busy = find_level(analysis, "gpu.busy"_metric);
  if (!busy && only_samples(analysis)) return headline_of_levels(analysis);
  Nanos kernels = 0;
  for (const auto& device : analysis.devices) kernels += device.kernel_busy_ns;
  Share share = busy ? busy->value : share_of(kernels, device_time(analysis));
  std::string of_time = format_share(share);
  if (busy) of_time = format_level(*busy);
  std::string text =
      fmt::format("{} active {}{} of the time", analysis.devices.size() == 1 ? "GPU" : "GPUs",
                  slowed_by_profiler(analysis) ? "at least " : "", of_time);
  if (const auto* tensor = find_level(analysis, "tensor.active"_metric))
    text += fmt::format("; tensor pipes active {} of the time.", format_level(*tensor));
  else if (const auto* issue = find_level(analysis, "issue.active"_metric))
    text += fmt::format("; issue slot utilization {}.", format_level(*issue));
  else
    text += ". Utilization inside kernels needs counters.";
  return text + limit_of(analysis) + beside_the_gap(analysis.window) + left_out(analysis.window) +
         outside(analysis.window.outside, analysis.window.kind) + blocks_of(analysis.window) +
         others_of(analysis.other_devices);
}

namespace {

std::string kind_label(const WindowInfo& window) {
  switch (window.kind) {
    case WindowKind::all:
    case WindowKind::common:
      return "whole capture";
    case WindowKind::range:
      return "chosen range";
    case WindowKind::recording_window:
      return "longest recording window";
    case WindowKind::stable:
      if (window.steps.empty()) return "steady period";
      return "stable: " + plural(window.steps.size(), "step");
    case WindowKind::steps:
    case WindowKind::step:
      break;
  }
  return plural(window.steps.size(), "step");
}

}  // namespace

std::string window_label(const WindowInfo& window) {
  return fmt::format("{}, {}", kind_label(window),
                     format_time(std::max<Nanos>(window.duration_ns, 0)));
}

std::string subject(const Analysis& analysis) {
  std::string text;
  std::map<std::string, int> names;
  for (const auto& device : analysis.devices) ++names[std::string(text_or(device.name, "GPU"))];
  if (analysis.devices.empty())
    for (const auto& device : analysis.energy.devices)
      ++names[std::string(text_or(device.name, "GPU"))];
  for (const auto& [name, count] : names) {
    text += !text.empty() ? ", " : "";
    if (count > 1) text += std::to_string(count) + " x ";
    text += name;
  }
  const bool worked = analysis.window.kind == WindowKind::all && only_samples(analysis);
  text += ", " + (worked ? std::string("active period") : kind_label(analysis.window));
  // A run without a GPU has no name to begin with.
  if (text.starts_with(", ")) text.erase(0, 2);
  Nanos length = analysis.window.duration_ns;
  if (length <= 0 && !analysis.devices.empty()) length = analysis.devices.front().span_ns;
  return text + ", " + format_time(std::max<Nanos>(length, 0));
}

namespace {

std::string sentence(std::int64_t count, std::string_view code, std::string_view detail) {
  return fmt::format("{} x {}: {}", format_count(count), code, detail);
}

}  // namespace

std::vector<std::string> shortcomings(const Capture& capture) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < capture.quality.size(); ++i)
    if (const auto code = capture.text(capture.quality.code[i]); makes_partial(code))
      found.push_back(
          sentence(capture.quality.count[i], code, capture.text(capture.quality.detail[i])));
  return found;
}

std::vector<std::string> shortcomings(const Analysis& analysis) {
  std::vector<std::string> found;
  for (const auto& quality : analysis.quality)
    if (makes_partial(quality.code) && !is_job_doubt(quality.code))
      found.push_back(sentence(quality.count, quality.code, quality.detail));
  // A profile of a run on the CPU is whole without a device: its answer is the runtime's. So are
  // samples of energy.
  if (analysis.devices.empty() && analysis.energy.devices.empty() &&
      analysis.runtime.kernels.cpu_kernel_ns == 0)
    found.push_back("the capture contains no GPU events (did the profiler record the device?)");
  // Rates solved from a recording's own samples are no report that somebody gave. One that was
  // joined into the capture file is in it.
  const auto& report = analysis.counters_source;
  const bool given =
      report ? report->path != analysis.source.path : analysis.match.report_kernels > 0;
  if (given &&
      (analysis.match.verdict == MatchVerdict::different_program || analysis.match.matched == 0))
    found.push_back(fmt::format("no counters: the report {} does not belong to this trace",
                                report ? report->path : "in it"));
  return found;
}

namespace {

/// Beside kernels that are the limit, a loss below this share of the time is not worth a sentence.
constexpr double kWorthNaming = 0.05;
/// Layer types below this share of the time do not describe a run; more than these do not help.
constexpr double kWorthListing = 0.02;
constexpr std::size_t kTypes = 3;

struct Loss {
  std::string name;
  Nanos ns = 0;
  bool of_host = false;  // which the profiler slowed
  bool curable = false;  // of what a recommendation could be about
};

/// One-time work and unrecorded time have no recommendation.
bool is_curable(IdleReason cause) {
  return cause != IdleReason::start_up && cause != IdleReason::no_launch_record;
}

/// True if a recommendation with a gain is about time that the device does not compute: gaps before
/// tiny kernels and copies within its memory are told with its kernels.
bool covers_waiting(const Finding& finding) {
  return finding.gain_ns &&
         (finding.group == FindingGroup::host || finding.group == FindingGroup::batch ||
          finding.group == FindingGroup::communication || row_of(finding.id).of_waiting);
}

/// An idle cause, a bar of the waterfall, or communication that nothing hides. Where kernels are
/// the limit, the time before one without a launch is that of a kernel that began before the
/// capture.
Loss largest_loss(const Analysis& analysis, bool kernels) {
  Loss most;
  auto consider = [&](std::string name, Nanos ns, bool of_host = false, bool curable = false) {
    if (ns > most.ns) most = {std::move(name), ns, of_host, curable};
  };
  for (const auto& cause : idle_of_all(analysis)) {
    if (cause.cause == IdleReason::not_recorded)
      consider("idle time", cause.ns);
    else if (cause.cause != IdleReason::no_samples &&
             !(kernels && cause.cause == IdleReason::no_launch_record))
      consider(idle_time(label_of(cause.cause)), cause.ns,
               cause.cause == IdleReason::launch_bound || cause.cause == IdleReason::host_other,
               is_curable(cause.cause));
  }
  Nanos waiting = 0;  // a loss of its own where it is told apart from communication
  for (const auto& bar : waterfall_of_all(analysis)) {
    if (bar.id == Bar::waiting) waiting += bar.ns;
    if (bar.id == Bar::copy || bar.id == Bar::waiting || bar.id == Bar::sm_inactive ||
        bar.id == Bar::stalled)
      consider(std::string(label_of(bar.id).text), bar.ns, false, bar.id == Bar::copy);
  }
  const auto exposed =
      std::ranges::find(analysis.findings, FindingGroup::communication, &Finding::group);
  if (exposed != analysis.findings.end())
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
  if (find_with(analysis.findings, &FindingRow::inconsistent))
    return " The bottleneck is unknown: the kernel records are inconsistent (see data quality).";
  const Nanos window = device_time(analysis);
  if (find_with(analysis.findings, &FindingRow::forbids_advice)) {
    if (is_one_activity_each(analysis.devices))
      return " Too little GPU work to name a bottleneck: the window is a single activity.";
    // Names the cause that takes nearly all of the time all the same.
    constexpr double kNearlyAll = 0.9;
    const Loss most = largest_loss(analysis, false);
    const Share all = share_of(most.ns, window);
    std::string text = " Too little GPU work was recorded to name a bottleneck.";
    if (all.value_or(0) >= kNearlyAll)
      text += fmt::format(" Largest loss: {}, {} ({}).", most.name, format_time(most.ns),
                          format_share(all));
    return text;
  }
  std::string text;
  const auto types = kernel_types_without_counters(analysis);
  // A device that mostly communicates is not held up by what it computes.
  const bool kernels = find_with(analysis.findings, &FindingRow::limit_is_kernels) &&
                       !types.empty() && types.front().name != name_of(LayerType::communication);
  if (kernels) text = fmt::format(" Kernel-bound: {} of the time.", named_shares(types, window));
  const Loss loss = largest_loss(analysis, kernels);
  const Share share = share_of(loss.ns, window);
  if (loss.ns == 0 || (kernels && share.value_or(0) < kWorthNaming)) return text;
  text += fmt::format(" Largest loss: {}, {} ({})", loss.name, format_time(loss.ns),
                      format_share(share));
  const Nanos profiler = profiler_cost(analysis);
  const bool all = loss.of_host && profiler >= loss.ns;
  if (all)
    text += ". The profiler may have caused all of it";
  else if (loss.of_host && profiler * 10 >= loss.ns)
    text += fmt::format(". The profiler may have caused up to {} of it", format_time(profiler));
  text += ".";
  constexpr double kMuch = 0.1;
  if (!all && loss.curable && share.value_or(0) >= kMuch &&
      std::ranges::none_of(analysis.findings, covers_waiting))
    text += " No recommendation covers it.";
  return text;
}

bool shows_kernel_types(const WaterfallBar& bar, Nanos window) {
  return bar.id == Bar::unknown && !bar.parts.empty() && bar.ns * 2 > window;
}

}  // namespace gf
