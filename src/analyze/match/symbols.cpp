#include "analyze/match/symbols.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/strings.h"
#include "model/kernel_name.h"

namespace gf {

namespace {

/// Similarity below which two names of one short name are still taken for different kernels.
constexpr double kSameKernel = 0.5;

/// The short name without its scope: tools leave different scopes out.
std::string base_name(std::string_view name) {
  std::string text = short_kernel_name(name);
  return text.substr(text.rfind(':') + 1);
}

/// Gives every distinct canonical name a number, and pairs up names that only one side has.
class NameIds {
 public:
  std::uint32_t id(const Capture& capture, Text name, bool of_report) {
    auto [at, fresh] = by_text_.try_emplace(static_cast<std::uint32_t>(name), 0);
    if (fresh) {
      std::string canonical = canonical_kernel_name(capture.text(name));
      const auto [known, added] =
          by_canonical_.try_emplace(canonical, static_cast<std::uint32_t>(names_.size()));
      if (added) names_.push_back({std::move(canonical), base_name(capture.text(name))});
      at->second = known->second;
    }
    (of_report ? names_[at->second].in_report : names_[at->second].in_trace) = true;
    return at->second;
  }

  /// After all names are in: the number that stands for each, and how sure it is.
  void pair_leftovers() {
    representative_.resize(names_.size());
    certainty_.assign(names_.size(), 1.0F);
    for (std::uint32_t i = 0; i < names_.size(); ++i) representative_[i] = i;
    struct Candidate {
      double similarity;
      std::uint32_t trace, report;
    };
    std::vector<Candidate> candidates;
    for (std::uint32_t report_name = 0; report_name < names_.size(); ++report_name) {
      if (!names_[report_name].in_report || names_[report_name].in_trace) continue;
      for (std::uint32_t trace_name = 0; trace_name < names_.size(); ++trace_name) {
        if (!names_[trace_name].in_trace || names_[trace_name].in_report) continue;
        const bool mangled = names_[trace_name].canonical.starts_with("_Z") !=
                             names_[report_name].canonical.starts_with("_Z");
        if (!mangled && names_[trace_name].base != names_[report_name].base) continue;
        const double similarity =
            name_similarity(names_[trace_name].canonical, names_[report_name].canonical);
        if (similarity >= kSameKernel) candidates.push_back({similarity, trace_name, report_name});
      }
    }
    std::ranges::stable_sort(candidates, [](const Candidate& left, const Candidate& right) {
      return left.similarity > right.similarity;
    });
    std::vector<bool> taken(names_.size());
    for (const Candidate& candidate : candidates) {
      if (taken[candidate.trace] || taken[candidate.report]) continue;
      taken[candidate.trace] = taken[candidate.report] = true;
      representative_[candidate.report] = candidate.trace;
      certainty_[candidate.trace] = static_cast<float>(candidate.similarity);
      names_[candidate.trace].in_report = true;
    }
  }

  std::uint32_t representative(std::uint32_t id) const { return representative_[id]; }
  float certainty(std::uint32_t id) const { return certainty_[representative_[id]]; }
  void count(Symbols& symbols) const {
    for (std::uint32_t i = 0; i < names_.size(); ++i) {
      if (representative_[i] != i) continue;
      symbols.trace_names += names_[i].in_trace;
      symbols.report_names += names_[i].in_report;
      symbols.shared_names += names_[i].in_trace && names_[i].in_report;
    }
  }

 private:
  struct Name {
    std::string canonical, base;
    bool in_trace = false, in_report = false;
  };
  std::vector<Name> names_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_text_;
  std::unordered_map<std::string, std::uint32_t> by_canonical_;
  std::vector<std::uint32_t> representative_;
  std::vector<float> certainty_;
};

constexpr std::size_t kFields = 4;  // grid, block, registers, shared memory
using Key = std::array<std::int64_t, 9>;

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = 0x9E3779B97F4A7C15ull;
    for (std::int64_t part : key) {
      hash = (hash ^ static_cast<std::uint64_t>(part)) * 0xFF51AFD7ED558CCDull;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

/// Launch attributes of one row; the activities and report_kernels tables name them alike.
template <class Table>
Key shape(const Table& table, std::uint32_t row) {
  return {0,
          table.grid_x[row],
          table.grid_y[row],
          table.grid_z[row],
          table.block_x[row],
          table.block_y[row],
          table.block_z[row],
          table.registers[row],
          table.shared_bytes[row]};
}

constexpr std::array<std::array<std::size_t, 2>, kFields> kFieldParts{
    {{1, 4}, {4, 7}, {7, 8}, {8, 9}}};

std::array<std::size_t, kFields> known_fields(const auto& table, const auto& rows) {
  std::array<std::size_t, kFields> known{};
  for (std::uint32_t row : rows) {
    const Key key = shape(table, row);
    for (std::size_t field = 0; field < kFields; ++field)
      known[field] += key[kFieldParts[field][0]] >= 0;
  }
  return known;
}

}  // namespace

Symbols make_symbols(const Capture& capture, const std::vector<std::uint32_t>& rows) {
  const auto& activities = capture.activities;
  const auto& report_kernels = capture.report_kernels;
  std::vector<std::uint32_t> report_rows(report_kernels.size());
  for (std::uint32_t i = 0; i < report_rows.size(); ++i) report_rows[i] = i;

  NameIds names;
  std::vector<std::uint32_t> trace_name(rows.size()), report_name(report_kernels.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    trace_name[i] = names.id(capture, activities.name[rows[i]], false);
  for (std::uint32_t i = 0; i < report_kernels.size(); ++i)
    report_name[i] = names.id(capture, report_kernels.name[i], true);
  names.pair_leftovers();

  // An attribute takes part when nearly every kernel of both sides has it; what only some have
  // cannot tell kernels apart.
  const auto in_trace = known_fields(activities, rows),
             in_report = known_fields(report_kernels, report_rows);
  std::array<bool, kFields> use{};
  float compared = 0;
  for (std::size_t field = 0; field < kFields; ++field) {
    use[field] = in_trace[field] * 20 >= rows.size() * 19 &&
                 in_report[field] * 20 >= report_kernels.size() * 19;
    compared += use[field] ? 1.0F : 0.0F;
  }
  const float by_shape = 0.6F + 0.4F * compared / kFields;

  Symbols out;
  out.trace.assign(activities.size(), kNoRow);
  out.report.assign(report_kernels.size(), kNoRow);
  std::unordered_map<Key, std::uint32_t, KeyHash> symbols;
  auto symbol = [&](std::uint32_t name, Key key) {
    key[0] = names.representative(name);
    for (std::size_t field = 0; field < kFields; ++field)
      if (!use[field])
        for (std::size_t part = kFieldParts[field][0]; part < kFieldParts[field][1]; ++part)
          key[part] = -1;
    const auto [at, fresh] = symbols.try_emplace(key, static_cast<std::uint32_t>(symbols.size()));
    if (fresh) out.certainty.push_back(names.certainty(name) * by_shape);
    return at->second;
  };
  for (std::size_t i = 0; i < rows.size(); ++i)
    out.trace[rows[i]] = symbol(trace_name[i], shape(activities, rows[i]));
  for (std::uint32_t i = 0; i < report_kernels.size(); ++i)
    out.report[i] = symbol(report_name[i], shape(report_kernels, i));
  names.count(out);
  return out;
}

namespace {

bool word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_' || letter == '$' ||
         static_cast<unsigned char>(letter) >= 0x80;
}
bool digit(char letter) { return letter >= '0' && letter <= '9'; }

/// Index behind the bracket that closes the one at `at`, counting only brackets of that kind.
std::size_t behind(std::string_view text, std::size_t at) {
  const char open = text[at], close = open == '(' ? ')' : open == '{' ? '}' : ']';
  int depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (text[i] == open) ++depth;
    if (text[i] == close && --depth == 0) return i + 1;
  }
  return text.size();
}

/// "{lambda(float)#1}", "[lambda(float) (instance 1)]" -> "L1"; other unnamed types -> "U1".
std::string unnamed_type(std::string_view inside) {
  std::size_t end = inside.size();
  while (end > 0 && !digit(inside[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && digit(inside[begin - 1])) --begin;
  std::string name(1, inside.find("lambda") != inside.npos ? 'L' : 'U');
  return name += inside.substr(begin, end - begin);
}

bool dropped(std::string_view word) {
  static constexpr std::array<std::string_view, 8> words{
      "const", "volatile", "void", "struct", "class", "enum", "typename", "__restrict__"};
  return std::ranges::find(words, word) != words.end();
}

/// "2ul" -> "2", "(int)1024" comes here without its cast; other words stay.
std::string_view plain_literal(std::string_view word) {
  if (word == "true") return "1";
  if (word == "false") return "0";
  if (!digit(word[0])) return word;
  while (word.size() > 1 &&
         (word.back() == 'u' || word.back() == 'l' || word.back() == 'U' || word.back() == 'L'))
    word.remove_suffix(1);
  return word;
}

std::vector<std::string_view> tokens(std::string_view canonical) {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < canonical.size();) {
    std::size_t end = i + 1;
    if (word(canonical[i]))
      while (end < canonical.size() && word(canonical[end])) ++end;
    if (canonical[i] != ' ') out.push_back(canonical.substr(i, end - i));
    i = end;
  }
  return out;
}

/// The identifiers of a linker name that cannot be demangled (some tools cut long ones):
/// "<length><identifier>" parts.
std::vector<std::string_view> mangled_identifiers(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t i = 2; i < text.size();) {
    if (!digit(text[i])) {
      ++i;
      continue;
    }
    // Digits of a literal ("Li64E"), of a substitution ("S1_") and of a parameter ("T0_") are no
    // lengths.
    const bool literal =
        text[i - 2] == 'L' && std::islower(static_cast<unsigned char>(text[i - 1]));
    if (literal || text[i - 1] == 'S' || text[i - 1] == 'T') {
      while (i < text.size() && text[i] != (literal ? 'E' : '_')) ++i;
      continue;
    }
    std::size_t length = 0;
    while (i < text.size() && digit(text[i]) && length < text.size())
      length = length * 10 + static_cast<std::size_t>(text[i++] - '0');
    if (length == 0 || i + length > text.size() ||
        !std::isalpha(static_cast<unsigned char>(text[i])))
      continue;
    out.push_back(text.substr(i, length));
    i += length;
  }
  return out;
}

/// Share of the distinct identifiers of a linker name that a spelled-out name has.
double identifier_share(std::string_view mangled, std::string_view canonical) {
  auto names = mangled_identifiers(mangled);
  auto words = tokens(canonical);
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  std::ranges::sort(words);
  if (names.size() < 3) return 0;
  const auto found = std::ranges::count_if(
      names, [&](std::string_view name) { return std::ranges::binary_search(words, name); });
  return static_cast<double>(found) / static_cast<double>(names.size());
}

}  // namespace

std::string canonical_kernel_name(std::string_view name) {
  const std::string spelled = demangled(name);
  const std::string_view source = spelled;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < source.size();) {
    const char letter = source[i];
    if (word(letter)) {
      std::size_t end = i;
      while (end < source.size() && word(source[end])) ++end;
      const std::string_view word = source.substr(i, end - i);
      if (!dropped(word)) out.emplace_back(plain_literal(word));
      i = end;
    } else if (letter == ':' && source.substr(i).starts_with("::")) {
      // A plain scope is a namespace (or a class without arguments): tools leave different ones
      // out, so all go.
      if (!out.empty() && word(out.back()[0]) &&
          !(out.back()[0] == 'L' && out.back().size() > 1 && digit(out.back()[1])) && i > 0 &&
          word(source[i - 1]))
        out.pop_back();
      i += 2;
    } else if (letter == '(') {
      if (source.substr(i).starts_with("(anonymous namespace)")) {
        i = i + 21;
      } else {
        i = behind(source, i);
      }  // a parameter list, or the cast before a literal
    } else if (letter == '{' || letter == '[') {
      const std::size_t end = behind(source, i);
      out.push_back(unnamed_type(source.substr(i, end - i)));
      i = end;
    } else if (letter == '<' && source.substr(i).starts_with("<unnamed>")) {
      i += 9;
    } else {
      if (letter != ' ') out.emplace_back(1, letter);
      ++i;
    }
  }
  std::string text;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i > 0 && word(out[i][0]) && word(out[i - 1].back())) text += ' ';
    text += out[i];
  }
  return text;
}

double name_similarity(std::string_view first, std::string_view second) {
  if (first.starts_with("_Z") != second.starts_with("_Z")) {
    if (first.starts_with("_Z")) return identifier_share(first, second);
    return identifier_share(second, first);
  }
  const auto pairs = [](std::string_view canonical) {
    const auto parts = tokens(canonical);
    std::vector<std::uint64_t> out;
    std::uint64_t previous = 0;
    for (auto part : parts) {
      const std::uint64_t mark = hash_text(part);
      out.push_back(previous * 0x9E3779B97F4A7C15ull ^ mark);
      previous = mark;
    }
    std::ranges::sort(out);
    return out;
  };
  const auto left = pairs(first), right = pairs(second);
  if (left.empty() || right.empty()) {
    return left.empty() && right.empty() ? 1 : 0;
  }
  std::vector<std::uint64_t> both;
  std::ranges::set_intersection(left, right, std::back_inserter(both));
  return 2.0 * static_cast<double>(both.size()) / static_cast<double>(left.size() + right.size());
}

}  // namespace gf
