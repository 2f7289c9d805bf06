#include "collect/record/secrets.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace gf {

namespace {

constexpr std::string_view kMask = "***";
// Parts of names whose values are secrets.
constexpr std::string_view kSecretNames[] = {"password",   "passwd",     "passphrase", "token",
                                             "secret",     "api-key",    "api_key",    "apikey",
                                             "access-key", "access_key", "credential"};
// How the tokens of some services begin.
constexpr std::string_view kTokenStarts[] = {"hf_",         "sk-",    "ghp_",  "gho_",  "ghs_",
                                             "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA",
                                             "ASIA",        "AIza",   "eyJ",   "nvapi-"};
constexpr std::size_t kLeastToken = 16;   // with such a start
constexpr std::size_t kLeastRandom = 32;  // without one: letters and digits only

bool names_secret(std::string_view name) {
  std::string lower(name);
  for (char& letter : lower)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  // A count of tokens is no secret: --max-tokens 512, --tokenizer gpt2.
  if (lower.find("tokens") != lower.npos || lower.find("tokeniz") != lower.npos) return false;
  return std::any_of(std::begin(kSecretNames), std::end(kSecretNames),
                     [&](std::string_view part) { return lower.find(part) != lower.npos; });
}

bool looks_like_token(std::string_view word) {
  const bool known = std::any_of(std::begin(kTokenStarts), std::end(kTokenStarts),
                                 [&](std::string_view start) { return word.starts_with(start); });
  if (known && word.size() >= kLeastToken) return true;
  if (word.size() < kLeastRandom) return false;
  bool digit = false, letter = false;
  for (const char character : word) {
    const auto code = static_cast<unsigned char>(character);
    digit |= std::isdigit(code) != 0;
    letter |= std::isalpha(code) != 0;
    if (std::isalnum(code) == 0) return false;
  }
  return digit && letter;
}

/// scheme://user:password@host
std::string without_password(const std::string& word) {
  const auto scheme = word.find("://");
  if (scheme == word.npos) return word;
  const auto at = word.find('@', scheme);
  const auto colon = word.find(':', scheme + 3);
  if (at == word.npos || colon == word.npos || colon > at || word.find('/', scheme + 3) < at)
    return word;
  return word.substr(0, colon + 1) + std::string(kMask) + word.substr(at);
}

std::string masked(const std::string& word) {
  if (looks_like_token(word)) return std::string(kMask);
  const auto equals = word.find('=');
  if (equals == word.npos) return without_password(word);
  const std::string value = word.substr(equals + 1);
  if (!value.empty() && (names_secret(word.substr(0, equals)) || looks_like_token(value)))
    return word.substr(0, equals + 1) + std::string(kMask);
  return without_password(word);
}

}  // namespace

std::string masked_command(const std::vector<std::string>& words) {
  std::string text;
  bool value_follows = false;
  for (const auto& word : words) {
    const bool option = word.starts_with("-");
    if (!text.empty()) text += " ";
    if (value_follows && !option)
      text += kMask;
    else
      text += masked(word);
    value_follows = option && word.find('=') == word.npos && names_secret(word);
  }
  return text;
}

}  // namespace gf
