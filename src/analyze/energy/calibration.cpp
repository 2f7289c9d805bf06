#include "analyze/energy/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "analyze/energy/work.h"

namespace gf {

namespace {

double value(const std::map<std::string, double>& counts, const std::string& feature) {
  const auto at = counts.find(feature);
  return at == counts.end() ? 0 : at->second;
}

const BenchCounts* find(const std::vector<BenchCounts>& benches, const std::string& id) {
  for (const auto& bench : benches)
    if (bench.bench == id) return &bench;
  return nullptr;
}

/// A block of fewer than 32 threads issues the same instructions but moves less: its counts follow
/// no counted kernel.
bool part_of_a_warp(const RawEnergyPoint& point) { return point.threads > 0 && point.threads < 32; }

/// FP32 additions cost a fifth less than what else the multiply-add pipe does, and programs seldom
/// do nothing else: with them in the fit all matrix products and address arithmetic come out low.
constexpr std::string_view kAdditions = "add_fp32";

}  // namespace

Status take_counters(std::vector<BenchCounts>& benches, const Capture& report, double loops) {
  const auto counters = counters_by_kernel(report);
  std::map<std::string, std::vector<std::size_t>, std::less<>> rows;
  for (std::size_t i = 0; i < counters.size(); ++i)
    rows[std::string(report.text(report.report_kernels.name[i]))].push_back(i);
  std::size_t found = 0;
  for (auto& bench : benches) {
    const auto at = rows.find("bench_" + bench.bench);
    if (at == rows.end()) continue;
    if (at->second.size() != 2)
      return fail(fmt::format("the counter report has {} launches of {}, not two",
                              at->second.size(), at->first),
                  report.path);
    const auto index = at->second[0], twice_row = at->second[1];
    const auto once = energy_counts(counters[index]), twice = energy_counts(counters[twice_row]);
    bench.blocks = static_cast<unsigned>(std::max(0, report.report_kernels.grid_x[index]));
    bench.threads = static_cast<unsigned>(std::max(0, report.report_kernels.block_x[index]));
    const double warps = static_cast<double>(bench.blocks) * bench.threads / 32;
    if (warps <= 0)
      return fail("the counter report lacks the launch sizes of its kernels", report.path, -1,
                  "use the raw page of the report");
    for (const auto& [feature, number] : twice)
      bench.counted[feature] = std::max(0.0, (number - value(once, feature)) / loops / warps);
    ++found;
  }
  if (found == 0)
    return fail(
        "the counter report has no microbenchmark", report.path, -1,
        "profile `gpufathom calibrate --launch-once` with the kernel filter `regex:^bench_`");
  return {};
}

std::vector<SafetyFinding> check_counts(const std::vector<BenchCounts>& benches) {
  std::vector<SafetyFinding> findings;
  for (const auto& bench : benches) {
    if (bench.counted.empty()) continue;
    const double expected = value(bench.by_arithmetic, bench.feature),
                 counted = value(bench.counted, bench.feature);
    const bool countable = bench.counted.count(bench.feature) >
                           0;  // a division is none: it is made of other operations
    if (countable && expected > 0 && std::abs(counted / expected - 1) > 0.01)
      findings.push_back({bench.bench, fmt::format("{:.4g} {} a loop counted, {:.4g} by arithmetic",
                                                   counted, bench.feature, expected)});
    auto reaches =
        [&](const char* level,
            const char* below) {  // share of accesses of `level` that went on to the one below
          const double count = value(bench.counted, level);
          return count > 0 ? value(bench.counted, below) / count : 0;
        };
    const bool stays_in_l1 = bench.feature == "l1.load" || bench.feature == "l1.wavefront",
               stays_in_l2 = bench.feature == "l2.load";
    if (stays_in_l1 && reaches("l1.load", "l2.load") > 0.01)
      findings.push_back({bench.bench, fmt::format("{:.1f} % of its loads miss L1",
                                                   100 * reaches("l1.load", "l2.load"))});
    if (stays_in_l2 && reaches("l2.load", "dram.read") > 0.01)
      findings.push_back({bench.bench, fmt::format("{:.1f} % of its loads miss L2",
                                                   100 * reaches("l2.load", "dram.read"))});
    for (const char* level : {"l2.store", "l2.atomic"})
      if (bench.feature == level && reaches(level, "dram.write") > 0.01)
        findings.push_back({bench.bench, fmt::format("{:.1f} % of its writes go on to DRAM",
                                                     100 * reaches(level, "dram.write"))});
    if (bench.feature == "dram.read" && reaches("l2.load", "dram.read") < 0.99)
      findings.push_back({bench.bench, fmt::format("{:.1f} % of its loads hit L2",
                                                   100 - 100 * reaches("l2.load", "dram.read"))});
  }
  return findings;
}

std::vector<EnergyPoint> fit_points(const std::vector<RawEnergyPoint>& raw,
                                    const std::vector<BenchCounts>& benches,
                                    const std::vector<SafetyFinding>& findings, unsigned sm_count,
                                    std::vector<std::string>* left_out) {
  auto leave = [&](const RawEnergyPoint& point, std::string_view why) {
    if (left_out)
      left_out->push_back(fmt::format("{} ({} threads, {} blocks, run {}): {}", point.bench,
                                      point.threads, point.blocks, point.repeat, why));
  };
  std::vector<EnergyPoint> points;
  for (const auto& raw_point : raw) {
    if (!raw_point.dropped.empty()) {
      leave(raw_point, raw_point.dropped);
      continue;
    }
    const bool reference = raw_point.bench == "asleep" || raw_point.bench == "context";
    const BenchCounts* bench_counts = find(benches, raw_point.bench);
    if (!reference && !bench_counts) {
      leave(raw_point, "no such microbenchmark");
      continue;
    }
    if (raw_point.bench.ends_with("_zeros")) {
      leave(raw_point, "operands are zeros: reported separately");
      continue;
    }
    if (raw_point.bench == kAdditions) {
      leave(raw_point, "additions alone: counters do not tell them from multiply-adds");
      continue;
    }
    if (bench_counts && bench_counts->addresses) {
      leave(raw_point, "operands are addresses: for the curves only");
      continue;
    }
    if (part_of_a_warp(raw_point)) {
      leave(raw_point, "less than a warp a block: for the curves only");
      continue;
    }
    const bool failed = std::any_of(findings.begin(), findings.end(), [&](const auto& feature) {
      return feature.bench == raw_point.bench;
    });
    if (failed) {
      leave(raw_point, "its counters contradict its claim");
      continue;
    }
    EnergyPoint fitted;
    fitted.bench = raw_point.bench;
    fitted.group = fmt::format("{}:{}:{}", raw_point.bench, raw_point.threads, raw_point.blocks);
    fitted.seconds = raw_point.seconds;
    fitted.energy_j = raw_point.energy_j;
    fitted.active = sm_count ? std::min(1.0, raw_point.active_sms / sm_count) : 0;
    fitted.temperature_c = raw_point.temperature_c;
    fitted.sm_mhz = raw_point.sm_mhz;
    if (bench_counts)
      for (const auto& [feature, number] :
           bench_counts->counted.empty() ? bench_counts->by_arithmetic : bench_counts->counted)
        fitted.counts[feature] =
            number * raw_point.warps * raw_point.loops_per_s * raw_point.seconds;
    points.push_back(std::move(fitted));
  }
  return points;
}

std::vector<LevelCurve> level_curves(const std::vector<RawEnergyPoint>& raw,
                                     const std::vector<BenchCounts>& benches, double idle_w) {
  struct Sums {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  };
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, Sums> groups;
  for (const auto& raw_point : raw) {
    const BenchCounts* bench_counts = find(benches, raw_point.bench);
    if (!bench_counts || !raw_point.dropped.empty()) continue;
    double per_second =
        value(bench_counts->counted.empty() ? bench_counts->by_arithmetic : bench_counts->counted,
              bench_counts->feature) *
        raw_point.warps * raw_point.loops_per_s;
    if (part_of_a_warp(raw_point))
      per_second *= std::ceil(static_cast<double>(raw_point.threads) / 4) /
                    8;  // lanes of 8 bytes, in accesses of 32
    if (per_second <= 0) continue;
    Sums& sums = groups[{raw_point.bench, raw_point.threads, raw_point.blocks}];
    for (std::size_t i = 1; i < raw_point.edge_t_s.size(); ++i) {
      const double picojoule_scale = per_second * raw_point.edge_t_s[i] * 1e-12,
                   joules = raw_point.edge_energy_j[i] - idle_w * raw_point.edge_t_s[i];
      sums.n += 1;
      sums.x += picojoule_scale;
      sums.y += joules;
      sums.xx += picojoule_scale * picojoule_scale;
      sums.xy += picojoule_scale * joules;
      sums.yy += joules * joules;
    }
  }
  std::vector<LevelCurve> curves;
  for (const auto& [key, sums] : groups) {
    const double sxx = sums.xx - sums.x * sums.x / sums.n, sxy = sums.xy - sums.x * sums.y / sums.n,
                 syy = sums.yy - sums.y * sums.y / sums.n;
    if (sums.n < 3 || sxx <= 0 || syy <= 0) continue;
    LevelCurve curve;
    std::tie(curve.bench, curve.threads, curve.blocks) = key;
    curve.feature = find(benches, curve.bench)->feature;
    curve.points = static_cast<std::int64_t>(sums.n);
    curve.picojoules = sxy / sxx;
    curve.offset_j = (sums.y - curve.picojoules * sums.x) / sums.n;
    curve.r2 = sxy * sxy / (sxx * syy);
    curves.push_back(curve);
  }
  return curves;
}

std::vector<OperandEffect> operand_effects(const std::vector<LevelCurve>& curves) {
  auto fullest = [&](const std::string& bench) -> const LevelCurve* {
    const LevelCurve* best = nullptr;
    for (const auto& curve : curves)
      if (curve.bench == bench &&
          (!best || curve.threads * curve.blocks > best->threads * best->blocks))
        best = &curve;
    return best;
  };
  constexpr std::string_view kZeros = "_zeros";
  std::vector<OperandEffect> effects;
  std::string last;
  for (const auto& curve : curves) {
    if (!curve.bench.ends_with(kZeros) || curve.bench == last) continue;
    last = curve.bench;
    const std::string base = curve.bench.substr(0, curve.bench.size() - kZeros.size());
    const LevelCurve *zeros = fullest(curve.bench),
                     *random =
                         fullest(base + "_wide");  // beside it there may be a chase of addresses
    if (!random) random = fullest(base);
    if (random)
      effects.push_back({random->bench, random->feature, random->picojoules, zeros->picojoules});
  }
  return effects;
}

}  // namespace gf
