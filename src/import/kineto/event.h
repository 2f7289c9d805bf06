// One element of traceEvents as tokens: which of the fields that matter are there, and their text
// in the file. Three readers fill it: one for layouts that it has learned (layouts.h), a fast one
// for what Kineto writes, and a slow one on simdjson for everything else. They agree on every event
// that they accept
// (tests/properties/kineto_readers_test.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

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
struct Inputs;

struct Event {
  std::uint64_t present = 0;  // bit per Field; the tokens of absent fields are not initialized
  std::uint32_t duplicates =
      0;                // keys that came again; the last one counts, as in Python and JavaScript
  Category category{};  // of the field cat, where the reader knows it already
  bool category_known = false;
  Inputs* inputs = nullptr;  // what is remembered of them; null: nothing
  Token tokens[kFields];

  bool has(Field field) const { return present >> static_cast<unsigned>(field) & 1; }
  const Token& operator[](Field field) const { return tokens[static_cast<std::size_t>(field)]; }
  std::string_view text(Field field) const {
    if (has(field)) return (*this)[field].text();
    return std::string_view{};
  }
  void set(Field field, Token token) {
    const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(field);
    duplicates += (present & bit) != 0;
    present |= bit;
    tokens[static_cast<std::size_t>(field)] = token;
  }
  void clear() {
    present = 0;
    duplicates = 0;
    category_known = false;
    inputs = nullptr;
  }
};

/// Reads the event at `p` (its opening brace). `end` must be followed by kPadding readable bytes
/// that are zero. Returns the place after its closing brace; null when the event needs the slow
/// reader (escapes or bytes outside ASCII in a text that is wanted) or is damaged.
const char* read_fast(const char* at, const char* end, Event& event);

/// Bytes that must be readable after the end of a buffer.
inline constexpr std::size_t kPadding = 128;

}  // namespace gf::kineto
