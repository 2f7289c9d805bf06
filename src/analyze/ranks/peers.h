// What other ranks take for the same.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "core/time.h"

namespace gf {

Nanos median_of(const std::vector<Nanos>& values);

/// What other ranks take for the same. A rank's instances of a name, from the shortest to the
/// longest, are compared with those of its peers: the tail of a distribution is no fault of the
/// rank that shows it, unless the others' is shorter.
class Peers {
 public:
  struct Value {
    std::uint32_t name = 0, part = 0;
    Nanos time = 0;
    std::uint32_t node = 0;
    auto operator<=>(const Value&) const = default;
  };

  Peers(std::vector<Value> values, std::size_t nodes);

  bool known(std::uint32_t node) const { return usual_[node] != kNone; }
  /// Only of nodes whose name another rank has, too.
  Nanos of(std::uint32_t node) const { return usual_[node]; }

 private:
  static constexpr Nanos kNone = INT64_MIN;

  void learn(const std::vector<std::span<const Value>>& ranks, std::size_t rank);

  std::vector<Nanos> usual_;  // by node
};

}  // namespace gf
