#include "analyze/energy/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "analyze/energy/counts.h"

namespace gf {

namespace {

double value(const std::map<std::string, double>& counts, const std::string& feature) {
  const auto at = counts.find(feature);
  return at == counts.end() ? 0 : at->second;
}

const BenchCounts* find(const std::vector<BenchCounts>& benches, const std::string& id) {
  for (const auto& b : benches)
    if (b.bench == id) return &b;
  return nullptr;
}

/// A block of fewer than 32 threads issues the same instructions but moves less: its counts follow
/// no counted kernel.
bool part_of_a_warp(const RawEnergyPoint& p) { return p.threads > 0 && p.threads < 32; }

}  // namespace

Status take_counters(std::vector<BenchCounts>& benches, const Capture& report, double loops) {
  const auto counters = counters_by_kernel(report);
  std::map<std::string, std::vector<std::size_t>, std::less<>> rows;
  for (std::size_t i = 0; i < counters.size(); ++i)
    rows[std::string(report.text(report.report_kernels.name[i]))].push_back(i);
  std::size_t found = 0;
  for (auto& b : benches) {
    const auto at = rows.find("bench_" + b.bench);
    if (at == rows.end()) continue;
    if (at->second.size() != 2)
      return fail(fmt::format("the counter report holds {} launches of {}, not two",
                              at->second.size(), at->first),
                  report.path);
    const auto i = at->second[0], j = at->second[1];
    const auto once = energy_counts(counters[i]), twice = energy_counts(counters[j]);
    b.blocks = static_cast<unsigned>(std::max(0, report.report_kernels.grid_x[i]));
    b.threads = static_cast<unsigned>(std::max(0, report.report_kernels.block_x[i]));
    const double warps = static_cast<double>(b.blocks) * b.threads / 32;
    if (warps <= 0)
      return fail("the counter report does not say how large its kernels were", report.path, -1,
                  "use the raw page of the report");
    for (const auto& [feature, n] : twice)
      b.counted[feature] = std::max(0.0, (n - value(once, feature)) / loops / warps);
    ++found;
  }
  if (found == 0)
    return fail(
        "the counter report holds no microbenchmark", report.path, -1,
        "profile `gpufathom calibrate --launch-once` with the kernel filter `regex:^bench_`");
  return {};
}

std::vector<SafetyFinding> check_counts(const std::vector<BenchCounts>& benches) {
  std::vector<SafetyFinding> findings;
  for (const auto& b : benches) {
    if (b.counted.empty()) continue;
    const double expected = value(b.by_arithmetic, b.feature),
                 counted = value(b.counted, b.feature);
    const bool countable =
        b.counted.count(b.feature) > 0;  // a division is none: it is made of other operations
    if (countable && expected > 0 && std::abs(counted / expected - 1) > 0.01)
      findings.push_back({b.bench, fmt::format("{:.4g} {} a loop counted, {:.4g} by arithmetic",
                                               counted, b.feature, expected)});
    auto reaches =
        [&](const char* level,
            const char* below) {  // share of accesses of `level` that went on to the one below
          const double n = value(b.counted, level);
          return n > 0 ? value(b.counted, below) / n : 0;
        };
    const bool stays_in_l1 = b.feature == "l1.load" || b.feature == "l1.wavefront",
               stays_in_l2 = b.feature == "l2.load";
    if (stays_in_l1 && reaches("l1.load", "l2.load") > 0.01)
      findings.push_back({b.bench, fmt::format("{:.1f} % of its loads miss L1",
                                               100 * reaches("l1.load", "l2.load"))});
    if (stays_in_l2 && reaches("l2.load", "dram.read") > 0.01)
      findings.push_back({b.bench, fmt::format("{:.1f} % of its loads miss L2",
                                               100 * reaches("l2.load", "dram.read"))});
    if (b.feature == "dram.read" && reaches("l2.load", "dram.read") < 0.99)
      findings.push_back({b.bench, fmt::format("{:.1f} % of its loads hit L2",
                                               100 - 100 * reaches("l2.load", "dram.read"))});
  }
  return findings;
}

std::vector<EnergyPoint> fit_points(const std::vector<RawEnergyPoint>& raw,
                                    const std::vector<BenchCounts>& benches,
                                    const std::vector<SafetyFinding>& findings, unsigned sm_count,
                                    std::vector<std::string>* left_out) {
  auto leave = [&](const RawEnergyPoint& p, std::string_view why) {
    if (left_out)
      left_out->push_back(fmt::format("{} ({} threads, {} blocks, run {}): {}", p.bench, p.threads,
                                      p.blocks, p.repeat, why));
  };
  std::vector<EnergyPoint> points;
  for (const auto& p : raw) {
    if (!p.dropped.empty()) {
      leave(p, p.dropped);
      continue;
    }
    const bool reference = p.bench == "asleep" || p.bench == "context";
    const BenchCounts* b = find(benches, p.bench);
    if (!reference && !b) {
      leave(p, "no such microbenchmark");
      continue;
    }
    if (p.bench.ends_with("_zeros")) {
      leave(p, "operands are zeros: reported apart");
      continue;
    }
    if (b && b->addresses) {
      leave(p, "operands are addresses: for the curves only");
      continue;
    }
    if (part_of_a_warp(p)) {
      leave(p, "less than a warp a block: for the curves only");
      continue;
    }
    const bool failed = std::any_of(findings.begin(), findings.end(),
                                    [&](const auto& f) { return f.bench == p.bench; });
    if (failed) {
      leave(p, "its counters deny what it claims");
      continue;
    }
    EnergyPoint e;
    e.bench = p.bench;
    e.group = fmt::format("{}:{}:{}", p.bench, p.threads, p.blocks);
    e.seconds = p.seconds;
    e.energy_j = p.energy_j;
    e.active = sm_count ? std::min(1.0, p.active_sms / sm_count) : 0;
    e.temperature_c = p.temperature_c;
    e.sm_mhz = p.sm_mhz;
    if (b)
      for (const auto& [feature, n] : b->counted.empty() ? b->by_arithmetic : b->counted)
        e.counts[feature] = n * p.warps * p.loops_per_s * p.seconds;
    points.push_back(std::move(e));
  }
  return points;
}

std::vector<LevelCurve> level_curves(const std::vector<RawEnergyPoint>& raw,
                                     const std::vector<BenchCounts>& benches, double idle_w) {
  struct Sums {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  };
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, Sums> groups;
  for (const auto& p : raw) {
    const BenchCounts* b = find(benches, p.bench);
    if (!b || !p.dropped.empty()) continue;
    double per_second = value(b->counted.empty() ? b->by_arithmetic : b->counted, b->feature) *
                        p.warps * p.loops_per_s;
    if (part_of_a_warp(p))
      per_second *= std::ceil(p.threads / 4.0) / 8;  // lanes of 8 bytes, in accesses of 32
    if (per_second <= 0) continue;
    Sums& s = groups[{p.bench, p.threads, p.blocks}];
    for (std::size_t i = 1; i < p.edge_t_s.size(); ++i) {
      const double x = per_second * p.edge_t_s[i] * 1e-12,
                   y = p.edge_energy_j[i] - idle_w * p.edge_t_s[i];
      s.n += 1, s.x += x, s.y += y, s.xx += x * x, s.xy += x * y, s.yy += y * y;
    }
  }
  std::vector<LevelCurve> curves;
  for (const auto& [key, s] : groups) {
    const double sxx = s.xx - s.x * s.x / s.n, sxy = s.xy - s.x * s.y / s.n,
                 syy = s.yy - s.y * s.y / s.n;
    if (s.n < 3 || sxx <= 0 || syy <= 0) continue;
    LevelCurve c;
    std::tie(c.bench, c.threads, c.blocks) = key;
    c.feature = find(benches, c.bench)->feature;
    c.points = static_cast<std::int64_t>(s.n);
    c.picojoules = sxy / sxx;
    c.offset_j = (s.y - c.picojoules * s.x) / s.n;
    c.r2 = sxy * sxy / (sxx * syy);
    curves.push_back(c);
  }
  return curves;
}

std::vector<OperandEffect> operand_effects(const std::vector<LevelCurve>& curves) {
  auto fullest = [&](const std::string& bench) -> const LevelCurve* {
    const LevelCurve* best = nullptr;
    for (const auto& c : curves)
      if (c.bench == bench && (!best || c.threads * c.blocks > best->threads * best->blocks))
        best = &c;
    return best;
  };
  constexpr std::string_view kZeros = "_zeros";
  std::vector<OperandEffect> effects;
  std::string last;
  for (const auto& c : curves) {
    if (!c.bench.ends_with(kZeros) || c.bench == last) continue;
    last = c.bench;
    const std::string base = c.bench.substr(0, c.bench.size() - kZeros.size());
    const LevelCurve *zeros = fullest(c.bench),
                     *random =
                         fullest(base + "_wide");  // beside it there may be a chase of addresses
    if (!random) random = fullest(base);
    if (random)
      effects.push_back({random->bench, random->feature, random->picojoules, zeros->picojoules});
  }
  return effects;
}

}  // namespace gf
