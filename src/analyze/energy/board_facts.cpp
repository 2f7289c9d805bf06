#include "analyze/energy/board_facts.h"

#include <algorithm>
#include <cmath>

#include "core/statistics.h"

namespace gf {

namespace {

/// Mean of f(point) over the full-occupancy runs of a microbenchmark; empty without.
template <class F>
std::optional<double> mean_of(const std::vector<RawEnergyPoint>& points, std::string_view bench,
                              F f) {
  std::int64_t threads = 0, blocks = 0;
  for (const auto& p : points)
    if (p.bench == bench)
      threads = std::max(threads, p.threads), blocks = std::max(blocks, p.blocks);
  double sum = 0;
  int n = 0;
  for (const auto& p : points)
    if (p.bench == bench && p.threads == threads && p.blocks == blocks && p.dropped.empty())
      if (const double v = f(p); std::isfinite(v)) sum += v, ++n;
  return n ? std::optional(sum / n) : std::nullopt;
}

double counted(const std::vector<BenchCounts>& benches, std::string_view bench,
               const std::string& feature) {
  for (const auto& b : benches)
    if (b.bench == bench) {
      const auto& counts = b.counted.empty() ? b.by_arithmetic : b.counted;
      const auto at = counts.find(feature);
      return at == counts.end() ? 0 : at->second;
    }
  return 0;
}

std::optional<SensorFacts> sensor_facts(const std::vector<SensorAnswer>& answers) {
  SensorFacts facts;
  std::vector<double> gaps, delays;
  for (const auto& a : answers) {
    std::vector<double> late;  // readings when the step is over
    for (std::size_t i = 0; i < a.t_s.size(); ++i) {
      if (i > 0) gaps.push_back(a.t_s[i] - a.t_s[i - 1]);
      if (a.t_s[i] > a.off_s / 2 && a.t_s[i] <= a.off_s) late.push_back(a.watts[i]);
    }
    if (late.empty()) continue;
    const double half = (a.before_w + median(late)) / 2;
    for (std::size_t i = 0; i < a.t_s.size(); ++i)
      if (a.watts[i] > half) {
        delays.push_back(a.t_s[i]);
        break;
      }
  }
  if (gaps.empty() || delays.empty()) return std::nullopt;
  facts.steps = static_cast<int>(delays.size());
  facts.period_s = median(gaps);
  for (double d : delays) facts.delay_s += d / static_cast<double>(delays.size());
  std::tie(facts.delay_low, facts.delay_high) =
      std::pair{*std::min_element(delays.begin(), delays.end()),
                *std::max_element(delays.begin(), delays.end())};
  return facts;
}

/// Where the line of power over rate meets rate 0, over all shapes of a full warp and more; empty
/// with fewer than three points.
std::optional<double> power_at_rate_0(const std::vector<RawEnergyPoint>& points,
                                      std::string_view bench) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& p : points)
    if (p.bench == bench && p.threads >= 32 && p.dropped.empty() && p.seconds > 0) {
      const double rate = p.warps * p.loops_per_s * 1e-9, watts = p.energy_j / p.seconds;
      n += 1, x += rate, y += watts, xx += rate * rate, xy += rate * watts;
    }
  const double sxx = xx - x * x / n;
  if (n < 3 || !(sxx > 0)) return std::nullopt;
  return (y - (xy - x * y / n) / sxx * x) / n;
}

}  // namespace

std::vector<CacheLevel> cache_levels(const std::vector<LatencyStep>& steps) {
  constexpr double kJump = 1.3;  // a level's latency over the one before it
  constexpr std::size_t kWide =
      8;  // points before and after a jump that must differ by as much: two octaves
  std::vector<CacheLevel> levels;
  std::vector<double> part;
  std::size_t begin = 0;
  auto close = [&](std::size_t end, bool last) {
    part.clear();
    for (std::size_t i = begin; i < end; ++i) part.push_back(steps[i].ns);
    if (part.empty()) return;
    CacheLevel level;
    level.level = last ? "DRAM" : levels.empty() ? "L1" : "L2";
    if (!last) level.bytes = steps[end - 1].bytes;
    level.ns = median(part);
    levels.push_back(level);
  };
  // A boundary is where the medians of two octaves on either side differ most, among neighbours.
  auto contrast = [&](std::size_t i) {
    std::vector<double> before, after;
    for (std::size_t j = i - kWide; j < i; ++j) before.push_back(steps[j].ns);
    for (std::size_t j = i; j < i + kWide; ++j) after.push_back(steps[j].ns);
    return median(after) / median(before);
  };
  std::vector<std::pair<double, std::size_t>> jumps;
  for (std::size_t i = kWide; i + kWide <= steps.size(); ++i)
    if (const double c = contrast(i); c > kJump) jumps.emplace_back(c, i);
  std::sort(jumps.rbegin(), jumps.rend());
  std::vector<std::size_t> boundaries;
  for (const auto& [c, i] : jumps)
    if (boundaries.size() < 2 &&
        std::none_of(boundaries.begin(), boundaries.end(),
                     [&, at = i](std::size_t b) { return at + kWide > b && b + kWide > at; }))
      boundaries.push_back(i);
  std::sort(boundaries.begin(), boundaries.end());
  for (std::size_t b : boundaries) {
    // To the point: the last region whose latency lies nearer to the level before than to the one
    // after.
    std::vector<double> before, after;
    for (std::size_t j = b - kWide; j < b; ++j) before.push_back(steps[j].ns);
    for (std::size_t j = b; j < b + kWide; ++j) after.push_back(steps[j].ns);
    const double middle = std::sqrt(quantile(before, .25) * quantile(after, .75));
    std::size_t end = b - kWide;
    while (end < b + kWide && steps[end].ns < middle) ++end;
    if (end <= begin) continue;
    close(end, false);
    begin = end;
  }
  close(steps.size(), true);
  return levels;
}

BoardFacts board_facts(const EnergyPointsFile& file, const std::vector<BenchCounts>& benches) {
  BoardFacts facts;
  if (!file.latencies.empty()) facts.caches = cache_levels(file.latencies);
  facts.sensor = sensor_facts(file.sensor);
  for (const auto& b : benches)  // by counters alone: arithmetic does not know it
    if (b.bench == "dram_load_scattered" && b.counted.count("dram.read") &&
        b.counted.count("l2.load") && b.counted.at("l2.load") > 0)
      facts.dram_granularity_bytes = 32 * b.counted.at("dram.read") / b.counted.at("l2.load");

  double sum = 0, squares = 0;
  int n = 0;
  for (const auto& p : file.points)
    if (p.dropped.empty() && p.bench != "asleep" && p.seconds > 0 && p.instant_w > 0) {
      const double ratio = p.energy_j / p.seconds / p.instant_w;
      sum += ratio, squares += ratio * ratio, ++n;
    }
  if (n > 1) {
    facts.counter_over_power = sum / n;
    facts.counter_over_power_sd = std::sqrt(std::max(0.0, (squares - sum * sum / n) / (n - 1)));
  }

  // The memory's reading is a mean of one second: its last value of a run that is longer. Idle is
  // what runs without traffic to it read, most of which followed such runs.
  std::vector<double> quiet;
  for (const auto& p : file.points)
    if (p.dropped.empty() && std::isfinite(p.memory_end_w) && p.bench != "asleep" &&
        counted(benches, p.bench, "dram.read") < 1 && counted(benches, p.bench, "dram.write") < 1)
      quiet.push_back(p.memory_end_w);
  const auto idle = mean_of(file.points, "context",
                            [](const RawEnergyPoint& p) { return p.energy_j / p.seconds; });
  for (const char* bench :
       {"dram_load_wide", "dram_load_zeros", "dram_store_wide", "dram_store_zeros"}) {
    const auto watts =
        mean_of(file.points, bench, [](const RawEnergyPoint& p) { return p.energy_j / p.seconds; });
    const auto memory =
        mean_of(file.points, bench, [](const RawEnergyPoint& p) { return p.memory_end_w; });
    const auto rate = mean_of(file.points, bench, [&](const RawEnergyPoint& p) {
      return (counted(benches, bench, "dram.read") + counted(benches, bench, "dram.write")) *
             p.warps * p.loops_per_s;
    });
    if (!quiet.empty() && idle && watts && memory && rate && *rate > 0)
      facts.memory.push_back(
          {bench, (*watts - *idle) / *rate * 1e12, (*memory - median(quiet)) / *rate * 1e12});
  }

  double least = HUGE_VAL, most = 0, total = 0;
  for (const char* level : {"l1", "l2", "dram"}) {
    const std::string plain = std::string(level) + "_load", divided = plain + "_div";
    const auto offset = power_at_rate_0(file.points, plain);
    if (!offset) continue;
    auto joules = [&](const std::string& bench) {  // above the offset, of one loop of one warp
      return mean_of(file.points, bench, [&](const RawEnergyPoint& p) {
        return (p.energy_j / p.seconds - *offset) / (p.warps * p.loops_per_s);
      });
    };
    double divisions = 0;
    for (const auto& b : benches)
      if (b.bench == divided)
        if (const auto at = b.by_arithmetic.find("div"); at != b.by_arithmetic.end())
          divisions = at->second;
    const auto with = joules(divided), without = joules(plain);
    if (!with || !without || divisions <= 0) continue;
    const double pj = (*with - *without) / divisions * 1e12;
    facts.divisions.push_back({level, pj, *offset});
    least = std::min(least, pj), most = std::max(most, pj), total += pj;
  }
  if (!facts.divisions.empty() && total > 0)
    facts.division_spread = (most - least) * static_cast<double>(facts.divisions.size()) / total;
  return facts;
}

}  // namespace gf
