// Names: whether what bears them is a secret.
#include <algorithm>
#include <utility>

#include "core/lower_case.h"
#include "core/secret_words.h"
#include "core/words.h"

namespace gf::secrets {

namespace {

/// In a name without its separators, these say it wherever they stand.
constexpr std::string_view kSecretAnywhere =
    "password passwd passphrase passcode secret apikey accesskey privatekey accountkey "
    "storagekey sharedkey signingkey licensekey masterkey servicekey sessionkey "
    "encryptionkey subscriptionkey authtoken credential bearer oauth authorization "
    "connectionstring";
/// These are secrets as a whole part of a name, such as the second of X-Amz-Signature.
constexpr std::string_view kSecretParts =
    "token pwd pass passw psw creds auth jwt cookie signature sig pw otp pat cookies dsn "
    "sshpass";
/// What tokens are in models and their data: --pad-token-id 0, --max-token-len 512.
constexpr std::string_view kTokensOfModels =
    "max min num number n per pad eos bos unk cls sep mask special next image id ids type "
    "types dim len length count limit size budget dropout loss rate embedding weight "
    "level mixing mixer pruning merging shift start end stop audio video vocab batch "
    "position classification prob forward backward through first second one two multi "
    "single low high band all fast latency out throughput every begin text ring drop freq";
/// The value says where the secret is, or how it is kept.
constexpr std::string_view kPlaces =
    "file path dir folder name env url uri host endpoint type mode method scheme ttl "
    "provider store files";
/// What is written by these names is long and random, and no secret.
constexpr std::string_view kNamesOfHashes =
    "sha sha1 sha256 sha512 md5 hash digest checksum commit revision rev ref uuid guid "
    "etag git id trace";

}  // namespace

std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts;
  std::string part;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char letter = name[i];
    const bool hump = i > 0 && is_upper(letter) && is_lower(name[i - 1]);
    if ((hump || !is_alnum(letter)) && !part.empty()) parts.push_back(std::exchange(part, {}));
    if (is_alnum(letter)) part += lower_case(std::string_view(&letter, 1));
  }
  if (!part.empty()) parts.push_back(part);
  return parts;
}

bool is_variable(std::string_view name) {
  return std::none_of(name.begin(), name.end(), is_lower) &&
         std::any_of(name.begin(), name.end(), is_upper);
}

bool names_secret(std::string_view name) {
  const auto parts = parts_of(name);
  if (parts.empty() || has_word(kPlaces, parts.back())) return false;
  std::string whole;
  for (const auto& part : parts) whole += part;
  if (any_word(kSecretAnywhere, [&](auto word) { return whole.find(word) != whole.npos; }))
    return true;
  if (is_variable(name) && parts.size() > 1 && parts.back() == "key") return true;
  const bool secret = std::any_of(parts.begin(), parts.end(), [](const std::string& part) {
    return has_word(kSecretParts, part);
  });
  return secret && std::none_of(parts.begin(), parts.end(), [](const std::string& part) {
           return has_word(kTokensOfModels, part);
         });
}

bool names_hash(std::string_view name) {
  const auto parts = parts_of(name);
  return std::any_of(parts.begin(), parts.end(),
                     [](const std::string& part) { return has_word(kNamesOfHashes, part); });
}

bool names_header(std::string_view name) {
  const auto parts = parts_of(name);
  return !parts.empty() && (parts.back() == "authorization" || parts.back() == "cookie");
}

bool is_setting(std::string_view value) {
  constexpr std::string_view kSettings = "true false yes no none null on off auto never basic ";
  if (has_word(kSettings, lower_case(value))) return true;
  return value.size() < 4 && std::all_of(value.begin(), value.end(), is_digit);
}

}  // namespace gf::secrets
