#include "report/reference/pages.h"

#include <fmt/format.h>

#include <map>
#include <span>
#include <string_view>
#include <typeindex>
#include <typeinfo>
#include <vector>

#include "analyze/finding_ids.h"
#include "analyze/names.h"
#include "analyze/ranks/job_energy.h"
#include "analyze/ranks/names.h"
#include "analyze/result.h"
#include "analyze/utilization/kernel_levels.h"
#include "analyze/work/result.h"

namespace gf {

namespace {

constexpr const char* kHead = R"(# The JSON of analyze

<!-- Made by `./dev docs` from src/analyze/results/*.def: change that. -->

`gpufathom analyze TRACE --format json` prints one object, schema `gpufathom.analysis/1`. A key may
be added within a version and is never renamed or given another meaning. Times ending in `_ns` are
integers in nanoseconds; starts and ends are on the capture's clock. Shares are 0 to 1. `null` means
no data, which is never written as 0. The times of a list add up to the total beside it.
)";

constexpr const char* kWorkHead = R"(# The JSON of work

<!-- Made by `./dev docs` from src/analyze/results/work.def: change that. -->

`gpufathom work TRACE --format json` prints one object, schema `gpufathom.work/1`.
[work.md](work.md) says what the numbers mean, [json.md](json.md) what all answers have in common.
)";

constexpr const char* kRanksHead = R"(# The JSON of ranks

<!-- Made by `./dev docs` from ranks.def, rank_part.def and job_energy.def in src/analyze/results/:
change those. -->

`gpufathom ranks FILE … --format json` prints one object, schema `gpufathom.ranks/1`, the first
below. `gpufathom ranks --map` prints one line for each rank, schema `gpufathom.rank/2`: `part` and
what follows it. The energy of a job (`gpufathom energy FILE FILE …`), schema
`gpufathom.job_energy/1`, has `energy` under `job`, and `costs`. [ranks.md](ranks.md) has the rules,
[json.md](json.md) what all answers have in common.
)";

/// Walks the declarations from the outermost struct on and writes one table a struct, each once, in
/// the order of first use.
class Pages {
 public:
  template <class T>
  std::string type_of() {
    if constexpr (requires {
                    typename T::value_type;
                    T().has_value();
                  })
      return type_of<typename T::value_type>() + " or null";
    else if constexpr (std::is_same_v<T, std::string>)
      return "text";
    else if constexpr (std::is_same_v<T, bool>)
      return "true or false";
    else if constexpr (std::is_integral_v<T>)
      return "integer";
    else if constexpr (std::is_floating_point_v<T>)
      return "number";
    else if constexpr (NamedEnum<T>)
      return "text";
    else if constexpr (requires { typename T::mapped_type; })
      return "object of " + type_of<typename T::mapped_type>() + " by name";
    else if constexpr (requires { typename T::value_type; })
      return "list of " + type_of<typename T::value_type>();
    else {
      static_assert(Described<T>);
      return link<T>();
    }
  }

  template <Described T>
  void write(const std::string& path) {
    names_.emplace(typeid(T), path);
    std::string table = fmt::format("\n## {}\n\n| key | type | meaning |\n|---|---|---|\n", path);
    const T sample{};
    path_ = path;
    each_field(sample, [&](const char* name, const auto& value, const char* meaning) {
      field_ = name;
      table += fmt::format("| {} | {} | {} |\n", name,
                           type_of<std::remove_cvref_t<decltype(value)>>(), meaning);
    });
    out_ += table;
    // Structs met for the first time in this one come right after it.
    auto pending = std::move(pending_);
    pending_.clear();
    for (auto& [name, write_it] : pending) (this->*write_it)(name);
  }

  /// The page of an answer: its own keys, and those of what it is made of.
  template <Described Root>
  static std::string page(const char* head, const std::string& root) {
    Pages pages;
    pages.root_ = root;
    pages.write<Root>(root);
    return head + std::move(pages.out_);
  }

  /// The page of an answer, and of others that share some of its structs.
  template <Described Root, Described Other, Described Third>
  static std::string page(const char* head, const std::string& root, const std::string& other,
                          const std::string& third) {
    Pages pages;
    pages.root_ = root;
    pages.write<Root>(root);
    pages.write<Other>(other);
    pages.write<Third>(third);
    return head + std::move(pages.out_);
  }

 private:
  template <Described T>
  std::string link() {
    auto known = names_.find(typeid(T));
    if (known == names_.end()) {
      std::string name = path_ != root_ ? path_ + "." + field_ : field_;
      known = names_.emplace(typeid(T), name).first;
      pending_.emplace_back(name, &Pages::write<T>);
    }
    std::string anchor;
    for (char letter : known->second)
      if (letter != '.') anchor += letter;
    return fmt::format("[{}](#{})", known->second, anchor);
  }

  std::map<std::type_index, std::string> names_;
  std::vector<std::pair<std::string, void (Pages::*)(const std::string&)>> pending_;
  std::string out_, path_, field_, root_;
};

}  // namespace

std::string analysis_page() { return Pages::page<Analysis>(kHead, "analysis"); }
std::string ranks_page() {
  return Pages::page<JobRanks, RankPart, JobEnergy>(kRanksHead, "ranks", "part", "energy");
}
std::string work_page() { return Pages::page<WorkUse>(kWorkHead, "work"); }

namespace {

std::string chips_of(ChipSet set) {
  if (set == kEveryChip) return "all";
  std::string names;
  for (const auto& chip : chips())
    if (set & bit(chip.id)) names += fmt::format("{}{}", !names.empty() ? " " : "", chip.name);
  return names;
}

}  // namespace

constexpr const char* kLevelsHead = R"(# Counter formulas of the levels

<!-- Made by `./dev docs` from src/analyze/utilization/kernel_levels.cpp: change that. -->

Each level of a kernel is computed by the first formula whose counters the report has for that
kernel; a counter in brackets counts as 0 when it is missing. [ladder.md](ladder.md) says what the
levels mean. `peak bytes` is the data-sheet bandwidth of the device times the kernel's duration
under the counter profiler.

)";

std::string levels_page() {
  std::string page = kLevelsHead;
  for (std::size_t rung = 0; rung < kKernelLevels; ++rung) {
    const auto level = static_cast<KernelLevel>(rung);
    page += fmt::format("## `{}`\n\n", id_of(level));
    if (level == KernelLevel::tensor_flops) {
      page +=
          "Sum over the input types of the chip: operations / (dense operations of one SM in a "
          "cycle x\n`smsp__cycles_elapsed.sum` / 4). The counters and rates of each chip are in\n"
          "[metrics.md](metrics.md#tensor-operations-by-input-type). A type whose counters the "
          "report lacks\ncounts nothing.\n\n";
      continue;
    }
    if (level == KernelLevel::matrix_issue) {
      page += fmt::format(
          "`tensor.issue` of kernels whose `tensor.active` is {} times it or more, 0 of others; "
          "{}.\n\n",
          kMatrixCycles, chips_of(bit(ChipId::GH100)));
      continue;
    }
    page += "| formula | chips |\n|---|---|\n";
    for (const auto& formula : level_formulas())
      if (formula.level == level)
        page += fmt::format("| `{}` | {} |\n", formula.text, chips_of(formula.chips));
    page += "\n";
  }
  page += fmt::format(
      "## Collecting them\n\n```\n{}\n```\n\nThe command for a chip names its tensor-operation "
      "counters too; `analyze`\nprints it when counters are missing.\n",
      ncu_command(nullptr));
  return page;
}

namespace {

enum class Scope { trace, kernel = trace, own = trace, sample };
enum class Rank { caveat, cause, loss, note };

struct Row {
  Scope scope;
  Rank rank;
  FindingId id;
  std::string_view fires_when, gain;
};
constexpr Row kRows[] = {
#define GF_FINDING(scope, rank, id, group, label, fires_when, gain, shown_by, ...) \
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
#define GF_FINDING(scope, rank, id, group, label, fires_when, gain, shown_by, ...) \
  {label, FindingGroup::group},
#define GF_FINDING_TOO(scope, rank, id, fires_when, gain)
#include "analyze/names/findings.def"
#undef GF_FINDING
#undef GF_FINDING_TOO
};

constexpr const char* kFindingsHead = R"(# Findings: what to change

<!-- Made by `./dev docs` from src/analyze/names/findings.def: change that. -->

A finding has an `id`; a `text` that says what costs time and what to change; its `evidence`;
`gain_ns`, the time that acting on it could give back at most, were its cost to vanish entirely;
`replayed`, where a change of [whatif](whatif.md) mends it or its cause says what is gone, what a
step without recording gains when the program runs again without that; a `command` where there is
something to run next; and a `group`. Gains of one group are about the same time: they overlap, and
count once. A rule fires only when its numbers reach the threshold. T is the window summed over
devices, K the kernel-busy time, B the busy time. Losses come first. Those with a named cause take
their time out of those of a general kind, and without a replay stand before them, by gain.
Replayed, all are ordered by the middle of what programs gained that made the change: of a general
kind what it gives once all named causes are gone; of a kind of waits (`copies`, `graph`) its bound
at most, of a gain of an item 2 % of a step; of what cannot be replayed half of its bound. A change
of all launches (graph, larger batch), and other work of the host where launches give more, stand
behind every one of 2 % and more that ends a wait of the host for the device in each step: a graph
cannot hold that. Where a smaller gain stands above, text says why. Each says what it adds once
those above are made, where that is less. What adds
under 2 %, and half of its own gain at most, "follows from" one of them and stands behind; so does
what has the same change. A graph takes all launches: a finding says no more of its gain than the
time that it speaks of. Caveats about the capture follow, and notes come last. Where kernels have no
known cause, `kernel_bound` or `missing_counters` says which place takes most of them, from 5 % of T
on: operator or XLA instruction, module, mark and line of Python, and what bounds it by counters,
recorded sizes or launches.
Losses are about the part of a run that repeats: idle of `start_up` and `unexplained`
([idle.md](idle.md)) is none, and what is spread over the window must begin in both halves of it, in
windows of 10 ms and more. A loss of the group `kernels` must be 2 % of T as well, and 6 % where it
is of a general kind and not by counters.
)";

std::string rows_of(Scope scope, Rank rank) {
  const bool gains = rank == Rank::loss || rank == Rank::cause;
  std::string table = gains ? "| id | says | fires when | gain | group |\n|---|---|---|---|---|\n"
                            : "| id | says | fires when |\n|---|---|---|\n";
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
      "{}\n## Traces\n\nNamed causes:\n\n{}\nLosses of a "
      "general kind:\n\n{}\nCaveats:\n\n{}\nNotes:\n\n{}\n## Samples without kernels\n\n"
      "Recordings and logs without kernels ([samples.md](samples.md)) have rules of their own; "
      "their gains are bars of the\nwaterfall. Caveats:\n\n{}\nLosses:\n\n{}\n"
      "A rule is a function of the id's name in `src/analyze/findings/rules_*.cpp`.\n",
      kFindingsHead, rows_of(Scope::trace, Rank::cause), rows_of(Scope::trace, Rank::loss),
      rows_of(Scope::trace, Rank::caveat), rows_of(Scope::trace, Rank::note),
      rows_of(Scope::sample, Rank::caveat), rows_of(Scope::sample, Rank::loss));
}

}  // namespace gf
