// Traces whose events come again with small changes, as a program's loop writes them: what readers
// that guess and learn (src/import/kineto/patterns.h, layouts.h) are held against plain ones by.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace gf::test {

/// The kinds of JSON values that a member may have. `missing`: there is no such member; `twice`: it
/// is given twice.
enum class ValueKind : std::uint8_t {
  integer,
  negative,
  fraction,
  exponent,
  twenty_digits,
  text,
  number_as_text,
  escaped_text,
  other_script,
  null,
  yes,
  array,
  object,
  missing,
  twice
};
inline constexpr std::size_t kValueKinds = static_cast<std::size_t>(ValueKind::twice) + 1;

/// The course of a member's value over similar events. `alternating`: every other
/// event has the kind, the others a number that counts.
enum class Manner : std::uint8_t { constant, moving, changed_once, alternating };
inline constexpr std::size_t kManners = static_cast<std::size_t>(Manner::alternating) + 1;

/// The text of a value; `number` tells values of one kind apart.
inline std::string value_text(ValueKind kind, std::uint64_t number) {
  switch (kind) {
    case ValueKind::integer:
    case ValueKind::missing:
    case ValueKind::twice:
      return fmt::format("{}", number);
    case ValueKind::negative:
      return fmt::format("-{}", number + 1);
    case ValueKind::fraction:
      return fmt::format("{}.{:03}", number, number * 7 % 1000);
    case ValueKind::exponent:
      return fmt::format("{}.5e{}", number % 10, number % 4);
    case ValueKind::twenty_digits:
      return fmt::format("9{:019}", number);
    case ValueKind::text:
      return fmt::format("\"t{}\"", number);
    case ValueKind::number_as_text:
      return fmt::format("\"{}\"", number);
    case ValueKind::escaped_text:
      return fmt::format("\"a \\\"{}\\\" \\u00e9\\n\"", number);
    case ValueKind::other_script:
      return fmt::format("\"\xc3\xa9{}\"", number);
    case ValueKind::null:
      return "null";
    case ValueKind::yes:
      return number % 2 ? "false" : "true";
    case ValueKind::array:
      return fmt::format("[{}, [1, {}], [], [\"x\"]]", number % 9, number);
    case ValueKind::object:
      return fmt::format("{{\"a\": {}, \"ts\": [1]}}", number);
  }
  return "null";
}

struct Member {
  std::string_view key;
  ValueKind kind = ValueKind::integer;
  Manner manner = Manner::moving;
  std::uint64_t base = 1;
};

/// One of a loop's events: members of the event and of its args, in the order in which they are
/// written.
struct EventShape {
  std::string_view phase, category, name;
  std::vector<Member> members, args;
};

/// The text that writers put between values.
struct Layout {
  std::string_view open, between, colon, close;
};
inline constexpr Layout kLayouts[] = {
    {"\n  {\n    ", ", ", ": ", "\n  }"},  // Kineto
    {"{", ", ", ": ", "}"},                // Python's json.dump
    {"{", ",", ":", "}"},                  // compact
    {"\n {\n  ", ",\n  ", ": ", "\n }"},   // indented
    {"{ ", " ,\t", " :  ", " }"},          // by hand
};

inline void append_member(std::string& out, const Layout& layout, const Member& member,
                          std::size_t turn, std::size_t turns) {
  ValueKind kind = member.kind;
  std::uint64_t number = member.base;
  if (member.manner == Manner::moving) number += turn * 3;
  if (member.manner == Manner::changed_once && turn < turns / 2) kind = ValueKind::integer;
  if (member.manner == Manner::alternating && turn % 2) {
    kind = ValueKind::integer;
    number += turn;
  }
  if (kind == ValueKind::missing) return;
  const auto one = [&](std::uint64_t value) {
    if (out.back() != '{' && out.substr(out.size() - layout.open.size()) != layout.open)
      out += layout.between;
    out.append(1, '"').append(member.key).append(1, '"').append(layout.colon);
    out += value_text(kind, value);
  };
  one(number);
  if (kind == ValueKind::twice) one(number + 5);
}

inline void append_event(std::string& out, const Layout& layout, const EventShape& shape,
                         std::size_t turn, std::size_t turns) {
  out += layout.open;
  bool first = true;
  const auto text = [&](std::string_view key, std::string_view value) {
    if (value.empty()) return;
    if (!first) out += layout.between;
    first = false;
    out += fmt::format("\"{}\"{}\"{}\"", key, layout.colon, value);
  };
  text("ph", shape.phase);
  text("cat", shape.category);
  text("name", shape.name);
  for (const auto& member : shape.members) append_member(out, layout, member, turn, turns);
  if (!shape.args.empty()) {
    out += fmt::format("{}\"args\"{}{{", layout.between, layout.colon);
    for (const auto& member : shape.args) append_member(out, layout, member, turn, turns);
    out += "}";
  }
  out += layout.close;
}

/// The events of `turns` turns of a loop, as a trace. `lead`: bytes of white space before the
/// first, which move all borders of chunks.
inline std::string repeating_trace(const std::vector<EventShape>& loop, std::size_t turns,
                                   const Layout& layout, std::size_t lead = 0) {
  std::string out = "{\"schemaVersion\": 1, \"traceEvents\": [" + std::string(lead, ' ');
  for (std::size_t turn = 0; turn < turns; ++turn)
    for (const auto& shape : loop) {
      if (turn > 0 || &shape != loop.data()) out += ",";
      append_event(out, layout, shape, turn, turns);
    }
  return out + "\n]}\n";
}

/// The loop that most are made from: each category that a profiler writes, with what it says of it.
inline std::vector<EventShape> profiled_loop() {
  using enum ValueKind;
  using enum Manner;
  const std::vector<Member> span{{"pid", integer, constant, 70},
                                 {"tid", integer, constant, 71},
                                 {"ts", fraction, moving, 4000},
                                 {"dur", fraction, moving, 2}};
  const std::vector<Member> launch{{"External id", integer, moving, 5},
                                   {"correlation", integer, moving, 900}};
  const std::vector<Member> on_device{{"device", integer, constant, 0},
                                      {"context", integer, constant, 1},
                                      {"stream", integer, constant, 7},
                                      {"correlation", integer, moving, 900},
                                      {"External id", integer, moving, 5}};
  const auto with = [](std::vector<Member> members, std::vector<Member> more) {
    members.insert(members.end(), more.begin(), more.end());
    return members;
  };
  return {
      {"X",
       "cpu_op",
       "aten::mm",
       span,
       {{"External id", integer, moving, 5},
        {"Sequence number", integer, moving, 3},
        {"Fwd thread id", integer, constant, 0},
        {"Input Dims", array, constant, 2},
        {"Input type", array, constant, 1}}},
      {"X", "user_annotation", "step", span, {{"External id", integer, moving, 5}}},
      {"X",
       "python_function",
       "train.py(1): f",
       span,
       {{"Python id", integer, moving, 4},
        {"Python parent id", integer, moving, 3},
        {"Python module id", integer, constant, 2}}},
      {"X", "cuda_runtime", "cudaLaunchKernel", span, launch},
      {"X", "kernel", "gemm", span,
       with(on_device, {{"grid", array, constant, 1},
                        {"block", array, constant, 2},
                        {"registers per thread", integer, constant, 32},
                        {"shared memory", integer, constant, 0},
                        {"est. achieved occupancy %", integer, constant, 31},
                        {"graph node id", integer, moving, 2}})},
      {"X", "kernel", "ncclDevKernel", span,
       with(on_device, {{"Collective name", text, constant, 1},
                        {"Seq", integer, moving, 1},
                        {"Group size", integer, constant, 2},
                        {"In msg nelems", integer, moving, 9}})},
      {"X", "gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", span,
       with(on_device, {{"bytes", integer, constant, 4096},
                        {"fromDevice", integer, constant, 0},
                        {"toDevice", integer, constant, 1}})},
      {"X", "gpu_memset", "Memset (Device)", span,
       with(on_device, {{"bytes", integer, moving, 64}})},
      {"X",
       "cuda_sync",
       "Event Sync",
       span,
       {{"cuda_sync_kind", text, constant, 1},
        {"stream", integer, constant, 7},
        {"wait_on_stream", integer, constant, 8},
        {"correlation", integer, moving, 900},
        {"wait_on_cuda_event_record_corr_id", integer, moving, 3}}},
      {"X", "gpu_user_annotation", "step", span, on_device},
      {"i",
       "cpu_instant_event",
       "[memory]",
       {{"pid", integer, constant, 70},
        {"tid", integer, constant, 71},
        {"ts", fraction, moving, 9}},
       {{"Addr", integer, moving, 4096},
        {"Bytes", integer, moving, 512},
        {"Total Allocated", integer, moving, 512},
        {"Total Reserved", integer, constant, 1024},
        {"Device Type", integer, constant, 1},
        {"Device Id", integer, constant, 0}}},
      {"s",
       "ac2g",
       "ac2g",
       {{"id", integer, moving, 900},
        {"pid", integer, constant, 70},
        {"tid", integer, constant, 71},
        {"ts", fraction, moving, 9}},
       {}},
      {"C",
       "hardware_counters",
       "sm__cycles",
       {{"pid", number_as_text, constant, 0}, {"ts", fraction, moving, 9}},
       {{"", fraction, moving, 3}}},
      {"M",
       "",
       "thread_name",
       {{"pid", integer, constant, 70}, {"tid", integer, moving, 71}},
       {{"name", text, moving, 1}}},
  };
}

}  // namespace gf::test
