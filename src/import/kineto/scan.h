// Finding the ends of JSON values; scan.inl says what each function does.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gf::kineto {
#include "import/kineto/scan.inl"
}  // namespace gf::kineto
