// The keys of events and of their args that are read. In a header, so that the fast reader has the
// look-up inside its loop.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "import/kineto/event.h"

namespace gf::kineto {

// A map from a fixed list of short texts, made at compile time. A text is told by its length and
// its first and last eight bytes, so that a look-up mostly costs two loads and two comparisons.

template <class Value, std::size_t N>
class KeyTable {
 public:
  constexpr KeyTable(const std::pair<std::string_view, Value> (&keys)[N], Value missing)
      : missing_(missing) {
    for (std::size_t i = 0; i < N; ++i) {
      entries_[i] = {mark_of(keys[i].first), keys[i].first.data(), keys[i].second};
      std::size_t slot = slot_of(entries_[i].mark);
      while (slots_[slot]) slot = (slot + 1) % kSlots;
      slots_[slot] = static_cast<std::uint8_t>(i + 1);
    }
  }

  Value find(std::string_view key) const {
    const Mark mark = mark_of(key);
    for (std::size_t slot = slot_of(mark); slots_[slot]; slot = (slot + 1) % kSlots) {
      const Entry& entry = entries_[slots_[slot] - 1];
      if (entry.mark.first == mark.first && entry.mark.last == mark.last &&
          entry.mark.size == mark.size &&
          (mark.size <= 16 || std::memcmp(entry.text, key.data(), mark.size) == 0))
        return entry.value;
    }
    return missing_;
  }

 private:
  static_assert(N < 128);
  static constexpr std::size_t kSlots = 256;
  struct Mark {
    std::uint64_t first = 0, last = 0;
    std::size_t size = 0;
  };
  struct Entry {
    Mark mark;
    const char* text = nullptr;
    Value value{};
  };

  static constexpr std::uint64_t bytes_of(const char* at, std::size_t count) {
    if (__builtin_is_constant_evaluated()) {
      std::uint64_t bytes = 0;
      for (std::size_t i = 0; i < count; ++i)
        bytes |= static_cast<std::uint64_t>(static_cast<unsigned char>(at[i])) << (8 * i);
      return bytes;
    }
    // Never reads outside the text.
    if (count == 8) return load<std::uint64_t>(at);
    if (count >= 4)
      return load<std::uint32_t>(at) |
             static_cast<std::uint64_t>(load<std::uint32_t>(at + count - 4)) << (8 * (count - 4));
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i)
      bytes |= static_cast<std::uint64_t>(static_cast<unsigned char>(at[i])) << (8 * i);
    return bytes;
  }
  template <class T>
  static T load(const char* at) {
    static_assert(std::endian::native == std::endian::little,
                  "written for little-endian machines, as all with these profilers are");
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  static constexpr Mark mark_of(std::string_view text) {
    std::size_t count = 8;
    if (text.size() < 8) count = text.size();
    return {bytes_of(text.data(), count), bytes_of(text.data() + text.size() - count, count),
            text.size()};
  }
  static constexpr std::size_t slot_of(const Mark& mark) {
    return ((mark.first ^ mark.last * 31 ^ mark.size) * 0x9e3779b97f4a7c15u >> 48) % kSlots;
  }

  std::array<Entry, N> entries_{};
  std::array<std::uint8_t, kSlots> slots_{};  // number of an entry + 1; 0: free
  Value missing_;
};

template <class Value, std::size_t N>
KeyTable(const std::pair<std::string_view, Value> (&)[N], Value) -> KeyTable<Value, N>;

inline constexpr std::pair<std::string_view, Field> kArgs[] = {
    {"External id", Field::external_id},
    {"external id", Field::external_id},  // 2021 spelling
    {"correlation", Field::correlation},
    {"device", Field::device},
    {"context", Field::context},
    {"stream", Field::stream},
    {"registers per thread", Field::registers},
    {"shared memory", Field::shared_memory},
    {"grid", Field::grid},
    {"block", Field::block},
    {"est. achieved occupancy %", Field::occupancy},
    {"graph id", Field::graph_id},
    {"graph node id", Field::graph_node},
    {"kernel", Field::kernel},  // of a launch (ROCm)
    {"bytes", Field::bytes},
    {"fromDevice", Field::from_device},
    {"toDevice", Field::to_device},
    {"copy kind", Field::copy_kind},  // torch's own CUPTI reader names every copy "Memcpy"
    {"src kind", Field::copy_source},
    {"dst kind", Field::copy_target},
    {"Sequence number", Field::sequence},
    {"Fwd thread id", Field::forward_thread},
    {"Input Dims", Field::input_dims},
    {"Input dims", Field::input_dims},
    {"Input type", Field::input_type},
    {"Concrete Inputs", Field::input_values},
    {"Input Strides", Field::input_strides},
    {"Call stack", Field::call_stack},
    {"Module Hierarchy", Field::module_hierarchy},
    {"Python id", Field::python_id},
    {"Python parent id", Field::python_parent},
    {"Python module id", Field::python_module},
    {"cuda_sync_kind", Field::sync_kind},
    {"wait_on_stream", Field::wait_on_stream},
    {"wait_on_cuda_event_record_corr_id", Field::wait_on_correlation},
    {"Collective name", Field::collective},
    {"In msg nelems", Field::in_elements},
    {"Out msg nelems", Field::out_elements},
    {"Group size", Field::group_size},
    {"dtype", Field::dtype},
    {"Process Group Name", Field::group_name},
    {"Process Group Description", Field::group_description},
    {"Process Group Ranks", Field::group_ranks},
    {"Seq", Field::collective_sequence},
    {"Src Rank", Field::from_rank},
    {"Dst Rank", Field::to_rank},
    {"Comms Id", Field::communicator},
    {"Addr", Field::address},
    {"Bytes", Field::allocation_bytes},
    {"Total Allocated", Field::total_allocated},
    {"Total Reserved", Field::total_reserved},
    {"Device Type", Field::device_type},
    {"Device Id", Field::device_id},
    {"name", Field::arg_name},
    {"", Field::counter_value},
};

inline constexpr KeyTable kArgsTable(kArgs, Field::count);

inline constexpr std::pair<std::string_view, Field> kEvent[] = {
    {"ph", Field::ph},   {"cat", Field::cat}, {"name", Field::name}, {"pid", Field::pid},
    {"tid", Field::tid}, {"ts", Field::ts},   {"dur", Field::dur},   {"id", Field::id}};

inline constexpr KeyTable kEventTable(kEvent, Field::count);

/// The field behind a key of an event or of its args; Field::count for keys that nobody reads.
inline Field event_field(std::string_view key) { return kEventTable.find(key); }
inline Field args_field(std::string_view key) { return kArgsTable.find(key); }

}  // namespace gf::kineto
