#include "analyze/compare/run_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

#include "analyze/work/sections.h"
#include "core/text.h"

namespace gf {

namespace {

/// Types of the matrix products, by their share of the kernel time that says.
std::string precision_of(const Analysis& analysis) {
  constexpr double kWorthNaming = 0.1;
  std::map<std::string_view, Nanos> time;
  Nanos known = 0, all = 0;
  for (const auto& kernel : analysis.kernels) {
    if (kernel.layer_type != "MatMul" && kernel.layer_type != "Convolution" &&
        kernel.layer_type != "Attention" && kernel.layer_type != "Recurrent")
      continue;
    all += kernel.ns;
    const auto type = precision_of_kernel(kernel.name);
    if (type.empty()) continue;
    time[type] += kernel.ns;
    known += kernel.ns;
  }
  if (known == 0 || known * 2 < all) return {};
  std::vector<std::pair<Nanos, std::string_view>> named;
  for (const auto& [type, ns] : time)
    if (static_cast<double>(ns) >= kWorthNaming * static_cast<double>(known))
      named.emplace_back(-ns, type);
  std::sort(named.begin(), named.end());
  std::vector<std::string_view> types;
  for (const auto& entry : named) types.push_back(entry.second);
  return fmt::format("{}", fmt::join(types, " and "));
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::string_view precision_of_kernel(std::string_view name) {
  const std::string lower = lower_case(name);
  // cuBLAS' newest kernels name types by letters: nvjet_tst_128x256_…, nvjet_sm100_hsh_….
  if (const auto at = lower.find("nvjet_"); at != lower.npos) {
    std::string_view rest = std::string_view(lower).substr(at + 6);
    if (rest.starts_with("sm")) rest.remove_prefix(std::min(rest.find('_') + 1, rest.size()));
    switch (rest.empty() ? ' ' : rest.front()) {
      case 'q':
        return "fp8";
      case 't':
        return "bf16";
      case 'h':
        return "fp16";
      case 's':
        return "tf32";
      case 'd':
        return "fp64";
      default:
        return {};
    }
  }
  static constexpr auto kWords = std::to_array<std::pair<std::string_view, std::string_view>>({
      {"e2m1", "fp4"},    {"nvf4", "fp4"},    {"e4m3", "fp8"},   {"e5m2", "fp8"},
      {"fp8", "fp8"},     {"int8", "int8"},   {"i8816", "int8"}, {"bf16", "bf16"},
      {"bfloat", "bf16"}, {"tf32", "tf32"},   {"fp16", "fp16"},  {"f16", "fp16"},
      {"h16816", "fp16"}, {"h1688", "fp16"},  {"h884", "fp16"},  {"s884", "fp16"},
      {"hgemm", "fp16"},  {"half", "fp16"},   {"s1688", "tf32"}, {"dgemm", "fp64"},
      {"f64", "fp64"},    {"double", "fp64"}, {"sgemm", "fp32"}, {"scudnn", "fp32"},
      {"f32", "fp32"},    {"fp32", "fp32"},   {"float", "fp32"},
  });
  for (const auto& [word, type] : kWords)
    if (lower.find(word) != lower.npos) return type;
  return {};
}

std::string ProfilerFacts::text() const {
  std::vector<std::string_view> extras;
  if (shapes) extras.push_back("shapes");
  if (stacks) extras.push_back("stacks");
  if (memory) extras.push_back("memory");
  if (extras.empty()) return format;
  return fmt::format("{} with {}", format, fmt::join(extras, " and "));
}

ProfilerFacts profiler_facts(const Capture& capture) {
  const auto& ops = capture.host_ops;
  ProfilerFacts facts;
  facts.format = capture.format;
  facts.shapes = std::ranges::any_of(ops.shapes, [](Text text) { return text != Text::none; });
  facts.stacks =
      std::ranges::any_of(ops.kind, [](HostKind kind) { return kind == HostKind::python; });
  facts.memory = !capture.memory_events.empty();
  return facts;
}

std::optional<std::int64_t> rank_of(const Capture& capture) {
  return number(capture.metadata_value("distributedInfo.rank"));
}

RunFacts run_facts(const Capture& capture, const Analysis& analysis) {
  RunFacts facts;
  if (const auto items = work::items_of_window(capture, analysis.window)) {
    facts.batch = items->items;
    facts.items = items->told_by;
    if (items->tokens > 0) facts.tokens = items->tokens;
  }
  facts.precision = precision_of(analysis);
  facts.profiler = profiler_facts(capture).text();
  facts.rank = rank_of(capture);
  facts.world_size = number(capture.metadata_value("distributedInfo.world_size"));
  facts.extent = {analysis.window.start_ns, analysis.window.end_ns};
  return facts;
}

}  // namespace gf
