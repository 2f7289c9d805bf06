#include "model/tables.h"

namespace gf {

Tables::Tables() = default;
Tables::Tables(const Tables&) = default;
Tables::Tables(Tables&&) noexcept = default;
Tables& Tables::operator=(const Tables&) = default;
Tables& Tables::operator=(Tables&&) noexcept = default;
Tables::~Tables() = default;

}  // namespace gf
