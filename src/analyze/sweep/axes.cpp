// The axes of a sweep, and how they are read from the names of files and products.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/sweep/sweep.h"
#include "core/files.h"

namespace gf {

namespace {

bool tells_memory(std::string_view word) {
  return word.starts_with("HBM") ||
         (word.ends_with("GB") && word.find_first_not_of("0123456789") == word.size() - 2);
}

constexpr std::array<SweepAxis, 5> kAxes{{{"model", &SweepRun::model},
                                          {"gpu", &SweepRun::gpu},
                                          {"framework", &SweepRun::framework},
                                          {"mode", &SweepRun::mode},
                                          {"precision", &SweepRun::precision}}};

/// A word of file names, the axis that it is about, and what it means there.
struct KnownWord {
  std::string_view word;
  std::string SweepRun::* member;
  std::string_view meaning;
};
constexpr auto kWords = std::to_array<KnownWord>({
    {"fp64", &SweepRun::precision, "fp64"},
    {"fp32", &SweepRun::precision, "fp32"},
    {"tf32", &SweepRun::precision, "tf32"},
    {"amp", &SweepRun::precision, "amp"},
    {"mixed", &SweepRun::precision, "amp"},
    {"bf16", &SweepRun::precision, "bf16"},
    {"fp16", &SweepRun::precision, "fp16"},
    {"fp8", &SweepRun::precision, "fp8"},
    {"eager", &SweepRun::mode, "eager"},
    {"compile", &SweepRun::mode, "compile"},
    {"compiled", &SweepRun::mode, "compile"},
    {"graph", &SweepRun::mode, "graphs"},
    {"graphs", &SweepRun::mode, "graphs"},
    {"jit", &SweepRun::mode, "jit"},
    {"xla", &SweepRun::mode, "xla"},
    {"sync", &SweepRun::mode, "sync"},
    {"async", &SweepRun::mode, "async"},
    {"torch", &SweepRun::framework, "pytorch"},
    {"pytorch", &SweepRun::framework, "pytorch"},
    {"jax", &SweepRun::framework, "jax"},
    {"tf", &SweepRun::framework, "tensorflow"},
    {"tensorflow", &SweepRun::framework, "tensorflow"},
    {"v100", &SweepRun::gpu, "V100"},
    {"t4", &SweepRun::gpu, "T4"},
    {"a100", &SweepRun::gpu, "A100"},
    {"a10", &SweepRun::gpu, "A10"},
    {"l4", &SweepRun::gpu, "L4"},
    {"l40", &SweepRun::gpu, "L40"},
    {"h100", &SweepRun::gpu, "H100"},
    {"h200", &SweepRun::gpu, "H200"},
    {"b200", &SweepRun::gpu, "B200"},
    {"gh200", &SweepRun::gpu, "GH200"},
});

std::vector<std::string> words_of(std::string_view path) {
  std::vector<std::string> words(1);
  for (const char letter : file_name(path)) {
    if (letter == '_' || letter == '-' || letter == '.') {
      words.emplace_back();
    } else {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
  }
  std::erase(words, "");
  return words;
}

std::optional<std::int64_t> batch_in(std::string_view word) {
  for (const std::string_view prefix : {"batch", "bs", "b"}) {
    if (!word.starts_with(prefix)) continue;
    const std::string_view digits = word.substr(prefix.size());
    std::int64_t batch = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), batch);
    if (error == std::errc() && end == digits.data() + digits.size() && batch > 0) return batch;
  }
  return {};
}

}  // namespace

std::string gpu_in_names(std::string_view product) {
  std::string name;
  for (const auto word : std::views::split(product, ' ')) {
    const std::string_view text(word.begin(), word.end());
    if (text == "NVIDIA" || tells_memory(text)) continue;
    name += (name.empty() ? "" : " ") + std::string(text);
  }
  return name;
}

std::span<const SweepAxis> sweep_axes() { return kAxes; }

bool is_sweep_axis(std::string_view name) {
  return name == "batch" || std::any_of(kAxes.begin(), kAxes.end(),
                                        [&](const SweepAxis& axis) { return axis.name == name; });
}

void read_axes_from_name(std::string_view path, SweepRun& run) {
  std::string model;
  bool before_known = true;
  for (const std::string& word : words_of(path)) {
    const auto known = std::find_if(kWords.begin(), kWords.end(),
                                    [&](const KnownWord& entry) { return entry.word == word; });
    const auto batch = batch_in(word);
    if (known != kWords.end()) {
      std::string& value = run.*(known->member);
      if (value.empty()) value = known->meaning;
    } else if (batch) {
      if (!run.batch) run.batch = batch;
    } else if (before_known) {
      if (!model.empty()) model += ' ';
      model += word;
    }
    before_known = before_known && known == kWords.end() && !batch;
  }
  if (run.model.empty()) run.model = model;
}

}  // namespace gf
