#include "report/reference/findings_page.h"

#include <fmt/format.h>

#include <span>
#include <string_view>

#include "analyze/names.h"

namespace gf {

namespace {

enum class Scope { trace, kernel = trace, sample };
enum class Rank { caveat, loss, note };

struct Row {
  Scope scope;
  Rank rank;
  FindingId id;
  std::string_view fires_when, gain;
};
constexpr Row kRows[] = {
#define GF_FINDING(scope, rank, id, group, label, fires_when, gain) \
  {Scope::scope, Rank::rank, FindingId::id, fires_when, gain},
#define GF_FINDING_TOO(scope, rank, id, fires_when, gain) \
  {Scope::scope, Rank::rank, FindingId::id, fires_when, gain},
#include "analyze/names/findings.def"
#undef GF_FINDING
#undef GF_FINDING_TOO
};

struct Words {
  std::string_view label;
  FindingGroup group;
};
/// By FindingId.
constexpr Words kWords[] = {
#define GF_FINDING(scope, rank, id, group, label, fires_when, gain) {label, FindingGroup::group},
#define GF_FINDING_TOO(scope, rank, id, fires_when, gain)
#include "analyze/names/findings.def"
#undef GF_FINDING
#undef GF_FINDING_TOO
};

constexpr const char* kFindingsHead = R"(# Findings: what to change

<!-- Made by `./dev docs` from src/analyze/names/findings.def: change that. -->

A finding has an `id`; a `text` that says what costs time and what to change; its `evidence`;
`gain_ns`, the time that acting on it could give back at most, were its cost to vanish entirely; a
`command` where there is something to run next; and a `group`. Gains of one group are about the same
time: they overlap, and count once. A rule fires only when its numbers reach the threshold. T is the
window summed over devices, K the kernel-busy time, B the busy time. Caveats about the capture come
first; losses follow by gain, and notes come last. Losses are about the part of a run that repeats:
idle of `start_up` and `unexplained` ([idle.md](idle.md)) is none, and what is spread over the
window must begin in both halves of it, in windows of 10 ms and more. What the rules of kernels find
must be 2 % of T as well, where the device hardly works.
)";

std::string rows_of(Scope scope, Rank rank) {
  const bool gains = rank == Rank::loss;
  std::string table = "| id | says | fires when |\n|---|---|---|\n";
  if (gains) table = "| id | says | fires when | gain | group |\n|---|---|---|---|---|\n";
  for (const auto& row : kRows) {
    if (row.scope != scope || row.rank != rank) continue;
    const auto& words = kWords[static_cast<std::size_t>(row.id)];
    table += fmt::format("| `{}` | {} | {} |", name_of(row.id), words.label, row.fires_when);
    const bool alone = name_of(words.group).empty();
    if (gains) table += fmt::format(" {} | {} |", row.gain, alone ? "none" : name_of(words.group));
    table += '\n';
  }
  return table;
}

}  // namespace

std::string findings_page() {
  return fmt::format(
      "{}\n## Traces\n\nCaveats:\n\n{}\nLosses:\n\n{}\nNotes:\n\n{}\n## Samples without kernels\n\n"
      "Recordings and logs without kernels ([samples.md](samples.md)) have rules of their own; "
      "their gains are bars of the\nwaterfall. Caveats:\n\n{}\nLosses:\n\n{}\n"
      "A rule is a function of the id's name in `src/analyze/findings/rules_*.cpp`.\n",
      kFindingsHead, rows_of(Scope::trace, Rank::caveat), rows_of(Scope::trace, Rank::loss),
      rows_of(Scope::trace, Rank::note), rows_of(Scope::sample, Rank::caveat),
      rows_of(Scope::sample, Rank::loss));
}

}  // namespace gf
