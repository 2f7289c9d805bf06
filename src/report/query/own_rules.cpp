#include "report/query/own_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "analyze/energy/json_fields.h"
#include "analyze/finding_ids.h"
#include "analyze/findings/facts.h"
#include "analyze/replay/what_if.h"
#include "core/files.h"
#include "core/format.h"
#include "core/text.h"
#include "report/query/column_table.h"
#include "report/query/query.h"
#include "report/summary.h"

namespace gf {
namespace {

constexpr const char* kSchema = "gpufathom.rules/1";
constexpr const char* kAdvice = "docs/own-rules.md has an example of every key";

/// The time that a rule counts.
enum class Counted : std::uint8_t { work, idle, both };

struct OwnRule {
  std::string id, where;
  Counted counts = Counted::work;
  double share = 0.05;  // of the window, from which on it is said
  double stays = 0;     // part of the work's time that the change leaves
  std::string says;
  std::string any_change;                     // for every framework
  std::map<std::string, std::string> change;  // by framework
};

/// True if a finding or a replayed change already has this name.
bool is_taken(const std::string& id) {
  return enum_from<FindingId>(id) || enum_from<Without>(id) || enum_from<With>(id) ||
         id == "graph" || id == WhatIfChanges::kLargerBatch || id == WhatIfChanges::kTogether;
}

/// The first {word} of a sentence that stands for nothing; empty: there is none.
std::string unknown_word(std::string_view says) {
  for (std::size_t at = 0; (at = says.find('{', at)) != says.npos; ++at) {
    const auto end = says.find('}', at);
    if (end == says.npos) return {};
    const auto word = says.substr(at, end + 1 - at);
    if (word != "{count}" && word != "{time}" && word != "{share}") return std::string(word);
  }
  return {};
}

/// Empty when the row is well made.
std::string defect(const OwnRule& rule, const std::vector<OwnRule>& before) {
  if (rule.id.empty()) return "has no id";
  if (rule.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos)
    return "has an id with other characters than a-z, 0-9 and _";
  if (is_taken(rule.id)) return "has an id that the program uses itself";
  if (std::ranges::find(before, rule.id, &OwnRule::id) != before.end())
    return "has the id of a row before it";
  if (rule.where.empty()) return "has no condition: \"where\"";
  if (rule.says.empty()) return "has no sentence: \"says\"";
  if (const auto word = unknown_word(rule.says); !word.empty())
    return fmt::format("has {} in \"says\", beside {{count}}, {{time}} and {{share}}", word);
  const auto is_part = [](double value) { return value >= 0 && value <= 1; };  // not of NaN
  if (!is_part(rule.share)) return "has a share that is no number from 0 to 1";
  if (!is_part(rule.stays)) return "has a \"stays\" that is no number from 0 to 1";
  return {};
}

constexpr std::string_view kKeys[] = {"id", "where", "counts", "share", "stays", "says", "change"};

std::string unknown_key(const JsonElement& row) {
  simdjson::dom::object object;
  if (row.get_object().get(object)) return {};
  for (const auto& [key, value] : object)
    if (std::ranges::find(kKeys, key) == std::end(kKeys)) return std::string(key);
  return {};
}

/// False if it is neither a text nor texts by framework.
bool take_change(OwnRule& rule, const JsonElement& row) {
  constexpr std::string_view kFrameworks[] = {"pytorch", "jax", "tensorflow", "any"};
  const auto change = json_field(row, "change");
  if (!change) return true;
  if (change->is_string()) rule.any_change = json_text(row, "change");
  if (change->is_string()) return true;
  simdjson::dom::object by_framework;
  if (change->get_object().get(by_framework)) return false;
  for (const auto& [framework, text] : by_framework) {
    std::string_view said;
    if (text.get_string().get(said) ||
        std::ranges::find(kFrameworks, framework) == std::end(kFrameworks))
      return false;
    rule.change[std::string(framework)] = said;
  }
  rule.any_change = rule.change["any"];
  return true;
}

/// A number that stands there, or the usual one where the key is absent.
double part_of_row(const JsonElement& row, std::string_view key, double usual) {
  return json_field(row, key) ? json_number(row, key) : usual;
}

Result<OwnRule> read_row(const JsonElement& row, std::size_t number, const std::string& path,
                         const std::vector<OwnRule>& before) {
  OwnRule rule;
  rule.id = json_text(row, "id");
  rule.where = json_text(row, "where");
  rule.says = json_text(row, "says");
  rule.share = part_of_row(row, "share", rule.share);
  rule.stays = part_of_row(row, "stays", rule.stays);
  const bool changes = take_change(rule, row);
  std::string wrong = defect(rule, before);
  if (!changes)
    wrong = "has a change that is neither a text nor texts by pytorch, jax, tensorflow, any";
  const auto counts = json_text(row, "counts");
  if (counts == "idle")
    rule.counts = Counted::idle;
  else if (counts == "both")
    rule.counts = Counted::both;
  else if (!counts.empty() && counts != "work")
    wrong = "counts neither work nor idle nor both";
  if (const auto key = unknown_key(row); !key.empty())
    wrong = fmt::format("has a key that is none of a rule: \"{}\"", key);
  if (!wrong.empty())
    return fail(
        fmt::format("rule {}{} {}", number, rule.id.empty() ? "" : " (" + rule.id + ")", wrong),
        path, -1, kAdvice);
  return rule;
}

/// The time of a rule's events by the operation around them, and what is gone with them.
struct Met {
  std::map<std::string, Nanos> by_name;
  Nanos time = 0;
  std::int64_t count = 0;
  ClaimedTime claimed;
  std::vector<Moment> moments;
};

std::string statement_of(const OwnRule& rule) {
  // A comment at the end of a condition ends with its line.
  return fmt::format(
      "select row, start_ns, duration_ns, coalesce(exclusive_ns, 0), coalesce(idle_ns, 0), "
      "coalesce(operator, short_name) from attributed_work where ({}\n)",
      rule.where);
}

Nanos integer(const QueryValue& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  return number ? *number : 0;
}

void add(Met& met, const OwnRule& rule, const std::vector<QueryValue>& row) {
  const bool work = rule.counts != Counted::idle, idle = rule.counts != Counted::work;
  const Nanos start = integer(row[1]), before = idle ? integer(row[4]) : 0;
  const auto kept = static_cast<Nanos>(rule.stays * static_cast<double>(integer(row[3])));
  const Nanos time = before + (work ? integer(row[3]) - kept : 0);
  if (time <= 0) return;
  met.time += time;
  ++met.count;
  if (const auto* name = std::get_if<std::string>(&row[5])) met.by_name[*name] += time;
  const auto activity = static_cast<std::uint32_t>(integer(row[0]));
  if (before > 0) met.claimed.host.push_back({start - before, start});
  if (work && rule.stays > 0)
    met.claimed.changed.emplace_back(activity, MendedTime{rule.stays, rule.stays, rule.stays});
  else if (work)
    met.claimed.activities.push_back(activity);
  met.moments.push_back({start - before, before + (work ? integer(row[2]) : 0)});
}

void replace(std::string& text, std::string_view word, const std::string& value) {
  for (std::size_t at = text.find(word); at != std::string::npos;
       at = text.find(word, at + value.size()))
    text.replace(at, word.size(), value);
}

std::string sentence(const OwnRule& rule, const Met& met, double share,
                     const std::string& framework) {
  std::string text = rule.says;
  replace(text, "{share}", say_share(share));
  replace(text, "{time}", say_time(met.time));
  replace(text, "{count}", fmt::format("{}", met.count));
  const auto known = rule.change.find(framework);
  const std::string& change = known != rule.change.end() ? known->second : rule.any_change;
  return change.empty() ? text : fmt::format("{} {}", text, change);
}

std::string largest_names(const Met& met) {
  std::vector<NamedTime> names;
  for (const auto& [name, ns] : met.by_name) names.push_back({name, ns});
  std::ranges::stable_sort(names, std::ranges::greater(), &NamedTime::ns);
  return say_names(names);
}

Finding finding_of(const OwnRule& rule, Met& met, double share, const std::string& framework) {
  Finding finding;
  finding.id = FindingId::own_rule;
  finding.rule = rule.id;
  finding.kind = FindingKind::cause;
  finding.group = rule.counts == Counted::work ? FindingGroup::kernels : FindingGroup::host;
  finding.text = sentence(rule, met, share, framework);
  finding.evidence = largest_names(met);
  finding.gain_ns = met.time;
  finding.share = share;
  finding.queries = {
      fmt::format("select * from attributed_work where ({}\n) order by "
                  "exclusive_ns desc",
                  rule.where)};
  constexpr std::size_t kMost = 3;
  std::ranges::stable_sort(met.moments, std::ranges::greater(), &Moment::duration_ns);
  met.moments.resize(std::min(kMost, met.moments.size()));
  finding.moments = std::move(met.moments);
  return finding;
}

/// A database that shows the work of a context. The capture outlives it.
Result<sqlite::Database> work_of(const Context& context, const Analysis& analysis) {
  auto db = sqlite::open("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
  if (!db) return tl::unexpected(db.error());
  const std::shared_ptr<const Capture> capture(&context.capture, [](const Capture*) {});
  if (auto ok = show_capture(db->get(), std::make_shared<QuerySource>(capture)); !ok)
    return tl::unexpected(ok.error());
  if (auto ok = add_analysis_table(db->get(), "attributed_work", context, analysis, nullptr); !ok)
    return tl::unexpected(ok.error());
  return db;
}

Result<std::vector<OwnFinding>> ask_rules(const std::vector<OwnRule>& rules,
                                          const std::string& path, const Context& context,
                                          const Analysis& analysis) {
  const auto db = work_of(context, analysis);
  if (!db) return tl::unexpected(db.error());
  const auto window = static_cast<double>(device_time(analysis));
  std::vector<OwnFinding> found;
  for (const auto& rule : rules) {
    const auto rows = ask(db->get(), statement_of(rule));
    if (!rows)
      return fail(fmt::format("rule {}: {}", rule.id, rows.error().what), path, -1,
                  "try its condition: gpufathom query TRACE \"select * from attributed_work where "
                  "...\"");
    Met met;
    for (const auto& row : rows->rows) {
      const Nanos activity = integer(row.front());
      if (activity < 0 || activity >= static_cast<Nanos>(context.capture.activities.size()))
        return fail(fmt::format("rule {}: its condition is no condition, but gives rows of its own",
                                rule.id),
                    path, -1, kAdvice);
      add(met, rule, row);
    }
    const double share = window > 0 ? static_cast<double>(met.time) / window : 0;
    if (met.count == 0 || share < rule.share) continue;
    met.claimed.host = normalised(std::move(met.claimed.host));
    auto finding = finding_of(rule, met, share, context.capture.framework);
    found.push_back({std::move(finding), std::move(met.claimed)});
  }
  return found;
}

}  // namespace

Result<OwnRules> read_own_rules(const std::string& path) {
  const auto text = read_small_file(path);
  if (!text) return tl::unexpected(text.error());
  JsonReader reader;
  const auto file = reader.parse(*text);
  if (!file) return fail("is no file of rules: it is not JSON", path, -1, kAdvice);
  if (json_text(*file, "schema") != kSchema)
    return fail(fmt::format("is no file of rules: its \"schema\" is not \"{}\"", kSchema), path, -1,
                kAdvice);
  std::vector<OwnRule> rules;
  for (const auto& row : json_items(*file, "rules")) {
    auto rule = read_row(row, rules.size() + 1, path, rules);
    if (!rule) return tl::unexpected(rule.error());
    rules.push_back(std::move(*rule));
  }
  if (rules.empty()) return fail("has no rules", path, -1, kAdvice);
  return OwnRules([rules, path](const Context& context, const Analysis& analysis) {
    return ask_rules(rules, path, context, analysis);
  });
}

}  // namespace gf
