#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "analyze/findings/eager_attention.h"
#include "analyze/findings/facts.h"
#include "analyze/kernels/launch_groups.h"
#include "analyze/layers/layers.h"
#include "analyze/utilization/waterfall.h"
#include "analyze/work/ceilings.h"
#include "analyze/work/sections.h"
#include "core/apportion.h"
#include "core/number_map.h"

namespace gf::work {
namespace {

/// A piece of a device's kernel time: one part, layer and named loss.
struct Cell {
  WorkPart part;
  std::uint32_t group;
  LossCause cause;
  double seconds = 0;
  std::uint64_t key() const {
    return static_cast<std::uint64_t>(part) << 48 | static_cast<std::uint64_t>(group) << 8 |
           static_cast<std::uint64_t>(cause);
  }
};

/// The time of all pieces that are one cell.
class Cells {
 public:
  void add(const Cell& piece) {
    const auto [number, fresh] = number_.place(piece.key());
    if (fresh) {
      *number = static_cast<std::uint32_t>(cells_.size());
      cells_.push_back(piece);
    } else {
      cells_[*number].seconds += piece.seconds;
    }
  }
  std::vector<Cell> in_order() && {
    std::ranges::sort(cells_, {}, &Cell::key);
    return std::move(cells_);
  }

 private:
  NumberMap number_;
  std::vector<Cell> cells_;
};

bool odd(const gf::work::Product& product) {
  auto off = [](double size) { return size > 1 && std::fmod(size, 8) != 0; };
  return off(product.m) || off(product.n) || off(product.k);
}

/// The data that all accounts share.
class Accounts {
 public:
  Accounts(const Context& context, const KernelLevels& levels, const Analysis& analysis,
           const KernelWorks& works)
      : context_(context),
        levels_(levels),
        analysis_(analysis),
        works_(works),
        groups_(layer_groups_of(context)),
        facts_(context, analysis, levels),
        attention_(context) {}

  std::vector<WorkAccount> all() {
    std::vector<WorkAccount> accounts;
    std::size_t first = 0;
    const auto devices = std::min(context_.devices.size(), analysis_.devices.size());
    for (std::size_t number = 0; number < devices; ++number) {
      const std::size_t last = first + kernels_of(context_.devices[number]);
      if (auto account = account_of(number, first, last)) accounts.push_back(std::move(*account));
      first = last;
    }
    return accounts;
  }

 private:
  std::size_t kernels_of(const DeviceTimeline& line) const {
    return static_cast<std::size_t>(std::ranges::count_if(line.rows, [&](std::uint32_t row) {
      return context_.capture.activities.kind[row] == ActivityKind::kernel;
    }));
  }

  std::optional<WorkAccount> account_of(std::size_t number, std::size_t first, std::size_t last) {
    const DeviceUse& use = analysis_.devices[number];
    const gf::Product* product = product_of(context_, number);
    if (!product || use.span_ns <= 0) return std::nullopt;
    WorkAccount account;
    account.device = use.id;
    account.name = use.name;
    account.span_ns = use.span_ns;
    account.peak_type = peak_type(*product, works_.kernels, first, last);
    const auto peak = stated_peak(*product, account.peak_type);
    if (!peak) return std::nullopt;
    account.peak_flops_per_s = *peak;
    energy_ = energy_of(use.id);
    clock_.reset();
    if (energy_ && energy_->sm_mhz && product->clock_hz > 0)
      clock_ = std::min(1.0, *energy_->sm_mhz * 1e6 / product->clock_hz);
    stated_mhz_ = product->clock_hz * 1e-6;
    const double known_ns = add_sums(first, last, account);
    if (!account.coverage || !is_possible(account.flops, *peak, known_ns)) return std::nullopt;
    add_parts(number, first, last, *product, account);
    add_causes(account);
    return account;
  }

  /// Energy and clock of a device; null where power was not measured.
  const DeviceEnergy* energy_of(std::int64_t device) const {
    for (const auto& energy : analysis_.energy.devices)
      if (energy.device == device) return &energy;
    return nullptr;
  }

  /// The clock, and what drew the power meanwhile: the three largest parts, and what no model
  /// explains.
  std::string clock_text() const {
    std::string text = fmt::format("SM clock of {:.0f} MHz, and the peak is stated for {:.0f}",
                                   energy_->sm_mhz.value_or(0), stated_mhz_);
    std::vector<const EnergyPart*> parts;
    for (const auto& part : energy_->parts)
      if (part.component != "rest" && part.nj > 0) parts.push_back(&part);
    std::sort(parts.begin(), parts.end(),
              [](const auto* one, const auto* other) { return one->nj > other->nj; });
    parts.resize(std::min<std::size_t>(parts.size(), 3));
    for (const auto& part : energy_->parts)
      if (part.component == "rest") parts.push_back(&part);
    text += fmt::format("; {:.0f} W", energy_->mean_watts);
    for (std::size_t i = 0; i < parts.size(); ++i)
      text += fmt::format("{}{} {:.0f} %", i == 0 ? ": " : ", ",
                          parts[i]->component == "rest" ? "not explained" : parts[i]->component,
                          100 * parts[i]->share.value_or(0));
    return text;
  }

  /// Returns the time of the kernels that multiply and whose operations are known.
  double add_sums(std::size_t first, std::size_t last, WorkAccount& account) {
    double known = 0, multiplying = 0, measured = 0;
    bool all_measured = first < last;
    for (std::size_t i = first; i < last; ++i) {
      const KernelWork& kernel = works_.kernels[i];
      const auto ns = static_cast<double>(context_.kernels[i].exclusive_ns);
      const bool again = phase_of(i) == TrainingPhase::recompute;
      const double recomputed = again ? kernel.flops : kernel.recomputed;
      account.flops += kernel.flops - recomputed;
      account.recomputed_flops += recomputed;
      if (kernel.multiplies) {
        multiplying += ns;
        if (kernel.known) known += ns;
      }
      const double counted = works_.counted.tensor_operations(context_.kernels[i].activity);
      if (std::isnan(counted))
        all_measured = false;
      else
        measured += counted;
    }
    if (all_measured) account.measured_flops = measured;
    if (multiplying > 0 && known > 0) account.coverage = known / multiplying;
    return known;
  }

  TrainingPhase phase_of(std::size_t i) const {
    return static_cast<TrainingPhase>(context_.attribution.phase[context_.kernels[i].activity]);
  }

  KernelFacts facts_of(std::size_t i, StatedPeaks& peaks, double peak) const {
    const KernelWork& work = works_.kernels[i];
    const auto activity = context_.kernels[i].activity;
    KernelFacts kernel;
    kernel.seconds = static_cast<double>(context_.working_ns(i)) * 1e-9;
    kernel.flops = work.flops;
    kernel.recomputed = phase_of(i) == TrainingPhase::recompute ? work.flops : work.recomputed;
    // Counters count the operations that were carried out, padding and all.
    const double counted = works_.counted.tensor_operations(activity);
    kernel.covered = std::isnan(counted) || counted < work.flops ? work.covered : counted;
    kernel.peak = peak;
    kernel.clock = clock_.value_or(1);
    kernel.own_peak = peaks.of(work.type).value_or(peak);
    kernel.multiplies = work.multiplies;
    kernel.known = work.known;
    kernel.communicates = facts_.type(context_.kernels[i]) == LayerType::communication;
    kernel.sm_active = levels_.of(activity, KernelLevel::sm_active);
    kernel.issue_active = levels_.of(activity, KernelLevel::issue_active);
    kernel.tensor_active = levels_.of(activity, KernelLevel::tensor_active);
    kernel.tensor_issue = levels_.of(activity, KernelLevel::tensor_issue);
    kernel.blocks_per_sm = blocks_per_sm(context_.capture, activity);
    return kernel;
  }

  LossCause cause_of(std::size_t i, WorkPart part) {
    if (part == WorkPart::work || part == WorkPart::recompute) return LossCause::none;
    if (part == WorkPart::lower_clock) return LossCause::lower_clock;
    const KernelWork& kernel = works_.kernels[i];
    if (attention_.count() > 0 && attention_.holds(context_.kernels[i]))
      return LossCause::unfused_attention;
    if (kernel.multiplies &&
        loads_unaligned(context_.names.kernel(facts_.kernel_name(context_.kernels[i]))) &&
        has_odd_product(works_.call[i]))
      return LossCause::odd_sizes;
    return part == WorkPart::padding ? LossCause::padded_tiles : LossCause::none;
  }

  bool has_odd_product(std::uint32_t call) const {
    return call == kNoCall || std::ranges::any_of(works_.calls[call].of->work.products, odd);
  }

  void add_parts(std::size_t number, std::size_t first, std::size_t last,
                 const gf::Product& product, WorkAccount& account) {
    Cells cells;
    StatedPeaks peaks(product);
    bool measured = first < last;
    for (std::size_t i = first; i < last; ++i) {
      const KernelFacts kernel = facts_of(i, peaks, account.peak_flops_per_s);
      if (!(kernel.seconds > 0)) continue;
      if (std::isnan(kernel.sm_active) && !kernel.communicates) measured = false;
      const KernelShares shares = split_work(kernel);
      for (std::size_t number_of_part = 0; number_of_part < kWorkParts; ++number_of_part) {
        const double seconds = shares.of[number_of_part] * kernel.seconds;
        if (!(seconds > 0)) continue;
        const auto part = static_cast<WorkPart>(number_of_part);
        const LossCause cause = cause_of(i, part);
        cells.add({part, groups_->group[i], cause, seconds});
        if (cause != LossCause::none && cause != LossCause::lower_clock)
          note_example(cause, i, seconds);
      }
    }
    account.source = measured ? WorkSource::measured : WorkSource::model;
    std::vector<AccountPart> parts(kWorkParts);
    for (std::size_t i = 0; i < kWorkParts; ++i) {
      parts[i].id = static_cast<WorkPart>(i);
      parts[i].label = label_of_part(parts[i].id);
    }
    const DeviceTimeline& line = context_.devices[number];
    fill_kernel_parts(analysis_.devices[number].kernel_busy_ns - line.waiting_ns(),
                      std::move(cells).in_order(), parts);
    fill_waiting(line, parts);
    fill_other_parts(analysis_.devices[number], parts);
    finish(std::move(parts), account);
  }

  void fill_kernel_parts(Nanos busy, const std::vector<Cell>& cells,
                         std::vector<AccountPart>& parts) const {
    std::vector<double> seconds;
    for (const auto& cell : cells) seconds.push_back(cell.seconds);
    const auto whole = apportion(busy, seconds);
    std::size_t at = 0;
    for (const auto& cell : cells) {
      const Nanos ns = whole[at++];
      if (ns == 0) continue;
      const LayerRow& layer = groups_->rows[cell.group];
      parts[static_cast<std::size_t>(cell.part)].owners.push_back(
          {layer.name, layer.type, layer.phase, cell.cause, ns});
    }
  }

  static void fill_waiting(const DeviceTimeline& line, std::vector<AccountPart>& parts) {
    if (!line.waiting) return;
    auto& owners = parts[static_cast<std::size_t>(WorkPart::waiting)].owners;
    for (const auto& rank : line.waiting->ranks)
      owners.push_back(
          {rank.name, LayerType::communication, TrainingPhase::none, LossCause::none, rank.ns});
  }

  static void fill_other_parts(const DeviceUse& use, std::vector<AccountPart>& parts) {
    auto& idle = parts[static_cast<std::size_t>(WorkPart::idle)].owners;
    for (const auto& cause : use.idle)
      if (cause.ns > 0)
        idle.push_back({std::string(name_of(cause.cause)), LayerType::other, TrainingPhase::none,
                        LossCause::none, cause.ns});
    auto& copies = parts[static_cast<std::size_t>(WorkPart::copy)].owners;
    for (const auto& bar : use.waterfall)
      if (bar.id == Bar::copy)
        for (const auto& part : bar.parts)
          copies.push_back(
              {part.name, LayerType::copy, TrainingPhase::none, LossCause::none, part.ns});
    Nanos told = 0;
    for (const auto& owner : copies) told += owner.ns;
    if (use.copy_only_ns > told)
      copies.push_back(
          {"", LayerType::copy, TrainingPhase::none, LossCause::none, use.copy_only_ns - told});
  }

  static void finish(std::vector<AccountPart> parts, WorkAccount& account) {
    const auto share = [&](Nanos ns) {
      return static_cast<double>(ns) / static_cast<double>(account.span_ns);
    };
    for (auto& part : parts) {
      for (const auto& owner : part.owners) part.ns += owner.ns;
      part.share = share(part.ns);
      std::stable_sort(part.owners.begin(), part.owners.end(),
                       [](const auto& left, const auto& right) { return left.ns > right.ns; });
      if (part.ns > 0) account.parts.push_back(std::move(part));
    }
    Nanos work = 0, again = 0;
    for (const auto& part : account.parts) {
      if (part.id == WorkPart::work) work = part.ns;
      if (part.id == WorkPart::recompute) again = part.ns;
    }
    account.mfu = share(work);
    account.hfu = share(work + again);
  }

  /// The call that loses most to each cause, for its sizes.
  struct Example {
    std::map<std::string, double> sizes;  // seconds lost, by operator and sizes
  };
  void note_example(LossCause cause, std::size_t i, double seconds) {
    const auto call = works_.call[i];
    if (call == kNoCall) return;
    const CallWork* work = works_.calls[call].of;
    auto& text = example_texts_[work];
    if (text.empty()) text = fmt::format("{} {}", work->call.name, shapes_text(work->call));
    examples_[cause].sizes[text] += seconds;
  }

  void add_causes(WorkAccount& account) {
    for (const auto cause : {LossCause::unfused_attention, LossCause::odd_sizes,
                             LossCause::padded_tiles, LossCause::lower_clock}) {
      AccountCause row;
      row.cause = cause;
      for (const auto& part : account.parts)
        for (const auto& owner : part.owners)
          if (owner.cause == cause) row.ns += owner.ns;
      if (row.ns == 0) continue;
      row.share = static_cast<double>(row.ns) / static_cast<double>(account.span_ns);
      row.text = text_of(cause);
      account.causes.push_back(std::move(row));
    }
    std::stable_sort(account.causes.begin(), account.causes.end(),
                     [](const auto& left, const auto& right) { return left.ns > right.ns; });
    examples_.clear();
  }

  std::string text_of(LossCause cause) const {
    if (cause == LossCause::lower_clock) return clock_text();
    std::string text;
    if (cause == LossCause::unfused_attention)
      text = "unfused attention";
    else if (cause == LossCause::odd_sizes)
      text = "products whose sizes are not multiples of 8";
    else
      text = "tiles that reach over the edge of the result";
    const auto at = examples_.find(cause);
    if (at == examples_.end() || at->second.sizes.empty()) return text;
    const auto most = std::ranges::max_element(at->second.sizes, {},
                                               [](const auto& entry) { return entry.second; });
    return fmt::format("{}; most in {}", text, most->first);
  }

  const Context& context_;
  const KernelLevels& levels_;
  const Analysis& analysis_;
  const KernelWorks& works_;
  std::shared_ptr<const LayerGroups> groups_;
  TraceFacts facts_;
  EagerAttention attention_;
  const DeviceEnergy* energy_ = nullptr;  // of the device at hand
  std::optional<double> clock_;           // its SM clock over the peak's
  double stated_mhz_ = 0;
  std::map<LossCause, Example> examples_;
  std::unordered_map<const CallWork*, std::string> example_texts_;
};

}  // namespace

std::vector<WorkAccount> work_accounts(const Context& context, const KernelLevels& levels,
                                       const Analysis& analysis, const KernelWorks& works) {
  return Accounts(context, levels, analysis, works).all();
}

// The time of one kernel by what became of peak x time in it.

namespace {

/// Seconds of a kernel that are not given to a part yet.
class Rest {
 public:
  explicit Rest(double seconds) : left_(seconds) {}
  /// At most what is left.
  double take(double seconds) {
    if (!(seconds > 0)) return 0;  // nor what is no number
    const double taken = std::min(seconds, left_);
    left_ -= taken;
    return taken;
  }
  double left() const { return left_; }

 private:
  double left_;
};

struct Pool {
  WorkPart part;
  double seconds;
};

/// Gives what the products took out of the pools in their order, and the rest of each pool to its
/// part. A product that ran on the tensor cores keeps their pipes busy; one that did not is made of
/// other instructions.
void divide_by_counters(const KernelFacts& kernel, double used, KernelShares& shares) {
  const KernelSplit split =
      split_busy(kernel.sm_active, kernel.issue_active, kernel.tensor_active, kernel.tensor_issue);
  std::array<Pool, 4> pools{
      {{WorkPart::tensor_below_peak, split.tensor * kernel.seconds},
       {WorkPart::other_instructions, split.other_instructions * kernel.seconds},
       {WorkPart::stalled, split.stalled * kernel.seconds},
       {WorkPart::sm_inactive, split.sm_inactive * kernel.seconds}}};
  if (!(split.tensor > split.other_instructions * 0.1)) std::swap(pools[0], pools[1]);
  double unknown = split.unknown * kernel.seconds;
  for (auto& pool : pools) {
    const double taken = std::min(pool.seconds, used);
    pool.seconds -= taken;
    used -= taken;
    shares.at(pool.part) += pool.seconds;
  }
  unknown = std::max(0.0, unknown - used);
  shares.at(kernel.multiplies ? WorkPart::products_undivided : WorkPart::others_undivided) +=
      unknown;
}

void divide_without_counters(const KernelFacts& kernel, Rest& rest, KernelShares& shares) {
  // SMs without a block do nothing whatever the others do: at least that is known.
  if (kernel.blocks_per_sm < 1)
    shares.at(WorkPart::sm_inactive) += rest.take((1 - kernel.blocks_per_sm) * kernel.seconds);
  WorkPart part = WorkPart::others_undivided;
  if (kernel.multiplies) part = kernel.known ? WorkPart::products_undivided : WorkPart::unmodelled;
  shares.at(part) += rest.take(rest.left());
}

}  // namespace

KernelShares split_work(const KernelFacts& kernel) {
  KernelShares shares;
  if (!(kernel.seconds > 0)) return shares;
  if (kernel.communicates) {
    shares.at(WorkPart::communication) = 1;
    return shares;
  }
  Rest rest(kernel.seconds);
  if (kernel.flops > 0 && kernel.peak > 0 && kernel.own_peak > 0) {
    shares.at(WorkPart::work) = rest.take((kernel.flops - kernel.recomputed) / kernel.peak);
    shares.at(WorkPart::recompute) = rest.take(kernel.recomputed / kernel.peak);
    shares.at(WorkPart::slower_type) =
        rest.take(kernel.flops / kernel.own_peak - kernel.flops / kernel.peak);
    shares.at(WorkPart::padding) = rest.take((kernel.covered - kernel.flops) / kernel.own_peak);
    // The same operations at the clock that there was.
    if (kernel.clock > 0 && kernel.clock < 1)
      shares.at(WorkPart::lower_clock) =
          rest.take((kernel.seconds - rest.left()) * (1 / kernel.clock - 1));
  }
  if (std::isnan(kernel.sm_active))
    divide_without_counters(kernel, rest, shares);
  else
    divide_by_counters(kernel, kernel.seconds - rest.left(), shares);
  double sum = 0;
  for (const double seconds : shares.of) sum += seconds;
  for (double& seconds : shares.of) seconds /= sum > 0 ? sum : 1;
  return shares;
}

}  // namespace gf::work
