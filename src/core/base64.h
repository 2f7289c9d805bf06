// Bytes inside JSON and pages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gf {

/// Base64 with padding (RFC 4648).
std::string base64(std::string_view bytes);
/// Empty where the text is none.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace gf
