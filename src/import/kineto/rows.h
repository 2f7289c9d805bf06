// From one event to a row of the table that its category belongs to.
#pragma once

#include <array>
#include <bit>
#include <cstring>

#include "import/kineto/chunk.h"
#include "import/kineto/numbers.h"
#include "import/said_columns.h"

namespace gf::kineto {

enum class Category : std::uint8_t {
  cpu_op,
  user_annotation,
  python_function,
  overhead,
  other_host,
  runtime,
  kernel,
  memcpy,
  memset,
  gpu_annotation,
  profiled_range,
  sync,
  instant,
  flow,
  counters,
  ignored
};

/// By the event's "cat" alone: a host operation may carry a stream and a grid too (Triton's do).
Category category_of(std::string_view cat);

/// A token of at most eight bytes in one word; a longer one is like no other.
class ShortText {
 public:
  ShortText() = default;
  explicit ShortText(std::string_view token) : size_(token.size()), word_(word(token)) {}
  bool is(std::string_view token) const {
    return token.size() == size_ && size_ <= 8 && word(token) == word_;
  }

 private:
  static std::uint64_t word(std::string_view token) {
    if (token.empty()) return 0;
    std::uint64_t word;
    std::memcpy(&word, token.data(), 8);  // more bytes may be read behind a token
    if constexpr (std::endian::native == std::endian::little)
      return token.size() < 8 ? word << 8 * (8 - token.size()) : word;
    return token.size() < 8 ? word >> 8 * (8 - token.size()) : word;
  }
  std::size_t size_ = 9;
  std::uint64_t word_ = 0;
};

class Rows {
 public:
  Rows(Chunk& chunk, Worker& worker) : chunk_(chunk), rows_(chunk.rows), worker_(worker) {
    ++worker_.chunks;
  }
  /// Adds what the event says. `at` is its byte offset, for notes of damage.
  void add(const Event& event, std::int64_t at) {
    if (!event.pattern)
      add_anew(event, at);
    else if (event.pattern->settled.known)
      add_span(event, event.category, at);
    else if (!event.pattern->settled.nothing)
      add_anew(event, at);
  }
  /// After the last event: columns of which the last rows say nothing become as long as the others.
  void complete();

 private:
  void say(Column<std::int64_t>& column, std::size_t row, const Event& event, Field field,
           std::int64_t at) {
    if (const Token* const token = event.find(field)) put(column, row, integer_of(*token, -1, at));
  }
  void say(Column<std::int32_t>& column, std::size_t row, const Event& event, Field field,
           std::int64_t at) {
    if (event.has(field)) put(column, row, small(event, field, at));
  }
  void add_anew(const Event& event, std::int64_t at);
  void add_span(const Event& event, Category category, std::int64_t at);
  void add_border(const Event& event, Category category, std::int64_t at);
  void add_host(const Event& event, HostKind kind, Nanos start, Nanos duration, std::int64_t at);
  void add_api(const Event& event, Nanos start, Nanos duration, std::int64_t at);
  void add_activity(const Event& event, ActivityKind kind, Nanos start, Nanos duration,
                    std::int64_t at);
  void add_collective(const Event& event, std::uint32_t activity, std::int64_t at);
  void add_memory(const Event& event, std::int64_t at);
  void add_counter(const Event& event, std::int64_t at);
  void add_device_annotation(const Event& event, Nanos start, Nanos duration, std::int64_t at);
  void add_sync(const Event& event, Nanos start, Nanos duration, std::int64_t at);
  void add_profiled_range(const Event& event, Nanos start, Nanos duration, std::int64_t at);
  void add_naming(const Event& event);

  Text text(std::string_view text);
  Text described_copy(const Event& event);
  /// The name of a span, which is guessed next time.
  Text name(const Event& event) {
    return event.name_known ? event.name_guess->id : other_name(event);
  }
  Text other_name(const Event& event);
  Text text(const Event& event, Field field) {
    const Token* const token = event.find(field);
    return token ? text(token->text()) : Text::none;
  }
  /// Values that do not move from one event to the next like it, computed once a pattern by `fill`.
  template <class Fill>
  Settled& settled(const Event& event, Fill fill) {
    if (event.pattern && event.pattern->settled.known) return event.pattern->settled;
    Settled& said = event.pattern ? event.pattern->settled : settled_;
    const auto noted = chunk_.noted;
    fill(said);
    // Damage is counted each time; and of collectives and of spans that begin there is more to say.
    said.known = chunk_.noted == noted && !event.has(Field::collective) && !opens_;
    return said;
  }
  /// The number in this chunk of a host operation's group.
  std::uint32_t group_of(const Event& event, Settled& said) {
    const bool known = event.pattern && said.known && said.of_chunk == worker_.chunks;
    return known ? said.group : new_group(said);
  }
  std::uint32_t new_group(Settled& said);
  template <class T>
  void fill(Column<T>& column, T HostGroup::* value);
  std::uint32_t thread(const Event& event);         // as a row's thread
  std::uint32_t thread_number(const Event& event);  // without saying that it has events
  std::int64_t integer(const Event& event, Field field, std::int64_t fallback, std::int64_t at) {
    const Token* const token = event.find(field);
    return token ? integer_of(*token, fallback, at) : fallback;
  }
  std::int64_t integer_of(const Token& token, std::int64_t fallback, std::int64_t at) {
    if (const auto value = short_integer_of_token(token.text())) return *value;
    return other_integer(token.text(), fallback, at);
  }
  std::int64_t other_integer(std::string_view text, std::int64_t fallback, std::int64_t at);
  std::int32_t small(const Event& event, Field field, std::int64_t at) {
    const std::int64_t value = integer(event, field, -1, at);
    if (value >= INT32_MIN && value <= INT32_MAX) return static_cast<std::int32_t>(value);
    return too_large(at);
  }
  std::int32_t too_large(std::int64_t at);
  double real(const Event& event, Field field, std::int64_t at);
  using Extent = std::array<std::int32_t, 3>;
  Extent extent(const Event& event, Field field, std::int64_t at);
  std::uint32_t device(const Event& event, std::int64_t at);
  std::uint32_t told_device(std::uint32_t id);  // it comes to the merge in the order of first use
  std::int64_t stream(const Event& event, std::int64_t at);
  bool time(const Event& event, Field field, Nanos& ns);
  bool time_of_span(const Event& event, Field field, Nanos& ns);

  Chunk& chunk_;
  Tables& rows_;
  Worker& worker_;
  // The thread of the event before: mostly it is this event's too.
  ShortText last_pid_, last_tid_;
  std::uint32_t last_thread_ = kNoRow;
  bool opens_ = false;           // the event at hand begins a span whose end another one tells
  std::uint32_t turn_ = kNoRow;  // the thread of the host events before the last activity
  TimeHead time_head_;
  std::vector<HostGroup> host_groups_;
  std::vector<std::uint32_t> host_group_;  // by row of host_ops
  Settled settled_{};                      // of the event at hand, when it follows no pattern
};

}  // namespace gf::kineto
