// Bytes inside JSON and pages.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gf {

/// Base64 with padding (RFC 4648).
void append_base64(std::string& out, std::string_view bytes);
std::string base64(std::string_view bytes);
/// The length of so many bytes in base64.
constexpr std::size_t in_base64(std::size_t bytes) { return (bytes + 2) / 3 * 4; }
/// Empty where the text is none.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace gf
