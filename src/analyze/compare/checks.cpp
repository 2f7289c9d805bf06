#include "analyze/compare/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "core/format.h"
#include "core/statistics.h"
#include "core/text.h"

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
  double total = 0;
  bool known = false;
  for (const auto* table :
       {&comparison.time, &comparison.phases, &comparison.layers, &comparison.kernels})
    for (const auto& row : *table) {
      if (name_of(row.kind) != what.substr(0, colon)) continue;
      if (table == &comparison.phases && !comparison.time.empty() &&
          comparison.time[0].kind == ComparedRowKind::phase)
        continue;  // the same rows again
      known = true;
      if (row.name == what.substr(colon + 1) || row.label == what.substr(colon + 1))
        total += static_cast<double>(row.ns[run]);
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

constexpr std::int64_t kFewestSteps = 3;

/// A change with what noise leaves open: both bounds are the change itself where nothing is known.
struct Bounded {
  double change = 0, low = 0, high = 0;
};

bool by_the_clock(const CheckRule& rule) { return rule.what == "step" || rule.what == "item"; }

/// Empty: too few steps for a statement.
std::optional<Bounded> bounded(const Comparison& comparison, const CheckRule& rule, std::size_t run,
                               double before, double after) {
  const double change = *change_of(rule, before, after);
  const auto& of = comparison.changes[run - 1];
  const auto steps = std::min(comparison.runs[0].steps, comparison.runs[run].steps);
  if (!by_the_clock(rule)) {
    if (comparison.per == "step" && steps < kFewestSteps) return std::nullopt;
    return Bounded{change, change, change};
  }
  if (!of.low || !of.high || !of.ratio) return std::nullopt;
  return Bounded{change, change_of(rule, before, after * *of.low / *of.ratio).value_or(change),
                 change_of(rule, before, after * *of.high / *of.ratio).value_or(change)};
}

CheckOutcome outcome_of(const CheckRule& rule, const Bounded& found) {
  // Turned so that more is worse.
  const double sign = rule.more ? 1 : -1;
  const double limit = sign * rule.limit, change = sign * found.change;
  const double best = rule.more ? found.low : -found.high;
  const double worst = rule.more ? found.high : -found.low;
  if (change > limit && (best > 0 || best == worst)) return CheckOutcome::failed;
  return worst <= limit ? CheckOutcome::ok : CheckOutcome::undecided;
}

/// About how many steps of each run would do, when they scatter as these: bounds come nearer with
/// the root of their number. Empty when nobody would take so many.
std::optional<std::int64_t> steps_needed(const CheckRule& rule, const Bounded& found,
                                         std::int64_t steps) {
  constexpr double kMost = 10'000;
  const double above = std::abs(found.change - rule.limit);
  const bool beyond = rule.more ? found.change > rule.limit : found.change < rule.limit;
  const double wanted = beyond ? std::abs(found.change) : above;
  const double reach = std::max(found.high - found.change, found.change - found.low);
  const double times = wanted > 0 ? reach / wanted : kMost;
  const double needed = std::ceil(static_cast<double>(steps) * times * times);
  if (!(needed < kMost)) return std::nullopt;
  return std::max(steps + 1, static_cast<std::int64_t>(needed));
}

std::string why_undecided(const Comparison& comparison, const CheckRule& rule,
                          const std::optional<Bounded>& found, std::size_t run) {
  if (comparison.per != "step")
    return "undecided: not every run has steps, so the noise is unknown";
  const auto steps = std::min(comparison.runs[0].steps, comparison.runs[run].steps);
  if (!found)
    return fmt::format("undecided: a run has {}, at least {} are needed", plural(steps, "step"),
                       kFewestSteps);
  const auto needed = steps_needed(rule, *found, steps);
  const std::string bounds = fmt::format("undecided: {} to {} with 95 % confidence",
                                         shown(rule, found->low), shown(rule, found->high));
  if (!needed) return bounds + ", and more steps would not help much";
  return fmt::format("{}; about {} steps per run would decide, here {}", bounds, *needed,
                     steps == 1 ? "is 1" : fmt::format("are {}", steps));
}

ComparedCheck try_check(const Comparison& comparison, const CheckRule& rule, std::size_t run) {
  ComparedCheck check;
  check.rule = rule.text;
  check.run = static_cast<std::int64_t>(run);
  const auto before = value_of(comparison, rule.what, 0);
  const auto after = value_of(comparison, rule.what, run);
  if (before && after) check.value = change_of(rule, *before, *after);
  const auto& name = comparison.runs[run].label;
  if (!check.value) {
    check.outcome = CheckOutcome::undecided;
    check.text = fmt::format("{}: undecided: no data for {}", name, rule.what);
    return check;
  }
  const auto found = bounded(comparison, rule, run, *before, *after);
  check.outcome = found ? outcome_of(rule, *found) : CheckOutcome::undecided;
  check.failed = check.outcome == CheckOutcome::failed;
  check.text = fmt::format("{}: {} {} against {}", name, rule.what, shown(rule, *check.value),
                           comparison.runs[0].label);
  if (check.outcome == CheckOutcome::undecided)
    check.text += ", " + why_undecided(comparison, rule, found, run);
  return check;
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

void try_checks(Comparison& comparison, const std::vector<CheckRule>& rules) {
  for (const auto& rule : rules)
    for (std::size_t run = 1; run < comparison.runs.size(); ++run)
      comparison.checks.push_back(try_check(comparison, rule, run));
}

void refuse_checks(Comparison& comparison, const std::vector<bool>& whole) {
  for (auto& check : comparison.checks) {
    const auto run = static_cast<std::size_t>(check.run);
    if (whole[0] && whole[run]) continue;
    const auto& lacks = comparison.runs[whole[run] ? 0 : run].label;
    check.outcome = CheckOutcome::refused;
    check.failed = false;
    check.text = fmt::format("{}: not judged: {} is incomplete", comparison.runs[run].label, lacks);
  }
}

namespace {

constexpr std::size_t kFewest = 3, kDraws = 2000;
constexpr double kNormal = 1.959964;  // 97.5 % quantile of the normal distribution

/// The steps of one run, drawn again and again.
class Resampled {
 public:
  explicit Resampled(std::span<const std::int64_t> steps) : steps_(steps) {
    for (const auto step : steps) mean_ += static_cast<double>(step);
    const auto count = static_cast<double>(steps.size());
    mean_ /= count;
    const double few = student_quantile95(std::ssize(steps) - 1);
    widened_ = few / kNormal * std::sqrt(count / (count - 1));
  }
  double mean() const { return mean_; }
  double draw(std::mt19937_64& random) const {
    double sum = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i)
      sum += static_cast<double>(steps_[random() % steps_.size()]);
    const double drawn = sum / static_cast<double>(steps_.size());
    return std::max(mean_ + widened_ * (drawn - mean_), 1e-3 * mean_);
  }

 private:
  std::span<const std::int64_t> steps_;
  double mean_ = 0, widened_ = 1;
};

}  // namespace

std::optional<RatioInterval> bootstrap_ratio(std::span<const std::int64_t> first,
                                             std::span<const std::int64_t> other) {
  if (first.size() < kFewest || other.size() < kFewest) return std::nullopt;
  const Resampled before(first), after(other);
  if (before.mean() <= 0 || after.mean() <= 0) return std::nullopt;
  std::mt19937_64 random(1);
  std::vector<double> ratios(kDraws);
  for (auto& ratio : ratios) {
    const double drawn = after.draw(random);
    ratio = drawn / before.draw(random);
  }
  return RatioInterval{after.mean() / before.mean(), quantile(ratios, 0.025),
                       quantile(ratios, 0.975)};
}

}  // namespace gf
