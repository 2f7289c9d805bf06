// The vocabulary: what the names of operators, calls and kernels say, a word of 64 bits a text. The
// rows are in names/*.def, the traits that a word has are in traits.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/names.h"
#include "model/capture.h"

namespace gf {

/// Traits, a bit each, and above them the layer type.
using NameWord = std::uint64_t;
inline constexpr unsigned kTraitBits = 59;
constexpr LayerType layer_in(NameWord word) { return static_cast<LayerType>(word >> kTraitBits); }

/// The kind of a name: that of a module is a class, that of a fused kernel one that Inductor made.
enum class NameKind : std::uint8_t { host, call, kernel, module, fused };
inline constexpr std::size_t kNameKinds = 5;

/// One row of the vocabulary. In the pattern * stands for any text and a ~ at its end for any
/// number of underlines; texts are compared in small letters. Traits of all rows that match hold,
/// and the layer type of the first one that has one.
struct NameRow {
  std::string_view pattern;
  LayerType layer;
  NameWord traits;
  std::string_view seen;  // the library that writes it
};

std::span<const NameRow> name_rows(NameKind kind);
bool name_matches(std::string_view pattern, std::string_view small_letters);
/// The traits that the rows of a kind give a text in lower case.
NameWord word_of(NameKind kind, std::string_view small_letters);

/// The word of an operator, a mark or a Python frame.
NameWord host_word(std::string_view name);
/// The word of a call of the runtime or the driver.
NameWord call_word(std::string_view name);
NameWord kernel_word(std::string_view name);
/// True if a kernel with this word exchanges data with other devices.
constexpr bool communicates(NameWord kernel) {
  return layer_in(kernel) == LayerType::communication;
}

/// A bit of a word, in the order of the bits.
struct TraitRow {
  std::string_view id, meaning;
};
/// The traits of host, call and kernel, as names/traits.def declares them; other kinds have none.
std::span<const TraitRow> trait_rows(NameKind kind);
/// Ids of the traits that a word has.
std::vector<std::string_view> traits_in(NameKind kind, NameWord word);

/// The words of a capture's names by id, each text looked at once.
class Names {
 public:
  Names() = default;
  explicit Names(const Capture& capture);
  /// The word of a name in host_ops.
  NameWord host(Text name) const { return of(name).host; }
  /// The word of a name in api_calls.
  NameWord call(Text name) const { return of(name).call; }
  /// The word of a name in activities.
  NameWord kernel(Text name) const { return of(name).kernel; }
  /// The names of host_ops and of api_calls, each once.
  const std::vector<Text>& host_names() const { return host_names_; }
  const std::vector<Text>& call_names() const { return call_names_; }

 private:
  struct Words {
    NameWord host = 0, call = 0, kernel = 0;
  };
  const Words& of(Text name) const { return words_[static_cast<std::uint32_t>(name)]; }
  std::vector<Words> words_;
  std::vector<Text> host_names_, call_names_;
};

}  // namespace gf
