// Rules that the counters of a report alone decide, one row of a table each, with what the
// profiler's own rules say of the same.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/findings/facts.h"
#include "analyze/findings/report_counters.h"
#include "analyze/findings/rules.h"
#include "core/text.h"

namespace gf::trace_rules {
namespace {

/// A kernel of the report, asked for its counters. What the report does not say is NaN, and so is
/// what is worked out from it: a rule that compares it does not fire.
struct Counted {
  const Facts& facts;
  std::uint32_t row;  // of report_kernels

  double operator()(std::string_view metric) const { return facts.report().of(row, metric); }
  double level(KernelLevel level) const { return facts.levels.of_report(row, level); }
  std::int64_t registers() const { return facts.capture().report_kernels.registers[row]; }
};

/// The first that is known.
double first_of(std::initializer_list<double> values) {
  for (const double value : values)
    if (!std::isnan(value)) return value;
  return std::nan("");
}

/// The highest that is known.
double highest_of(std::initializer_list<double> values) {
  double most = std::nan("");
  for (const double value : values) most = std::fmax(most, value);
  return most;
}

double part_of(double part, double whole) { return whole > 0 ? part / whole : std::nan(""); }

/// Utilization of memory, and of the kernel's busiest unit, 0..1.
double memory_use(const Counted& kernel) {
  return highest_of(
      {kernel("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed") / 100,
       kernel("l1tex__throughput.avg.pct_of_peak_sustained_active") / 100,
       kernel("lts__throughput.avg.pct_of_peak_sustained_elapsed") / 100,
       kernel("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed") / 100,
       kernel.level(KernelLevel::dram_active)});
}
double highest_use(const Counted& kernel) {
  return highest_of({kernel("sm__throughput.avg.pct_of_peak_sustained_elapsed") / 100,
                     kernel.level(KernelLevel::issue_active), memory_use(kernel)});
}

/// At and above this a unit is the limit: more warps, or fewer waits, gain little.
constexpr double kBusy = 0.6;
/// Under this, what memory does in vain costs little.
constexpr double kHardlyUsed = 0.2;

double waves_of(const Counted& kernel) { return kernel("launch__waves_per_multiprocessor"); }

/// Warp slots that the launch cannot fill, of kernels that no unit limits. Products on tensor cores
/// reach their peak with few warps, and a grid of less than a wave would not fill more.
double slots_out_of_reach(const Counted& kernel) {
  if (kernel.level(KernelLevel::tensor_active) >= 0.05 || waves_of(kernel) < 1) return 0;
  if (std::isnan(waves_of(kernel))) return waves_of(kernel);
  const double use = highest_use(kernel);
  if (std::isnan(use)) return use;
  return use >= kBusy ? 0 : 1 - kernel("sm__maximum_warps_per_active_cycle_pct") / 100;
}

std::string limits_of_occupancy(const Counted& kernel) {
  struct Limit {
    std::string_view metric, name;
  };
  static constexpr std::array<Limit, 5> kOccupancyLimits{
      {{"launch__occupancy_limit_registers", "registers"},
       {"launch__occupancy_limit_shared_mem", "shared memory"},
       {"launch__occupancy_limit_warps", "warps"},
       {"launch__occupancy_limit_blocks", "blocks"},
       {"launch__occupancy_limit_barriers", "barriers"}}};
  double least = std::nan("");
  for (const auto& limit : kOccupancyLimits) least = std::fmin(least, kernel(limit.metric));
  std::string names;
  for (const auto& limit : kOccupancyLimits)
    if (kernel(limit.metric) == least)
      names += fmt::format("{}{}", names.empty() ? "" : " and ", limit.name);
  if (names.empty()) return {};
  return fmt::format(", limited to {} an SM by {}",
                     plural(static_cast<std::int64_t>(least), "block"), names);
}

/// Requests to L1 that spill registers; else sectors of local memory, which arrays are kept in,
/// too.
double spilled(const Counted& kernel) {
  return first_of({kernel("derived__local_spilling_requests_pct") / 100,
                   part_of(kernel("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum") +
                               kernel("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"),
                           kernel("l1tex__t_sectors.sum"))});
}

std::string registers_of(const Counted& kernel) {
  if (kernel.registers() <= 0) return {};
  return fmt::format(" ({} a thread)", plural(kernel.registers(), "register"));
}

/// Sectors of global memory that well-placed accesses would not need.
double sectors_in_vain(const Counted& kernel) {
  const double use = memory_use(kernel);
  if (std::isnan(use) || use < kHardlyUsed) return use * 0;
  const auto ideal = [&](std::string_view needed, std::string_view moved) {
    return 1 - part_of(kernel(needed), kernel(moved));
  };
  return first_of(
      {ideal("memory_l2_theoretical_sectors_global_ideal", "memory_l2_theoretical_sectors_global"),
       ideal("memory_l2_sectors_global_ideal", "memory_l2_sectors_global"),
       1 - kernel("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct") / 100,
       1 - kernel("smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct") / 100});
}

/// Passes over shared memory that only bank conflicts need.
double passes_in_vain(const Counted& kernel) {
  const double use = kernel("l1tex__throughput.avg.pct_of_peak_sustained_active") / 100;
  if (std::isnan(use) || use < kHardlyUsed) return use * 0;
  return first_of({1 - part_of(kernel("memory_l1_wavefronts_shared_ideal"),
                               kernel("memory_l1_wavefronts_shared")),
                   part_of(kernel("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"),
                           kernel("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum")),
                   part_of(kernel("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum") +
                               kernel("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"),
                           kernel("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") +
                               kernel("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"))});
}

/// The share of a kernel's time that its last wave leaves empty. A grid of one wave has none.
double empty_in_last_wave(const Counted& kernel) {
  const double waves = waves_of(kernel);
  if (!(waves > 1)) return waves * 0;
  return (std::ceil(waves) - waves) / std::ceil(waves);
}

std::string say_waves(const Counted& kernel) {
  const double waves = waves_of(kernel);
  return std::isnan(waves) ? std::string() : fmt::format(", with {:.3g} waves", waves);
}

struct MainStall {
  std::string_view reason;
  double share = std::nan("");  // of the states of warps that do not issue
};
MainStall main_stall(const Counted& kernel) {
  const auto* states = kernel.facts.report().warps().of(kernel.row);
  MainStall most;
  double sum = 0;
  if (!states) return most;
  for (const auto& [reason, value] : *states) {
    sum += value;
    if (!(value <= most.share)) most = {reason, value};
  }
  most.share /= sum;
  return most;
}

/// The share of its main reason, where few issue slots are used and memory is not the limit.
double mainly_stalled(const Counted& kernel) {
  constexpr double kFewSlots = 0.4;
  const double issue = first_of(
      {kernel("smsp__issue_active.avg.pct_of_peak_sustained_active") / 100,
       part_of(kernel.level(KernelLevel::issue_active), kernel.level(KernelLevel::sm_active))});
  if (std::isnan(issue)) return issue;
  return issue >= kFewSlots || memory_use(kernel) >= kBusy ? 0 : main_stall(kernel).share;
}

std::string stall_of(const Counted& kernel) {
  const auto stall = main_stall(kernel);
  return stall.reason.empty() ? std::string()
                              : fmt::format(" (main reason: {})", label_of_stall(stall.reason));
}

struct Advice {
  double (*share)(const Counted&);  // what is lost; NaN where the report cannot tell
  double fires;                     // from this share on
  bool of_time;                     // the share is one of the kernel's time: its gain
  std::string (*about)(const Counted&);
  // Text: {0} share of kernel time, {1} about most of it. Evidence: {0} mean share.
  std::string_view text, evidence;
  std::string_view rules, says;  // the profiler's rules of the same, and words in what they say
};

constexpr Advice kSpills{
    spilled,
    0.05,
    false,
    registers_of,
    "{0} of kernel time is in kernels that spill registers or keep arrays in local memory{1}. "
    "Reduce the registers that a thread needs (smaller tiles, less unrolling, no dynamically "
    "indexed local arrays), or allow more of them (__launch_bounds__, -maxrregcount).",
    "local memory accounts for {0} of their L1 requests",
    "LocalMemoryUsage",
    ""};
constexpr Advice kOccupancy{
    slots_out_of_reach,
    0.5,
    false,
    limits_of_occupancy,
    "{0} of kernel time is in kernels with a low theoretical occupancy{1}, which hides little "
    "latency. Reduce what limits it, or change the block size.",
    "{0} of the warp slots stay empty, and no unit is above 60 % of its peak",
    "TheoreticalOccupancy Occupancy",
    ""};
constexpr Advice kUncoalesced{
    sectors_in_vain,
    0.25,
    false,
    nullptr,
    "{0} of kernel time is in kernels with uncoalesced global memory accesses. Let adjacent "
    "threads access adjacent addresses.",
    "{0} of their global memory sectors are excessive",
    "UncoalescedGlobalAccess MemoryCacheAccessPattern",
    ""};
constexpr Advice kConflicts{
    passes_in_vain,
    0.2,
    false,
    nullptr,
    "{0} of kernel time is in kernels with shared memory bank conflicts. Pad the rows of shared "
    "arrays by one element, or swizzle their columns.",
    "{0} of their shared memory wavefronts are excessive",
    "SharedMemoryConflicts UncoalescedSharedAccess",
    ""};
constexpr Advice kWaves{
    empty_in_last_wave,
    0.15,
    true,
    say_waves,
    "{0} of kernel time is in kernels whose last wave of thread blocks is partial (tail "
    "effect){1}. Choose a grid of whole waves, smaller blocks, or a persistent kernel.",
    "the last wave leaves {0} of their time unused, if blocks have equal durations",
    "LaunchConfiguration",
    "tail effect"};
constexpr Advice kStalls{
    mainly_stalled,
    0.3,
    false,
    stall_of,
    "{0} of kernel time is in kernels whose warps are stalled most of the time{1}. Increase the "
    "independent instructions of a thread, or the occupancy.",
    "instructions fill under 40 % of the issue slots while active; {0} of the stalls have that "
    "reason",
    "CPIStall",
    ""};

/// Estimates of the profiler's own rules for the kernels of a finding.
struct Estimates {
  std::set<std::string_view> rules;
  double global_ns = 0, local_percent = 0;
  std::string said() const {
    if (rules.empty()) return {};
    std::string names;
    for (const auto name : rules) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    std::string text = fmt::format("; Nsight Compute's rule {}", names);
    if (global_ns >= 1)
      text += fmt::format(" estimates up to {}", say_time(static_cast<Nanos>(global_ns)));
    else if (local_percent > 0)
      text += fmt::format(" estimates a local speedup of up to {}", say_share(local_percent / 100));
    else
      text += " reports it, too";
    return text;
  }
};

/// Rows of kernel_rules that advise the same of a kernel.
std::vector<std::uint32_t> same_rules(const Counted& kernel, const Advice& advice) {
  const auto& rules = kernel.facts.capture().kernel_rules;
  std::vector<std::uint32_t> same;
  for (const auto row : kernel.facts.report().rules(kernel.row)) {
    const auto text = [&](Text id) { return kernel.facts.capture().text(id); };
    const auto kind = text(rules.kind[row]), name = text(rules.rule[row]);
    if ((kind != "OPT" && kind != "WRN") || name.empty()) continue;
    const auto at = advice.rules.find(name);
    const bool named =
        at != advice.rules.npos && (at == 0 || advice.rules[at - 1] == ' ') &&
        (at + name.size() == advice.rules.size() || advice.rules[at + name.size()] == ' ');
    if (named && text(rules.description[row]).find(advice.says) != std::string_view::npos)
      same.push_back(row);
  }
  return same;
}

/// The verdict of one row of the report on an advice.
struct Verdict {
  bool fires = false;
  double share = std::nan("");
  std::string about;
  std::vector<std::uint32_t> rules;
};

Verdict judge_kernel(const Counted& kernel, const Advice& advice) {
  Verdict verdict{false, advice.share(kernel), {}, same_rules(kernel, advice)};
  // Where these counters do not decide, the profiler's own rule had others.
  verdict.fires =
      std::isnan(verdict.share) ? !verdict.rules.empty() : verdict.share >= advice.fires;
  if (verdict.fires && advice.about) verdict.about = advice.about(kernel);
  return verdict;
}

void add_estimates(const Facts& facts, const Verdict& verdict, Nanos time, Estimates& sum) {
  const auto& rules = facts.capture().kernel_rules;
  double global = 0;  // of several texts of one rule the most
  for (const auto row : verdict.rules) {
    sum.rules.insert(facts.capture().text(rules.rule[row]));
    const double percent = std::clamp(rules.speedup[row], 0.0, 100.0);
    if (!(percent > 0)) continue;
    if (facts.capture().text(rules.speedup_kind[row]) == "global")
      global = std::max(global, percent);
    else
      sum.local_percent = std::max(sum.local_percent, percent);
  }
  sum.global_ns += global / 100 * static_cast<double>(time);
}

std::optional<Said> by_counters(const Facts& facts, const Advice& advice) {
  const auto& report = facts.capture().report_kernels;
  if (report.empty()) return {};
  std::vector<std::optional<Verdict>> verdicts(report.size());
  Nanos time = 0, known = 0;
  double lost = 0;
  std::int64_t count = 0;
  Estimates estimates;
  TimeBy names(facts);
  std::map<std::string, Nanos> about;
  for (const auto& kernel : facts.kernels) {
    const auto row = facts.context.matching.report_row[kernel.activity];
    if (row == kNoRow) continue;
    auto& verdict = verdicts[row];
    if (!verdict) verdict = judge_kernel({facts, row}, advice);
    if (!verdict->fires) continue;
    ++count;
    time += kernel.exclusive_ns;
    names.add_kernel(kernel, kernel.exclusive_ns);
    about[verdict->about] += kernel.exclusive_ns;
    add_estimates(facts, *verdict, kernel.exclusive_ns, estimates);
    if (std::isnan(verdict->share)) continue;
    known += kernel.exclusive_ns;
    lost += verdict->share * static_cast<double>(kernel.exclusive_ns);
  }
  if (facts.of_kernels(time) < 0.1 || facts.of_window(time) < 0.02) return {};
  const auto most =
      std::ranges::max_element(about, {}, [](const auto& part) { return part.second; });
  std::string evidence = fmt::format("{}, {} of {} kernel time", plural(count, "kernel"),
                                     say_time(time), say_time(facts.kernel_busy));
  if (known > 0)
    evidence += "; " + fmt::format(fmt::runtime(advice.evidence),
                                   say_share(lost / static_cast<double>(known)));
  evidence += fmt::format("; most in {}{}", say_names(names), estimates.said());
  double gain = estimates.global_ns;
  if (advice.of_time && gain < 1) gain = lost;
  Said said{fmt::format(fmt::runtime(advice.text), say_share(facts.of_kernels(time)), most->first),
            std::move(evidence)};
  if (gain >= 1) said.gain_ns = static_cast<Nanos>(gain);
  return said;
}

}  // namespace

std::optional<Said> register_spills(const Facts& facts) { return by_counters(facts, kSpills); }
std::optional<Said> uncoalesced_access(const Facts& facts) {
  return by_counters(facts, kUncoalesced);
}
std::optional<Said> bank_conflicts(const Facts& facts) { return by_counters(facts, kConflicts); }
std::optional<Said> partial_waves(const Facts& facts) { return by_counters(facts, kWaves); }
std::optional<Said> warp_stalls(const Facts& facts) { return by_counters(facts, kStalls); }
/// By counters, where the report has them; else by the profiler's estimate.
std::optional<Said> low_occupancy(const Facts& facts) {
  if (auto counted = by_counters(facts, kOccupancy)) return counted;
  return low_estimated_occupancy(facts);
}

}  // namespace gf::trace_rules

const gf::ReportCounters& gf::TraceFacts::report() const {
  return *shared_->report.of([&] { return std::make_shared<const ReportCounters>(capture()); });
}
