// Bytes inside a page.
#pragma once

#include <string>
#include <string_view>

namespace gf {

/// gzip, at the smallest size unless `effort` is below 9; the same bytes for the same input.
std::string gzipped(std::string_view bytes, int effort = 9);
/// Base64 with padding (RFC 4648).
std::string base64(std::string_view bytes);

}  // namespace gf
