// The bytes that a writer puts between the values of its events, learned from the file itself.
// Events of one kind differ in their values alone: once the bytes between them are known, reading
// an event is comparing those and taking what stands between. What was never seen goes to
// read_fast, from which this learns; both read the same (tests/properties/kineto_readers_test.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>

#include "import/kineto/event.h"

namespace gf::kineto {

enum class Category : std::uint8_t;

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
  bool moves = false;          // the value, from one event to the next like it (patterns.h)
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

  /// True if the node's kind of value can begin like this.
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

  LayoutNode& root() { return root_; }

 private:
  LayoutNode* add(LayoutNode& parent, const LayoutNode& node);

  LayoutNode root_;
  std::deque<LayoutNode> nodes_;
  int lessons_ = 0;
  bool trusted_ = true;
};

}  // namespace gf::kineto
