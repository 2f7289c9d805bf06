#include "report/reference/levels_page.h"

#include <fmt/format.h>

#include "analyze/utilization/level_formulas.h"
#include "core/when.h"

namespace gf {
namespace {

std::string chips_of(ChipSet set) {
  if (set == kEveryChip) return "all";
  std::string names;
  for (const auto& chip : chips())
    if (set & bit(chip.id)) names += fmt::format("{}{}", when(!names.empty(), " "), chip.name);
  return names;
}

}  // namespace

std::string levels_page() {
  std::string page =
      "# Counter formulas of the levels\n\n"
      "Made from the formula table (`gpufathom-reference levels`). Each level of a kernel is "
      "worked out by the first formula whose counters the\n"
      "report has for that kernel; a counter in brackets counts as 0 when it is missing. "
      "[ladder.md](ladder.md) says what the levels mean.\n"
      "`peak bytes` is the data-sheet bandwidth of the device times the kernel's duration under "
      "the counter profiler.\n\n";
  for (std::size_t rung = 0; rung < kKernelLevels; ++rung) {
    const auto level = static_cast<KernelLevel>(rung);
    page += fmt::format("## `{}`\n\n", id_of(level));
    if (level == KernelLevel::tensor_flops) {
      page +=
          "Sum over the input types of the chip: operations / (dense operations of one SM in a "
          "cycle x `smsp__cycles_elapsed.sum` / 4). The counters and\n"
          "rates of each chip are in [metrics.md](metrics.md#tensor-operations-by-input-type). A "
          "type whose counters the report lacks counts nothing.\n\n";
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
      "counters too; `analyze` prints it when counters are missing.\n",
      ncu_command(nullptr));
  return page;
}

}  // namespace gf
