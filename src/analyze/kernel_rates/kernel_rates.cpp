#include "analyze/kernel_rates/kernel_rates.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analyze/kernel_rates/align_samples.h"
#include "analyze/nnls.h"
#include "model/metrics.h"

namespace gf {

namespace {

constexpr std::size_t kMostGroups = 240;     // the largest by time; the rest share one column
constexpr std::size_t kBlockRows = 64;       // rows whose residuals may depend on each other
constexpr double kAbsolute = 0.05, kRelative = 0.25;  // an interval narrower than either makes a rate resolvable

struct Block {
  Eigen::MatrixXd gram;      // A'A
  Eigen::MatrixXd moments;   // A'B, one column a metric
  Eigen::VectorXd squares;   // sums of b^2
  std::int64_t rows = 0;
};

void group_kernels(const Capture& c, std::uint32_t device, KernelRates& out) {
  using Key = std::tuple<Text, I32, I32, I32, I32, I32, I32>;
  const auto& a = c.activities;
  std::map<Key, std::uint32_t> known;
  out.group_of.assign(a.size(), kNoRow);
  for (std::uint32_t row = 0; row < a.size(); ++row) {
    if (a.kind[row] != ActivityKind::kernel || a.device[row] != device) continue;
    const auto [it, added] = known.try_emplace(Key{a.name[row], a.grid_x[row], a.grid_y[row], a.grid_z[row], a.block_x[row], a.block_y[row], a.block_z[row]},
                                               static_cast<std::uint32_t>(out.groups.size()));
    if (added) out.groups.push_back({row, 0, 0});
    auto& g = out.groups[it->second];
    ++g.instances;
    g.ns += a.duration_ns[row];
    out.group_of[row] = it->second;
  }
  std::vector<std::uint32_t> order(out.groups.size()), place(out.groups.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](auto x, auto y) { return out.groups[x].ns > out.groups[y].ns; });
  std::vector<KernelRates::Group> sorted;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(out.groups[order[i]]);
  }
  out.groups = std::move(sorted);
  for (auto& g : out.group_of)
    if (g != kNoRow) g = place[g];
}

/// min |A x - b|, x >= 0, from the sums of a fit: the Cholesky factor stands for A.
Eigen::VectorXd solve(const Eigen::MatrixXd& gram, const Eigen::VectorXd& moments) {
  const double ridge = 1e-9 * std::max(gram.trace() / static_cast<double>(gram.rows()), 1e-30);
  const Eigen::LLT<Eigen::MatrixXd> factor(gram + ridge * Eigen::MatrixXd::Identity(gram.rows(), gram.cols()));
  const Eigen::VectorXd b = factor.matrixL().solve(moments);
  return nonnegative_least_squares(Eigen::MatrixXd(factor.matrixU()), b).x;
}

}  // namespace

KernelRates solve_kernel_rates(const Capture& capture, std::uint32_t device) {
  KernelRates out;
  group_kernels(capture, device, out);
  if (out.groups.empty()) return out;
  const AlignedSamples samples = align_samples(capture, device);
  if (samples.rows.empty() || samples.metrics.empty()) return out;
  out.shift_ns = samples.shift_ns;
  out.fit_of_shift = samples.correlation;
  out.samples = static_cast<std::int64_t>(samples.rows.size());

  // Rows of the system, gathered block by block. Kernels in order of start; each sample meets those that overlap it.
  const auto& a = capture.activities;
  std::vector<std::uint32_t> kernels;
  for (std::uint32_t row = 0; row < a.size(); ++row)
    if (out.group_of[row] != kNoRow) kernels.push_back(row);
  std::sort(kernels.begin(), kernels.end(), [&](auto x, auto y) { return a.start_ns[x] < a.start_ns[y]; });
  const auto columns = static_cast<Eigen::Index>(std::min(out.groups.size(), kMostGroups) + (out.groups.size() > kMostGroups ? 1 : 0));
  const auto metrics = static_cast<Eigen::Index>(samples.metrics.size());
  std::vector<Block> blocks;
  Eigen::VectorXd shares(columns), values(metrics);
  std::vector<Eigen::Index> used;
  std::size_t first = 0;
  for (const auto& sample : samples.rows) {
    if (blocks.empty() || blocks.back().rows >= static_cast<std::int64_t>(kBlockRows))
      blocks.push_back({Eigen::MatrixXd::Zero(columns, columns), Eigen::MatrixXd::Zero(columns, metrics), Eigen::VectorXd::Zero(metrics), 0});
    // Long kernels may reach over later starts, so `first` moves on only past kernels that ended before every later sample.
    while (first < kernels.size() && a.start_ns[kernels[first]] + a.duration_ns[kernels[first]] <= sample.span.start) ++first;
    shares.setZero();
    used.clear();
    for (std::size_t i = first; i < kernels.size() && a.start_ns[kernels[i]] < sample.span.end; ++i) {
      const auto row = kernels[i];
      const Nanos overlap = std::min(a.start_ns[row] + a.duration_ns[row], sample.span.end) - std::max(a.start_ns[row], sample.span.start);
      if (overlap <= 0) continue;
      const auto column = std::min<Eigen::Index>(out.group_of[row], columns - 1);
      if (shares[column] == 0) used.push_back(column);
      shares[column] += static_cast<double>(overlap) / static_cast<double>(sample.span.length());
    }
    auto& block = blocks.back();
    for (Eigen::Index m = 0; m < metrics; ++m) values[m] = sample.values[static_cast<std::size_t>(m)];
    for (const auto i : used) {
      for (const auto j : used) block.gram(i, j) += shares[i] * shares[j];
      block.moments.row(i) += shares[i] * values.transpose();
    }
    block.squares += values.cwiseProduct(values);
    ++block.rows;
  }

  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(columns, columns), moments = Eigen::MatrixXd::Zero(columns, metrics);
  Eigen::VectorXd squares = Eigen::VectorXd::Zero(metrics);
  std::int64_t rows = 0;
  for (const auto& b : blocks) gram += b.gram, moments += b.moments, squares += b.squares, rows += b.rows;
  const double ridge = 1e-9 * std::max(gram.trace() / static_cast<double>(columns), 1e-30);
  const Eigen::MatrixXd inverse = (gram + ridge * Eigen::MatrixXd::Identity(columns, columns)).llt().solve(Eigen::MatrixXd::Identity(columns, columns));

  Eigen::MatrixXd solution(columns, metrics);
  for (Eigen::Index m = 0; m < metrics; ++m) solution.col(m) = solve(gram, moments.col(m));
  // Samples near in time are not independent: the variance is taken over blocks (the cluster-robust sandwich estimator),
  // G^-1 (sum of u u') G^-1 with u = A'(b - A x) of a block.
  const bool enough = blocks.size() >= 8;
  Eigen::MatrixXd variance = Eigen::MatrixXd::Zero(columns, metrics);
  for (const auto& b : blocks) {
    const Eigen::MatrixXd u = inverse * (b.moments - b.gram * solution);
    variance += u.cwiseProduct(u);
  }
  variance *= static_cast<double>(blocks.size()) / static_cast<double>(std::max<std::size_t>(blocks.size() - 1, 1));

  for (Eigen::Index m = 0; m < metrics; ++m) {
    const Eigen::VectorXd x = solution.col(m);
    const double residual = std::max(squares[m] - 2 * x.dot(moments.col(m)) + x.dot(gram * x), 0.0);
    const double noise = residual / static_cast<double>(std::max<std::int64_t>(rows - columns, 1));
    out.metrics.push_back(samples.metrics[static_cast<std::size_t>(m)]);
    out.explained.push_back(squares[m] > 0 ? 1 - residual / squares[m] : 0);
    const auto* metric = find_metric(capture.text(out.metrics.back()));
    const bool ratio = metric && metric->unit == "ratio";
    double scale = 0;  // of a count: what makes an absolute bound on its interval
    for (Eigen::Index k = 0; k < columns; ++k) scale = std::max(scale, x[k]);
    auto& rates = out.rates.emplace_back();
    for (std::size_t g = 0; g < out.groups.size(); ++g) {
      KernelRate r;
      if (g < kMostGroups) {
        const auto k = static_cast<Eigen::Index>(g);
        // Columns that resemble each other make the second term large even where the residuals are small.
        const double sigma = std::sqrt(std::max(variance(k, m), noise * inverse(k, k)));
        r.value = ratio ? std::min(x[k], 1.0) : x[k];
        r.half_width = 1.96 * sigma;
        r.resolvable = enough && (r.half_width <= (ratio ? kAbsolute : kAbsolute * scale) || r.half_width <= kRelative * r.value);
      }
      rates.push_back(r);
    }
  }
  return out;
}

namespace {

/// Counters of a report that the solved metrics stand for.
struct Stand {
  const char* metric;
  const char* counter;
  double factor;
  const char* unit;
};
constexpr Stand kStands[] = {
    {"sm.active_any", "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", 100, "%"},
    {"issue.active", "sm__inst_executed.avg.per_cycle_elapsed", 4, "inst/cycle"},  // four issue slots an SM
    {"tensor.active", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 100, "%"},
    {"sm.occupancy", "sm__warps_active.avg.pct_of_peak_sustained_elapsed", 100, "%"},
    {"dram.active", "dram__throughput.avg.pct_of_peak_sustained_elapsed", 100, "%"},
};

}  // namespace

bool add_solved_counters(Capture& c) {
  if (!c.report_kernels.empty() || c.activities.empty() || c.counter_samples.empty()) return false;
  bool any = false;
  for (std::uint32_t device = 0; device < c.devices.size(); ++device) {
    const KernelRates solved = solve_kernel_rates(c, device);
    if (solved.metrics.empty()) continue;
    std::int64_t resolved = 0, total = 0;
    Nanos resolved_ns = 0, ns = 0;
    std::vector<std::uint32_t> rows;
    // One step from the middle stands for all; every instance when there are no steps.
    Interval span{INT64_MIN, INT64_MAX};
    if (!c.steps.empty()) {
      const auto middle = c.steps.size() / 2;
      span = {c.steps.start_ns[middle], c.steps.start_ns[middle] + c.steps.duration_ns[middle]};
    }
    for (std::uint32_t row = 0; row < c.activities.size(); ++row)
      if (solved.group_of[row] != kNoRow && c.activities.start_ns[row] >= span.start && c.activities.start_ns[row] < span.end) rows.push_back(row);
    std::sort(rows.begin(), rows.end(), [&](auto x, auto y) { return c.activities.start_ns[x] < c.activities.start_ns[y]; });
    for (const auto row : rows) {
      const auto group = solved.group_of[row];
      const auto& a = c.activities;
      auto& r = c.report_kernels;
      const auto k = r.add();
      r.id[k] = k;
      r.name[k] = a.name[row];
      r.pid[k] = a.pid[row];
      r.device[k] = c.devices.id[device];
      r.context[k] = a.context[row];
      r.stream[k] = a.stream[row];
      r.grid_x[k] = a.grid_x[row], r.grid_y[k] = a.grid_y[row], r.grid_z[k] = a.grid_z[row];
      r.block_x[k] = a.block_x[row], r.block_y[k] = a.block_y[row], r.block_z[k] = a.block_z[row];
      r.registers[k] = a.registers[row];
      r.shared_bytes[k] = a.shared_bytes[row];
      r.duration_ns[k] = static_cast<double>(a.duration_ns[row]);
      for (std::size_t m = 0; m < solved.metrics.size(); ++m)
        for (const auto& stand : kStands) {
          if (c.text(solved.metrics[m]) != stand.metric || !solved.rates[m][group].resolvable) continue;
          const auto v = c.kernel_counters.add();
          c.kernel_counters.kernel[v] = k;
          c.kernel_counters.metric[v] = c.strings.intern(stand.counter);
          c.kernel_counters.value[v] = solved.rates[m][group].value * stand.factor;
          c.kernel_counters.unit[v] = c.strings.intern(stand.unit);
        }
      any = true;
    }
    for (std::size_t g = 0; g < solved.groups.size(); ++g) {
      bool all = true;
      for (const auto& rates : solved.rates) all &= rates[g].resolvable;
      ++total;
      ns += solved.groups[g].ns;
      if (all) ++resolved, resolved_ns += solved.groups[g].ns;
    }
    c.set_metadata(fmt::format("solved.{}", c.devices.id[device]),
                   fmt::format("{} of {} kernels ({:.1f} % of kernel time) resolved in every metric from {} samples; clocks shifted by {} ns, correlation {:.3f}", resolved, total,
                               ns > 0 ? 100.0 * static_cast<double>(resolved_ns) / static_cast<double>(ns) : 0.0, solved.samples, solved.shift_ns, solved.fit_of_shift));
  }
  return any;
}

}  // namespace gf
