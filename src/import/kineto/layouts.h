// What a writer puts between the values of its events, learned from the file itself. Events of one
// kind differ in their values alone: once the bytes between them are known, reading an event is
// comparing those and taking what stands between. What was never seen goes to read_fast, from which
// this learns; both read the same (tests/properties/kineto_readers_test.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/strings.h"
#include "import/kineto/event.h"

namespace gf::kineto {

enum class Category : std::uint8_t;

/// The recorded inputs of an operation: the same bytes behind the same name are the same values,
/// whose texts need not be looked for again.
struct Inputs {
  static constexpr std::size_t kMost = 4;  // sizes, types, values, strides
  std::string bytes;                       // of all of them, as they stand in the file
  struct Part {
    Field field;
    std::uint32_t from, size;  // in `bytes`
  };
  std::array<Part, kMost> parts;
  std::size_t count = 0;
  std::uint64_t hash = 0;  // of the bytes and the first node
  const struct LayoutNode *first = nullptr, *last = nullptr;
  // The worker's ids of the texts, once somebody wanted them.
  bool interned = false;
  StringId shapes{}, types{}, values{}, strides{};
};

/// One bit for each field of Inputs.
constexpr std::uint64_t bit_of(Field field) {
  return std::uint64_t{1} << static_cast<unsigned>(field);
}
inline constexpr std::uint64_t kInputFields =
    bit_of(Field::input_dims) | bit_of(Field::input_type) | bit_of(Field::input_values) |
    bit_of(Field::input_strides);

/// A place in a layout: the bytes from the end of one value to the begin of the next, or to the end
/// of the event. The phase and the category of an event count as such bytes. What every event asks
/// of a node stands in one line of the processor's cache.
struct alignas(64) LayoutNode {
  enum class Next : std::uint8_t { string, scalar, container, end };
  static constexpr std::size_t kMostChildren = 16;
  static constexpr std::size_t kLongest = 96;  // bytes; less than kPadding

  std::uint32_t size = 0;
  Next next = Next::end;
  Field field = Field::count;  // of the value that follows; count: nobody reads it
  bool input = false;          // one of Inputs
  std::uint8_t children = 0;
  struct Told {
    Field field;
    std::uint8_t at, size;
  };
  std::uint8_t told_count = 0;  // phase and category
  std::array<Told, 2> told{};
  Category category{};           // at the end of an event
  LayoutNode* likely = nullptr;  // the child that came last; null without children
  std::uint64_t present = 0;     // at the end of an event
  char bytes[kLongest] = {};
  std::array<LayoutNode*, kMostChildren> child{};

  /// Whether the node's kind of value can begin like this.
  bool may_begin(char begin) const {
    const bool opens = (begin | 0x20) == '{';  // [ too
    if (next == Next::container) return opens;
    return next != Next::scalar || (!opens && begin != '"');
  }
};

class Layouts {
 public:
  /// Reads the event at `at` when its layout is known; null for all that read_fast shall decide.
  const char* read(const char* at, const char* end, Event& event);
  /// Learns from an event that read_fast read whole. It stands in [at, end).
  void learn(const char* at, const char* end, const Event& event);

  void learn_nothing() { trusted_ = false; }

  LayoutNode& root() { return root_; }
  /// What is remembered of the inputs at `at`, whose first value `node` announced: a guess by the
  /// operation's name and the inputs before these. Programs do the same things in the same order.
  Inputs* guess_inputs(const LayoutNode& node, std::uint64_t name, const char* at, const char* end);
  /// The place of inputs that were not guessed, once their end is known: theirs, or a new one
  /// (without nodes) with the bytes.
  Inputs& place_inputs(const LayoutNode& node, std::uint64_t name, std::string_view bytes);

 private:
  static constexpr std::size_t kMostInputs = 8192;
  void forget_inputs();
  Inputs*& guess(const LayoutNode& node, std::uint64_t name);
  LayoutNode* add(LayoutNode& parent, const LayoutNode& node);

  LayoutNode root_;
  std::deque<LayoutNode> nodes_;
  std::deque<Inputs> inputs_;
  std::vector<Inputs*> by_hash_;  // open addressing
  std::vector<Inputs*> guesses_;
  Inputs* before_ = nullptr;
  int lessons_ = 0;
  bool trusted_ = true;
};

}  // namespace gf::kineto
