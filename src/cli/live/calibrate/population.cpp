#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "analyze/energy/model_file.h"
#include "cli/live/calibrate/calibration.h"
#include "core/statistics.h"
#include "import/importer.h"
#include "import/input.h"
#include "session/answer.h"

namespace gf::cli {

namespace {

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

constexpr std::uint64_t kMostBytes = 256 << 20;

}  // namespace

Result<EnergyModel> population_of(const std::string& path, const std::string& product) {
  auto file = path.empty() ? shipped_energy_model(product)
                           : read_energy_model(path).map([](EnergyModelFile&& read) {
                               return std::optional(std::move(read));
                             });
  if (!file) return tl::unexpected(file.error());
  if (!*file || (*file)->model.population.quick.empty())
    return fail(fmt::format("no boards of {} are known to start from", product), path, -1,
                "calibrate without --quick, or pass --population FILE");
  if ((*file)->model.gpu != product)
    return fail(fmt::format("is of {}, and the board is of {}", (*file)->model.gpu, product),
                (*file)->path);
  return std::move((*file)->model);
}

Result<EnergyPointsFile> read_points(const std::string& path) {
  auto text = read_whole(path, kMostBytes);
  if (!text) return tl::unexpected(text.error());
  return parse_energy_points(std::move(*text), path);
}

Result<BoardEvidence> read_board(const std::string& prefix,
                                 const std::vector<BenchCounts>& benches) {
  const std::string points = prefix + ".points.jsonl";
  auto raw = read_points(exists(points) ? points : points + ".gz");
  if (!raw) return tl::unexpected(raw.error());
  BoardEvidence board{std::move(*raw), benches, {}};
  if (const auto path = prefix + ".kernels.ncu.csv.gz"; exists(path)) {
    auto report = import_file(path);
    if (!report) return tl::unexpected(report.error());
    if (auto status = take_counters(board.benches, *report, 200); !status)
      return tl::unexpected(status.error());
  }
  if (!exists(prefix + ".unseen.jsonl")) return board;
  auto kernels = read_unseen(prefix + ".unseen");
  if (!kernels) return tl::unexpected(kernels.error());
  board.kernels = std::move(*kernels);
  return board;
}

Result<std::vector<CountedKernel>> read_unseen(const std::string& prefix) {
  const auto runs = read_unseen_runs(prefix + ".jsonl");
  if (!runs) return tl::unexpected(runs.error());
  const auto names = read_unseen_names(prefix + "_names.txt");
  if (!names) return tl::unexpected(names.error());
  const auto report = import_file(prefix + ".ncu.csv.gz");
  if (!report) return tl::unexpected(report.error());
  return count_kernels(*runs, *names, *report);
}

namespace {

/// Errors of one kind over a board's kernels, and how often intervals hold what was measured.
struct Score {
  double mean = 0, largest = 0, inside = 0, width = 0, dynamic = 0;
  int beyond = 0;
};
Score score_of(const std::vector<StrangerKernel>& kernels, bool after) {
  constexpr double kFar = 0.15;
  Score score;
  const double part = 1 / static_cast<double>(kernels.size());
  for (const auto& kernel : kernels) {
    const double error = std::abs(after ? kernel.after : kernel.before);
    const double low = after ? kernel.after_low : kernel.before_low;
    const double high = after ? kernel.after_high : kernel.before_high;
    score.mean += part * error;
    score.largest = std::max(score.largest, error);
    score.beyond += error > kFar;
    score.dynamic += part * std::abs(after ? kernel.dynamic_after : kernel.dynamic_before);
    if (low <= kernel.watts && kernel.watts <= high) score.inside += part;
    score.width += part * (high - low) / 2 / kernel.watts;
  }
  return score;
}

void print_score(const char* when, const Score& score) {
  fmt::print(
      "  {:<22} {:5.1f} %  largest {:5.1f} %, {} over 15 %; above static power {:.1f} %; "
      "intervals {:.1f} % either side, {:.0f} % inside\n",
      when, 100 * score.mean, 100 * score.largest, score.beyond, 100 * score.dynamic,
      100 * score.width, 100 * score.inside);
}

}  // namespace

void print_population(const EnergyModel& model, const std::vector<StrangerBoard>& boards) {
  fmt::print("{} boards of {}: {} rows; mean absolute error of the fit {:.1f} % of the power\n\n",
             model.population.boards.size(), model.gpu, model.points,
             100 * model.mean_absolute_error);
  print_coefficients(model);
  fmt::print("\n{:<42} {:>6} {:>6} {:>8} {:>6} {:>6}\n", "board", "runs", "kernels", "idle W",
             "gain", "DRAM");
  for (const auto& board : model.population.boards)
    fmt::print("{:<42} {:>6} {:>6} {:>8.1f} {:>6.3f} {:>6.3f}\n", board.uuid, board.points,
               board.kernels, board.static_w, board.gain, board.dram);
  std::vector<StrangerKernel> all;
  const auto& fitted = model.population.boards;
  for (const auto& board : boards) {
    const bool left_out =
        std::ranges::any_of(fitted, [&](const auto& one) { return one.uuid == board.uuid; });
    fmt::print("\n{}: {}; {} quick runs say gain {:.3f}, DRAM {:.3f}\n",
               left_out ? "left out" : "stranger", board.uuid, board.quick, board.gain, board.dram);
    if (board.benches > 0)
      fmt::print(
          "  {} other runs of microbenchmarks, above static power: {:.1f} %, then {:.1f} %\n",
          board.benches, 100 * board.bench_before, 100 * board.bench_after);
    if (board.kernels.empty()) continue;
    fmt::print("  {} kernels, neither they nor their families seen:\n", board.kernels.size());
    print_score("as the others", score_of(board.kernels, false));
    print_score("after the quick runs", score_of(board.kernels, true));
    all.insert(all.end(), board.kernels.begin(), board.kernels.end());
  }
  if (all.empty()) return;
  fmt::print("\nall {} kernels:\n", all.size());
  print_score("as the others", score_of(all, false));
  print_score("after the quick runs", score_of(all, true));
  fmt::print("form of unseen kernels: {:.1f} %\n", 100 * model.spread.form);
}

void print_adapted(const EnergyModel& model, const StrangerBoard& board) {
  const auto& own = model.population.boards.front();
  fmt::print(
      "{} of {}, from {} quick runs: idle {:.1f} W, dynamic energy {:+.1f} % and DRAM {:+.1f} % "
      "beside the mean of its kind\n\n",
      own.uuid, model.gpu, own.points, own.static_w, 100 * (own.gain - 1), 100 * (own.dram - 1));
  print_coefficients(model);
  if (board.kernels.empty()) return;
  fmt::print("\n{:<26} {:>7} {:>9} {:>9}   all energy\n", "kernel", "W", "before", "after");
  for (const auto& kernel : board.kernels)
    fmt::print("{:<26} {:7.0f} {:+7.1f} % {:+7.1f} %\n", kernel.name, kernel.watts,
               100 * kernel.before, 100 * kernel.after);
  fmt::print("{} kernels:\n", board.kernels.size());
  print_score("as the others", score_of(board.kernels, false));
  print_score("after the quick runs", score_of(board.kernels, true));
}

}  // namespace gf::cli
