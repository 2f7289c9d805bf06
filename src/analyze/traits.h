// The traits of names as bits of their words; names/traits.def says what they mean.
#pragma once

#include "analyze/vocabulary.h"

namespace gf {
namespace trait_numbers {

#define GF_TRAIT_NUMBER(id, meaning) id,
enum class Host : std::uint8_t {
#define GF_HOST_TRAIT GF_TRAIT_NUMBER
#include "analyze/names/traits.def"
  count
};
enum class Call : std::uint8_t {
#define GF_CALL_TRAIT GF_TRAIT_NUMBER
#include "analyze/names/traits.def"
  count
};
enum class Kernel : std::uint8_t {
#define GF_KERNEL_TRAIT GF_TRAIT_NUMBER
#include "analyze/names/traits.def"
  count
};
#undef GF_TRAIT_NUMBER
static_assert(static_cast<unsigned>(Host::count) <= kTraitBits);
static_assert(static_cast<unsigned>(Kernel::count) <= kTraitBits);

}  // namespace trait_numbers

/// Traits of operators, marks and Python frames: names.host(name) & host_is::view.
namespace host_is {
inline constexpr NameWord none = 0;
#define GF_HOST_TRAIT(id, meaning) \
  inline constexpr NameWord id = NameWord{1} << static_cast<unsigned>(trait_numbers::Host::id);
#include "analyze/names/traits.def"
}  // namespace host_is

namespace call_is {
inline constexpr NameWord none = 0;
#define GF_CALL_TRAIT(id, meaning) \
  inline constexpr NameWord id = NameWord{1} << static_cast<unsigned>(trait_numbers::Call::id);
#include "analyze/names/traits.def"
}  // namespace call_is

namespace kernel_is {
inline constexpr NameWord none = 0;
#define GF_KERNEL_TRAIT(id, meaning) \
  inline constexpr NameWord id = NameWord{1} << static_cast<unsigned>(trait_numbers::Kernel::id);
#include "analyze/names/traits.def"
}  // namespace kernel_is

}  // namespace gf
