// Rules about what the kernels do with the device.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "analyze/findings/around.h"
#include "analyze/findings/facts.h"
#include "analyze/findings/framework_terms.h"
#include "analyze/findings/rules.h"
#include "model/vendor.h"

namespace gf::trace_rules {
namespace {

/// Kernels that multiply in FP32 on the ordinary pipes. A product with one vector is bound by
/// memory, whatever multiplies.
bool fp32_by_name(NameWord is) {
  return is & kernel_is::fp32_product && !(is & (kernel_is::tf32 | kernel_is::tensor_op));
}

}  // namespace

std::optional<Said> tiny_kernels(const Facts& facts) {
  constexpr Nanos kTiny = 5'000;  // about what one launch costs the host
  Found found(facts);
  std::vector<bool> tiny(facts.capture().activities.size());
  const auto alone = facts.kernels_of(
      [](const LaunchGroup& group) { return group.type != LayerType::communication; });
  for (const auto [kernel, group] : alone) {
    if (kernel.duration_ns >= kTiny || facts.claimed(kernel)) continue;
    found.take(kernel);
    tiny[kernel.activity] = true;
  }
  const Nanos gaps = facts.idle_before([&](const IdlePiece& piece) {
    return piece.reason == IdleReason::kernel_gap && piece.next != kNoRow && tiny[piece.next];
  });
  const Nanos gain = std::min(found.time + gaps, facts.window);
  // One kernel has none to be fused with.
  if (found.count < 2 || found.count * 2 < facts.kernel_count || facts.of_window(gain) < 0.05)
    return {};
  return Said{
      fmt::format(
          "{} of the kernels run for less than {}, about the cost of launching one. Fuse them{}.",
          say_share(static_cast<double>(found.count) / static_cast<double>(facts.kernel_count)),
          say_time(kTiny), terms_of_framework(facts.capture().framework).fuse_tiny),
      fmt::format("{} of {}, {} in total, and {} of gaps before them; most under {}", found.count,
                  plural(facts.kernel_count, "kernel"), say_time(found.time), say_time(gaps),
                  say_names(found.operators)),
      gain};
}

namespace {

/// Kernels that make a pass over memory and could be fused with one before or behind them.
bool is_pass(LayerType type) {
  return type == LayerType::elementwise || type == LayerType::activation ||
         type == LayerType::random || type == LayerType::normalisation ||
         type == LayerType::softmax;
}

/// By position in facts.kernels: true if the kernel before or behind it on its stream passes over
/// memory, too. One alone between two products or transforms has nothing to be fused with.
std::vector<bool> beside_passes(const Facts& facts) {
  constexpr auto kNone = static_cast<std::size_t>(-1);
  const auto& streams = facts.capture().activities.stream;
  std::vector<bool> beside(facts.kernels.size());
  using Stream = std::pair<std::uint32_t, std::int64_t>;  // of a device
  std::map<Stream, std::size_t> last;                     // pass; kNone: what came since is none
  Stream stream;
  std::size_t* before = nullptr;
  for (std::size_t at = 0; at < facts.kernels.size(); ++at) {
    const LaunchGroup& group = facts.group_at(at);
    if (const Stream own(group.device, streams[facts.kernels[at].activity]);
        !before || own != stream) {
      stream = own;
      before = &last.try_emplace(own, kNone).first->second;
    }
    const bool passes = is_pass(group.type) || group.type == LayerType::copy ||
                        group.type == LayerType::reduction || group.type == LayerType::loss;
    if (passes && *before != kNone) beside[*before] = beside[at] = true;
    *before = passes ? at : kNone;
  }
  return beside;
}

}  // namespace

std::optional<Said> unfused_elementwise(const Facts& facts) {
  Nanos fused = 0;
  std::unordered_set<std::uint32_t> names;
  Found found(facts);
  const auto beside = beside_passes(facts);
  for (std::size_t at = 0; at < facts.kernels.size(); ++at) {
    const auto& kernel = facts.kernels[at];
    const LaunchGroup& group = facts.group_at(at);
    if (!beside[at] || !is_pass(group.type) || facts.claimed(kernel)) continue;
    if (group.word & kernel_is::compiler_made) {
      fused += kernel.exclusive_ns;
      continue;
    }
    // A grid that leaves most of the device empty costs more than passes over memory do.
    if (group.blocks_per_sm < 0.5) continue;
    names.insert(static_cast<std::uint32_t>(group.name));
    found.take(kernel);
  }
  // One kernel alone, run again and again, has nothing to be fused with.
  if (names.size() < 2 || !found.reaches(0.2, 0)) return {};
  std::string more_fused;
  if (fused > 0) more_fused = fmt::format("; {} more is already fused", say_time(fused));
  return Said{
      fmt::format(
          "{} of kernel time goes to elementwise, activation, normalization and softmax kernels, "
          "each of which makes another pass over memory. {}",
          found.share(), terms_of_framework(facts.capture().framework).fuse),
      fmt::format("{} of {} kernel time; most under {}{}", say_time(found.time),
                  say_time(facts.kernel_busy), say_names(found.operators), more_fused),
      found.time};
}

std::optional<Said> casts(const Facts& facts) {
  // These copy an operand into their result before they add to it.
  AroundNamed own(facts, host_is::copies_result);
  Found found(facts);
  for (const auto [kernel, group] : facts.kernels_of(LayerType::copy))
    if (!facts.claimed(kernel) && own.of(kernel) == kNoRow) found.take(kernel);
  if (!found.reaches(0.05, 0.02)) return {};
  for (const auto& kernel : found.kernels) facts.also_gone(kernel.activity);
  return Said{
      fmt::format("{} of kernel time only copies or converts tensors. Keep one layout and one "
                  "precision (weights in the compute type, no unnecessary .contiguous() or .to()).",
                  found.share()),
      fmt::format("{}; under {}", found.said(), say_names(found.operators)), found.time};
}

std::optional<Said> fp32_without_tensor_cores(const Facts& facts) {
  const Chip* chip = facts.levels.chip();
  Nanos by_name = 0, counted = 0, all = 0, attention = 0;
  const auto any_is = [&](NameWord trait) {
    return std::ranges::any_of(facts.groups(),
                               [&](const LaunchGroup& group) { return (group.word & trait) != 0; });
  };
  TimeBy names(facts);
  const bool attention_in_fp32 = any_is(kernel_is::fp32_attention) && any_is(kernel_is::half);
  for (const auto [kernel, group] : facts.kernels_of(multiplies)) {
    all += kernel.exclusive_ns;
    const bool in_attention = attention_in_fp32 && group.word & kernel_is::fp32_attention;
    if (!in_attention && !fp32_by_name(group.word)) continue;
    // A counter that says otherwise beats the name.
    const double tensor = facts.levels.of(kernel.activity, KernelLevel::tensor_active);
    if (tensor > 0.05) continue;
    by_name += kernel.exclusive_ns;
    if (in_attention) attention += kernel.exclusive_ns;
    if (!std::isnan(tensor)) counted += kernel.exclusive_ns;
    names.add_kernel(kernel, kernel.exclusive_ns);
  }
  if (facts.of_kernels(by_name) < 0.1 || facts.of_window(by_name) < 0.03) return {};
  const Vendor vendor = vendor_of(facts.capture());
  const bool nvidia = vendor == Vendor::nvidia || vendor == Vendor::unknown;
  const bool tf32 = nvidia && (!chip || tensor_path(chip->id, TensorType::tf32));
  const auto& terms = terms_of_framework(facts.capture().framework);
  std::string advice(terms.allow_tf32);
  if (!tf32) advice = fmt::format("Use {} in {}", terms.mixed_precision, nvidia ? "FP16" : "BF16");
  std::string confirmed = "by kernel name";
  if (counted == by_name)
    confirmed = "confirmed by tensor counters near 0";
  else if (counted > 0)
    confirmed = say_time(counted) + " of it confirmed by tensor counters near 0";
  if (attention * 2 > by_name)
    return Said{
        fmt::format("{} of kernel time is attention in FP32, though other kernels work in 16 bits: "
                    "its queries, keys or values were converted. Cast them back before attention, "
                    "if the accuracy of the model permits.",
                    say_share(facts.of_kernels(attention))),
        fmt::format("{} of {} in convolutions, matrix products and attention, by kernel name; most "
                    "in {}",
                    say_time(by_name), say_time(all), say_names(names)),
        by_name};
  return Said{
      fmt::format("{} of kernel time multiplies matrices in FP32 outside the {}. {}, if the "
                  "accuracy of the model permits.",
                  say_share(facts.of_kernels(by_name)), terms_of(vendor).units, advice),
      fmt::format("{} of {} in convolutions, matrix products and attention, {}; most in {}",
                  say_time(by_name), say_time(all), confirmed, say_names(names)),
      by_name};
}

std::optional<Said> low_tensor_use(const Facts& facts) {
  if (!facts.levels.has(KernelLevel::tensor_active)) return {};
  long double used = 0;
  Nanos time = 0, layout = 0;
  TimeBy names(facts);
  // Products in FP32 have another finding: no batch size gives them tensor cores. One query a
  // sequence reads its keys once: there is no matrix to multiply.
  const auto products = facts.kernels_of([](const LaunchGroup& group) {
    return multiplies(group) && !fp32_by_name(group.word) &&
           !(group.word & kernel_is::one_query && layer_in(group.word) == LayerType::attention);
  });
  for (const auto [kernel, group] : products) {
    const double tensor = facts.levels.of(kernel.activity, KernelLevel::tensor_active);
    if (std::isnan(tensor)) continue;
    const NameWord is = group.word;
    if (is & (kernel_is::converts_layout | kernel_is::takes_nchw)) layout += kernel.exclusive_ns;
    if (!can_use_tensor_cores(layer_in(is)))
      continue;  // additions of biases, sums of split reductions
    time += kernel.exclusive_ns;
    used += static_cast<long double>(tensor) * kernel.exclusive_ns;
    names.add_kernel(
        kernel,
        static_cast<Nanos>(std::llround((1 - tensor) * static_cast<double>(kernel.exclusive_ns))));
  }
  double share = 1;
  if (time > 0) share = static_cast<double>(used / time);
  const auto without = static_cast<Nanos>((1 - share) * static_cast<double>(time));
  if (share >= 0.4 || facts.of_kernels(time) < 0.1 || facts.of_window(without) < 0.05) return {};
  std::string advice =
      "Larger batches and shapes that are multiples of 8 (16-bit types) or 16 (8-bit types) help "
      "most.";
  if (layout > 0)
    advice += fmt::format(" Part of it runs in NCHW layout or converts from it: use {}.",
                          terms_of_framework(facts.capture().framework).nhwc);
  std::string nchw;
  if (layout > 0) nchw = fmt::format("; {} in NCHW kernels", say_time(layout));
  return Said{
      fmt::format("Tensor pipes are active {} of the time in convolutions, matrix products and "
                  "attention. {}",
                  say_share(share), advice),
      fmt::format("{} of such kernels with counters; {} without tensor work, most in {}{}",
                  say_time(time), say_time(without), say_names(names), nchw),
      without};
}

namespace {

/// Without counters, what moves memory by its kind. A table that is looked up once is read so, too.
std::optional<Said> memory_bound_by_kind(const Facts& facts) {
  Found found(facts);
  Nanos by_index = 0;
  const auto moves = facts.kernels_of([](const LaunchGroup& group) {
    return group.word & (kernel_is::by_index | kernel_is::moves_whole) &&
           !(group.word & kernel_is::adds_by_index) && group.type != LayerType::embedding;
  });
  for (const auto [kernel, group] : moves) {
    if (facts.claimed(kernel)) continue;
    found.take(kernel);
    if (group.word & kernel_is::by_index) by_index += kernel.exclusive_ns;
  }
  if (facts.of_kernels(found.time) < 0.5 || facts.of_window(found.time) < 0.25) return {};
  return Said{
      fmt::format("Memory-bound by kind: {} of kernel time {}", found.share(),
                  by_index * 2 > found.time
                      ? "copies rows by index, which only moves memory. Where the same rows are "
                        "copied repeatedly (caches, tables), leave them in place: pass their "
                        "indices to the operator that reads them, or reorder less often."
                      : "joins, rolls or flips tensors, which only moves memory. Write each part "
                        "directly into its place, or let the operator that reads it index."),
      fmt::format("{}, {} of {} kernel time, by kernel name; most under {}",
                  plural(found.count, "kernel"), say_time(found.time), say_time(facts.kernel_busy),
                  say_names(found.operators))};
}

}  // namespace

std::optional<Said> memory_bound(const Facts& facts) {
  if (!facts.levels.has(KernelLevel::dram_active)) return memory_bound_by_kind(facts);
  Nanos time = 0;
  TimeBy names(facts);
  for (const auto& kernel : facts.kernels) {
    const double dram = facts.levels.of(kernel.activity, KernelLevel::dram_active);
    if (std::isnan(dram) || dram < 0.6) continue;
    time += kernel.exclusive_ns;
    names.add_kernel(kernel, kernel.exclusive_ns);
  }
  if (facts.of_kernels(time) < 0.1) return {};
  return Said{
      fmt::format("Memory-bound: {} of kernel time is in kernels above 60 % of DRAM throughput. "
                  "Only moving fewer bytes makes them faster (fusion, smaller types).",
                  say_share(facts.of_kernels(time))),
      fmt::format("{}; most in {}", say_time(time), say_names(names))};
}

}  // namespace gf::trace_rules
