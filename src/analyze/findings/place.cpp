#include "analyze/findings/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/findings/around.h"
#include "analyze/host_nesting.h"
#include "analyze/work/ceilings.h"
#include "analyze/work/kernel_work.h"
#include "core/text.h"

namespace gf {

std::string where_is(const TraceFacts& facts, std::uint32_t thread, Nanos instant) {
  constexpr std::size_t kFar = std::size_t{1} << 14;  // events before the instant
  if (thread >= facts.context.host.threads()) return {};
  const auto& ops = facts.capture().host_ops;
  const auto rows = facts.context.host.ops(thread);
  const auto before = std::ranges::upper_bound(
      rows, instant, {}, [&](std::uint32_t row) { return ops.start_ns[row]; });
  const auto count = static_cast<std::size_t>(before - rows.begin());
  std::uint32_t mark = kNoRow, line = kNoRow, inner = kNoRow, outer = kNoRow;
  for (std::size_t at = count; at-- > count - std::min(count, kFar);) {
    const auto row = rows[at];
    if (ops.start_ns[row] + ops.duration_ns[row] <= instant) continue;
    const auto name = facts.capture().text(ops.name[row]);
    if (ops.kind[row] == HostKind::annotation) {
      if (mark == kNoRow && !(facts.context.names.host(ops.name[row]) & host_is::step)) mark = row;
    } else if (ops.kind[row] == HostKind::python) {
      if (line == kNoRow && is_line_of_program(name)) line = row;
      if (!name.starts_with('$')) continue;  // XLA's profiler tells no paths
      if (inner == kNoRow) inner = row;
      outer = row;
    }
  }
  std::string text;
  if (mark != kNoRow) text = fmt::format(" in {}", facts.capture().text(ops.name[mark]));
  const auto frame = [&](std::uint32_t row) {
    const auto name = facts.capture().text(ops.name[row]);
    return name.substr(name.starts_with('$') ? 1 : 0);
  };
  if (line == kNoRow) line = outer;
  if (line != kNoRow) text += fmt::format("{} at {}", text.empty() ? "" : ",", frame(line));
  if (inner != outer) text += fmt::format(", in {}", frame(inner));
  return text;
}

std::string where_is(const TraceFacts& facts, const IdlePiece& piece) {
  std::uint32_t thread = kNoRow;
  if (piece.op != kNoRow)
    thread = facts.capture().host_ops.thread[piece.op];
  else if (piece.next != kNoRow && facts.context.launches[piece.next] != kNoRow)
    thread = facts.capture().api_calls.thread[facts.context.launches[piece.next]];
  return where_is(facts, thread, piece.start + piece.span().length() / 2);
}

namespace {

/// Thins out many pieces so that half of their time still shows: one of each equal part of their
/// order, which no period of the program picks.
void thin_out(std::vector<const IdlePiece*>& pieces) {
  constexpr std::size_t kEnough = 1024;
  const std::size_t part = pieces.size() / kEnough;
  if (part < 2) return;
  std::uint64_t random = 1;
  for (std::size_t i = 0; i < kEnough; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    pieces[i] = pieces[i * part + (random >> 32) % part];
  }
  pieces.resize(kEnough);
}

}  // namespace

std::string behind(const IdleCause& cause) {
  if (cause.operators.empty()) return std::string{};
  return fmt::format("; most under {}", say_names(cause.operators));
}

std::string most_in(const TraceFacts& facts, IdleReason reason) {
  const auto& ops = facts.capture().host_ops;
  std::vector<const IdlePiece*> pieces;
  for (const auto& piece : facts.idle_pieces(reason)) pieces.push_back(&piece);
  thin_out(pieces);
  Around marks(facts, [&](std::uint32_t row) {
    return ops.kind[row] == HostKind::annotation &&
           !(facts.context.names.host(ops.name[row]) & host_is::step);
  });
  std::unordered_map<std::string_view, Nanos> places;
  Nanos all = 0;
  for (const auto* piece : pieces) {
    all += piece->span().length();
    std::string_view name;
    if (const auto mark = marks.of(*piece); mark != kNoRow)
      name = facts.capture().text(ops.name[mark]);
    else if (piece->next < facts.context.attribution.module.size())
      name = facts.context.attribution.modules[facts.context.attribution.module[piece->next]];
    if (!name.empty()) places[name] += piece->span().length();
  }
  for (const auto& [name, time] : places)
    if (time * 2 > all) return fmt::format(", most of it in {}", name);
  return {};
}

Bound::Bound(const TraceFacts& facts, const work::KernelWorks* works)
    : facts_(facts),
      works_(works && !works->kernels.empty() ? works : nullptr),
      counters_(facts.levels.has(KernelLevel::dram_active)) {}

void Bound::add(std::size_t index) {
  const auto& kernel = facts_.kernels[index];
  const auto time = static_cast<double>(kernel.exclusive_ns);
  time_ += time;
  if (const double blocks = facts_.group_at(index).blocks_per_sm; blocks < 1)
    empty_ += (1 - blocks) * time;
  const auto level = [&](KernelLevel which) {
    return counters_ ? facts_.levels.of(kernel.activity, which) : std::nan("");
  };
  if (const double memory = level(KernelLevel::dram_active); !std::isnan(memory)) {
    const auto known = [](double share) { return std::isnan(share) ? 0 : share; };
    counted_ += time;
    memory_ += memory * time;
    tensor_ += known(level(KernelLevel::tensor_active)) * time;
    issue_ += known(level(KernelLevel::issue_active)) * time;
  }
  const auto& activities = facts_.capture().activities;
  const auto device = activities.device[kernel.activity];
  if (device == kNoRow) return;
  if (!product_) {
    product_ = find_product(facts_.capture().text(facts_.capture().devices.name[device]));
    if (!product_) return;
    fp32_peak_ = ceiling(stated_ceilings(*product_), "fma.fp32").value_or(0);
    for (std::size_t type = 0; type < work::kElements; ++type)
      peaks_.push_back(
          stated_peak(*product_, name_of(static_cast<work::Element>(type))).value_or(0));
  }
  if (activities.grid_x[kernel.activity] > 0 && !multiplies(facts_.group_at(index))) {
    plain_ += time;
    threads_ += static_cast<double>(activities.grid_x[kernel.activity]) *
                std::max(activities.grid_y[kernel.activity], 1) *
                std::max(activities.grid_z[kernel.activity], 1) *
                std::max(activities.block_x[kernel.activity], 1) *
                std::max(activities.block_y[kernel.activity], 1);
  }
  if (!works_ || !works_->kernels[index].known) return;
  const auto& sizes = works_->kernels[index];
  sized_ += time;
  bytes_ += sizes.bytes;
  if (sizes.type == work::Element::fp64) fp64_ += time;
  if (const double peak = peaks_[static_cast<std::size_t>(sizes.type)]; peak > 0)
    needed_ += sizes.flops / peak * 1e9;
  if (fp32_peak_ > 0) needed_ += sizes.other_flops / fp32_peak_ * 1e9;
}

std::string Bound::by_counters() const {
  constexpr double kBounds = 0.6;
  const double memory = memory_ / counted_, tensor = tensor_ / counted_, issue = issue_ / counted_;
  const auto levels = fmt::format("memory {}, tensor pipes {}, issue slots {} busy",
                                  say_share(memory), say_share(tensor), say_share(issue));
  if (memory >= kBounds)
    return fmt::format(" Memory bounds it ({} by counters): only fewer bytes make it faster.",
                       levels);
  if (std::max(tensor, issue) >= kBounds)
    return fmt::format(" Arithmetic bounds it ({} by counters).", levels);
  return fmt::format(
      " No unit bounds it ({} by counters): it waits for memory, atomic operations or barriers; "
      "the stall reasons in its report say which.",
      levels);
}

std::string Bound::by_sizes() const {
  constexpr double kMuch = 0.4;
  const double rate = bytes_ / sized_ * 1e9;
  const double memory =
      product_->dram_bytes_per_s > 0 ? rate / static_cast<double>(product_->dram_bytes_per_s) : 0;
  const double peak = needed_ / sized_;
  const auto sizes = fmt::format("by its sizes {} of the memory's rate and {} of the peak",
                                 say_share(memory), say_share(peak));
  // More than the memory gives: from the cache, or less than the sizes say.
  if (memory >= kMuch && memory >= peak)
    return fmt::format(
        " Memory bounds it ({}): only fewer bytes make it faster (no copy, smaller "
        "types, fusion).",
        sizes);
  if (peak >= kMuch)
    return fmt::format(" Arithmetic bounds it ({}): fewer operations or a narrower type.", sizes);
  return fmt::format(
      " Neither bytes nor arithmetic bound it ({}): its access pattern, atomic operations or "
      "barriers do. Counters tell which (--counters).",
      sizes);
}

std::string Bound::by_threads() const {
  constexpr double kElement = 8, kFar = 0.1;  // bytes that a thread reads and writes at least
  const double rate = kElement * threads_ / plain_ * 1e9;
  const double share = rate / static_cast<double>(product_->dram_bytes_per_s);
  if (share >= kFar) return {};
  return fmt::format(
      " At one element a thread it reaches {} of the memory bandwidth: each thread computes much, "
      "or waits for others (atomic operations, barriers).",
      say_share(share));
}

std::string Bound::said() const {
  constexpr double kMost = 0.5;
  if (empty_ >= kMost * time_)
    return fmt::format(" Its grids are small: {} of its time is on SMs without a block.",
                       say_share(empty_ / time_));
  if (counted_ >= kMost * time_) return by_counters();
  if (fp64_ >= kMost * time_) return " It computes in FP64, which few programs need.";
  if (sized_ >= kMost * time_ && (bytes_ > 0 || needed_ > 0)) return by_sizes();
  std::string known;
  if (plain_ >= kMost * time_ && plain_ > 0 && product_->dram_bytes_per_s > 0) known = by_threads();
  return fmt::format("{} {} tell what bounds it.", known,
                     facts_.pytorch() && sized_ == 0
                         ? "Recorded sizes (record_shapes=True) or counters (--counters)"
                         : "Counters (--counters)");
}

}  // namespace gf
