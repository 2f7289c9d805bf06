#include "report/claims/claims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "report/text/format.h"
#include "report/text/sections.h"

namespace gf {

namespace {

constexpr std::size_t kNamed = 4;  // series in a text; JSON has them all
constexpr std::size_t kMarkdownColumns = 100;

std::string_view words_of(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::holds:
      return "holds";
    case ClaimVerdict::does_not_hold:
      return "does not hold";
    case ClaimVerdict::partly:
      return "holds in part";
    case ClaimVerdict::within_noise:
      return "within noise";
    case ClaimVerdict::not_measured:
      break;
  }
  return "not measured";
}

Paint paint_of(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::holds:
      return Paint::good;
    case ClaimVerdict::does_not_hold:
      return Paint::bad;
    case ClaimVerdict::partly:
    case ClaimVerdict::within_noise:
      return Paint::warn;
    case ClaimVerdict::not_measured:
      break;
  }
  return Paint::unknown;
}

std::string number(double value, RuleUnit unit) {
  switch (unit) {
    case RuleUnit::percent:
      return fmt::format("{:.1f} %", value * 100);
    case RuleUnit::points:
      return fmt::format("{:.1f} points", value * 100);
    case RuleUnit::times:
      return fmt::format(fmt::runtime(value < 0.1  ? "{:.2g} times"
                                      : value < 10 ? "{:.2f} times"
                                                   : "{:.0f} times"),
                         value);
    case RuleUnit::plain:
      break;
  }
  return fmt::format("{:.3g}", value);
}

/// The condition of a rule: "at least 0.98 times, in 75 % of them".
std::string limits_of(const JudgedRule& rule) {
  std::string text;
  const bool low = rule.low && (*rule.low > 0 || rule.unit == RuleUnit::plain);
  const bool high = rule.high && !(rule.unit == RuleUnit::percent && *rule.high == 1);
  if (low && high)
    text = fmt::format("{} to {}", number(*rule.low, rule.unit), number(*rule.high, rule.unit));
  else if (low)
    text = fmt::format("at least {}", number(*rule.low, rule.unit));
  else if (high)
    text = fmt::format("at most {}", number(*rule.high, rule.unit));
  else
    text = rule.kind == RuleKind::falls ? "falls at every step" : "rises at every step";
  if (rule.word != RuleWord::all)
    text += fmt::format(", {}: in {:.0f} % of them",
                        rule.word == RuleWord::seldom ? "\"seldom\" else" : "\"generally\"",
                        rule.share * 100);
  return text;
}

/// "12 of 14 (11 to 13 by their repeats), 1.03 times (a b1) to 5.2 times (c b2)".
std::string found_of(const JudgedRule& rule) {
  std::string text = fmt::format("{} of {}", rule.kept, rule.count);
  if (rule.kept_least < rule.kept_most)
    text += fmt::format(" ({} to {} by their repeats)", rule.kept_least, rule.kept_most);
  text += ", " + number(*rule.lowest, rule.unit);
  const std::string highest = number(*rule.highest, rule.unit);
  if (rule.count > 1)
    text += fmt::format(" ({}) to {} ({})", rule.lowest_name, highest, rule.highest_name);
  else if (!rule.lowest_name.empty())
    text += fmt::format(" ({})", rule.lowest_name);
  return text;
}

/// "dlrm fp32 b16 b64; bert amp b4": rows that differ in their last word stand together.
std::string names_of(const std::vector<std::string>& rows) {
  std::vector<std::string> groups;
  std::string stem;
  for (const auto& row : rows) {
    const std::size_t last = std::min(row.rfind(' '), row.size());
    if (!groups.empty() && last < row.size() && row.substr(0, last) == stem)
      groups.back() += row.substr(last);
    else
      groups.push_back(row);
    stem = row.substr(0, last);
  }
  const std::size_t more = groups.size() - std::min(groups.size(), kNamed);
  groups.resize(groups.size() - more);
  std::string text = fmt::format("{}", fmt::join(groups, "; "));
  if (more > 0) text += fmt::format("; {} more series", more);
  return text;
}

std::string rule_line(const JudgedRule& rule) {
  if (rule.count == 0) return fmt::format("{} ({}).", rule.about, limits_of(rule));
  return fmt::format("{} ({}): {}.", rule.about, limits_of(rule), found_of(rule));
}

/// "holds, 13 of 13, 1.27 times to 32 times": what the tables that ship say.
std::string shipped_line(const JudgedRule& rule) {
  if (!rule.shipped || rule.shipped->count == 0) return {};
  const ShippedRule& ours = *rule.shipped;
  std::string text = fmt::format("{}, {} of {}, {}", words_of(ours.verdict), ours.kept, ours.count,
                                 number(*ours.lowest, rule.unit));
  if (ours.count > 1) text += " to " + number(*ours.highest, rule.unit);
  return text;
}

std::string left_out_line(const LeftOut& left) {
  return fmt::format("Left out, {}: {}.", left.reason, names_of(left.rows));
}

std::int64_t count_of(const Reproduction& answer, ClaimVerdict verdict) {
  return std::count_if(answer.claims.begin(), answer.claims.end(),
                       [&](const JudgedClaim& claim) { return claim.verdict == verdict; });
}

/// The rows that the rules of a claim leave out, each list once.
std::vector<LeftOut> left_out_of(const JudgedClaim& claim) {
  std::vector<LeftOut> all;
  for (const auto& rule : claim.rules)
    for (const auto& left : rule.left_out)
      if (std::none_of(all.begin(), all.end(),
                       [&](const LeftOut& known) { return known.rows == left.rows; }))
        all.push_back(left);
  return all;
}

/// "Left out: 12 rows without memory_bytes, ...": how many rows each reason is about.
std::string left_out_counts(const JudgedClaim& claim) {
  std::map<std::string, std::set<std::string>> rows;
  for (const auto& rule : claim.rules)
    for (const auto& left : rule.left_out)
      rows[left.reason].insert(left.rows.begin(), left.rows.end());
  std::vector<std::string> parts;
  for (const auto& [reason, names] : rows)
    parts.push_back(fmt::format("{} ({})", reason, plural(std::ssize(names), "row")));
  return parts.empty() ? std::string() : fmt::format("Left out: {}.", fmt::join(parts, "; "));
}

/// Explains how to pass runs to a study.
std::string_view usage_of(Study study) {
  switch (study) {
    case Study::date24:
      return "Yours: gpufathom reproduce date24 TRACE --counters REPORT, "
             "MODEL_MODE_PRECISION_bN.gpf "
             "of several batches, or a folder of them.";
    case Study::dsd22:
      return "Yours: gpufathom reproduce dsd22 PROFILE..., traces or profiles of inference at "
             "several batches, with the batch in their names (lenet5_b64).";
    case Study::asap24:
      return "Yours: gpufathom reproduce asap24 RECORDING..., of record --kernels, and the model "
             "that gpufathom calibrate wrote.";
    case Study::itu23:
      return "Yours: gpufathom overhead -o costs.json -- python train.py, then gpufathom reproduce "
             "itu23 costs.json.";
  }
  return {};
}

bool is_open(const JudgedClaim& claim) {
  return std::any_of(claim.rules.begin(), claim.rules.end(), [](const JudgedRule& rule) {
    return rule.verdict == ClaimVerdict::not_measured;
  });
}

}  // namespace

std::vector<SaidClaim> said_claims(const Reproduction& answer) {
  std::vector<SaidClaim> all;
  for (const auto& claim : answer.claims) {
    SaidClaim said;
    said.id = claim.id;
    said.section = claim.section;
    said.kind = claim.verdict;
    said.verdict = words_of(claim.verdict);
    said.statement = claim.statement;
    said.original = claim.original;
    for (const auto& rule : claim.rules)
      said.rules.push_back(
          {std::string(words_of(rule.verdict)), rule_line(rule), shipped_line(rule)});
    for (const auto& left : left_out_of(claim)) said.left_out.push_back(left_out_line(left));
    if (is_open(claim)) said.needs = fmt::format("Needs: {}.", claim.needs);
    all.push_back(std::move(said));
  }
  return all;
}

std::string reproduction_summary(const Reproduction& answer) {
  const auto said = [&](ClaimVerdict verdict, const char* one, const char* many) {
    const auto count = count_of(answer, verdict);
    return fmt::format("{} {}", count, count == 1 ? one : many);
  };
  return fmt::format("{} of {} judge {} statements: {}, {}, {}, {}, {}.",
                     plural(answer.rows, "row"), fmt::join(answer.sources, ", "),
                     answer.claims.size(), said(ClaimVerdict::holds, "holds", "hold"),
                     said(ClaimVerdict::partly, "holds in part", "hold in part"),
                     said(ClaimVerdict::within_noise, "is within noise", "are within noise"),
                     said(ClaimVerdict::does_not_hold, "does not hold", "do not hold"),
                     said(ClaimVerdict::not_measured, "is not measured", "are not measured"));
}

std::string needs_text(const Reproduction& answer) {
  std::vector<std::string_view> needs;
  for (const auto& claim : answer.claims)
    if (is_open(claim) && std::ranges::find(needs, claim.needs) == needs.end())
      needs.push_back(claim.needs);
  return fmt::format("it needs one of: {}", fmt::join(needs, "; "));
}

std::string studies_text(const std::vector<Reproduction>& answers, const TextStyle& style) {
  const auto width = static_cast<std::size_t>(style.width);
  std::string text = wrap(
      "Statements of four publications, each a rule that measured runs decide. Here they are "
      "judged "
      "by the measurements that ship with gpufathom; with your own files the same rules judge your "
      "runs, beside ours.",
      width);
  for (const auto& answer : answers) {
    text += fmt::format("\n  {}\n", paint(style, Paint::strong, name_of(answer.study)));
    text += wrap(answer.title + ".", width, 4);
    text += wrap(answer.sources.empty() ? fmt::format("{} statements.", answer.claims.size())
                                        : reproduction_summary(answer),
                 width, 4);
    text += wrap(std::string(usage_of(answer.study)), width, 4);
  }
  return text;
}

std::string reproduction_text(const Reproduction& answer, const TextStyle& style) {
  const auto width = static_cast<std::size_t>(style.width);
  std::string text = wrap(answer.title, width) + wrap(reproduction_summary(answer), width);
  if (!answer.shipped.empty())
    text += paint(style, Paint::dim,
                  wrap(fmt::format("\"ours\" is the same by the tables that ship: {}.",
                                   fmt::join(answer.shipped, ", ")),
                       width));
  for (const auto& claim : said_claims(answer)) {
    text += fmt::format("\n  {} {}\n", claim.id, paint(style, paint_of(claim.kind), claim.verdict));
    text += wrap(claim.statement, width, 4);
    text += paint(style, Paint::dim,
                  wrap(fmt::format("{}; original: {}.", claim.section, claim.original), width, 4));
    for (const auto& rule : claim.rules) {
      text += wrap(fmt::format("{}: {}", rule.verdict, rule.text), width, 4);
      if (!rule.shipped.empty())
        text += paint(style, Paint::dim, wrap("ours: " + rule.shipped, width, 6));
    }
    for (const auto& left : claim.left_out) text += paint(style, Paint::dim, wrap(left, width, 4));
    if (!claim.needs.empty()) text += wrap(claim.needs, width, 4);
  }
  if (!answer.figures.empty()) {
    std::vector<std::string_view> ids;
    for (const auto& figure : answer.figures) ids.push_back(figure.id);
    text += "\n" +
            wrap(fmt::format("Drawn on the page (-o page.html): figures {}.", fmt::join(ids, "; ")),
                 width);
  }
  return text;
}

std::string reproduction_markdown(const Reproduction& answer) {
  const std::string venue = answer.title.substr(answer.title.rfind(", ") + 2);
  std::string text = fmt::format(
      "# Statements of {}\n\n<!-- Made by `gpufathom reproduce {} --format md`. -->\n\n", venue,
      name_of(answer.study));
  text += wrap(answer.title + ".", kMarkdownColumns) + "\n";
  text += wrap(reproduction_summary(answer), kMarkdownColumns);
  const auto said = said_claims(answer);
  for (std::size_t at = 0; at < said.size(); ++at) {
    const SaidClaim& claim = said[at];
    text += fmt::format("\n## {}. {}: {}\n\n", claim.id, claim.section, claim.verdict);
    text += wrap(claim.statement, kMarkdownColumns);
    text += wrap(fmt::format("Original: {}.", claim.original), kMarkdownColumns) + "\n";
    const auto item = [&](const std::string& words) {
      std::string lines = wrap(words, kMarkdownColumns, 2);
      lines[0] = '-';
      text += lines;
    };
    for (const auto& rule : claim.rules) item(fmt::format("**{}**: {}", rule.verdict, rule.text));
    if (const std::string left = left_out_counts(answer.claims[at]); !left.empty()) item(left);
    if (!claim.needs.empty()) text += "\n" + wrap(claim.needs, kMarkdownColumns);
  }
  return text;
}

}  // namespace gf
