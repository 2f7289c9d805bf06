#include "core/column.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace gf {

namespace {

void* pages(std::size_t size) {
  void* block = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) throw std::bad_alloc();
  return block;
}

}  // namespace

void* grow(void* block, std::size_t old, std::size_t size) {
  if (old >= kOwnPages && size >= kOwnPages) {
    void* moved = ::mremap(block, old, size, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) throw std::bad_alloc();
    return moved;
  }
  if (old < kOwnPages && size < kOwnPages) {
    void* moved = std::realloc(block, size);
    if (!moved) throw std::bad_alloc();
    return moved;
  }
  void* moved = size >= kOwnPages ? pages(size) : std::malloc(size);
  if (!moved) throw std::bad_alloc();
  if (block) std::memcpy(moved, block, std::min(old, size));
  give_back(block, old);
  return moved;
}

template void Column<std::int64_t>::push_back(std::int64_t);

void give_back(void* block, std::size_t size) noexcept {
  if (!block) return;
  if (size >= kOwnPages)
    ::munmap(block, size);
  else
    std::free(block);
}

}  // namespace gf
