#include "analyze/compare/checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/compare/settings.h"
#include "core/format.h"
#include "core/nearest.h"
#include "core/text.h"
#include "model/levels.h"

namespace gf {

namespace {

constexpr const char* kForms =
    "write it as \"step > 3%\": step, item, kernels, idle, copies, joules, a level such as "
    "gpu.busy, "
    "or a row such as idle:sync, layer_type:MatMul, kernel:NAME; then > or <, and a limit in %, a "
    "time (ns, us, ms, s), J, or points of a level (pp)";

struct UnitName {
  std::string_view text;
  CheckRule::Unit unit;
  double factor;
};
// Longer ones first: "ms" ends with "s".
constexpr auto kUnits = std::to_array<UnitName>({
    {"%", CheckRule::Unit::percent, 1},
    {"ns", CheckRule::Unit::nanoseconds, 1},
    {"us", CheckRule::Unit::nanoseconds, 1e3},
    {"ms", CheckRule::Unit::nanoseconds, 1e6},
    {"s", CheckRule::Unit::nanoseconds, 1e9},
    {"J", CheckRule::Unit::joules, 1},
    {"pp", CheckRule::Unit::points, 1},
});

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <NamedEnum E>
std::vector<std::string> names_of_list() {
  return {EnumNames<E>::names.begin(), EnumNames<E>::names.end()};
}

/// All names that rows of a kind can have; none where the programs name them.
std::vector<std::string> fixed_names(std::string_view kind) {
  const auto is = [kind](ComparedRowKind known) { return name_of(known) == kind; };
  if (is(ComparedRowKind::idle)) return names_of_list<IdleReason>();
  if (is(ComparedRowKind::copy)) return {std::string(kCopiesAndSets)};
  if (is(ComparedRowKind::layer_type)) return names_of_list<LayerType>();
  if (is(ComparedRowKind::bar)) return names_of_list<Bar>();
  if (is(ComparedRowKind::phase)) return names_of_list<RuntimePhase>();
  return {};
}

/// The value of a run that a rule is about, in nanoseconds, joules or per cent.
std::optional<double> value_of(const Comparison& comparison, std::string_view what,
                               std::size_t run) {
  const ComparedRun& of = comparison.runs[run];
  const auto sum = [&](ComparedRowKind kind) {
    double total = 0;
    for (const auto& row : comparison.time)
      if (row.kind == kind) total += static_cast<double>(row.ns[run]);
    return total;
  };
  if (what == "step") return static_cast<double>(of.wall_ns);
  if (what == "item") return of.item_ns;
  if (what == "kernels") return static_cast<double>(of.kernel_ns);
  if (what == "idle") return sum(ComparedRowKind::idle);
  if (what == "copies") return sum(ComparedRowKind::copy);
  if (what == "joules") return of.joules;
  for (const auto& level : comparison.levels)
    if (level.id == what) {
      if (!level.value[run]) return std::nullopt;
      return *level.value[run] * 100;
    }
  const auto colon = what.find(':');
  if (colon == what.npos) return std::nullopt;
  const auto kind = what.substr(0, colon), name = what.substr(colon + 1);
  // What has a fixed name takes no time where no run has it; a layer or kernel may be misspelled.
  const bool fixed = !fixed_names(kind).empty();
  double total = 0;
  bool known = false;
  for (const auto* table :
       {&comparison.time, &comparison.phases, &comparison.layers, &comparison.kernels})
    for (const auto& row : *table) {
      if (name_of(row.kind) != kind) continue;
      if (table == &comparison.phases && !comparison.time.empty() &&
          comparison.time[0].kind == ComparedRowKind::phase)
        continue;  // the same rows again
      const bool meant = row.name == name || row.label == name;
      known |= fixed || meant;
      if (meant) total += static_cast<double>(row.ns[run]);
    }
  if (!known) return std::nullopt;
  return total;
}

/// The change in the unit of the limit; empty when there is no data for it.
std::optional<double> change_of(const CheckRule& rule, double before, double after) {
  if (rule.unit != CheckRule::Unit::percent) return after - before;
  if (before > 0) return 100 * (after / before - 1);
  if (after == before) return 0;
  return std::nullopt;
}

std::string shown(const CheckRule& rule, double value) {
  switch (rule.unit) {
    case CheckRule::Unit::percent:
      return fmt::format("{:+.1f} %", value);
    case CheckRule::Unit::nanoseconds:
      return fmt::format("{:+.3f} ms", value / 1e6);
    case CheckRule::Unit::joules:
      return fmt::format("{:+.3g} J", value);
    case CheckRule::Unit::points:
      break;
  }
  return fmt::format("{:+.1f} points", value);
}

/// The rules that the engine of verdicts decides: on times whose noise is known.
const std::optional<MeasuredRatio>* measured_of(const MeasuredChange& change,
                                                std::string_view what) {
  if (what == "step" || what == "item") return &change.step;
  return what == "kernels" ? &change.kernels : nullptr;
}

/// The limit as a share of what the first run takes.
double as_share(const CheckRule& rule, double before) {
  return rule.unit == CheckRule::Unit::percent ? rule.limit / 100 : rule.limit / before;
}

std::string why_undecided(const CheckRule& rule, const ComparedCheck& check,
                          const MeasuredRatio& measured, double unit) {
  std::string text = fmt::format("undecided: {} to {} with 95 % confidence",
                                 shown(rule, *check.low), shown(rule, *check.high));
  const bool within = rule.more ? *check.high < rule.limit : *check.low > rule.limit;
  if (within)
    text +=
        fmt::format(" ({} with the 99 % that passing needs)",
                    shown(rule, unit * ((rule.more ? measured.pass_high : measured.pass_low) - 1)));
  if (!check.captures_needed && measured.doubt > 0)
    return text + ", as kernels are missing or doubled (see the data quality of the captures)";
  if (!check.captures_needed)
    return text +
           ", and more captures like these would not tell: look for a larger change, or "
           "record longer";
  const bool one = measured.captures == 1;
  return text + fmt::format(
                    "; about {} captures of each version, recorded in turns, would decide, "
                    "here {} {}",
                    *check.captures_needed, one ? "is" : "are", measured.captures);
}

/// By the interval of the ratio of both versions' means. Gives what is to be said of it, if
/// anything.
std::string try_measured(ComparedCheck& check, const CheckRule& rule, MeasuredRatio measured,
                         double before, double items) {
  measured.scale(items);
  const double limit = as_share(rule, before);
  const double unit = rule.unit == CheckRule::Unit::percent ? 100 : before;
  const auto in_unit = [unit](double ratio) { return unit * (ratio - 1); };
  check.value = in_unit(measured.ratio);
  check.low = in_unit(measured.low);
  check.high = in_unit(measured.high);
  check.outcome = against_limit(measured, limit, rule.more);
  if (check.outcome != CheckOutcome::undecided)
    return fmt::format(" ({} to {} with 95 % confidence)", shown(rule, *check.low),
                       shown(rule, *check.high));
  check.captures_needed = captures_to_decide(measured, limit);
  return ", " + why_undecided(rule, check, measured, unit);
}

/// Nothing tells the noise.
std::string try_value(ComparedCheck& check, const CheckRule& rule, const Comparison& comparison,
                      std::size_t run) {
  constexpr std::int64_t kFewest = 3;
  const auto steps = std::min(comparison.runs[0].steps, comparison.runs[run].steps);
  if (comparison.per == "step" && steps < kFewest) {
    check.outcome = CheckOutcome::undecided;
    return fmt::format(", undecided: a run has {}, at least {} are needed", plural(steps, "step"),
                       kFewest);
  }
  const bool beyond = rule.more ? *check.value > rule.limit : *check.value < rule.limit;
  check.outcome = beyond ? CheckOutcome::failed : CheckOutcome::ok;
  return {};
}

std::string unknown_noise(ComparedCheck& check) {
  check.outcome = CheckOutcome::undecided;
  return ", undecided: the noise is unknown: record at least three steps a capture, or several "
         "captures of each version in turns";
}

/// Items of a step of the first run for one of this run's, where the rule is about an item.
double items_in(const Comparison& comparison, const CheckRule& rule, std::size_t run) {
  const auto &first = comparison.runs[0].batch, &other = comparison.runs[run].batch;
  if (rule.what != "item" || !first || !other) return 1;
  return static_cast<double>(*first) / static_cast<double>(*other);
}

ComparedCheck try_check(const Comparison& comparison, const CheckRule& rule,
                        const MeasuredChange& change, std::size_t run) {
  ComparedCheck check;
  check.rule = rule.text;
  check.run = static_cast<std::int64_t>(run);
  const auto& of = comparison.runs[run];
  const auto& first = comparison.runs[0];
  const auto before = value_of(comparison, rule.what, 0);
  const auto after = value_of(comparison, rule.what, run);
  if (before && after) check.value = change_of(rule, *before, *after);
  if (!check.value) {
    check.outcome = CheckOutcome::undecided;
    check.text = fmt::format("{}: undecided: no data for {}", of.label, rule.what);
    return check;
  }
  const double items = items_in(comparison, rule, run);
  const auto* measured = measured_of(change, rule.what);
  const std::string told = !measured    ? try_value(check, rule, comparison, run)
                           : !*measured ? unknown_noise(check)
                                        : try_measured(check, rule, **measured, *before, items);
  check.failed = check.outcome == CheckOutcome::failed;
  check.text = fmt::format("{}: {} {} against {}{}", of.label, rule.what, shown(rule, *check.value),
                           first.label, told);
  return check;
}

void refuse(ComparedCheck& check, std::string text) {
  check.outcome = CheckOutcome::refused;
  check.failed = false;
  check.captures_needed.reset();
  check.text = std::move(text);
}

/// The reason why a rule cannot be judged; empty: it does.
std::string why_not_judged(const Comparison& comparison,
                           const std::vector<MeasuredVersion>& versions, const CheckRule& rule,
                           const MeasuredChange& change, const ComparedCheck& check,
                           std::size_t run) {
  const bool by_the_clock = rule.what == "step" || rule.what == "item";
  if (comparison.ranks_of_one_job)
    return "the runs are ranks of one job, which wait for each other: compare a rank with the same "
           "rank of another job";
  if (!change.refused.empty()) return change.refused;
  if (by_the_clock && !change.step_refused.empty()) return change.step_refused;
  if (rule.what == "kernels" && !change.kernels_refused.empty()) return change.kernels_refused;
  if (auto why = why_sizes_decide(comparison, run, rule.what == "item"); !why.empty()) return why;
  const auto before = value_of(comparison, rule.what, 0);
  if (!measured_of(change, rule.what) || !before || !check.low) return {};
  const double limit = as_share(rule, *before), items = items_in(comparison, rule, run);
  return why_settings_decide(comparison, versions, run,
                             {by_the_clock, check.outcome, [&](MeasuredRatio measured) {
                                measured.scale(items);
                                return against_limit(measured, limit, rule.more);
                              }});
}

/// The rows of a comparison that have names of their own, such as kernel:NAME.
bool is_row(std::string_view what) {
  const auto colon = what.find(':');
  return colon != what.npos && enum_from<ComparedRowKind>(what.substr(0, colon)).has_value();
}

/// The names of quantities that one word compares.
std::vector<std::string> compared_names() {
  std::vector<std::string> names{"step", "item", "kernels", "idle", "copies", "joules"};
  for (const LevelRow& level : kLevelRows) names.emplace_back(level.id);
  return names;
}

/// ": did you mean kernel:NAME?"
std::string meant_by(const std::string& what, const std::vector<std::string>& names) {
  const auto colon = what.find(':');
  if (colon == what.npos) return did_you_mean(what, names);
  std::vector<std::string> rows;
  for (const auto kind : EnumNames<ComparedRowKind>::names)
    rows.push_back(std::string(kind) + what.substr(colon));
  return did_you_mean(what, rows);
}

}  // namespace

Result<CheckRule> parse_check(std::string_view text) {
  const auto at = text.find_first_of("<>");
  const auto wrong = [&](std::string_view why) {
    return fail(fmt::format("--fail-on \"{}\": {}", text, why), {}, -1, kForms);
  };
  if (at == text.npos) return wrong("a comparison is missing");
  CheckRule rule;
  rule.text = std::string(trimmed(text));
  rule.what = std::string(trimmed(text.substr(0, at)));
  rule.more = text[at] == '>';
  std::string_view limit = trimmed(text.substr(at + 1));
  if (rule.what.empty()) return wrong("what to compare is missing");
  if (const auto names = compared_names();
      !is_row(rule.what) && std::ranges::find(names, rule.what) == names.end())
    return wrong(fmt::format("there is no {}{}", rule.what, meant_by(rule.what, names)));
  if (const auto colon = rule.what.find(':'); colon != rule.what.npos) {
    const auto names = fixed_names(std::string_view(rule.what).substr(0, colon));
    const auto name = rule.what.substr(colon + 1);
    if (!names.empty() && std::ranges::find(names, name) == names.end()) {
      const auto meant = did_you_mean(name, names);
      return wrong(
          fmt::format("there is no {}{}", rule.what,
                      meant.empty() ? fmt::format(", but {}", fmt::join(names, ", ")) : meant));
    }
  }
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const UnitName& known) {
    return limit.ends_with(known.text);
  });
  if (unit == kUnits.end()) return wrong("the limit has no unit");
  limit.remove_suffix(unit->text.size());
  const auto value = number_in(trimmed(limit));
  if (!value || !std::isfinite(*value)) return wrong("the limit is not a number");
  rule.limit = *value * unit->factor;
  rule.unit = unit->unit;
  const bool level = rule.what.find('.') != rule.what.npos && rule.what.find(':') == rule.what.npos;
  if ((rule.unit == CheckRule::Unit::joules) != (rule.what == "joules") &&
      rule.unit != CheckRule::Unit::percent)
    return wrong("the unit does not fit");
  if (level != (rule.unit == CheckRule::Unit::points) && rule.unit != CheckRule::Unit::percent)
    return wrong("the unit does not fit");
  return rule;
}

void try_checks(Comparison& comparison, const std::vector<CheckRule>& rules,
                const std::vector<MeasuredVersion>& versions) {
  if (rules.empty()) return;
  std::vector<MeasuredChange> changes(1);  // by run
  for (std::size_t run = 1; run < comparison.runs.size(); ++run)
    changes.push_back(measure_change(versions[0], versions[run]));
  for (const auto& rule : rules)
    for (std::size_t run = 1; run < comparison.runs.size(); ++run) {
      const MeasuredChange& change = changes[run];
      auto check = try_check(comparison, rule, change, run);
      const auto why = why_not_judged(comparison, versions, rule, change, check, run);
      if (!why.empty())
        refuse(check, fmt::format("{}: not judged: {}", comparison.runs[run].label, why));
      comparison.checks.push_back(std::move(check));
    }
}

void refuse_incomplete(Comparison& comparison, const std::vector<bool>& whole) {
  for (auto& check : comparison.checks) {
    const auto run = static_cast<std::size_t>(check.run);
    if (whole[0] && whole[run]) continue;
    refuse(check,
           fmt::format("{}: not judged: {} is incomplete (--allow-incomplete judges anyway)",
                       comparison.runs[run].label, comparison.runs[whole[run] ? 0 : run].label));
  }
}

}  // namespace gf
