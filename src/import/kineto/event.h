// One element of traceEvents as tokens: which of the fields that matter are there, and their text
// in the file. Four readers fill it: one for events that come again (patterns.h), one for layouts
// that it has learned (layouts.h), a fast one for what Kineto writes, and a slow one on simdjson
// for everything else. They agree on every event that they accept
// (tests/properties/kineto_readers_test.cpp).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/assert.h"
#include "core/strings.h"

namespace gf::kineto {

enum class Field : std::uint8_t {
  // of the event
  ph,
  cat,
  name,
  pid,
  tid,
  ts,
  dur,
  id,
  // of its args
  external_id,
  correlation,
  device,
  context,
  stream,
  registers,
  shared_memory,
  grid,
  block,
  occupancy,
  graph_id,
  graph_node,
  kernel,
  bytes,
  from_device,
  to_device,
  copy_kind,
  copy_source,
  copy_target,
  sequence,
  forward_thread,
  input_dims,
  input_type,
  input_values,
  input_strides,
  call_stack,
  module_hierarchy,
  python_id,
  python_parent,
  python_module,
  sync_kind,
  wait_on_stream,
  wait_on_correlation,
  collective,
  in_elements,
  out_elements,
  group_size,
  dtype,
  group_name,
  group_description,
  group_ranks,
  collective_sequence,
  from_rank,
  to_rank,
  communicator,
  address,
  allocation_bytes,
  total_allocated,
  total_reserved,
  device_type,
  device_id,
  arg_name,
  counter_value,
  count
};
inline constexpr std::size_t kFields = static_cast<std::size_t>(Field::count);
static_assert(kFields <= 64, "Event::present has one bit a field");

/// A value's text. Strings come unescaped and without quotes; all else as it stands in the file.
/// Eight more bytes may be read behind it.
struct Token {
  enum class Kind : std::uint8_t { string, scalar, container };
  const char* data;
  std::uint32_t size;
  Kind kind;
  std::string_view text() const { return {data, size}; }
};

enum class Category : std::uint8_t;
struct EventPattern;

/// A text and its number among the worker's.
struct KnownName {
  StringId id{};
  std::string_view text;
};

/// The values that a reader found in one event. A value is had in one way, find, whether it was
/// read here or is one that the event's pattern knows because it does not move; no value of an
/// event that was read before can be had, since what was taken is forgotten with every reading.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;  // its tokens point into a buffer that is somebody else's
  Event& operator=(const Event&) = delete;

  std::uint64_t present = 0;  // bit per Field
  std::uint32_t duplicates =
      0;                // keys that came again; the last one counts, as in Python and JavaScript
  Category category{};  // of the field cat, where the reader knows it already
  bool category_known = false;
  EventPattern* pattern = nullptr;  // that it follows; null: none
  KnownName* name_guess = nullptr;  // where the name is wanted for the next time
  bool name_known = false;          // it is that already
  // The values that move from one event to the next like it, in order, where the reader knows.
  struct Moving {
    Field field;  // count: nobody reads it
    const char *from, *to;
  };
  static constexpr std::size_t kMostMoving = 16;
  std::size_t moving_count = 0;  // more than kMostMoving: not all are there
  std::array<Moving, kMostMoving> moving;

  bool has(Field field) const { return (present & bit(field)) != 0; }
  /// The value of a field; null where it is not there.
  const Token* find(Field field) const {
    if (taken_ & bit(field)) return &tokens_[static_cast<std::size_t>(field)];
    return has(field) ? &constant(field) : nullptr;
  }
  const Token& operator[](Field field) const { return *find(field); }  // of a field that is there
  std::string_view text(Field field) const {
    const Token* const token = find(field);
    return token ? token->text() : std::string_view{};
  }
  void set(Field field, Token token) {
    duplicates += has(field);
    present |= bit(field);
    take(field, token);
    taken_ |= bit(field);
  }
  /// For readers that know beforehand which fields they will take: each, and at the end all of
  /// them. Before that none can be had.
  void take(Field field, Token token) {
    tokens_[static_cast<std::size_t>(field)] = token;
#if defined(GPUFATHOM_ASSERTS)
    given_ |= bit(field);
#endif
  }
  void took(std::uint64_t fields) {
    taken_ = fields;
#if defined(GPUFATHOM_ASSERTS)
    GF_ASSERT((fields & ~given_) == 0);
#endif
  }
  /// Before another event is read: no value is left of this one.
  void forget_values() {
    taken_ = 0;
#if defined(GPUFATHOM_ASSERTS)
    given_ = 0;
#endif
  }
  void clear() {
    forget_values();
    present = 0;
    duplicates = 0;
    category_known = false;
    pattern = nullptr;
    name_guess = nullptr;
    name_known = false;
    moving_count = 0;
  }

 private:
  static constexpr std::uint64_t bit(Field field) {
    return std::uint64_t{1} << static_cast<unsigned>(field);
  }
  const Token& constant(Field field) const;  // of the pattern (patterns.cpp)

  std::uint64_t taken_ = 0;  // the fields whose tokens were read from this event; others are stale
  Token tokens_[kFields];
#if defined(GPUFATHOM_ASSERTS)
  std::uint64_t given_ = 0;  // the fields that `take` was called for
#endif
};

/// Reads the event at `p` (its opening brace). `end` must be followed by kPadding readable bytes
/// that are zero. Returns the place after its closing brace; null when the event needs the slow
/// reader (escapes or bytes outside ASCII in a text that is wanted) or is damaged.
const char* read_fast(const char* at, const char* end, Event& event);

/// The slow reader: any valid JSON object through simdjson, and common damage repaired where its
/// meaning is beyond doubt.
class SlowReader {
 public:
  SlowReader();
  ~SlowReader();

  enum class Outcome { whole, repaired, damaged };
  /// Reads one event. Its tokens stay valid until the next call. `repaired`: control characters
  /// inside texts became spaces and invalid UTF-8 became U+FFFD.
  Outcome read(std::string_view object, Event& event);
  /// Reads an event whose name contains quotation marks as they are, as PyTorch until 2.13 writes
  /// them. False when that is not what is wrong with it.
  bool read_quoted(std::string_view object, Event& event);

 private:
  bool parse(Event& event);
  struct Parser;
  std::unique_ptr<Parser> parser_;
  std::string buffer_;
};

/// Control characters to spaces, invalid UTF-8 to U+FFFD. Returns whether anything changed.
bool repair_text(std::string& text);

/// Bytes that must be readable after the end of a buffer.
inline constexpr std::size_t kPadding = 128;

// Finding the ends of values.
#include "import/kineto/scan.inl"

}  // namespace gf::kineto
