// Operations of compiled programs: of a program that runs, all do.
#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "core/format.h"
#include "model/ledger/ledger.h"

namespace gf {

void check_programs(Capture& capture) {
  const auto& ops = capture.program_ops;
  if (ops.empty()) return;
  std::vector<bool> ran(ops.size(), false);
  const auto& rows = std::as_const(capture).activities;
  for (std::uint32_t row = 0; row < rows.size(); ++row)
    if (const auto op = rows.program_op[row]; op < ops.size()) ran[op] = true;
  struct Program {
    std::int64_t ops = 0, ran = 0;
    std::uint32_t first = kNoRow;  // that never ran
  };
  std::map<std::int64_t, Program> programs;
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    auto& program = programs[ops.program[op]];
    ++program.ops;
    program.ran += ran[op];
    if (!ran[op] && program.first == kNoRow) program.first = op;
  }
  for (const auto& [number, program] : programs) {
    const auto missing = program.ops - program.ran;
    if (program.ran == 0 || missing == 0) continue;
    capture.note_quality(
        QualityCode::ops_missing,
        fmt::format("{} of {} operations of a program that runs never do ({} of {}): kernels were "
                    "lost, or a branch was not taken",
                    format_count(missing), format_count(program.ops),
                    capture.text(ops.name[program.first]), capture.text(ops.module[program.first])),
        missing);
  }
}

}  // namespace gf
