#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "analyze/claims/claims.h"

namespace gf {

namespace {

constexpr double kAny = std::numeric_limits<double>::quiet_NaN();
constexpr double kGenerally = 0.75;
constexpr double kNotSlower = 0.98;  // throughputs 2 % apart are alike
constexpr std::string_view kBy = " by ";
constexpr std::size_t kRanked = 3;  // with two, a rank correlation is 1 or -1

/// The part of the values that a word asks for.
constexpr double share_of(RuleWord word) { return word == RuleWord::all ? 1 : kGenerally; }

std::vector<Claim> make_claims() {
  std::vector<Claim> claims;
#define GF_CLAIM(study, id, section, statement, original, needs) \
  claims.push_back({Study::study, id, section, statement, original, needs, {}});
#define GF_RULE(kind, about, value, rows, against, low, high, word, unit) \
  claims.back().rules.push_back(                                          \
      {RuleKind::kind, about, value, rows, against, low, high, RuleWord::word, RuleUnit::unit});
#include "analyze/claims/claims.def"
#undef GF_RULE
#undef GF_CLAIM
  return claims;
}

/// A row that a rule is about, with the rule's value.
struct Valued {
  const FactRow* row;
  Measured value;
  std::optional<double> against;
};

bool by_value(const Valued& left, const Valued& right) {
  return left.value.value < right.value.value;
}
bool by_against(const Valued& left, const Valued& right) { return left.against < right.against; }

/// All words but those that the conditions name, and the batch, as one text.
std::string likeness(const FactRow& row, std::string_view conditions, bool with_batch) {
  std::string key;
  for (const auto& [word, value] : row.words)
    if (conditions.find(word + "=") == std::string_view::npos) key += word + "=" + value + "\n";
  if (const auto batch = row.numbers.find("batch"); with_batch && batch != row.numbers.end())
    key += fmt::format("batch={}", batch->second.value);
  return key;
}

/// The verdict on one rule.
class Judgement {
 public:
  Judgement(const Rule& rule, std::span<const FactRow> rows) : rule_(rule), rows_(rows) {
    out_.about = rule.about;
    out_.kind = rule.kind;
    out_.value = rule.value;
    out_.where = rule.rows;
    out_.against = rule.against;
    if (!std::isnan(rule.low)) out_.low = rule.low;
    if (!std::isnan(rule.high)) out_.high = rule.high;
    out_.word = rule.word;
    out_.share = share_of(rule.word);
    out_.unit = rule.unit;
  }

  JudgedRule judge() {
    switch (rule_.kind) {
      case RuleKind::each:
        for (const auto& valued : values(rule_.rows, {})) add(valued.value, valued.row->name);
        break;
      case RuleKind::best:
        best();
        break;
      case RuleKind::pairs:
        pairs(values(rule_.rows, {}), values(rule_.against, {}), rule_.against, true);
        break;
      case RuleKind::least_pairs:
        pairs(least(values(rule_.rows, {})), least(values(rule_.against, {})), rule_.against,
              false);
        break;
      case RuleKind::best_pairs:
        best_pairs();
        break;
      case RuleKind::ranks:
        ranks();
        break;
      case RuleKind::growth:
      case RuleKind::spread:
      case RuleKind::rises:
      case RuleKind::falls:
        for (auto& [key, series] : series_of(values(rule_.rows, rule_.against)))
          over_series(std::move(series));
        break;
    }
    if (out_.count > 0) {
      const bool least = are_enough(out_.kept_least), most = are_enough(out_.kept_most);
      out_.verdict = least != most ? ClaimVerdict::within_noise
                     : least       ? ClaimVerdict::holds
                                   : ClaimVerdict::does_not_hold;
    }
    return std::move(out_);
  }

  const std::set<const FactRow*>& used() const { return used_; }

 private:
  using Series = std::map<std::string, std::vector<Valued>>;

  bool are_enough(std::int64_t kept) const {
    return static_cast<double>(kept) >= out_.share * static_cast<double>(out_.count);
  }

  void leave_out(std::string reason, const std::string& name) {
    for (auto& left : out_.left_out)
      if (left.reason == reason) {
        left.rows.push_back(name);
        return;
      }
    out_.left_out.push_back({std::move(reason), {name}});
  }

  /// Rows that meet the conditions and have the value. Those without are named where another row
  /// of their table has it: other tables are not about this.
  std::vector<Valued> values(std::string_view conditions, std::string_view against) {
    std::vector<Valued> found;
    std::vector<std::pair<const FactRow*, std::string>> lacking;
    std::set<std::string> tables;
    for (const FactRow& row : rows_) {
      if (!matches(conditions, row)) continue;
      std::string missing;
      const auto value = evaluate(rule_.value, row, missing);
      std::optional<double> other;
      if (value && !against.empty())
        if (const auto measured = evaluate(against, row, missing)) other = measured->value;
      if (value && (other || against.empty())) {
        found.push_back({&row, *value, other});
        tables.insert(table_of(row));
        used_.insert(&row);
      } else {
        lacking.emplace_back(&row, missing);
      }
    }
    for (const auto& [row, missing] : lacking)
      if (tables.contains(table_of(*row))) leave_out("no " + missing, row->name);
    return found;
  }

  static std::string table_of(const FactRow& row) {
    std::string table;
    for (const std::string_view key : {"file", "table"}) table += row.word(key);
    return table;
  }

  static Series series_of(std::vector<Valued> all) {
    Series series;
    for (auto& valued : all) series[likeness(*valued.row, {}, false)].push_back(valued);
    for (auto& [key, rows] : series) std::stable_sort(rows.begin(), rows.end(), by_against);
    return series;
  }

  static std::vector<Valued> least(std::vector<Valued> all) {
    std::vector<Valued> out;
    for (const auto& [key, rows] : series_of(std::move(all)))
      out.push_back(*std::min_element(rows.begin(), rows.end(), by_value));
    return out;
  }

  /// True if a value keeps to the rule: as measured, and by all and by some of its repeats.
  struct Keeps {
    bool is, by_all, by_some;
  };
  Keeps inside(const Measured& value) const {
    const auto keeps = [&](double one) { return !(one < rule_.low) && !(one > rule_.high); };
    return {keeps(value.value), keeps(value.least) && keeps(value.most),
            !(value.most < rule_.low) && !(value.least > rule_.high)};
  }

  void add(const Measured& value, const std::string& name) { add(value, name, inside(value)); }
  void add(const Measured& value, const std::string& name, Keeps keeps) {
    ++out_.count;
    out_.kept += keeps.is;
    out_.kept_least += keeps.by_all;
    out_.kept_most += keeps.by_some;
    if (!keeps.is) {
      JudgedValue failing{name, value.value, {}, {}};
      if (value.least < value.most && std::isfinite(value.least) && std::isfinite(value.most)) {
        failing.least = value.least;
        failing.most = value.most;
      }
      out_.failing.push_back(std::move(failing));
    }
    if (!out_.lowest || value.value < *out_.lowest) {
      out_.lowest = value.value;
      out_.lowest_name = name;
    }
    if (!out_.highest || value.value > *out_.highest) {
      out_.highest = value.value;
      out_.highest_name = name;
    }
  }

  void best() {
    for (const auto& [key, rows] : series_of(values(rule_.rows, rule_.against)))
      add(rows.back().value, rows.back().row->name);
  }

  void pairs(const std::vector<Valued>& above, const std::vector<Valued>& below,
             std::string_view conditions, bool with_batch) {
    std::multimap<std::string, const Valued*> partners;
    for (const auto& other : below)
      if (other.value.value != 0)
        partners.emplace(likeness(*other.row, conditions, with_batch), &other);
    for (const auto& one : above) {
      const auto [first, last] = partners.equal_range(likeness(*one.row, conditions, with_batch));
      for (auto other = first; other != last; ++other)
        add(one.value / other->second->value, one.row->name);
      if (first == last) leave_out(fmt::format("no row with {}", conditions), one.row->name);
    }
  }

  void best_pairs() {
    const std::size_t by = rule_.against.find(kBy);
    const std::string_view conditions = rule_.against.substr(0, by);
    const std::string_view column = rule_.against.substr(by + kBy.size());
    const auto highest = [&](std::string_view where) {
      std::vector<Valued> out;
      for (const auto& [key, rows] : series_of(values(where, column)))
        out.push_back(*std::max_element(rows.begin(), rows.end(), by_against));
      return out;
    };
    pairs(highest(rule_.rows), highest(conditions), conditions, false);
  }

  void over_series(std::vector<Valued> rows) {
    const std::string name = rows.back().row->name;
    if (rows.size() < 2) return leave_out("one row in its series", name);
    const auto& last = rows.back();
    if (rule_.kind == RuleKind::growth) {
      const auto& before = rows[rows.size() - 2];
      if (std::abs(*last.against / *before.against - 2) > 0.1)
        return leave_out("its last step does not double", name);
      return add(last.value / before.value, name);
    }
    if (rule_.kind == RuleKind::spread) {
      const auto [low, high] = std::minmax_element(rows.begin(), rows.end(), by_value);
      return add(high->value / low->value, name);
    }
    const bool up = rule_.kind == RuleKind::rises;
    Keeps goes{true, true, true};
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const Measured& from = rows[up ? i - 1 : i].value;
      const Measured& to = rows[up ? i : i - 1].value;
      goes.is = goes.is && to.value > from.value;
      goes.by_all = goes.by_all && to.least > from.most;
      goes.by_some = goes.by_some && to.most > from.least;
    }
    const Measured& from = up ? rows.front().value : rows.back().value;
    const Measured& to = up ? rows.back().value : rows.front().value;
    if (from.value == 0) return leave_out(up ? "begins with 0" : "ends with 0", name);
    if (std::isnan(rule_.low))
      add(to / from, name, goes);
    else
      add(to / from, name);
  }

  void ranks() {
    std::string_view against = rule_.against;
    const std::size_t by = against.find(kBy);
    Series groups = series_of(values(rule_.rows, against.substr(0, by)));
    if (by != std::string_view::npos) {
      const std::string_view word = against.substr(by + kBy.size());
      Series chosen;
      for (const auto& [key, rows] : groups) {
        const Valued& highest = *std::max_element(rows.begin(), rows.end(), by_value);
        const auto found = highest.row->words.find(word);
        if (found != highest.row->words.end()) chosen[found->second].push_back(highest);
      }
      groups = std::move(chosen);
    }
    for (const auto& [key, rows] : groups) {
      const std::string name =
          by == std::string_view::npos ? rows.back().row->name : std::string(key);
      const auto correlation = rank_correlation(rows);
      if (rows.size() < kRanked)
        leave_out("under three rows", name);
      else if (!correlation)
        leave_out("does not vary", name);
      else
        add(*correlation, name);
    }
  }

  /// Ranks from 0, the mean rank where values are equal. Shares are ranked to a whole percent: what
  /// is closer is a matter of the samples.
  static std::vector<double> ranks_of(std::vector<double> values) {
    const bool are_shares = std::all_of(values.begin(), values.end(),
                                        [](double value) { return value >= 0 && value <= 1; });
    if (are_shares)
      for (double& value : values) value = std::round(value * 100);
    std::vector<double> sorted = values, ranks;
    std::sort(sorted.begin(), sorted.end());
    for (const double value : values) {
      const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
      ranks.push_back(static_cast<double>((first - sorted.begin()) + (last - sorted.begin()) - 1) /
                      2);
    }
    return ranks;
  }

  /// Spearman's; nothing where one of the two does not vary.
  static std::optional<double> rank_correlation(const std::vector<Valued>& rows) {
    std::vector<double> values, against;
    for (const auto& row : rows) {
      values.push_back(row.value.value);
      against.push_back(*row.against);
    }
    const auto first = ranks_of(std::move(values)), second = ranks_of(std::move(against));
    const double mean = (static_cast<double>(rows.size()) - 1) / 2;
    double both = 0, one = 0, other = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      both += (first[i] - mean) * (second[i] - mean);
      one += (first[i] - mean) * (first[i] - mean);
      other += (second[i] - mean) * (second[i] - mean);
    }
    if (one <= 0 || other <= 0) return {};
    return both / std::sqrt(one * other);
  }

  const Rule& rule_;
  std::span<const FactRow> rows_;
  std::set<const FactRow*> used_;
  JudgedRule out_;
};

ClaimVerdict verdict_of(const std::vector<JudgedRule>& rules) {
  const auto count = [&](ClaimVerdict verdict) {
    return std::count_if(rules.begin(), rules.end(),
                         [&](const JudgedRule& rule) { return rule.verdict == verdict; });
  };
  const auto all = static_cast<std::ptrdiff_t>(rules.size());
  const auto hold = count(ClaimVerdict::holds), open = count(ClaimVerdict::not_measured);
  if (open == all) return ClaimVerdict::not_measured;
  if (hold == all) return ClaimVerdict::holds;
  const auto noise = count(ClaimVerdict::within_noise), fail = count(ClaimVerdict::does_not_hold);
  if (fail == 0 && hold + noise == all) return ClaimVerdict::within_noise;
  if (hold > 0) return ClaimVerdict::partly;
  return fail > 0 ? ClaimVerdict::does_not_hold : ClaimVerdict::within_noise;
}

}  // namespace

std::span<const ShippedTable> shipped_tables() {
  static constexpr ShippedTable kTables[] = {
#define GF_SHIPPED(study, folder, name) {Study::study, folder, name},
#include "analyze/claims/shipped.def"
#undef GF_SHIPPED
  };
  return kTables;
}

void put_beside(const Reproduction& shipped, Reproduction& answer) {
  answer.shipped = shipped.sources;
  for (auto& figure : answer.figures)
    for (const auto& ours : shipped.figures)
      if (ours.id == figure.id) put_beside(ours, figure);
  for (std::size_t at = 0; at < answer.claims.size(); ++at) {
    answer.claims[at].shipped = shipped.claims[at].verdict;
    for (std::size_t rule = 0; rule < answer.claims[at].rules.size(); ++rule) {
      const JudgedRule& ours = shipped.claims[at].rules[rule];
      answer.claims[at].rules[rule].shipped = {ours.verdict, ours.kept, ours.count, ours.lowest,
                                               ours.highest};
    }
  }
}

std::span<const Claim> all_claims() {
  static const std::vector<Claim> claims = make_claims();
  return claims;
}

std::string_view title_of(Study study) {
  switch (study) {
    case Study::date24:
      return "Multi-Level Analysis of GPU Utilization in ML Training Workloads, DATE 2024";
    case Study::dsd22:
      return "Demystifying the TensorFlow Eager Execution of Deep Learning Inference on a CPU-GPU "
             "Tandem, DSD 2022";
    case Study::asap24:
      return "Analyzing GPU Energy Consumption in Data Movement and Storage, ASAP 2024";
    case Study::itu23:
      return "Profiling and Monitoring Deep Learning Training Tasks, ITU Copenhagen 2023";
  }
  return {};
}

Reproduction reproduce(Study study, std::span<const FactRow> rows, FigureSource from) {
  Reproduction out;
  out.study = study;
  out.title = title_of(study);
  std::set<const FactRow*> used;
  for (const Claim& claim : all_claims()) {
    if (claim.study != study) continue;
    JudgedClaim judged;
    judged.id = claim.id;
    judged.section = claim.section;
    judged.statement = claim.statement;
    judged.original = claim.original;
    judged.needs = claim.needs;
    for (const Rule& rule : claim.rules) {
      Judgement judgement(rule, rows);
      judged.rules.push_back(judgement.judge());
      used.insert(judgement.used().begin(), judgement.used().end());
    }
    judged.verdict = verdict_of(judged.rules);
    out.claims.push_back(std::move(judged));
  }
  out.rows = static_cast<std::int64_t>(used.size());
  std::set<std::string> files;
  for (const FactRow* row : used)
    if (const auto file = row->words.find("file"); file != row->words.end())
      files.insert(file->second);
    else if (const auto table = row->words.find("table");
             table != row->words.end() && table->second == kAnswerTable)
      files.insert(row->name);
  out.sources.assign(files.begin(), files.end());
  out.figures = figures_of(study, rows, from);
  return out;
}

}  // namespace gf
