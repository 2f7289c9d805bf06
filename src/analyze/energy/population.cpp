#include "analyze/energy/population.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "analyze/energy/pool.h"

namespace gf {

double to_five_digits(double value) {
  if (value == 0) return 0;
  const double unit = std::pow(10.0, 4 - std::floor(std::log10(std::abs(value))));
  return std::round(value * unit) / unit;
}

namespace {

constexpr std::size_t kQuickRuns = 24;
constexpr int kDraws = 200;

/// Standard normal numbers that are the same on every system.
class Normal {
 public:
  double operator()() {
    const double one = uniform(), other = uniform();
    return std::sqrt(-2 * std::log(one)) * std::cos(2 * std::numbers::pi * other);
  }

 private:
  double uniform() { return (static_cast<double>(random_()) + 1) / 4294967297.0; }
  std::mt19937 random_{1};
};

/// The runs after which the energies of the known kernels are known best: each time the one that
/// lowers their mean variance most (I-optimal, greedy).
std::vector<QuickRun> most_telling(const Pool& pool, std::vector<QuickCandidate> candidates) {
  std::vector<Eigen::VectorXd> wanted;
  for (const auto& board : pool.boards)
    for (const auto& row : board.rows)
      if (row.kernel)
        if (auto shares = pool.shares(row.rates); shares.size() > 0)
          wanted.push_back(std::move(shares));
  if (wanted.empty())
    for (const auto& candidate : candidates) wanted.push_back(candidate.shares);
  Eigen::MatrixXd covariance = board_prior(EnergySpread{}, pool.dram);
  std::vector<QuickRun> runs;
  while (runs.size() < kQuickRuns && !candidates.empty()) {
    double most = -1;
    std::size_t best = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const Eigen::VectorXd with = covariance * candidates[i].shares;
      double squares = 0;
      for (const auto& shares : wanted) squares += std::pow(shares.dot(with), 2);
      const double lowered = squares / (candidates[i].shares.dot(with) + kRunNoise * kRunNoise);
      if (lowered > most) {
        most = lowered;
        best = i;
      }
    }
    const QuickCandidate chosen = candidates[best];
    candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(best));
    const Eigen::VectorXd with = covariance * chosen.shares;
    covariance -= kalman_gain(covariance, chosen.shares) * with.transpose();
    QuickRun run{std::get<0>(chosen.key),
                 std::get<1>(chosen.key),
                 std::get<2>(chosen.key),
                 1e9 * std::exp(chosen.log_joules),
                 {}};
    for (std::size_t i = 0; i < pool.features.size(); ++i)
      if (const double share = chosen.shares[static_cast<Eigen::Index>(i)]; share > 1e-4)
        run.shares.push_back({pool.features[i], to_five_digits(share)});
    runs.push_back(std::move(run));
  }
  return runs;
}

/// Fills draws of the coefficients around their values, and their intervals.
void fill_draws(EnergyModel& model, const Eigen::MatrixXd& covariance, double static_error) {
  Eigen::LLT<Eigen::MatrixXd> root(
      covariance + 1e-12 * Eigen::MatrixXd::Identity(covariance.rows(), covariance.cols()));
  Normal normal;
  model.draw_columns = {"static_w", "active_w"};
  for (const auto& one : model.coefficients) model.draw_columns.push_back(one.feature);
  model.draws.clear();
  for (int draw = 0; draw < kDraws; ++draw) {
    Eigen::VectorXd free(covariance.rows());
    for (auto& number : free) number = normal();
    const Eigen::VectorXd moved = root.matrixL() * free;
    std::vector<double> row{to_five_digits(model.static_w + static_error * normal()), 0};
    for (std::size_t i = 0; i < model.coefficients.size(); ++i)
      row.push_back(to_five_digits(model.coefficients[i].picojoules *
                                   std::exp(moved[static_cast<Eigen::Index>(i)])));
    model.draws.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < model.coefficients.size(); ++i) {
    auto& one = model.coefficients[i];
    const double sd =
        std::sqrt(covariance(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i)));
    one.low = one.picojoules * std::exp(-1.96 * sd);
    one.high = one.picojoules * std::exp(1.96 * sd);
  }
  model.static_low = model.static_w - 1.96 * static_error;
  model.static_high = model.static_w + 1.96 * static_error;
}

void describe_board(const Pool& pool, const PoolBoard& board, EnergyModel& model) {
  const auto& raw = board.from->evidence->raw;
  model.population.boards.push_back(
      {raw.board.uuid, raw.board.date, static_cast<int>(board.rows.size()) - board.kernels,
       board.kernels, board.from->static_w, std::exp(board.gain), std::exp(board.dram)});
  model.gpu = raw.board.gpu;
  model.driver = raw.board.driver;
  model.date = std::max(model.date, raw.board.date);
  const auto mean = [&](const char* bench) {
    double sum = 0, count = 0;
    for (const auto& point : raw.points)
      if (point.bench == bench && point.seconds > 0) {
        sum += point.energy_j / point.seconds;
        ++count;
      }
    return count > 0 ? sum / count / static_cast<double>(pool.boards.size()) : 0;
  };
  model.asleep_w += mean("asleep");
  model.context_w += mean("context");
  model.spin_w += mean("spin");
  auto clock = [&](double mhz) {
    model.sm_mhz_low = model.sm_mhz_low > 0 ? std::min(model.sm_mhz_low, mhz) : mhz;
    model.sm_mhz_high = std::max(model.sm_mhz_high, mhz);
  };
  for (const auto& point : board.from->points)
    if (!point.counts.empty()) clock(point.sm_mhz);  // idle clocks tell nothing of work
  for (const auto& kernel : board.from->evidence->kernels) clock(kernel.run.sm_mhz);
}

}  // namespace

std::string kernel_family(std::string_view name) {
  struct Family {
    std::string_view first, family;
  };
  static constexpr Family kFamilies[] = {
      {"triton", "matmul"},       {"linear", "matmul"},     {"bmm", "matmul"},
      {"conv1x1", "conv"},        {"depthwise", "conv"},    {"batch", "normalization"},
      {"layer", "normalization"}, {"rms", "normalization"}, {"group", "normalization"},
  };
  const auto first = name.substr(0, name.find('_'));
  for (const auto& known : kFamilies)
    if (known.first == first) return std::string(known.family);
  return std::string(first);
}

Result<EnergyModel> fit_population(const std::vector<const PreparedBoard*>& boards,
                                   const std::string& without_family) {
  if (boards.size() < 2) return fail("a population needs two boards or more");
  const Pool pool(boards, without_family);
  EnergyModel model = pool.model;
  double errors = 0;
  for (const auto& board : pool.boards) {
    describe_board(pool, board, model);
    const auto effect = pool.effect(board);
    for (const auto& row : board.rows) {
      const double dynamic = (row.rates.array() * effect.array() * pool.coefficients.array()).sum();
      errors += std::abs(dynamic - row.dynamic_w) / row.watts;
      ++model.points;
    }
  }
  model.mean_absolute_error = errors / model.points;
  for (std::size_t i = 0; i < pool.features.size(); ++i) {
    EnergyCoefficient one;
    one.feature = pool.features[i];
    for (const auto& known : energy_features())
      if (known.id == one.feature) one.unit = known.unit;
    one.picojoules = pool.coefficients[static_cast<Eigen::Index>(i)];
    one.identified = one.picojoules > 0;
    if (!one.identified) one.note = "is at its bound of 0";
    model.coefficients.push_back(std::move(one));
  }
  const auto size = pool.dram.size();
  fill_draws(model, kOwnSpread * kOwnSpread * Eigen::MatrixXd::Identity(size, size), 0);
  model.population.quick = most_telling(pool, quick_candidates(pool));
  return model;
}

Result<EnergyModel> fit_population(const std::vector<BoardEvidence>& boards) {
  const auto prepared = prepare_boards(boards);
  if (!prepared) return tl::unexpected(prepared.error());
  std::vector<const PreparedBoard*> all;
  for (const auto& board : *prepared) all.push_back(&board);
  return fit_population(all, {});
}

Result<EnergyModel> adapt_to_board(const EnergyModel& population, const EnergyPointsFile& raw,
                                   double seconds) {
  const IdleReference idle = idle_reference(raw, seconds);
  if (idle.runs == 0) return fail("no idle reference among the points");
  std::vector<std::string> features;
  for (const auto& one : population.coefficients) features.push_back(one.feature);
  const Eigen::VectorXd dram = of_dram(features);
  Eigen::MatrixXd covariance = board_prior(population.spread, dram);
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(dram.size());
  const auto loops = loop_joules(raw, idle.watts, idle.celsius, population.per_celsius_w, seconds);
  int used = 0;
  for (const auto& run : population.population.quick) {
    const auto found = loops.find({run.bench, run.threads, run.blocks});
    if (found == loops.end()) continue;
    Eigen::VectorXd shares = Eigen::VectorXd::Zero(dram.size());
    for (const auto& share : run.shares)
      if (const auto at = std::find(features.begin(), features.end(), share.feature);
          at != features.end())
        shares[at - features.begin()] = share.share;
    const double said = std::log(1e9 * found->second.front() / run.loop_nj);
    const Eigen::VectorXd gain = kalman_gain(covariance, shares);
    mean += gain * (said - shares.dot(mean));
    covariance -= gain * (covariance * shares).transpose();
    ++used;
  }
  if (used < 3)
    return fail(fmt::format("{} runs that the population knows, three are needed", used), {}, -1,
                "is the GPU shared, or held under its clock?");
  EnergyModel model = population;
  model.gpu = raw.board.gpu;
  model.uuid = raw.board.uuid;
  model.driver = raw.board.driver;
  model.date = raw.board.date;
  model.static_w = model.context_w = idle.watts;
  model.reference_celsius = idle.celsius;
  model.points = used;
  for (std::size_t i = 0; i < features.size(); ++i)
    model.coefficients[i].picojoules *= std::exp(mean[static_cast<Eigen::Index>(i)]);
  fill_draws(model, covariance, idle.error);
  const double in_dram = dram.sum(), on_chip_count = static_cast<double>(dram.size()) - in_dram;
  const double gain = mean.dot(Eigen::VectorXd::Ones(dram.size()) - dram) / on_chip_count;
  model.population = {};
  model.population.boards.push_back({raw.board.uuid, raw.board.date, used, 0, idle.watts,
                                     std::exp(gain), std::exp(mean.dot(dram) / in_dram - gain)});
  return model;
}

}  // namespace gf
