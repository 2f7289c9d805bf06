// Memory for large arrays that grow: small blocks come from the heap, large ones are pages of their
// own, which move without a copy.
#pragma once

#include <cstddef>

namespace gf {

/// From here on a block is pages of its own.
inline constexpr std::size_t kOwnPages = 256 << 10;

/// A block of `size` bytes with the first min(old, size) bytes of `block`, which it replaces (null:
/// none). Throws std::bad_alloc.
void* grow(void* block, std::size_t old, std::size_t size);
/// Frees what grow() gave; `size` is what was asked for.
void give_back(void* block, std::size_t size) noexcept;

}  // namespace gf
