// Input of the rules of findings, computed once.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/context.h"
#include "analyze/findings/host_tree.h"
#include "analyze/kernels/launch_groups.h"
#include "analyze/layers/layer_type.h"
#include "analyze/profiler_cost.h"
#include "analyze/replay/mendings.h"
#include "analyze/result.h"
#include "analyze/utilization/instances.h"
#include "analyze/utilization/kernel_levels.h"
#include "core/format.h"
#include "core/intervals.h"
#include "core/lazy.h"
#include "core/strings.h"
#include "model/kernel_name.h"

namespace gf {

/// Time that findings with a named cause speak of: those of a general kind leave it out.
struct Claimed {
  Intervals host;             // idle time while the host was in these
  std::vector<bool> kernels;  // by row of activities
  Nanos late = 0;             // of idle time that is launch-bound: the lead that the host lost
};

/// The number of reasons of idle time.
constexpr std::size_t kReasonsOfIdle = EnumNames<IdleReason>::names.size();

class ReportCounters;
namespace trace_rules {
class SmallGrids;
}

/// Ends a rule that is asked ahead of others and asks what those claim.
struct AsksOthers {};

/// Kernels of the groups that fit, in order of device and start, each with its group.
class KernelsOf {
 public:
  struct Item {
    const KernelInstance& kernel;
    const LaunchGroup& group;
  };
  class Iterator {
   public:
    Iterator(const KernelsOf& all, std::size_t at) : all_(&all), at_(at) { pass_over(); }
    Item operator*() const {
      return {all_->kernels_[at_], all_->launches_.groups[all_->launches_.of[at_]]};
    }
    Iterator& operator++() {
      ++at_;
      pass_over();
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    void pass_over() {
      while (at_ < all_->end_ && !all_->fits_[all_->launches_.of[at_]]) ++at_;
    }
    const KernelsOf* all_;
    std::size_t at_;
  };
  /// `fits(group)` is asked once a group.
  template <class Fits>
  KernelsOf(const std::vector<KernelInstance>& kernels, const LaunchGroups& launches, Fits&& fits)
      : kernels_(kernels), launches_(launches) {
    fits_.reserve(launches.groups.size());
    for (const LaunchGroup& group : launches.groups) {
      fits_.push_back(fits(group));
      if (fits_.back()) end_ = kernels.size();
    }
  }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, end_}; }

 private:
  const std::vector<KernelInstance>& kernels_;
  const LaunchGroups& launches_;
  std::vector<char> fits_;  // by group
  std::size_t end_ = 0;     // no group fits: before all kernels
};

struct Said;
/// A copy has the same facts, worked out once for all copies, and from then on its own claims.
struct TraceFacts {
  const Context& context;
  const Analysis& analysis;
  const KernelLevels& levels;
  const std::vector<KernelInstance>& kernels;
  Nanos window = 0;   // summed over devices
  Nanos waiting = 0;  // likewise, of kernels that only wait for other ranks, where those are known
  Nanos kernel_busy = 0;  // likewise, without that waiting
  std::int64_t kernel_count = 0;

  TraceFacts(const Context& context, const Analysis& analysis, const KernelLevels& levels);

  /// The groups of the kernels' launches.
  const std::vector<LaunchGroup>& groups() const { return launches_->groups; }
  /// The group of a position in `kernels`.
  const LaunchGroup& group_at(std::size_t position) const {
    return launches_->groups[launches_->of[position]];
  }
  /// Kernels of the groups that fit: `fits(group)`.
  template <class Fits>
  KernelsOf kernels_of(Fits&& fits) const {
    return {kernels, *launches_, std::forward<Fits>(fits)};
  }
  KernelsOf kernels_of(LayerType type) const {
    return kernels_of([&](const LaunchGroup& group) { return group.type == type; });
  }
  /// Kernels whose names have one of these traits.
  KernelsOf kernels_of(NameWord traits) const {
    return kernels_of([&](const LaunchGroup& group) { return (group.word & traits) != 0; });
  }

  const Capture& capture() const { return context.capture; }
  /// Trees of the host's operations; each computed when first asked for.
  const HostTree& tree() const;
  const HostSiblings& siblings() const;

  /// The names of the host's operations, each once.
  const std::vector<Text>& host_names() const { return context.names.host_names(); }

  /// Defined in rules_sizes.cpp; computed when first asked for.
  const trace_rules::SmallGrids& small_grids() const;

  /// Facts of a counter report; computed when first asked for.
  const ReportCounters& report() const;

  /// Activities that causes have claimed so far; rules of causes are asked before general ones.
  bool claimed(const KernelInstance& kernel) const { return claimed_activity(kernel.activity); }
  bool claimed_activity(std::uint32_t activity) const {
    ask_others();
    return !claimed_.kernels.empty() && claimed_.kernels[activity];
  }
  void claim(const KernelInstance& kernel) const { claim_activity(kernel.activity); }
  void claim_activity(std::uint32_t activity) const;
  /// True if a finding has spoken of an activity: it claimed it, its mending changes it, or it is
  /// among what the finding names as evidence.
  bool told(std::uint32_t activity) const {
    ask_others();
    return !told_.empty() && told_[activity];
  }
  void tell(std::uint32_t activity) const {
    if (told_.empty()) told_.resize(capture().activities.size());
    told_[activity] = true;
    spoken_.activities.push_back(activity);
  }
  /// The subject of a rule: activities, and reasons of idle time (bits by IdleReason).
  struct Spoken {
    std::vector<std::uint32_t> activities;
    std::uint32_t reasons = 0;
  };
  /// For a rule that is asked ahead of those before it; it ends by AsksOthers if it asks for their
  /// claims.
  TraceFacts ahead() const {
    TraceFacts copy(*this);
    copy.ahead_ = true;
    return copy;
  }
  /// As if the rule that spoke and claimed in a copy had done so here.
  void take_over(const TraceFacts& copy) const;
  /// Since it was last forgotten.
  const Spoken& spoken() const { return spoken_; }
  void forget_spoken() const {
    spoken_.activities.clear();  // keeps its memory for the next rule
    spoken_.reasons = 0;
  }
  /// Idle time of all devices inside of spans, which are in order and apart.
  Nanos idle_in(const Intervals& spans) const;
  /// Idle time in `spans`, over all devices, that no cause had claimed before. With the cause goes
  /// what the host did in it, where no operation says what that is (also_gone).
  enum class Goes : std::uint8_t { with_host, alone };
  Nanos claim_idle(Intervals spans, Goes goes = Goes::with_host) const;
  /// As much of the time that launches come late as these calls held the host up: it lost its lead.
  Nanos claim_late(const std::vector<std::uint32_t>& calls) const;
  /// Time that goes with the cause, too, though others report it or it is no loss of a device.
  void also_gone(std::uint32_t activity) const {
    tell(activity);
    latest_.activities.push_back(activity);
  }
  /// An activity that takes another time, and one whose work it does then.
  void also_takes(std::uint32_t activity, MendedTime time) const {
    tell(activity);
    latest_.changed.emplace_back(activity, time);
  }
  void also_merged(std::uint32_t activity) const { latest_.merged.push_back(activity); }
  void also_gone(Intervals host) const {
    latest_.host = unite(latest_.host, normalised(std::move(host)));
  }
  /// The claims since the last call, each piece by the first that claimed it.
  ClaimedTime take_claim() const { return std::exchange(latest_, {}); }
  // Names come as ids: what a rule reads in a text it asks once a text (core/strings.h).
  const StringPool& texts() const { return capture().strings; }
  Text kernel_name(const KernelInstance& kernel_instance) const {
    return capture().activities.name[kernel_instance.activity];
  }
  LayerType type(const KernelInstance& kernel_instance) const {
    return context.attribution.layer[kernel_instance.activity];
  }
  /// "aten::bmm": the innermost operation at the launch; empty when none is known.
  Text operation(const KernelInstance& kernel_instance) const {
    return operation_of(context, kernel_instance.activity);
  }
  /// True for counters of the whole GPU or of kernels, matched or not.
  bool knows_sm_active() const;
  bool pytorch() const { return capture().framework == "pytorch"; }
  /// Idle time with a reason, over all devices, with the operators behind it, less what causes
  /// have claimed; zero when there is none.
  IdleCause idle(IdleReason cause) const;

 private:
  /// Idle pieces by reason and device, one list behind the other; `first` is where each begins, and
  /// the end.
  struct SortedIdle {
    std::vector<std::uint32_t> pieces;  // places in those of the device
    std::vector<std::size_t> first;
  };

 public:
  /// Idle pieces with a reason, of one device or device by device, each in order of time; sorted
  /// when first asked for.
  auto idle_pieces(IdleReason reason, std::size_t device) const {
    const SortedIdle& idle = shared_->idle.of([&] { return sort_idle(); });
    const auto list = static_cast<std::size_t>(reason) * context.devices.size() + device;
    return std::span(idle.pieces)
               .subspan(idle.first[list], idle.first[list + 1] - idle.first[list]) |
           std::views::transform(
               [&line = context.devices[device]](std::uint32_t place) -> const IdlePiece& {
                 return line.idle_pieces[place];
               });
  }
  auto idle_pieces(IdleReason reason) const {
    return std::views::iota(std::size_t{0}, context.devices.size()) |
           std::views::transform(
               [this, reason](std::size_t device) { return idle_pieces(reason, device); }) |
           std::views::join;
  }
  /// Kernels of a step; 0 when the window has no steps.
  std::int64_t kernels_of_step() const {
    const auto steps = static_cast<std::int64_t>(analysis.window.steps.size());
    return steps > 0 ? (kernel_count + steps - 1) / steps : 0;
  }
  /// Idle time whose pieces fit.
  template <class Fits>
  Nanos idle_before(Fits&& fits) const {
    Nanos sum = 0;
    for (const auto& line : context.devices)
      for (const auto& piece : line.idle_pieces)
        if (fits(piece)) sum += piece.span().length();
    return sum;
  }
  /// Idle time in which the host did something else than launching: in stretches of a millisecond
  /// and more, where these are rare also in many of kHostPause and more (`elsewhere`), and in all
  /// that are shorter than a millisecond, between the operations that launch (`between`).
  struct HostOther {
    Intervals elsewhere;
    Nanos between = 0;
  };
  const HostOther& host_other() const;
  /// Idle time that is launch-bound, and that between them.
  Nanos late() const;
  /// True if they spread over the window rather than happen once: a part of at least `share` of it
  /// begins in either half. Windows under 10 ms are too short to tell, and count as spread.
  bool repeats(const Intervals& spans, double share) const;
  /// True if they come in two steps and in half of them, for this share of each. Of two steps, both
  /// may pause in the half of the window that begins with the first.
  bool in_steps(const Intervals& spans, double share) const;
  /// A tenth and more of a capture without steps, whose one-off work is all that it does.
  bool much_of_one_pass(Nanos time) const {
    return analysis.window.steps.empty() && of_window(time) >= 0.1;
  }
  double of_window(Nanos ns) const {
    return window > 0 ? static_cast<double>(ns) / static_cast<double>(window) : 0;
  }
  double of_kernels(Nanos ns) const {
    return kernel_busy > 0 ? static_cast<double>(ns) / static_cast<double>(kernel_busy) : 0;
  }

 private:
  void ask_others() const {
    if (ahead_) throw AsksOthers{};
  }
  /// Claims it; true for the first who does.
  bool is_first_to_claim(std::uint32_t activity) const;
  void take_claimed(IdleCause& sum) const;
  SortedIdle sort_idle() const;
  struct Shared {
    Lazy<SortedIdle> idle;
    Lazy<HostTree> tree;
    Lazy<HostSiblings> siblings;
    Lazy<std::shared_ptr<const trace_rules::SmallGrids>> small_grids;
    Lazy<std::shared_ptr<const ReportCounters>> report;
  };
  std::shared_ptr<const LaunchGroups> launches_;
  std::shared_ptr<const Shared> shared_ = std::make_shared<const Shared>();
  mutable Claimed claimed_;
  mutable ClaimedTime latest_;
  mutable std::vector<bool> told_;  // by row of activities
  mutable Spoken spoken_;
  mutable std::optional<HostOther> host_other_;  // of what is claimed so far
  bool ahead_ = false;
};

namespace trace_rules {
/// The place of most of the idle time in which the host does something else ("after aten::item,
/// before aten::mm"), and that time. Of rules_elsewhere.cpp.
std::pair<std::string, Nanos> most_elsewhere(const TraceFacts& facts, const Intervals& stretches);
/// The place with most of the time of kernels that no finding covers: what it is,
/// where it is launched and what bounds it. Empty where it takes little. Of rules_places.cpp.
std::string largest_untold(const TraceFacts& facts);
/// By the profiler's own estimates of a trace. Of rules_sizes.cpp.
std::optional<Said> low_estimated_occupancy(const TraceFacts& facts);
}  // namespace trace_rules

/// A name as texts show it: kernel names can be thousands of letters long.
std::string shown(const std::string& name);
/// By name, those that take any time, the largest first.
template <class Name>
std::vector<NamedTime> largest_of(const std::map<Name, Nanos>& times) {
  std::vector<NamedTime> names;
  for (const auto& [name, ns] : times)
    if (ns > 0) names.push_back({std::string(name), ns});
  std::ranges::stable_sort(names, std::greater<>(), &NamedTime::ns);
  return names;
}
/// "2 x aten::item, 3 x aten::nonzero".
std::string say_counts(const std::map<std::string_view, std::int64_t>& counts);
/// The first names of a list with their times: "aten::item 1.2 ms, aten::copy_ 300 us".
std::string say_names(const std::vector<NamedTime>& names, std::size_t most = 3);

// Time by operator and by kernel, for the evidence of findings.

/// Exclusive time by the operator or the name of each kernel, summed when a finding says it: most
/// rules find too little to be told.
class TimeBy {
 public:
  explicit TimeBy(const TraceFacts& facts) : facts_(facts) {}
  void add_kernel(const KernelInstance& kernel_instance, Nanos ns) {
    times_.push_back({ns, kernel_instance.activity, kNoRow});
  }
  void add_operator(const KernelInstance& kernel_instance, Nanos ns) {
    times_.push_back(
        {ns, kernel_instance.activity, facts_.context.attribution.op[kernel_instance.activity]});
  }
  /// Largest first; kernels by their short names.
  std::vector<NamedTime> largest() const;
  /// A finding names these: it has spoken of them.
  void tell() const {
    for (const auto& time : times_) facts_.tell(time.activity);
  }

 private:
  struct Time {
    Nanos ns;
    std::uint32_t activity, op;  // kNoRow: by the name of the kernel
  };
  const TraceFacts& facts_;
  std::vector<Time> times_;
};

/// The first of them as evidence of a finding, which has then spoken of all.
std::string say_names(const TimeBy& times);

/// Kernels that a rule has found, with their time by operator.
struct Found {
  explicit Found(const TraceFacts& all) : facts(all), operators(all) {}
  const TraceFacts& facts;
  Nanos time = 0;
  std::int64_t count = 0;
  TimeBy operators;
  std::vector<KernelInstance> kernels;
  void take(const KernelInstance& kernel) {
    time += kernel.exclusive_ns;
    ++count;
    operators.add_operator(kernel, kernel.exclusive_ns);
    kernels.push_back(kernel);
  }
  /// True if they are enough to be told: shares of kernel time and of the window.
  bool reaches(double of_kernels, double of_window) const {
    return facts.of_kernels(time) >= of_kernels && facts.of_window(time) >= of_window;
  }
  /// True if it is enough to be told; then nobody else tells it.
  bool claim(double share) const {
    if (!reaches(share, 0.02)) return false;
    for (const auto& kernel : kernels) facts.claim(kernel);
    return true;
  }
  /// "12 %".
  std::string share() const { return say_share(facts.of_kernels(time)); }
  /// "20 kernels, 1.2 ms of 10 ms kernel time".
  std::string said() const {
    return fmt::format("{}, {} of {} kernel time", plural(count, "kernel"), say_time(time),
                       say_time(facts.kernel_busy));
  }
};

}  // namespace gf
