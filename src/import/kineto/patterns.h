// Events that come again. A program does the same things in the same order, so that most events of
// a trace stood there before, but for their times, ids and perhaps name: a pattern is such an event
// without the values that move. Which one comes next is guessed by those before it, and reading it
// is comparing bytes and taking the few values between them; what the others say was worked out
// when it came for the first time. What is guessed wrong goes to the layouts (layouts.h), from
// whose reading this learns; both read the same (tests/properties/kineto_chunks_test.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/assert.h"
#include "core/strings.h"
#include "import/kineto/event.h"

namespace gf::kineto {

/// Columns of host operations that have one value in many of them, as a group of such values.
struct HostGroup {
  std::uint32_t thread;
  std::int32_t forward_thread, module_id;
  StringId shapes, types, values, strides, module;
};

/// The meaning of the values that do not move, as the rows of the event's table have it.
struct Settled {
  bool known = false;
  bool nothing = false;        // nobody wants such events
  std::uint32_t thread;        // of host operations and calls
  HostGroup host;              // of host operations
  std::uint32_t group = 0;     // its number in a chunk ...
  std::uint64_t of_chunk = 0;  // ... which is this of the worker's; 0: in none
  StringId kernel;             // of calls
  std::uint32_t device;        // of a device's activities
  std::int64_t stream, context, graph, bytes, shared;
  std::array<std::int32_t, 3> grid, block;
  std::int32_t registers;
  double occupancy;
  bool between;  // a copy from one device to another
};

struct EventPattern {
  /// Bytes that do not move, and the value behind them.
  struct Part {
    std::uint32_t size;
    Field field;  // name; else of a number. count: nobody reads it, or the event ends
    bool operator==(const Part&) const = default;
  };
  std::vector<Part> parts;
  std::uint64_t moving_fields = 0;  // of all parts: bit per Field
  std::string bytes;                // of all parts, and kPadding zeros
  std::uint64_t hash = 0;
  std::uint16_t number = 0;  // from 1
  Category category{};
  std::uint64_t present = 0;
  std::vector<Token> constants;                     // into `bytes`; the first is an empty text
  std::array<std::uint8_t, kFields> constant_of{};  // a field's place among them; 0: it moves
  Settled settled{};

  /// The value of a field that does not move; an empty text for all others.
  const Token& constant(Field field) const {
    GF_ASSERT(constant_of[static_cast<std::size_t>(field)]);
    return constants[constant_of[static_cast<std::size_t>(field)]];
  }
};

class Patterns {
 public:
  Patterns();
  /// Reads the event at `at` when it is the one that is expected; null otherwise.
  const char* read(const char* at, const char* end, Event& event);
  /// Learns from one that was not expected and stands in [at, end).
  void learn(const char* at, const char* end, Event& event);

 private:
  /// An event behind certain others, in the order in which they came for the first time.
  struct Step {
    EventPattern* pattern = nullptr;
    KnownName name;          // that it had last
    std::uint32_t next = 0;  // what came behind it last; 0: nothing yet
    bool borrowed = false;   // ... or behind one like it

    /// Prefetches the memory that reading it takes.
    void fetch() const {
      __builtin_prefetch(pattern);
      __builtin_prefetch(&pattern->settled);
      __builtin_prefetch(pattern->parts.data());
      __builtin_prefetch(name.text.data());
      for (std::size_t i = 0; i < pattern->bytes.size() - kPadding; i += 64)
        __builtin_prefetch(pattern->bytes.data() + i);
    }
  };
  [[gnu::always_inline]] void go_on(std::uint16_t number);
  void enter(EventPattern& pattern);
  EventPattern& place(const char* at, const char* end, const Event& event);
  bool learns_in_vain() const;
  void forget();

  std::deque<EventPattern> patterns_;
  std::vector<std::uint16_t> by_bytes_;  // open addressing
  EventPattern made_;
  std::uint64_t many_ = 0, few_ = 0;             // of the last events
  std::vector<std::uint32_t> by_many_, by_few_;  // the last step at the end of such events
  std::vector<Step> steps_;
  std::uint32_t at_ = 0;   // the last event's step
  std::size_t found_ = 0;  // events as expected since it forgot
  bool trusted_ = true;
};

/// Reads the event at `at` when it is one of the pattern, with any name; null otherwise.
const char* read_by_pattern(EventPattern& pattern, std::string_view likely_name, const char* at,
                            const char* end, Event& event);

}  // namespace gf::kineto
