#include "core/secrets.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/files.h"
#include "core/text.h"

namespace gf {

namespace {

using namespace secrets;

constexpr std::string_view kMask = "***";
constexpr char kBetweenWords = '\x1f';  // of a command, where a space may be part of a word
constexpr std::size_t kLongest = 256 << 10;

bool is_space(char letter) { return std::isspace(static_cast<unsigned char>(letter)) != 0; }
bool is_gap(char letter) { return is_space(letter) || letter == kBetweenWords; }
bool is_quote(char letter) { return letter == '"' || letter == '\'' || letter == '`'; }
bool in_name(char letter) {
  return is_alnum(letter) || letter == '_' || letter == '-' || letter == '.';
}

struct Span {
  std::size_t begin, end;
};

class Scrubber {
 public:
  explicit Scrubber(std::string_view text) : text_(text) {}
  std::string scrubbed();

 private:
  char at(std::size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
  char before(std::size_t place) const { return place > 0 ? text_[place - 1] : '\0'; }
  std::size_t skip_spaces(std::size_t from) const;
  /// The end of what begins here: of a quoted text its quote, else where a word or a member ends.
  std::size_t value_end(std::size_t from, bool whole_line) const;
  std::size_t word_end(std::size_t from) const;
  bool member_ends(std::size_t from) const;
  void mask(std::size_t begin, std::size_t end) {
    if (begin < end) spans_.push_back({begin, end});
  }
  std::size_t mask_value(std::size_t from, bool whole_line);
  std::size_t after_name(std::size_t begin, std::size_t end);
  std::size_t after_option(std::size_t begin, std::size_t end);
  std::string_view option_value(std::size_t end, std::size_t& from) const;
  void find_private_keys();
  void find_passwords_of_addresses();
  void find_names();
  void find_bearers();
  void find_tokens();
  void find_users();
  void find_options_of_programs();

  std::string_view text_;
  std::vector<Span> spans_;
};

std::size_t Scrubber::skip_spaces(std::size_t from) const {
  while (from < text_.size() && (text_[from] == ' ' || text_[from] == '\t')) ++from;
  return from;
}

std::size_t Scrubber::word_end(std::size_t from) const {
  while (from < text_.size() && !is_gap(text_[from]) && !is_quote(text_[from])) ++from;
  return from;
}

/// True if a list or an address goes on with another member, or ends, behind a mark between them.
bool Scrubber::member_ends(std::size_t from) const {
  if (from >= text_.size() || is_gap(text_[from]) || is_quote(text_[from]) || text_[from] == '\\')
    return true;
  if (std::string_view(",;&)]}").find(text_[from]) != std::string_view::npos) return true;
  std::size_t end = from;
  while (end < text_.size() && (in_name(text_[end]) || text_[end] == ' ')) ++end;
  return end > from && (at(end) == '=' || at(end) == ':');
}

std::size_t Scrubber::value_end(std::size_t from, bool whole_line) const {
  std::size_t end = from;
  for (; end < text_.size(); ++end) {
    const char letter = text_[end];
    if (letter == kBetweenWords || letter == '\n' || letter == '\r') return end;
    if (is_quote(letter) || (letter == '\\' && is_quote(at(end + 1)))) return end;
    if (whole_line) continue;
    if (is_space(letter)) return end;
    if ((letter == ',' || letter == ';' || letter == '&' || letter == ')' || letter == '}' ||
         letter == ']') &&
        member_ends(end + 1))
      return end;
  }
  return end;
}

/// Masks what begins here, without its quotes; gives where to go on.
std::size_t Scrubber::mask_value(std::size_t from, bool whole_line) {
  std::size_t slashes = 0;
  while (at(from + slashes) == '\\') ++slashes;
  if (const char quote = at(from + slashes); is_quote(quote)) {
    from += slashes + 1;
    std::size_t end = text_.find(quote, from);
    // Up to a quote that is written as the first was.
    auto depth = [&](std::size_t place) {
      std::size_t count = 0;
      while (count < place - from && text_[place - count - 1] == '\\') ++count;
      return count;
    };
    while (end != text_.npos && depth(end) > slashes) end = text_.find(quote, end + 1);
    const std::size_t word = text_.find(kBetweenWords, from);
    end = std::min({end, word, text_.size()});
    std::size_t last = end;
    if (end != word && end < text_.size()) last -= depth(end);
    mask(from, last);
    return end;
  }
  const std::size_t end = value_end(from, whole_line);
  mask(from, end);
  return end;
}

void Scrubber::find_private_keys() {
  constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ";
  for (auto from = text_.find(kBegin); from != text_.npos; from = text_.find(kBegin, from + 1)) {
    const auto title = text_.substr(from, 64);
    if (title.find("PRIVATE KEY") == title.npos && title.find("PRIVATE-KEY") == title.npos)
      continue;
    auto end = text_.find(kEnd, from);
    if (end != text_.npos) end = text_.find("-----", end + kEnd.size());
    end = end == text_.npos ? text_.size() : end + 5;
    mask(from, end);
    from = end - 1;
  }
}

/// scheme://user:password@host, scheme://token@host, and user:password@host.
void Scrubber::find_passwords_of_addresses() {
  for (std::size_t begin = 0; begin < text_.size();) {
    const std::size_t end = word_end(begin);
    const auto word = text_.substr(begin, end - begin);
    std::size_t user = 0;
    for (auto scheme = word.find("://"); scheme != word.npos; scheme = word.find("://", user)) {
      user = scheme + 3;
      const auto host = word.find_first_of("/?#", user);
      auto last = word.rfind('@', host);
      if (last == word.npos || last < user) last = word.npos;
      const auto colon = word.find(':', user);
      // A slash may be part of a password, but not of a port.
      const bool has_password = colon != word.npos && (host == word.npos || colon < host);
      const bool port =
          has_password && is_digit(word[std::min(colon + 1, word.size() - 1)]) &&
          word.substr(colon + 1, host - colon - 1).find_first_not_of("0123456789") == word.npos;
      if (has_password && !port && last == word.npos) last = word.find('@', colon);
      if (last == word.npos) continue;
      if (has_password && colon < last)
        mask(begin + colon + 1, begin + last);
      else if (last - user >= 20 || looks_random(word.substr(user, last - user)))
        mask(begin + user, begin + last);
    }
    if (user == 0) {
      const auto colon = word.find(':'), last = word.rfind('@');
      if (colon != word.npos && last != word.npos && colon + 1 < last && colon > 0 &&
          word.find('/') > colon && !word.substr(last + 1).starts_with("sha256") &&
          last + 1 < word.size() && word.find_last_of('=', colon) == word.npos)
        mask(begin + colon + 1, begin + last);
    }
    begin = end + 1;
  }
}

/// Behind a name that ends here and is followed by "=" or ":": where to go on, 0 when it is not.
std::size_t Scrubber::after_name(std::size_t begin, std::size_t end) {
  const auto name = text_.substr(begin, end - begin);
  std::size_t from = end;
  while (at(from) == '\\') ++from;
  const bool quoted = is_quote(at(from));
  if (!quoted) from = end;
  from = skip_spaces(from + quoted);
  if (at(from) == ']') from = skip_spaces(from + 1);  // environ['TOKEN'] = …
  const bool colon = at(from) == ':', equals = at(from) == '=';
  if (!colon && !equals) return 0;
  if (colon && at(from + 1) == '/' && at(from + 2) == '/') return 0;  // token://…
  if (equals && at(from + 1) == '=') return 0;
  const bool header = names_header(name);
  if (colon && !quoted && !header && from != end) return 0;
  from = skip_spaces(from + 1 + (at(from + 1) == '>'));
  const bool query = begin > 0 && (text_[begin - 1] == '?' || text_[begin - 1] == '&');
  if (!names_secret(name) && !(query && (lower_case(name) == "key" || lower_case(name) == "code")))
    return 0;
  const auto value = text_.substr(from, value_end(from, header && colon) - from);
  if (is_setting(value) && !is_quote(at(from)) && at(from) != '\\') return 0;
  return mask_value(from, header && colon);
}

/// The value of an option whose name ends here, and where it begins.
std::string_view Scrubber::option_value(std::size_t end, std::size_t& from) const {
  if (at(end) == kBetweenWords) {
    from = end + 1;
    return text_.substr(from, text_.find(kBetweenWords, from) - from);
  }
  from = skip_spaces(end);
  if (from == end || from >= text_.size()) return {};
  return text_.substr(from, value_end(from, false) - from);
}

/// Behind an option, or a name of several parts: --token VALUE, set aws_secret_access_key VALUE.
std::size_t Scrubber::after_option(std::size_t begin, std::size_t end) {
  const auto name = text_.substr(begin, end - begin);
  const bool option = name.starts_with("-");
  if (begin > 0 && !is_gap(before(begin)) && !is_quote(before(begin))) return 0;
  if (!is_gap(at(end))) return 0;
  if (!option && (parts_of(name).size() < 2 || name.find('.') != name.npos)) return 0;
  if (!names_secret(name)) return 0;
  std::size_t from = 0;
  const auto value = option_value(end, from);
  if (value.starts_with("-") && value != "-") return 0;
  if (at(end) == kBetweenWords) {
    if (is_setting(value)) return 0;
    mask(from, from + value.size());
    return from + value.size();
  }
  return is_setting(value) && !is_quote(at(from)) && at(from) != '\\' ? 0 : mask_value(from, false);
}

void Scrubber::find_names() {
  for (std::size_t begin = 0; begin < text_.size();) {
    if (!in_name(text_[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < text_.size() && in_name(text_[end])) ++end;
    std::size_t next = after_name(begin, end);
    if (next == 0) next = after_option(begin, end);
    begin = std::max(next, end);
  }
}

void Scrubber::find_bearers() {
  const std::string low = lower_case(text_);
  constexpr std::string_view kBearer = "bearer";
  for (auto from = low.find(kBearer); from != low.npos; from = low.find(kBearer, from + 1)) {
    std::size_t value = skip_spaces(from + kBearer.size());
    if (value == from + kBearer.size() || is_alnum(before(from))) continue;
    const std::size_t end = value_end(value, false);
    if (end - value >= 6) mask(value, end);
  }
}

/// Tokens of services, and what looks random without standing in a path or by a hash's name.
void Scrubber::find_tokens() {
  auto inside = [](char letter) { return is_alnum(letter) || letter == '_'; };
  auto random = [](char letter) {
    return is_alnum(letter) || letter == '+' || letter == '/' || letter == '_' || letter == '-';
  };
  for (std::size_t begin = 0; begin < text_.size();) {
    if (!random(text_[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    for (; end < text_.size() && random(text_[end]); ++end) {
      if (end > begin && inside(text_[end - 1])) continue;
      if (const std::size_t length = known_token(text_.substr(end)); length > 0) {
        mask(end, end + length);
        end += length - 1;
      }
    }
    const auto word = text_.substr(begin, end - begin);
    std::size_t name = begin;
    if (name > 0 && (is_gap(text_[name - 1]) ||
                     std::string_view("=:@").find(text_[name - 1]) != std::string_view::npos))
      --name;
    const std::size_t name_end = name;
    while (name > 0 && in_name(text_[name - 1])) --name;
    const bool hash = names_hash(text_.substr(name, name_end - name));
    const bool path = word.starts_with("/") || before(begin) == '.' || before(begin) == '~';
    if (!hash && !path && looks_random(word)) mask(begin, end);
    begin = end;
  }
}

/// -u USER:PASSWORD and its like; numbers are those of a user and a group.
void Scrubber::find_users() {
  for (const std::string_view option : {"-u", "-U", "--user", "--username", "--proxy-user"}) {
    for (auto place = text_.find(option); place != text_.npos;
         place = text_.find(option, place + 1)) {
      if (place > 0 && !is_gap(before(place)) && !is_quote(before(place))) continue;
      std::size_t from = place + option.size();
      if (at(from) == '=' || is_gap(at(from)))
        ++from;
      else if (option.size() > 2)
        continue;
      from = skip_spaces(from);
      while (at(from) == '\\' || is_quote(at(from))) ++from;
      const std::size_t end = value_end(from, false);
      const auto value = text_.substr(from, end - from);
      const auto colon = value.find(':');
      if (colon == value.npos || colon == 0 || value.find("://") != value.npos) continue;
      const auto secret = value.substr(colon + 1);
      if (!std::all_of(secret.begin(), secret.end(), is_digit)) mask(from + colon + 1, end);
    }
  }
}

struct ProgramOption {
  std::string_view program, option;
  bool joined = false;         // -pVALUE
  std::string_view with = {};  // another word without which the option means something else
};
constexpr ProgramOption kOptionsOfPrograms[] = {{"sshpass", "-p", true},
                                                {"mysql", "-p", true},
                                                {"mysqldump", "-p", true},
                                                {"mysqladmin", "-p", true},
                                                {"mariadb", "-p", true},
                                                {"docker", "-p", false, "login"},
                                                {"podman", "-p", false, "login"},
                                                {"redis-cli", "-a", false},
                                                {"ldapsearch", "-w", false},
                                                {"curl", "-b", false},
                                                {"unzip", "-P", true},
                                                {"zip", "-P", true},
                                                {"7z", "-p", true},
                                                {"bcp", "-P", true},
                                                {"sqlcmd", "-P", true},
                                                {"htpasswd", "-b", false},
                                                {"ipmitool", "-P", true},
                                                {"xfreerdp", "/p:", true},
                                                {"wandb", "login", false},
                                                {"ngrok", "authtoken", false}};

/// Short options that mean a secret in one program and a port in the next.
void Scrubber::find_options_of_programs() {
  for (const ProgramOption& known : kOptionsOfPrograms) {
    auto program = text_.find(known.program);
    for (; program != text_.npos; program = text_.find(known.program, program + 1))
      if ((program == 0 || !in_name(before(program))) && is_gap(at(program + known.program.size())))
        break;
    if (program == text_.npos) continue;
    if (text_.find(known.with, program) == text_.npos) continue;
    for (auto place = text_.find(known.option, program); place != text_.npos;
         place = text_.find(known.option, place + 1)) {
      std::size_t from = place + known.option.size();
      if (!is_gap(before(place))) continue;
      if (is_gap(at(from)))
        from = at(from) == kBetweenWords ? from + 1 : skip_spaces(from);
      else if (!known.joined)
        continue;
      if (at(from) == '-' || at(from) == '\0') continue;
      mask_value(from, false);
      break;
    }
  }
}

std::string Scrubber::scrubbed() {
  find_private_keys();
  find_passwords_of_addresses();
  find_names();
  find_bearers();
  find_users();
  find_options_of_programs();
  find_tokens();
  std::sort(spans_.begin(), spans_.end(),
            [](const Span& left, const Span& right) { return left.begin < right.begin; });
  std::string out;
  std::size_t done = 0;
  for (const Span& span : spans_) {
    if (span.end <= done) continue;
    if (span.begin >= done) {
      out += text_.substr(done, span.begin - done);
      out += kMask;
    }
    done = span.end;
  }
  out += text_.substr(done);
  std::replace(out.begin(), out.end(), kBetweenWords, ' ');
  return out;
}

/// Programs that run what a later word names.
bool runs_another(std::string_view word) {
  constexpr std::string_view kRunners =
      "python python3 pypy3 bash sh zsh node ruby perl julia Rscript torchrun accelerate "
      "deepspeed mpirun mpiexec srun env nohup time nice numactl taskset stdbuf sudo uv "
      "poetry conda ray horovodrun nsys ncu exec timeout xargs ipython jupyter launch "
      "gpufathom run";
  const auto name = file_name(word);
  return has_word(kRunners, name) || name.starts_with("python3.");
}

bool is_script(std::string_view word) {
  constexpr std::string_view kEnds[] = {".py", ".sh",    ".jl",  ".R",   ".js", ".rb",
                                        ".pl", ".ipynb", ".lua", ".pyc", ".pyz"};
  if (word.starts_with("-") || word.find_first_of("= \t\n;|&:") != word.npos) return false;
  return std::any_of(std::begin(kEnds), std::end(kEnds),
                     [&](std::string_view end) { return word.ends_with(end); });
}

}  // namespace

std::string without_secrets(std::string_view text) {
  return text.size() > kLongest ? std::string(kMask) : Scrubber(text).scrubbed();
}

std::string without_secrets(std::string_view name, std::string_view value) {
  const std::string start = std::string(name) + "=";
  std::string text = without_secrets(start + std::string(value));
  return !text.starts_with(start) ? std::string(kMask) : text.substr(start.size());
}

std::string masked_command(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) {
    if (!text.empty()) text += kBetweenWords;
    text += word;
  }
  return without_secrets(text);
}

std::string program_and_script(const std::vector<std::string>& words) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    const bool module = word == "-m" && i > 0 && i + 1 < words.size() &&
                        file_name(words[i - 1]).starts_with("python");
    if (module) {
      kept.insert(kept.end(), {word, words[i + 1]});
      break;
    }
    if (i > 0 && (!runs_another(words[0]) || word == "-c" || word == "-e")) break;
    const bool path = word.starts_with("/") || word.starts_with("./");
    const bool value = i > 0 && words[i - 1].starts_with("-");
    if (i == 0 || is_script(word) || runs_another(word) || (path && !value)) kept.push_back(word);
    if (i > 0 && !kept.empty() && kept.back() == word && !runs_another(word)) break;
  }
  return masked_command(kept);
}

}  // namespace gf
