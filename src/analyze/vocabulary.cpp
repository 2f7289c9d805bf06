#include "analyze/vocabulary.h"

#include <algorithm>
#include <array>
#include <string>

#include "analyze/steps/steps.h"
#include "analyze/traits.h"
#include "core/text.h"

namespace gf {
namespace {

// A row's traits are named without their kind.
#define GF_NAME_OF(kind, pattern, layer, traits, seen) \
  NameRow{pattern, LayerType::layer,                   \
          []() constexpr {                             \
            using namespace kind;                      \
            return traits;                             \
          }(),                                         \
          seen},

constexpr NameRow kHost[] = {
#define GF_NAME(pattern, layer, traits, seen) GF_NAME_OF(host_is, pattern, layer, traits, seen)
#include "analyze/names/host.def"
#include "analyze/names/operators.def"
#undef GF_NAME
};
constexpr NameRow kCalls[] = {
#define GF_NAME(pattern, layer, traits, seen) GF_NAME_OF(call_is, pattern, layer, traits, seen)
#include "analyze/names/calls.def"
#undef GF_NAME
};
#define GF_NAME(pattern, layer, traits, seen) GF_NAME_OF(kernel_is, pattern, layer, traits, seen)
constexpr NameRow kKernels[] = {
#include "analyze/names/kernels.def"
};
constexpr NameRow kModules[] = {
#define GF_MODULES
#include "analyze/names/modules.def"
#undef GF_MODULES
};
constexpr NameRow kFused[] = {
#define GF_FUSED
#include "analyze/names/modules.def"
#undef GF_FUSED
};
#undef GF_NAME

/// Finds the rows that a text may match by three letters of each, the rarest among all rows: most
/// places of a text begin none of them, and most that do lack the word that they are part of.
class RowFinder {
 public:
  explicit RowFinder(std::span<const NameRow> rows) : rows_(rows) {
    std::array<std::uint16_t, kPlaces> uses{};
    for (const auto& row : rows)
      each_three(row.pattern, [&](unsigned place, std::size_t) { ++uses[place]; });
    constexpr std::size_t kUnset = std::string_view::npos;
    std::vector<std::size_t> chosen(rows.size(), kUnset);  // where the three begin
    const auto place = [&](std::size_t row) {
      return place_of(rows[row].pattern.data() + chosen[row]);
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
      each_three(rows[i].pattern, [&](unsigned three, std::size_t at) {
        if (chosen[i] == kUnset || uses[three] < uses[place(i)]) chosen[i] = at;
      });
      if (chosen[i] == kUnset)
        short_.push_back(static_cast<std::uint16_t>(i));
      else
        ++begin_[place(i) + 1];
    }
    for (unsigned at = 0; at < kPlaces; ++at)
      begin_[at + 1] = static_cast<std::uint16_t>(begin_[at + 1] + begin_[at]);
    by_place_.resize(begin_[kPlaces]);
    auto next = begin_;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (chosen[i] != kUnset) by_place_[next[place(i)]++] = entry(i, chosen[i]);
  }

  NameWord word_of(std::string_view text) const {
    Found found{rows_.size(), 0};
    for (const auto row : short_)
      if (decides(row, found) && name_matches(rows_[row].pattern, text)) take(row, found);
    for (std::size_t at = 0; at + 3 <= text.size(); ++at) {
      const unsigned place = place_of(text.data() + at);
      for (auto i = begin_[place]; i < begin_[place + 1]; ++i)
        if (by_place_[i].stands(text, at) && decides(by_place_[i].row, found) &&
            (by_place_[i].is_all || name_matches(rows_[by_place_[i].row].pattern, text)))
          take(by_place_[i].row, found);
    }
    const auto layer = found.row < rows_.size() ? rows_[found.row].layer : LayerType::other;
    return found.traits | static_cast<NameWord>(layer) << kTraitBits;
  }

 private:
  static constexpr unsigned kPlaces = 4096;
  struct Found {
    std::size_t row;  // the first with a layer type
    NameWord traits;
  };
  struct Entry {
    std::string_view word;  // the letters of the pattern around the three, without a star
    std::size_t before;     // so many of them
    std::uint16_t row;
    bool is_all;  // the pattern is that word anywhere
    bool stands(std::string_view text, std::size_t at) const {
      return at >= before && text.substr(at - before, word.size()) == word;
    }
  };

  Entry entry(std::size_t row, std::size_t three) const {
    const auto pattern = rows_[row].pattern;
    const auto from = pattern.find_last_of('*', three) + 1;  // 0 without one
    const auto to = std::min(pattern.find_first_of("*~", three), pattern.size());
    return {pattern.substr(from, to - from), three - from, static_cast<std::uint16_t>(row),
            from == 1 && to + 1 == pattern.size() && pattern.back() == '*'};
  }
  static unsigned place_of(const char* three) {
    const auto letter = [&](int i) {
      return static_cast<unsigned>(static_cast<unsigned char>(three[i]));
    };
    return (letter(0) * 1031u + letter(1) * 37u + letter(2)) % kPlaces;
  }
  template <class Take>
  static void each_three(std::string_view pattern, Take&& take) {
    for (std::size_t at = 0; at + 3 <= pattern.size(); ++at)
      if (pattern.substr(at, 3).find_first_of("*~") == std::string_view::npos)
        take(place_of(pattern.data() + at), at);
  }
  /// False if the row says nothing new.
  bool decides(std::size_t row, const Found& found) const {
    const auto& [pattern, layer, traits, seen] = rows_[row];
    return (layer != LayerType::other && row < found.row) || traits & ~found.traits;
  }
  void take(std::size_t row, Found& found) const {
    found.traits |= rows_[row].traits;
    if (rows_[row].layer != LayerType::other) found.row = std::min(found.row, row);
  }

  std::span<const NameRow> rows_;
  std::vector<std::uint16_t> short_;  // rows without three letters in a row
  std::vector<Entry> by_place_;       // the others, place after place
  std::array<std::uint16_t, kPlaces + 1> begin_{};
};

const RowFinder& finder_of(NameKind kind) {
  static const std::array<RowFinder, kNameKinds> finders{RowFinder(kHost), RowFinder(kCalls),
                                                         RowFinder(kKernels), RowFinder(kModules),
                                                         RowFinder(kFused)};
  return finders[static_cast<std::size_t>(kind)];
}

/// Libraries whose names hold the word of a layer type ("gemm") without being one.
constexpr std::string_view kNamedLikeTypes[] = {"fbgemm"};

std::string small_letters(std::string_view name) {
  std::string lower = lower_case(name);
  for (const auto library : kNamedLikeTypes)
    for (auto at = lower.find(library); at != std::string::npos; at = lower.find(library, at))
      lower.erase(at, library.size());
  return lower;
}

/// A kernel's name without the list of its parameters, whose types ("curandState *") say nothing of
/// what it does. Julia writes the types of a kernel nowhere else.
std::string_view without_parameters(std::string_view name) {
  if (!name.ends_with(')') || name.starts_with("julia_")) return name;
  int depth = 0;
  for (auto at = name.size(); at-- > 0;) {
    if (name[at] == ')') ++depth;
    if (name[at] == '(' && --depth == 0) return at == 0 ? name : name.substr(0, at);
  }
  return name;
}

bool is_fused_kernel(std::string_view name) {
  for (const std::string_view kind :
       {"triton_poi_", "triton_red_", "triton_per_", "triton_for_", "triton_spl_"})
    if (name.starts_with(kind)) return true;
  return false;
}

/// "triton_poi_fused__to_copy_view_3": every operation in it only copies, converts or reshapes.
/// With arithmetic beside them the cast costs nothing of its own.
bool only_copies(std::string_view name) {
  static constexpr std::string_view kStart = "triton_poi_fused_";
  static constexpr std::string_view kWords[] = {
      "to",     "copy",       "clone",     "view",   "unsafe",  "permute", "transpose",
      "t",      "squeeze",    "unsqueeze", "expand", "reshape", "select",  "slice",
      "detach", "contiguous", "alias",     "as",     "strided"};
  if (!name.starts_with(kStart)) return false;
  bool copies = false;
  for (auto rest = name.substr(kStart.size()); !rest.empty();) {
    const auto end = std::min(rest.find('_'), rest.size());
    const auto word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (word.find_first_not_of("0123456789") == std::string_view::npos) continue;
    if (std::ranges::find(kWords, word) == std::end(kWords)) return false;
    copies |= word == "copy" || word == "clone";
  }
  return copies;
}

NameWord with_layer(NameWord word, LayerType layer) {
  constexpr NameWord kTraits = (NameWord{1} << kTraitBits) - 1;
  return (word & kTraits) | static_cast<NameWord>(layer) << kTraitBits;
}

LayerType layer_of_fused(std::string_view name) {
  return only_copies(name) ? LayerType::copy
                           : layer_in(word_of(NameKind::fused, small_letters(name)));
}

}  // namespace

std::span<const NameRow> name_rows(NameKind kind) {
  switch (kind) {
    case NameKind::host:
      return kHost;
    case NameKind::call:
      return kCalls;
    case NameKind::kernel:
      return kKernels;
    case NameKind::module:
      return kModules;
    case NameKind::fused:
      return kFused;
  }
  return {};
}

bool name_matches(std::string_view pattern, std::string_view small_letters) {
  if (!pattern.ends_with('~')) return glob_match(pattern, small_letters);
  pattern.remove_suffix(1);
  while (small_letters.ends_with('_')) small_letters.remove_suffix(1);
  return glob_match(pattern, small_letters);
}

NameWord word_of(NameKind kind, std::string_view small_letters) {
  return finder_of(kind).word_of(small_letters);
}

namespace {

// "train 12", "step#3": a name that ends in a number after # or a blank counts iterations.
bool counts_iterations(std::string_view name) {
  const auto digits = name.find_last_not_of("0123456789");
  return digits != std::string_view::npos && digits + 1 < name.size() &&
         (name[digits] == '#' || name[digits] == ' ');
}

/// Traits of what is no scope that the user named.
constexpr NameWord kNoScope = host_is::backward | host_is::optimizer | host_is::module |
                              host_is::recompute | host_is::forward_only;

}  // namespace

NameWord host_word(std::string_view name) {
  NameWord word = word_of(NameKind::host, small_letters(name));
  if (is_fused_kernel(name))
    word = with_layer(word, layer_of_fused(name));
  else if (name.starts_with("triton_"))
    word = with_layer(word, layer_in(kernel_word(name)));
  // Frames that run a compiled or tuned function are in the same files.
  if (word & host_is::repeated) word &= ~host_is::one_off;
  // record_function marks carry a '#': ProfilerStep#5, Optimizer.step#SGD.step,
  // enumerate(DataLoader)#...
  if (word & host_is::scoped) word &= ~host_is::mark;
  if (parse_step_name(name)) word |= host_is::step | host_is::mark;
  if (word & kNoScope || name.empty() || counts_iterations(name)) word |= host_is::no_scope;
  return word;
}

NameWord call_word(std::string_view name) { return word_of(NameKind::call, lower_case(name)); }

NameWord kernel_word(std::string_view name) {
  // The parentheses of a copy say from which memory to which.
  const bool copies = name.starts_with("Mem");
  const NameWord word =
      word_of(NameKind::kernel, small_letters(copies ? name : without_parameters(name)));
  return is_fused_kernel(name) ? with_layer(word, layer_of_fused(name)) : word;
}

std::span<const TraitRow> trait_rows(NameKind kind) {
#define GF_TRAIT_ROW(id, meaning) {#id, meaning},
  static constexpr TraitRow kHostTraits[] = {
#define GF_HOST_TRAIT GF_TRAIT_ROW
#include "analyze/names/traits.def"
  };
  static constexpr TraitRow kCallTraits[] = {
#define GF_CALL_TRAIT GF_TRAIT_ROW
#include "analyze/names/traits.def"
  };
  static constexpr TraitRow kKernelTraits[] = {
#define GF_KERNEL_TRAIT GF_TRAIT_ROW
#include "analyze/names/traits.def"
  };
#undef GF_TRAIT_ROW
  switch (kind) {
    case NameKind::host:
      return kHostTraits;
    case NameKind::call:
      return kCallTraits;
    case NameKind::kernel:
      return kKernelTraits;
    case NameKind::module:
    case NameKind::fused:
      break;
  }
  return {};
}

std::vector<std::string_view> traits_in(NameKind kind, NameWord word) {
  std::vector<std::string_view> ids;
  const auto rows = trait_rows(kind);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if ((word >> i & 1) != 0) ids.push_back(rows[i].id);
  return ids;
}

Names::Names(const Capture& capture) : words_(capture.strings.size()) {
  std::vector<std::uint8_t> asked;
  const auto ask = [&](const auto& names, NameWord Words::* word,
                       NameWord (*word_of)(std::string_view)) {
    asked.assign(words_.size(), false);
    std::vector<Text> each;
    for (std::size_t row = 0; row < names.size(); ++row) {
      const Text name = names[row];
      const auto id = static_cast<std::uint32_t>(name);
      if (asked[id]) continue;
      asked[id] = true;
      each.push_back(name);
      words_[id].*word = word_of(capture.text(name));
    }
    return each;
  };
  host_names_ = ask(capture.host_ops.name, &Words::host, host_word);
  call_names_ = ask(capture.api_calls.name, &Words::call, call_word);
  ask(capture.activities.name, &Words::kernel, kernel_word);
}

}  // namespace gf
