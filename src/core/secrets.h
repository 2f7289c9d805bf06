// Captures are given to others, and command lines, variables and addresses hold secrets.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace gf {

/// A text with *** in place of what looks like a secret, wherever in it that stands: the value of
/// --password, TOKEN=… and "api_key": …, user:password@ in addresses and after -u, signatures of
/// addresses, Authorization headers, private keys, access tokens by their beginnings and words that
/// look random. A text past 256 KiB is *** as a whole.
std::string without_secrets(std::string_view text);

/// The same for what stands under a name, which may say that it is a secret, or a mere hash.
std::string without_secrets(std::string_view name, std::string_view value);

/// The words of a command, joined by spaces, without secrets.
std::string masked_command(const std::vector<std::string>& words);

/// The program and the script or module that it runs, without any other word: "python train.py".
std::string program_and_script(const std::vector<std::string>& words);

}  // namespace gf

// Letters, names and values as the scrubber of secrets sees them.
namespace gf::secrets {

inline bool is_digit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }
inline bool is_upper(char letter) { return std::isupper(static_cast<unsigned char>(letter)) != 0; }
inline bool is_lower(char letter) { return std::islower(static_cast<unsigned char>(letter)) != 0; }
inline bool is_alnum(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; }

/// "X-Amz-Signature" and "amzSignature" in parts, in lower case.
std::vector<std::string> parts_of(std::string_view name);
bool is_variable(std::string_view name);
/// True if what bears this name is a secret.
bool names_secret(std::string_view name);
bool names_hash(std::string_view name);
/// Headers whose value has spaces.
bool names_header(std::string_view name);
/// Values of an option named like a secret that are none: --use-auth-token true.
bool is_setting(std::string_view value);

/// The length of the token of a service that the text begins with; 0: there is none.
std::size_t known_token(std::string_view text);
/// True if letters, capitals and digits follow each other as in random data, not as in words.
bool looks_random(std::string_view word);

}  // namespace gf::secrets
