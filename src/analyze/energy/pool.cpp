#include "analyze/energy/pool.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analyze/nnls.h"
#include "core/statistics.h"

namespace gf {

namespace {

constexpr double kPico = 1e-12;
constexpr double kForm = 0.08;    // of a microbenchmark, over what coefficients can express
constexpr double kFaint = 0.05;   // share of all power below which dynamic power tells nothing
constexpr double kCapped = 0.05;  // share of readings under a cap that a run may have

RunKey key_of(const RawEnergyPoint& point) {
  return {point.bench, static_cast<int>(point.threads), static_cast<int>(point.blocks)};
}

/// Seconds and joules of a run up to the first update of the counter behind `seconds`; all of it
/// when 0.
std::pair<double, double> cut(const RawEnergyPoint& point, double seconds) {
  if (seconds > 0)
    for (std::size_t i = 0; i < point.edge_t_s.size(); ++i)
      if (point.edge_t_s[i] >= seconds) return {point.edge_t_s[i], point.edge_energy_j[i]};
  return {point.seconds, point.energy_j};
}

}  // namespace

std::map<RunKey, std::vector<double>> loop_joules(const EnergyPointsFile& raw, double static_w,
                                                  double celsius, double per_celsius,
                                                  double seconds) {
  std::map<RunKey, std::vector<double>> loops;
  for (const auto& point : raw.points) {
    if (!point.dropped.empty() || !(point.loops_per_s > 0) || point.throttled > kCapped) continue;
    const auto [time, joules] = cut(point, seconds);
    const double dynamic = joules / time - static_w - per_celsius * (point.temperature_c - celsius);
    if (dynamic < 2 * kFaint * joules / time) continue;
    loops[key_of(point)].push_back(dynamic / point.loops_per_s);
  }
  return loops;
}

IdleReference idle_reference(const EnergyPointsFile& raw, double seconds) {
  std::vector<double> watts, celsius;
  for (const auto& point : raw.points)
    if (point.bench == "context" && point.dropped.empty() && point.seconds > 0) {
      const auto [time, joules] = cut(point, seconds);
      watts.push_back(joules / time);
      celsius.push_back(point.temperature_c);
    }
  IdleReference idle;
  idle.runs = static_cast<int>(watts.size());
  if (watts.empty()) return idle;
  idle.watts = median(watts);
  double squares = 0;
  for (const double one : watts) squares += (one - idle.watts) * (one - idle.watts);
  const double count = static_cast<double>(watts.size());
  // A few windows of the sensor know no power better than to half a percent.
  idle.error = std::max(0.005 * idle.watts, std::sqrt(squares / std::max(1.0, count - 1) / count));
  idle.celsius = median(celsius);
  return idle;
}

Eigen::VectorXd of_dram(const std::vector<std::string>& features) {
  Eigen::VectorXd flags(static_cast<Eigen::Index>(features.size()));
  for (std::size_t i = 0; i < features.size(); ++i)
    flags[static_cast<Eigen::Index>(i)] = on_chip(features[i]) ? 0 : 1;
  return flags;
}

Eigen::MatrixXd board_prior(const EnergySpread& spread, const Eigen::VectorXd& dram) {
  const auto size = dram.size();
  return spread.gain * spread.gain * Eigen::MatrixXd::Ones(size, size) +
         spread.dram * spread.dram * dram * dram.transpose() +
         kOwnSpread * kOwnSpread * Eigen::MatrixXd::Identity(size, size);
}

Eigen::VectorXd kalman_gain(const Eigen::MatrixXd& covariance, const Eigen::VectorXd& shares) {
  const Eigen::VectorXd with = covariance * shares;
  return with / (shares.dot(with) + kRunNoise * kRunNoise);
}

Result<std::vector<PreparedBoard>> prepare_boards(const std::vector<BoardEvidence>& boards) {
  std::vector<PreparedBoard> prepared;
  for (const auto& board : boards) {
    double sms = 0;
    for (const auto& point : board.raw.points) sms = std::max(sms, point.active_sms);
    PreparedBoard one{&board, {}, 0, 0, 0};
    one.points = fit_points(board.raw.points, board.benches, check_counts(board.benches),
                            static_cast<unsigned>(sms), nullptr);
    const auto own = fit_energy(one.points, 0);
    if (!own) return fail(board.raw.board.uuid + ": " + own.error().what);
    const auto idle = idle_reference(board.raw, 0);
    if (idle.runs == 0) return fail(board.raw.board.uuid + ": no idle reference");
    one.static_w = idle.watts;
    one.celsius = idle.celsius;
    one.per_celsius_w = own->per_celsius_w;
    prepared.push_back(std::move(one));
  }
  return prepared;
}

Pool::Pool(const std::vector<const PreparedBoard*>& from, const std::string& without_family) {
  std::set<std::string> seen{std::string(kDramAwake)};
  const double part = 1 / static_cast<double>(from.size());
  for (const auto* board : from) {
    for (const auto& point : board->points)
      for (const auto& [feature, count] : point.counts)
        if (count > 0) seen.insert(feature);
    model.static_w += part * board->static_w;
    model.per_celsius_w += part * board->per_celsius_w;
    model.reference_celsius += part * board->celsius;
  }
  features.assign(seen.begin(), seen.end());
  dram = of_dram(features);
  for (const auto* board : from) add(*board, without_family);
  find_voltage();
  for (auto& board : boards)
    for (auto& row : board.rows)
      row.rates = (row.rates.array() * at_clock(model.voltage, row.sm_mhz).array()).matrix();
  solve();
}

/// The factors from the coefficients at the reference clock to those at `sm_mhz`.
Eigen::VectorXd Pool::at_clock(const VoltageCurve& voltage, double sm_mhz) const {
  const double factor = voltage.energy_factor(sm_mhz);
  return (dram.array() + (1 - dram.array()) * factor).matrix();
}

/// The coefficients that fit all rows best, none negative, by relative errors; `factor` of a board
/// and a row is by how much each coefficient is larger there.
template <class Factor>
NonNegativeFit Pool::fit_rows(Factor&& factor) const {
  std::size_t count = 0;
  for (const auto& board : boards) count += board.rows.size();
  Eigen::MatrixXd A(static_cast<Eigen::Index>(count), dram.size());
  Eigen::VectorXd right(static_cast<Eigen::Index>(count));
  Eigen::Index at = 0;
  for (const auto& board : boards)
    for (const auto& row : board.rows) {
      A.row(at) = (row.rates.array() * factor(board, row).array()).matrix().transpose() / row.watts;
      right[at++] = row.dynamic_w / row.watts;
    }
  return nonnegative_least_squares(A, right);
}

double Pool::residual(const VoltageCurve& voltage) const {
  return fit_rows([&](const auto&, const auto& row) { return at_clock(voltage, row.sm_mhz); })
      .residual_norm;
}

/// Slope and floor under which all rows fit best, in turns from where boards have been.
void Pool::find_voltage() {
  constexpr double kStep = 0.05;
  VoltageCurve best{0, 1, 0.8};
  for (const auto& board : boards)
    for (const auto& row : board.rows)
      best.reference_mhz = std::max(best.reference_mhz, row.sm_mhz);
  double least = residual(best);
  for (bool better = true; better;) {
    better = false;
    for (const auto& [slope, floor] :
         {std::pair{kStep, 0.0}, {-kStep, 0.0}, {0.0, kStep / 2}, {0.0, -kStep / 2}}) {
      VoltageCurve next = best;
      next.slope += slope;
      next.floor += floor;
      if (next.slope < 0 || next.slope > 2 || next.floor < 0.3 || next.floor > 1) continue;
      if (const double found = residual(next); found < least * (1 - 1e-6)) {
        least = found;
        best = next;
        better = true;
      }
    }
  }
  model.voltage = best;
}

void Pool::solve_coefficients() {
  coefficients = fit_rows([&](const auto& board, const auto&) { return effect(board); }).x;
}

void Pool::centre_effects() {
  double gain = 0, dram_gain = 0;
  for (const auto& board : boards) {
    gain += board.gain / static_cast<double>(boards.size());
    dram_gain += board.dram / static_cast<double>(boards.size());
  }
  for (auto& board : boards) {
    board.gain -= gain;
    board.dram -= dram_gain;
  }
}

/// Coefficients of the mean board, then the effects of each board beside them, in turns.
void Pool::solve() {
  constexpr int kTurns = 5;
  for (int turn = 0; turn < kTurns; ++turn) {
    solve_coefficients();
    for (auto& board : boards) find_effects(board);
    centre_effects();
  }
}

Eigen::VectorXd Pool::shares(const Eigen::VectorXd& rates) const {
  Eigen::VectorXd parts = (rates.array() * coefficients.array()).matrix();
  const double sum = parts.sum();
  return sum > 0 ? Eigen::VectorXd(parts / sum) : Eigen::VectorXd();
}

Eigen::VectorXd Pool::effect(const PoolBoard& board) const {
  return ((dram.array() * board.dram) + board.gain).exp().matrix();
}

Eigen::VectorXd Pool::rates_of(const std::map<std::string, double>& counts, double seconds) const {
  Eigen::VectorXd rates = Eigen::VectorXd::Zero(dram.size());
  double accesses = 0;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const auto at = counts.find(features[i]);
    if (at == counts.end()) continue;
    if (!on_chip(features[i])) accesses += at->second;
    rates[static_cast<Eigen::Index>(i)] = at->second / seconds * kPico;
  }
  const auto awake = std::find(features.begin(), features.end(), kDramAwake) - features.begin();
  rates[awake] = dram_awake_ns(accesses, seconds) / seconds * kPico;
  return rates;
}

void Pool::add(const PreparedBoard& board, const std::string& without_family) {
  PoolBoard added;
  added.from = &board;
  auto dynamic = [&](double watts, double celsius) {
    return watts - board.static_w - model.per_celsius_w * (celsius - board.celsius);
  };
  for (const auto& point : board.points) {
    if (point.counts.empty()) continue;
    const double watts = point.energy_j / point.seconds;
    added.rows.push_back({rates_of(point.counts, point.seconds),
                          dynamic(watts, point.temperature_c),
                          watts,
                          point.sm_mhz,
                          {},
                          false});
    const auto first = point.group.find(':'), second = point.group.rfind(':');
    added.rows.back().key = {point.bench, std::stoi(point.group.substr(first + 1)),
                             std::stoi(point.group.substr(second + 1))};
  }
  for (const auto& kernel : board.evidence->kernels) {
    if (!without_family.empty() && kernel_family(kernel.run.name) == without_family) continue;
    const double watts = kernel.run.energy_j / kernel.run.seconds;
    added.rows.push_back({rates_of(kernel.per_second, 1),
                          dynamic(watts, kernel.run.temperature_c),
                          watts,
                          kernel.run.sm_mhz,
                          {},
                          true});
    ++added.kernels;
  }
  boards.push_back(std::move(added));
}

/// Gain and DRAM of a board from the logarithms of its rows, drawn towards the mean board.
void Pool::find_effects(PoolBoard& board) const {
  const EnergySpread spread;
  Eigen::Matrix2d H = Eigen::Matrix2d::Zero();
  H(0, 0) = 1 / (spread.gain * spread.gain);
  H(1, 1) = 1 / (spread.dram * spread.dram);
  Eigen::Vector2d right = Eigen::Vector2d::Zero();
  for (const auto& row : board.rows) {
    const double predicted = row.rates.dot(coefficients);
    if (row.dynamic_w < kFaint * row.watts || !(predicted > 0)) continue;
    const Eigen::Vector2d one(1, shares(row.rates).dot(dram));
    H += one * one.transpose() / (kForm * kForm);
    right += one * std::log(row.dynamic_w / predicted) / (kForm * kForm);
  }
  const Eigen::Vector2d solution = H.ldlt().solve(right);
  board.gain = solution[0];
  board.dram = solution[1];
}

std::vector<QuickCandidate> quick_candidates(const Pool& pool) {
  std::map<RunKey, std::pair<Eigen::VectorXd, int>> rates;
  std::map<RunKey, std::vector<std::pair<const PoolBoard*, double>>> loops;
  for (const auto& board : pool.boards) {
    for (const auto& row : board.rows)
      if (!row.kernel) {
        auto& [sum, count] = rates.try_emplace(row.key, Eigen::VectorXd(), 0).first->second;
        sum = count == 0 ? row.rates : Eigen::VectorXd(sum + row.rates);
        ++count;
      }
    for (auto& [key, joules] : loop_joules(board.from->evidence->raw, board.from->static_w,
                                           board.from->celsius, pool.model.per_celsius_w, 0))
      loops[key].emplace_back(&board, std::log(median(joules)));
  }
  std::vector<QuickCandidate> candidates;
  for (const auto& [key, found] : loops) {
    const auto at = rates.find(key);
    if (found.size() < 2 || at == rates.end()) continue;
    QuickCandidate candidate{key, pool.shares(at->second.first), 0};
    if (candidate.shares.size() == 0) continue;
    const double in_dram = candidate.shares.dot(pool.dram);
    for (const auto& [board, log_joules] : found)
      candidate.log_joules +=
          (log_joules - board->gain - in_dram * board->dram) / static_cast<double>(found.size());
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

}  // namespace gf
