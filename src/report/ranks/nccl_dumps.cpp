#include "report/ranks/nccl_dumps.h"

#include <fmt/format.h>

#include "report/text/table.h"

namespace gf {

namespace {

/// "ranks 0, 3-5".
std::string ranks_said(const std::vector<std::int64_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    std::size_t end = i;
    while (end + 1 < ranks.size() && ranks[end + 1] == ranks[end] + 1) ++end;
    if (i > 0) text += ", ";
    text += end > i + 1 ? fmt::format("{}-{}", ranks[i], ranks[end]) : std::to_string(ranks[i]);
    if (end > i + 1) i = end;
  }
  return text;
}

std::string stuck_text(const DumpedGroup& group) {
  const StuckCollective& stuck = *group.stuck;
  std::string text = fmt::format("Collective {}, {}", stuck.sequence, stuck.operation);
  if (!stuck.sizes.empty()) text += fmt::format(" of {}", stuck.sizes);
  if (!stuck.where.empty()) text += fmt::format(", at {}", stuck.where);
  text += ", did not end on every rank.";
  const auto add = [&](const std::vector<std::int64_t>& ranks, const std::string& what) {
    if (!ranks.empty()) text += fmt::format(" {}: {}.", what, ranks_said(ranks));
  };
  add(stuck.differs, fmt::format("Asked for {} instead", stuck.asked_instead));
  add(stuck.never_asked, "Never asked for it");
  add(stuck.not_started, "Asked for it, but the GPU has not begun it");
  add(stuck.started, "Began it and wait in it");
  add(stuck.completed, "Ended it");
  const bool all = group.listed && group.missing.empty();
  if (!stuck.culprits.empty())
    text += fmt::format(" The others wait for {}.", ranks_said(stuck.culprits));
  else if (!stuck.started.empty())
    text += all ? " Every rank began it, so they wait for the network or the library itself."
                : " Every rank with a dump began it, so they wait for a rank without one, the "
                  "network, or the library itself.";
  else
    text += fmt::format(" No rank{} began it: their GPUs are busy with earlier work.",
                        all ? "" : " with a dump");
  return text;
}

std::string group_heading(const DumpedGroup& group) {
  std::string text = fmt::format("Group {}", group.name);
  if (!group.description.empty() && group.description != group.name)
    text += fmt::format(" ({})", group.description);
  text += fmt::format(": {}, {} in every dump", plural(group.ranks.size(), "rank"),
                      plural(group.shared, "collective"));
  if (!group.missing.empty())
    text += fmt::format("; without a dump: {}", ranks_said(group.missing));
  return text;
}

std::string lateness_table(const DumpedGroup& group, const TextStyle& style, std::size_t rows) {
  TextTable table(
      {{"rank", Align::right}, {"came last", Align::right}, {"median late", Align::right}});
  for (const auto& rank : group.late) {
    if (rows != 0 && rows-- == 1) break;
    table.add({std::to_string(rank.rank), fmt::format("{} of {}", rank.last, rank.of),
               format_time(rank.median_late_ns)});
  }
  return table.empty() ? "" : table.render(style);
}

}  // namespace

std::string dumps_text(const NcclDumps& answer, const TextStyle& style, std::size_t rows) {
  const auto width = static_cast<std::size_t>(style.width);
  std::string text =
      paint(style, Paint::title,
            fmt::format("Collectives by the records of {}", plural(answer.ranks.size(), "rank")));
  text += '\n';
  if (answer.ranks.size() < 2)
    text += wrap("One dump shows only its own rank; give the dumps of all ranks.", width);
  if (answer.groups.empty())
    text += wrap(
        "No dump holds a collective: the recorder was off (TORCH_FR_BUFFER_SIZE=2000 or "
        "TORCH_NCCL_TRACE_BUFFER_SIZE=2000 turn it on), or nothing was asked for yet.",
        width);
  for (const auto& group : answer.groups) {
    text += '\n' + wrap(group_heading(group), width);
    text += wrap(group.stuck ? stuck_text(group) : "Every collective in them ended.", width, 2);
    text += lateness_table(group, style, rows == 0 ? 0 : rows + 1);
  }
  text += '\n' + paint(style, Paint::title, "Caveats") + '\n';
  for (const auto& caveat : answer.caveats) text += wrap("- " + caveat, width, 2);
  return text;
}

}  // namespace gf
