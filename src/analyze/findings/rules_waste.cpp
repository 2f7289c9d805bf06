// Causes of kernels that need not run, or not so long: named by the operators around them.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyze/findings/around.h"
#include "analyze/findings/facts.h"
#include "analyze/findings/framework_terms.h"
#include "analyze/findings/rules.h"
#include "core/text.h"
#include "model/chips.h"

namespace gf::trace_rules {
namespace {

/// Use of FP64 by a kernel, by its name.
enum class Fp64 : std::uint8_t { nothing, works, multiplies };

Fp64 fp64_by_name(NameWord is) {
  using namespace kernel_is;
  if (is & fp64_product) return Fp64::multiplies;
  // A hint where a language or library chooses the type: in kernels that were written for doubles
  // it is meant. A scalar argument says nothing of the tensors: only the first type of a template,
  // or what a lambda takes. CuPy writes the types of operands into the names.
  const bool of_pytorch = is & pytorch && is & template_double;
  const bool of_library = is & fft && is & fft_types;
  return of_pytorch || of_library || is & kernel_is::fp64 ? Fp64::works : Fp64::nothing;
}

/// XLA's fusions have no types in their names; its programs have them.
bool fp64_by_program(const Facts& facts, const LaunchGroup& group) {
  if (facts.capture().program_ops.size() == 0 || group.program_op == kNoRow) return false;
  const auto type = facts.capture().text(facts.capture().program_ops.type[group.program_op]);
  return type == "fp64" || type == "complex128";
}

/// The numbers of a JSON text of nested lists such as [[[4,8],[4,1]],[]], list by list.
std::vector<std::int64_t> elements_of(std::string_view shapes) {
  std::vector<std::int64_t> all;
  std::int64_t product = 1, number = -1;
  bool any = false;
  auto end_number = [&] {
    if (number >= 0) {
      product *= number;
      any = true;
    }
    number = -1;
  };
  for (const char c : shapes) {
    if (c >= '0' && c <= '9') {
      number = std::max<std::int64_t>(number, 0) * 10 + (c - '0');
      if (number > INT32_MAX) return {};
      continue;
    }
    end_number();
    if (product > INT64_MAX / INT32_MAX) return {};
    if (c == ']' && any) all.push_back(product);
    if (c == '[' || c == ']') {
      product = 1;
      any = false;
    }
  }
  return all;
}

/// The operation around a launch, outermost of those of a library inside one of the program's.
std::string_view name_of_row(const Facts& facts, std::uint32_t row) {
  if (row == kNoRow) return {};
  return facts.capture().text(facts.capture().host_ops.name[row]);
}

/// The outermost of reshape, clone and contiguous.
std::uint32_t outermost_copy(const Facts& facts, std::uint32_t row) {
  const auto& parent = facts.context.attribution.op_parent;
  while (row != kNoRow && word_of_op(facts, parent[row]) & host_is::makes_copy) row = parent[row];
  return row;
}

}  // namespace

std::optional<Said> recomputation(const Facts& facts) {
  Found found(facts);
  const auto recomputes = facts.kernels_of([&](const LaunchGroup& group) {
    return (group.phase == TrainingPhase::recompute ||
            phase_in_program(facts.capture(), group.program_op) == TrainingPhase::recompute) &&
           group.type != LayerType::communication;
  });
  for (const auto [kernel, group] : recomputes) found.take(kernel);
  if (!found.claim(0.05)) return {};
  return Said{
      fmt::format("{} of kernel time runs operators of the forward pass again in the backward pass "
                  "(activation checkpointing). Where memory permits, keep the activations of more "
                  "layers, or recompute only what is cheap.",
                  found.share()),
      fmt::format("{}; most under {}", found.said(), say_names(found.operators)), found.time};
}

std::optional<Said> fp64(const Facts& facts) {
  // Passes over memory have half of the bytes at best, fused or not.
  constexpr MendedTime kInFp32{0.3, 0.6, 1};
  Found products(facts), others(facts);
  const auto in_fp64 = facts.kernels_of([&](const LaunchGroup& group) {
    return fp64_by_name(group.word) != Fp64::nothing || fp64_by_program(facts, group);
  });
  for (const auto [kernel, group] : in_fp64) {
    const auto what = fp64_by_name(group.word);
    const bool product = what == Fp64::multiplies || (what == Fp64::nothing && multiplies(group));
    (product ? products : others).take(kernel);
  }
  const Nanos time = products.time + others.time;
  if (!products.claim(0.05)) {
    if (facts.of_kernels(time) < 0.1 || facts.of_window(time) < 0.05) return {};
    for (const auto& kernel : products.kernels) facts.claim(kernel);
  }
  for (const auto& kernel : others.kernels) facts.also_takes(kernel.activity, kInFp32);
  const auto& larger = products.time > others.time ? products : others;
  return Said{
      fmt::format("{} of kernel time computes in FP64 ({} multiplies or factors matrices). Where "
                  "the result does not need it, use FP32, TF32 or BF16; look for constants and "
                  "arrays of NumPy, whose type is FP64.",
                  say_share(facts.of_kernels(time)), say_share(facts.of_kernels(products.time))),
      fmt::format("{}, {} of {} kernel time; most under {}",
                  plural(products.count + others.count, "kernel"), say_time(time),
                  say_time(facts.kernel_busy), say_names(larger.operators)),
      time};
}

std::optional<Said> expanded_keys(const Facts& facts) {
  Found found(facts);
  AroundNamed repeats(facts, host_is::repeats);
  AroundNamed copies(facts, host_is::makes_copy);
  // True if attention is among the next operations beside this one: one operation, or a product
  // and a softmax.
  auto attention_follows = [&](std::uint32_t row) {
    constexpr int kSoon = 12;
    bool multiplied = false;
    for (int i = 0; i < (multiplied ? 2 * kSoon : kSoon) && row != kNoRow;
         ++i, row = facts.siblings().after()[row]) {
      const NameWord is = word_of_op(facts, row);
      if (is & host_is::attention || (multiplied && layer_in(is) == LayerType::softmax))
        return true;
      multiplied = multiplied || is & host_is::batched_product;
    }
    return false;
  };
  const auto may_copy = facts.kernels_of([](const LaunchGroup& group) {
    return group.type == LayerType::copy || group.type == LayerType::elementwise ||
           group.type == LayerType::other;
  });
  for (const auto [kernel, group] : may_copy) {
    auto row = repeats.of(kernel);
    if (row == kNoRow) {
      row = outermost_copy(facts, copies.of(kernel));
      if (row == kNoRow || name_of_row(facts, facts.siblings().before[row]) != "aten::expand" ||
          word_of_op(facts, facts.context.attribution.op_parent[row]) & host_is::of_two)
        continue;
    }
    if (attention_follows(row)) found.take(kernel);
  }
  if (!found.claim(0.05)) return {};
  return Said{
      fmt::format("{} of kernel time copies keys and values for every query head before attention. "
                  "Use grouped-query attention{}.",
                  found.share(),
                  facts.pytorch() ? " (scaled_dot_product_attention with enable_gqa=True)" : ""),
      fmt::format("{}, {} of {} kernel time", plural(found.count, "kernel"), say_time(found.time),
                  say_time(facts.kernel_busy)),
      found.time};
}

namespace {

/// Time in which devices only copy from one place of their memory to another.
Nanos copying_inside(const Facts& facts) {
  const auto& activities = facts.capture().activities;
  Nanos alone = 0;
  for (const auto& line : facts.context.devices) {
    Intervals spans;
    for (std::size_t i = 0; i < line.rows.size(); ++i)
      if (activities.copy[line.rows[i]] == CopyKind::device_to_device)
        spans.push_back(line.spans[i]);
    alone += shared_length(normalised(std::move(spans)), line.copying);
  }
  return alone;
}

/// Kernels that copy tensors to permute, cut or pad them.
struct Rearranging {
  explicit Rearranging(const Facts& facts) : found(facts) {
    AroundNamed copies(facts, host_is::makes_copy);
    AroundNamed pads(facts, "aten::constant_pad_nd");
    const auto& activities = facts.capture().activities;
    // Kernels launched before the recording have no operator: they take the kind of those that have
    // one.
    std::map<std::tuple<Text, std::int32_t, std::int32_t>, Nanos*> kinds;
    const auto kind_of = [&](const KernelInstance& kernel) {
      return std::tuple(activities.name[kernel.activity], activities.grid_x[kernel.activity],
                        activities.grid_y[kernel.activity]);
    };
    std::vector<KernelInstance> without;
    for (const auto [kernel, group] : facts.kernels_of(LayerType::copy)) {
      if (facts.claimed(kernel)) continue;
      if (group.operation == Text::none) {
        without.push_back(kernel);
        continue;
      }
      auto row = pads.of(kernel);
      Nanos* kind = row == kNoRow ? nullptr : &padded;
      if (row == kNoRow) {
        row = outermost_copy(facts, copies.of(kernel));
        if (row != kNoRow) kind = rearranges(facts, facts.siblings().before[row]);
      }
      const auto [known, first] = kinds.emplace(kind_of(kernel), kind);
      if (!first && known->second != kind) known->second = nullptr;
      if (!kind) continue;
      *kind += kernel.exclusive_ns;
      found.take(kernel);
      // The operation that wants it so, or that it comes from.
      const auto& after = facts.siblings().after();
      auto next = after[row];
      while (next != kNoRow &&
             (word_of_op(facts, next) & host_is::moves_axes || !facts.tree().device[next]))
        next = after[next];
      if (next != kNoRow) beside[name_of_row(facts, next)] += kernel.exclusive_ns;
    }
    for (const auto& kernel : without)
      if (const auto kind = kinds.find(kind_of(kernel)); kind != kinds.end() && kind->second) {
        *kind->second += kernel.exclusive_ns;
        found.take(kernel);
      }
  }
  /// By what stands before a copy.
  Nanos* rearranges(const Facts& facts, std::uint32_t before) {
    if (word_of_op(facts, before) & host_is::moves_axes) return &permuted;
    return cut_before(facts, before) ? &cut : nullptr;
  }
  /// Pieces that are cut together are each copied after the copies of others.
  static bool cut_before(const Facts& facts, std::uint32_t row) {
    constexpr int kFew = 8;
    for (int i = 0; i < kFew && row != kNoRow; ++i, row = facts.siblings().before[row]) {
      if (word_of_op(facts, row) & host_is::view) return true;
      if (!(word_of_op(facts, row) & host_is::makes_copy) && facts.tree().device[row]) return false;
    }
    return false;
  }
  std::string before() const {
    const auto names = largest_of(beside);
    return names.empty() ? std::string() : fmt::format("; before {}", say_names(names));
  }
  std::string_view what() const {
    if (permuted >= std::max(cut, padded))
      return "copies tensors whose axes were permuted (permute or transpose, then contiguous or "
             "reshape). Keep one layout throughout, pass the view itself to the operator, or copy "
             "constants once.";
    return padded > cut
               ? "copies tensors to pad them. Let the operator pad (padding= of a convolution, n= "
                 "of a transform), or keep them padded."
               : "copies pieces of tensors (a slice, then contiguous or clone). Pass the view "
                 "itself to the operator, if it takes strides, or slice once.";
  }
  Found found;
  Nanos permuted = 0;
  Nanos cut = 0;
  Nanos padded = 0;
  std::map<std::string_view, Nanos> beside;
};

}  // namespace

std::optional<Said> layout_copies(const Facts& facts) {
  constexpr double kMuch = 0.15;
  const Rearranging rearranging(facts);
  const auto& found = rearranging.found;
  const Nanos inside = copying_inside(facts);
  const bool much_inside = facts.of_window(inside) >= kMuch;
  const bool told = found.claim(0.1);
  if (!told && !much_inside) return {};
  std::string text, evidence;
  if (told) {
    text = fmt::format("{} of kernel time {}", found.share(), rearranging.what());
    evidence = fmt::format("{}{}", found.said(), rearranging.before());
  }
  if (much_inside) {
    text += fmt::format(
        "{}Copies within GPU memory take {} of the time while no kernel runs. Work in place{}, or "
        "swap two buffers instead of copying one into the other.",
        told ? " " : "", say_share(facts.of_window(inside)),
        terms_of_framework(facts.capture().framework).in_place);
    evidence += fmt::format("{}{} of such copies", told ? "; " : "", say_time(inside));
  }
  return Said{std::move(text), std::move(evidence),
              (told ? found.time : 0) + (much_inside ? inside : 0)};
}

std::optional<Said> growing_concat(const Facts& facts) {
  Found found(facts);
  AroundNamed concat(facts, "aten::cat");
  // Much is copied to append a little: the longest is eight times as long as all others.
  OncePerText appends(facts.texts(), [](std::string_view shapes) {
    const auto sizes = elements_of(shapes);
    if (sizes.size() < 2) return false;
    const auto most = *std::ranges::max_element(sizes);
    std::int64_t rest = -most;
    for (const auto size : sizes) rest += std::min(size, most);
    return most >= 8 * rest && most >= 1 << 16;
  });
  std::uint32_t last = kNoRow;
  std::int64_t calls = 0;
  for (const auto& kernel : facts.kernels) {
    const auto row = concat.of(kernel);
    if (row == kNoRow || !appends(facts.capture().host_ops.shapes[row])) continue;
    found.take(kernel);
    if (row != last) ++calls;
    last = row;
  }
  if (calls < 2 || !found.claim(0.05)) return {};
  return Said{
      fmt::format("{} of kernel time copies long tensors in aten::cat to append a little to them. "
                  "Allocate the full tensor once and write each part into it.",
                  found.share()),
      fmt::format("{} of aten::cat, {} of {} kernel time", plural(calls, "call"),
                  say_time(found.time), say_time(facts.kernel_busy)),
      found.time};
}

std::optional<Said> contended_atomics(const Facts& facts) {
  constexpr double kFar = 0.05;  // of the memory's rate for the bytes that must move
  constexpr Nanos kLong = 50'000;
  Found found(facts);
  OncePerText sizes(facts.texts(), elements_of);
  double most_rate = 0;
  // By name of kernel: the most elements that an operation with recorded sizes gave it. Not all
  // launches have theirs, and threads do not tell of kernels whose threads go on to further ones.
  std::unordered_map<std::uint32_t, double> known;
  std::unordered_set<std::uint32_t> spread;  // kernels with many destinations
  const auto atomic = facts.kernels_of(kernel_is::atomic);
  for (const auto [kernel, group] : atomic) {
    if (kernel.duration_ns < kLong) continue;
    const auto op = facts.context.attribution.op[kernel.activity];
    if (op == kNoRow) continue;
    const auto& counts = sizes(facts.capture().host_ops.shapes[op]);
    if (counts.empty()) continue;
    const auto name = static_cast<std::uint32_t>(group.name);
    const auto most = *std::ranges::max_element(counts);
    known[name] = std::max(known[name], static_cast<double>(most));
    constexpr std::int64_t kMany = 64;  // one destination for so many elements is not few
    if (word_of_op(facts, op) & host_is::adds_into_first && counts.front() * kMany > most)
      spread.insert(name);
  }
  for (const auto [kernel, group] : atomic) {
    if (kernel.duration_ns < kLong) continue;
    const auto device = group.device;
    const Product* product =
        device == kNoRow ? nullptr
                         : find_product(facts.capture().text(facts.capture().devices.name[device]));
    if (!product || product->dram_bytes_per_s <= 0) continue;
    if (!(group.blocks_per_sm >= 1)) continue;
    const auto name = static_cast<std::uint32_t>(group.name);
    const auto sized = known.find(name);
    if (spread.contains(name) || (sized == known.end() && group.word & kernel_is::large_index))
      continue;
    // Each element is read once, of two bytes at least; without sizes, one a thread.
    double elements =
        group.blocks_per_sm * facts.capture().devices.sm_count[device] * std::max(group.block_x, 1);
    if (sized != known.end()) elements = std::max(elements, sized->second);
    const double rate = 2 * elements * 1e9 / static_cast<double>(kernel.duration_ns);
    if (rate > kFar * static_cast<double>(product->dram_bytes_per_s)) continue;
    most_rate = std::max(most_rate, rate / static_cast<double>(product->dram_bytes_per_s));
    found.take(kernel);
  }
  if (!found.claim(0.05)) return {};
  return Said{
      fmt::format("{} of kernel time adds atomically to the same few addresses, one after the "
                  "other. Form partial sums first (a one-hot product, sorted segments, bincount), "
                  "or spread the destinations.",
                  found.share()),
      fmt::format("{}, each at {} of the memory bandwidth or less for the "
                  "elements it reads; under {}",
                  found.said(), say_share(most_rate), say_names(found.operators)),
      found.time};
}

}  // namespace gf::trace_rules
