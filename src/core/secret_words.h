// Letters, names and values as the scrubber of secrets sees them.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace gf::secrets {

inline bool is_digit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }
inline bool is_upper(char letter) { return std::isupper(static_cast<unsigned char>(letter)) != 0; }
inline bool is_lower(char letter) { return std::islower(static_cast<unsigned char>(letter)) != 0; }
inline bool is_alnum(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; }

/// "X-Amz-Signature" and "amzSignature" in parts, in lower case.
std::vector<std::string> parts_of(std::string_view name);
bool is_variable(std::string_view name);
/// Whether what bears this name is a secret.
bool names_secret(std::string_view name);
bool names_hash(std::string_view name);
/// Headers whose value has spaces.
bool names_header(std::string_view name);
/// What an option that is called like a secret may have besides one: --use-auth-token true.
bool is_setting(std::string_view value);

/// The length of the token of a service that the text begins with; 0: there is none.
std::size_t known_token(std::string_view text);
/// Whether letters, capitals and digits follow each other as in random data, not as in words.
bool looks_random(std::string_view word);

}  // namespace gf::secrets
