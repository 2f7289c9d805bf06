// Names: whether what bears them is a secret.

#include <algorithm>
#include <utility>

#include "core/secrets.h"
#include "core/text.h"

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
/// Options about tokens of models and their data: --pad-token-id 0, --max-token-len 512.
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
/// Values under these names are long and random, and no secret.
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

// Values: whether a word is a secret by itself.

namespace {

struct TokenStart {
  std::string_view text;
  std::size_t least;   // letters after it
  bool mixed = false;  // with a digit or a capital among them
};
/// The beginnings of some services' tokens.
constexpr TokenStart kTokenStarts[] = {
    {"hf_", 13},         {"sk-", 13, true},     {"sk_live_", 8},    {"sk_test_", 8},
    {"rk_live_", 8},     {"whsec_", 8},         {"ghp_", 12},       {"gho_", 12},
    {"ghu_", 12},        {"ghs_", 12},          {"ghr_", 12},       {"github_pat_", 8},
    {"glpat-", 10},      {"glrt-", 10},         {"gldt-", 10},      {"xoxb-", 10},
    {"xoxp-", 10},       {"xoxa-", 10},         {"xoxs-", 10},      {"xapp-", 10},
    {"AKIA", 12},        {"ASIA", 12},          {"AIza", 12},       {"eyJ", 13},
    {"nvapi-", 10},      {"ya29.", 10},         {"npm_", 16},       {"pypi-", 16, true},
    {"r8_", 20},         {"gsk_", 16},          {"xai-", 16, true}, {"pplx-", 16, true},
    {"tvly-", 16, true}, {"lsv2_", 16},         {"SG.", 16, true},  {"dckr_pat_", 8},
    {"hvs.", 12},        {"GOCSPX-", 10},       {"dop_v1_", 16},    {"ATATT", 16},
    {"dapi", 24, true},  {"shpat_", 16},        {"sntrys_", 16},    {"figd_", 16},
    {"wandb_v1_", 8},    {"AGE-SECRET-KEY-", 8}};

bool in_token(char letter) {
  return is_alnum(letter) || letter == '_' || letter == '-' || letter == '.' || letter == '~';
}

}  // namespace

std::size_t known_token(std::string_view text) {
  for (const TokenStart& start : kTokenStarts) {
    if (!text.starts_with(start.text)) continue;
    std::size_t end = start.text.size();
    bool mixed = false;
    for (; end < text.size() && in_token(text[end]); ++end)
      mixed |= is_digit(text[end]) || is_upper(text[end]);
    // Only the first of words with underscores counts: hf_hub_download_cache.
    const auto rest = text.substr(start.text.size(), end - start.text.size());
    std::size_t run = rest.size();
    if (!mixed) run = std::min(rest.size(), rest.find_first_of("_-."));
    if (run >= start.least && (mixed || !start.mixed)) return end;
  }
  return 0;
}

namespace {
constexpr std::size_t kLeastHex = 32, kLeastRandom = 24, kLongRandom = 32;

}  // namespace

bool looks_random(std::string_view word) {
  if (word.size() < kLeastRandom) return false;
  std::size_t digits = 0, uppers = 0, lowers = 0, changes = 0;
  char before = '\0';
  auto kind = [](char letter) { return is_digit(letter) ? 1 : 2 + is_upper(letter); };
  for (const char letter : word) {
    if (!is_alnum(letter)) {
      before = '\0';
      continue;
    }
    digits += is_digit(letter);
    uppers += is_upper(letter);
    lowers += is_lower(letter);
    changes += before != '\0' && kind(before) != kind(letter);
    before = letter;
  }
  const double letters = static_cast<double>(digits + uppers + lowers);
  const double share = static_cast<double>(changes) / std::max(letters, 1.0);
  if (digits < 2 || lowers + uppers < 2) return false;
  const bool one_word = static_cast<std::size_t>(letters) == word.size();
  if (word.size() >= kLeastHex && one_word &&
      word.find_first_not_of("0123456789abcdefABCDEF") == word.npos)
    return true;
  if (uppers == 0 || lowers == 0) return one_word && word.size() >= kLongRandom && share >= 0.3;
  return share >= (word.size() < kLongRandom ? 0.45 : 0.36);
}

}  // namespace gf::secrets
