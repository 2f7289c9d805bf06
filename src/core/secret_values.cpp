// Values: whether a word is a secret by itself.
#include <algorithm>

#include "core/secret_words.h"

namespace gf::secrets {

namespace {

struct TokenStart {
  std::string_view text;
  std::size_t least;   // letters after it
  bool mixed = false;  // with a digit or a capital among them
};
/// How the tokens of some services begin.
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
    // Of words with lower dashes, the first alone counts: hf_hub_download_cache.
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
