#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "analyze/energy/power_curve.h"
#include "analyze/nnls.h"
#include "analyze/tenants/tenants.h"
#include "model/counter_values.h"
#include "model/metrics.h"

namespace gf {

namespace {

constexpr Nanos kCell = 100 * kNsPerMs, kSettled = 200 * kNsPerMs;
constexpr std::size_t kMostCells = 20'000;
constexpr Eigen::Index kLeastCells = 10;
/// Least singular value of the processes' times at work, as unit vectors: below it they rose and
/// fell together.
constexpr double kTurns = 0.05;

/// True if every singular value of A with columns of length 1 is above `least`: A'A less least^2 on
/// its diagonal is then positive definite.
bool singular_values_above(Eigen::MatrixXd A, double least) {
  for (Eigen::Index column = 0; column < A.cols(); ++column)
    if (const double norm = A.col(column).norm(); norm > 0) A.col(column) /= norm;
  Eigen::MatrixXd gram = A.transpose() * A;
  gram.diagonal().array() -= least * least;
  return Eigen::LLT<Eigen::MatrixXd>(gram).info() == Eigen::Success;
}

/// Metrics that power is modeled to follow, beside the time at work.
constexpr std::string_view kDrivers[] = {"sm.active_any"_metric, "sm.active"_metric,
                                         "tensor.active"_metric, "dram.active"_metric};

/// A stretch of time with one measured energy.
struct Cell {
  Interval span;
  PresenceShare share;
  double joules = 0;
  std::vector<double> drivers;              // means over the cell, time at work first
  std::vector<std::vector<TenantPart>> of;  // the same by process
};

/// The least power that was read while the GPU had had nothing to do for a while, 0 when it never
/// had: what it draws without work.
double idle_watts(const Capture& capture, std::uint32_t device, const PowerCurve& curve) {
  const Text busy = capture.strings.find("gpu.busy"_metric);
  if (busy == Text::none) return 0;
  Intervals quiet;
  each_counter_value(capture, kAllTime, {device, {busy}},
                     [&](std::uint32_t, Text, Nanos start, Nanos duration, double value) {
                       if (value > 0.001 || duration <= 0) return;
                       if (!quiet.empty() && start <= quiet.back().end + duration) {
                         quiet.back().end = start + duration;
                       } else {
                         quiet.push_back({start, start + duration});
                       }
                     });
  double least = 0;
  for (const auto& span : quiet) {
    if (span.length() <= kSettled) continue;
    for (const auto& reading : curve.readings({span.start + kSettled, span.end}, 0))
      if (least == 0 || reading.watts < least) least = reading.watts;
  }
  return least;
}

std::optional<std::vector<Cell>> make_cells(const PowerCurve& curve, const Presence& presence) {
  const Nanos length =
      std::max({kCell, curve.period(), total(presence.known) / static_cast<Nanos>(kMostCells)});
  std::vector<Cell> cells;
  PresenceReader reader(presence);
  for (const auto& span : presence.known)
    for (Nanos at = span.start; at < span.end; at += length) {
      Cell cell;
      cell.span = {at, std::min(at + length, span.end)};
      const auto energy = curve.nanojoules(cell.span);
      if (!energy) return std::nullopt;
      cell.joules = static_cast<double>(std::max<std::int64_t>(*energy, 0)) * 1e-9;
      cell.share = reader.share_of(cell.span);
      cells.push_back(std::move(cell));
    }
  return cells;
}

/// Each cell's drivers: the time at work, and the means of levels over the samples in it.
void fill_drivers(const Capture& capture, const Presence& presence, const TenantSamples& samples,
                  std::vector<Cell>& cells) {
  std::vector<std::size_t> columns;
  for (std::size_t metric = 0; metric < samples.metrics.size(); ++metric)
    if (std::find(std::begin(kDrivers), std::end(kDrivers),
                  capture.text(samples.metrics[metric])) != std::end(kDrivers))
      columns.push_back(metric);
  const auto count = presence.pids.size();
  PresenceReader reader(presence);
  auto row = samples.rows.begin();
  for (auto& cell : cells) {
    const auto length = static_cast<double>(std::max<Nanos>(cell.share.length, 1));
    cell.drivers.assign(1 + columns.size(), 0);
    cell.of.assign(1 + columns.size(), std::vector<TenantPart>(count));
    cell.drivers[0] = static_cast<double>(cell.share.active) / length;
    for (std::size_t process = 0; process < count; ++process)
      cell.of[0][process] = {cell.share.even[process] / length, cell.share.alone[process] / length,
                             (cell.share.alone[process] + cell.share.joint[process]) / length};
    for (; row != samples.rows.end() && row->span.start < cell.span.end; ++row) {
      const auto share = reader.share_of(row->span);
      for (std::size_t column = 0; column < columns.size(); ++column) {
        const double amount = row->rates[columns[column]] * static_cast<double>(share.length);
        cell.drivers[1 + column] += amount / length;
        const auto split = split_amount(share, amount / length, 1 / length);
        for (std::size_t process = 0; process < count; ++process)
          cell.of[1 + column][process].add(split.parts[process]);
      }
    }
  }
}

/// Power above idle as a sum of drivers: of levels, whoever causes them, or of the time at
/// work of each process.
struct PowerModel {
  std::vector<double> watts;  // a unit of each driver
  double doubt = 0;           // how far cells lie from it, as a share
  bool fitted = false;
};
/// `drivers`: a row a cell. Not fitted when the cells are too few or too much alike.
PowerModel fit_power(const std::vector<Cell>& cells, const Eigen::MatrixXd& drivers, double idle) {
  PowerModel model;
  if (drivers.rows() < std::max<Eigen::Index>(kLeastCells, 2 * drivers.cols())) return model;
  Eigen::VectorXd above(drivers.rows());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double seconds = static_cast<double>(cells[i].span.length()) * 1e-9;
    above[static_cast<Eigen::Index>(i)] = std::max(cells[i].joules / seconds - idle, 0.0);
  }
  const auto fit = nonnegative_least_squares(drivers, above);
  if (!fit.converged || fit.x.sum() <= 0 || above.norm() <= 0) return model;
  model.watts.assign(fit.x.begin(), fit.x.end());
  model.doubt = std::min(fit.residual_norm / above.norm(), 0.5);
  model.fitted = true;
  return model;
}

PowerModel fit_levels(const std::vector<Cell>& cells, double idle) {
  const auto width = cells.front().drivers.size();
  Eigen::MatrixXd drivers(cells.size(), width);
  for (std::size_t i = 0; i < cells.size(); ++i)
    for (std::size_t column = 0; column < width; ++column)
      drivers(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(column)) =
          cells[i].drivers[column];
  return fit_power(cells, drivers, idle);
}

/// Only where processes took turns that differ from cell to cell: else their watts cannot be told.
PowerModel fit_processes(const std::vector<Cell>& cells, double idle) {
  const auto width = cells.front().share.even.size();
  Eigen::MatrixXd drivers(cells.size(), width);
  for (std::size_t i = 0; i < cells.size(); ++i)
    for (std::size_t process = 0; process < width; ++process)
      drivers(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(process)) =
          cells[i].share.even[process] / static_cast<double>(cells[i].share.length);
  if (!singular_values_above(drivers, kTurns)) return {};
  return fit_power(cells, drivers, idle);
}

/// Shares of a cell from the processes' weights and their bounds.
std::vector<TenantPart> shares_from(const std::vector<TenantPart>& weights, double doubt) {
  TenantPart all;
  for (const auto& weight : weights) all.add(weight);
  std::vector<TenantPart> out;
  for (const auto& weight : weights) {
    TenantPart share{0, 0, 1};
    if (all.value > 0) share.value = weight.value / all.value;
    const double lowest = weight.low + all.high - weight.high,
                 highest = weight.high + all.low - weight.low;
    if (lowest > 0) share.low = weight.low / lowest * (1 - 2 * doubt);
    if (highest > 0) share.high = std::min(weight.high / highest * (1 + 2 * doubt), 1.0);
    out.push_back(share);
  }
  return out;
}

std::vector<TenantPart> by_levels(const Cell& cell, const PowerModel& model) {
  std::vector<TenantPart> weights(cell.share.even.size());
  for (std::size_t process = 0; process < weights.size(); ++process)
    for (std::size_t driver = 0; driver < model.watts.size(); ++driver) {
      const auto& part = cell.of[driver][process];
      const double watts = model.watts[driver];
      weights[process].add({part.value * watts, part.low * watts, part.high * watts});
    }
  return shares_from(weights, model.doubt);
}

std::vector<TenantPart> by_process(const Cell& cell, const PowerModel& model) {
  std::vector<TenantPart> weights(cell.share.even.size());
  for (std::size_t process = 0; process < weights.size(); ++process) {
    const double alone = cell.share.alone[process], watts = model.watts[process];
    weights[process] = {cell.share.even[process] * watts, alone * watts,
                        (alone + cell.share.joint[process]) * watts};
  }
  return shares_from(weights, model.doubt);
}

void widen(std::vector<TenantPart>& shares, const std::vector<TenantPart>& by) {
  for (std::size_t process = 0; process < shares.size(); ++process) {
    shares[process].low = std::min(shares[process].low, by[process].low);
    shares[process].high = std::max(shares[process].high, by[process].high);
  }
}

/// Bounds of each process's power in a cell: by the model that lies nearest, between the bounds of
/// all and the shares of time.
struct PowerModels {
  PowerModel levels, processes;
};
std::vector<TenantPart> shares_of(const Cell& cell, const PowerModels& models) {
  const auto active = static_cast<double>(cell.share.active);
  std::vector<TenantPart> shares;
  const bool any = models.levels.fitted || models.processes.fitted;
  for (std::size_t process = 0; process < cell.share.even.size(); ++process) {
    const double time = cell.share.even[process] / active;
    shares.push_back({time, any ? time : 0, any ? time : 1});
  }
  const bool nearer = models.processes.fitted &&
                      (!models.levels.fitted || models.processes.doubt < models.levels.doubt);
  auto take = [&](const std::vector<TenantPart>& by, bool value) {
    widen(shares, by);
    for (std::size_t process = 0; value && process < shares.size(); ++process)
      shares[process].value = by[process].value;
  };
  if (models.levels.fitted) take(by_levels(cell, models.levels), !nearer);
  if (models.processes.fitted) take(by_process(cell, models.processes), nearer);
  for (std::size_t process = 0; process < shares.size(); ++process) {
    auto& share = shares[process];
    if (cell.share.alone[process] >= active) share = {1, 1, 1};
    if (cell.share.alone[process] + cell.share.joint[process] <= 0) share = {0, 0, 0};
    share.low = std::min(share.low, share.value);
    share.high = std::max(share.high, share.value);
  }
  return shares;
}

}  // namespace

TenantEnergy split_energy(const Capture& capture, std::uint32_t device, const Presence& presence,
                          const TenantSamples& samples) {
  TenantEnergy out;
  const PowerCurve curve(capture, device);
  if (curve.source() == EnergySource::none || presence.pieces.empty()) return out;
  auto cells = make_cells(curve, presence);
  if (!cells || cells->empty()) return out;
  fill_drivers(capture, presence, samples, *cells);
  const double idle = idle_watts(capture, device, curve);
  const PowerModels models{fit_levels(*cells, idle), fit_processes(*cells, idle)};
  out.known = true;
  out.parts.resize(presence.pids.size());
  for (const auto& cell : *cells) {
    out.total_nj += std::llround(cell.joules * 1e9);
    const auto length = static_cast<double>(cell.share.length);
    const double base = std::min(idle * length * 1e-9, cell.joules), above = cell.joules - base,
                 without = 1 - static_cast<double>(cell.share.active) / length;
    out.rest += base * without;
    if (cell.share.active <= 0) {
      out.rest += above;
      continue;
    }
    const auto shares = shares_of(cell, models);
    for (std::size_t process = 0; process < shares.size(); ++process) {
      const double alone = cell.share.alone[process] / length,
                   joint = cell.share.joint[process] / length,
                   even = cell.share.even[process] / length;
      // While nobody works the clocks may still be up: idle time can have had its part of `above`.
      out.parts[process].add({base * even + above * shares[process].value,
                              base * alone + above * (1 - without) * shares[process].low,
                              base * (alone + joint) + above * shares[process].high});
    }
  }
  return out;
}

}  // namespace gf
