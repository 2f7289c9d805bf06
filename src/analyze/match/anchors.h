// Anchors: stretches where a trace repeats a report word for word. They cut long sequences into
// small ones to align.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gf {

struct Anchor {
  std::size_t a = 0, b = 0, length = 0;  // a[a, a + length) equals b[b, b + length)
};

/// A chain of stretches of at least `width` equal symbols whose first `width` have at most 64
/// places in b, in order of a: the one that covers the most and drifts the least, that is, advances
/// alike on both sides between stretches. Inside the chain b grows too; with `cyclic` it may start
/// over, as a report does that is laid over several steps of a trace. Time grows with the number of
/// stretches, not with a.size() * b.size().
std::vector<Anchor> chain_anchors(std::span<const std::uint32_t> left,
                                  std::span<const std::uint32_t> right, std::size_t width,
                                  bool cyclic);

}  // namespace gf
