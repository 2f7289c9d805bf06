#include "analyze/energy/board_facts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/statistics.h"

namespace gf {

namespace {

/// Mean of f(point) over the runs of a microbenchmark on all SMs with that many threads a block (0:
/// the most); empty without.
template <class F>
std::optional<double> mean_of(const std::vector<RawEnergyPoint>& points, std::string_view bench,
                              F apply, std::int64_t threads = 0) {
  std::int64_t most_threads = threads, blocks = 0;
  for (const auto& point : points)
    if (point.bench == bench) {
      if (!threads) most_threads = std::max(most_threads, point.threads);
      blocks = std::max(blocks, point.blocks);
    }
  double sum = 0;
  int count = 0;
  for (const auto& point : points)
    if (point.bench == bench && point.threads == most_threads && point.blocks == blocks &&
        point.dropped.empty())
      if (const double value = apply(point); std::isfinite(value)) {
        sum += value;
        ++count;
      }
  if (count) return std::optional(sum / count);
  return std::nullopt;
}

double counted(const std::vector<BenchCounts>& benches, std::string_view bench,
               const std::string& feature) {
  for (const auto& microbench : benches)
    if (microbench.bench == bench) {
      const auto& counts =
          microbench.counted.empty() ? microbench.by_arithmetic : microbench.counted;
      const auto at = counts.find(feature);
      return at == counts.end() ? 0 : at->second;
    }
  return 0;
}

std::optional<SensorFacts> sensor_facts(const std::vector<SensorAnswer>& answers) {
  SensorFacts facts;
  std::vector<double> gaps, delays;
  for (const auto& answer : answers) {
    std::vector<double> late;  // readings when the step is over
    for (std::size_t i = 0; i < answer.t_s.size(); ++i) {
      if (i > 0) gaps.push_back(answer.t_s[i] - answer.t_s[i - 1]);
      if (answer.t_s[i] > answer.off_s / 2 && answer.t_s[i] <= answer.off_s)
        late.push_back(answer.watts[i]);
    }
    if (late.empty()) continue;
    const double half = (answer.before_w + median(late)) / 2;
    for (std::size_t i = 0; i < answer.t_s.size(); ++i)
      if (answer.watts[i] > half) {
        delays.push_back(answer.t_s[i]);
        break;
      }
  }
  if (gaps.empty() || delays.empty()) return std::nullopt;
  facts.steps = static_cast<int>(delays.size());
  facts.period_s = median(gaps);
  for (double delay : delays) facts.delay_s += delay / static_cast<double>(delays.size());
  std::tie(facts.delay_low, facts.delay_high) =
      std::pair{*std::min_element(delays.begin(), delays.end()),
                *std::max_element(delays.begin(), delays.end())};
  return facts;
}

/// The power at which the line of power over rate meets rate 0, over all shapes of a full warp and
/// more; empty with fewer than three points.
std::optional<double> power_at_rate_0(const std::vector<RawEnergyPoint>& points,
                                      std::string_view bench) {
  double count = 0, sum_rate = 0, sum_power = 0, xx = 0, xy = 0;
  for (const auto& point : points)
    if (point.bench == bench && point.threads >= 32 && point.dropped.empty() && point.seconds > 0) {
      const double rate = point.warps * point.loops_per_s * 1e-9,
                   watts = point.energy_j / point.seconds;
      count += 1;
      sum_rate += rate;
      sum_power += watts;
      xx += rate * rate;
      xy += rate * watts;
    }
  const double sxx = xx - sum_rate * sum_rate / count;
  if (count < 3 || !(sxx > 0)) return std::nullopt;
  return (sum_power - (xy - sum_rate * sum_power / count) / sxx * sum_rate) / count;
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
    if (last) {
      level.level = "DRAM";
    } else if (levels.empty()) {
      level.level = "L1";
    } else {
      level.level = "L2";
    }
    if (!last) level.bytes = steps[end - 1].bytes;
    level.ns = median(part);
    levels.push_back(level);
  };
  // A boundary is where the medians of two octaves on either side differ most, among neighbors.
  auto contrast = [&](std::size_t at) {
    std::vector<double> before, after;
    for (std::size_t j = at - kWide; j < at; ++j) before.push_back(steps[j].ns);
    for (std::size_t j = at; j < at + kWide; ++j) after.push_back(steps[j].ns);
    return median(after) / median(before);
  };
  std::vector<std::pair<double, std::size_t>> jumps;
  for (std::size_t i = kWide; i + kWide <= steps.size(); ++i)
    if (const double jump = contrast(i); jump > kJump) jumps.emplace_back(jump, i);
  std::sort(jumps.rbegin(), jumps.rend());
  std::vector<std::size_t> boundaries;
  for (const auto& [jump, index] : jumps)
    if (boundaries.size() < 2 &&
        std::none_of(boundaries.begin(), boundaries.end(), [&, at = index](std::size_t right) {
          return at + kWide > right && right + kWide > at;
        }))
      boundaries.push_back(index);
  std::sort(boundaries.begin(), boundaries.end());
  for (std::size_t boundary : boundaries) {
    // To the point: the last region whose latency lies nearer to the level before than to the one
    // after.
    std::vector<double> before, after;
    for (std::size_t j = boundary - kWide; j < boundary; ++j) before.push_back(steps[j].ns);
    for (std::size_t j = boundary; j < boundary + kWide; ++j) after.push_back(steps[j].ns);
    const double middle = std::sqrt(quantile(before, .25) * quantile(after, .75));
    std::size_t end = boundary - kWide;
    while (end < boundary + kWide && steps[end].ns < middle) ++end;
    if (end <= begin) continue;
    close(end, false);
    begin = end;
  }
  close(steps.size(), true);
  return levels;
}

namespace {

/// By counters alone: arithmetic does not know it.
std::optional<double> dram_granularity(const std::vector<BenchCounts>& benches) {
  std::optional<double> bytes;
  for (const auto& bench : benches)
    if (bench.bench == "dram_load_scattered" && bench.counted.count("dram.read") &&
        bench.counted.count("l2.load") && bench.counted.at("l2.load") > 0)
      bytes = 32 * bench.counted.at("dram.read") / bench.counted.at("l2.load");
  return bytes;
}

/// The energy counter against the power reading: mean and standard deviation over the points.
void compare_counter_and_power(const std::vector<RawEnergyPoint>& points, BoardFacts& facts) {
  double sum = 0, squares = 0;
  int count = 0;
  for (const auto& point : points)
    if (point.dropped.empty() && point.bench != "asleep" && point.seconds > 0 &&
        point.instant_w > 0) {
      const double ratio = point.energy_j / point.seconds / point.instant_w;
      sum += ratio;
      squares += ratio * ratio;
      ++count;
    }
  if (count <= 1) return;
  facts.counter_over_power = sum / count;
  facts.counter_over_power_sd =
      std::sqrt(std::max(0.0, (squares - sum * sum / count) / (count - 1)));
}

/// The memory's reading is a mean of one second: its last value of a run that is longer. Idle is
/// what runs without traffic to it read, most of which followed such runs.
std::vector<MemoryShare> memory_shares(const std::vector<RawEnergyPoint>& points,
                                       const std::vector<BenchCounts>& benches) {
  std::vector<double> quiet;
  for (const auto& point : points)
    if (point.dropped.empty() && std::isfinite(point.memory_end_w) && point.bench != "asleep" &&
        counted(benches, point.bench, "dram.read") < 1 &&
        counted(benches, point.bench, "dram.write") < 1)
      quiet.push_back(point.memory_end_w);
  auto power = [](const RawEnergyPoint& point) { return point.energy_j / point.seconds; };
  const auto idle = mean_of(points, "context", power);
  std::vector<MemoryShare> shares;
  for (const char* bench :
       {"dram_load_wide", "dram_load_zeros", "dram_store_wide", "dram_store_zeros"}) {
    const auto watts = mean_of(points, bench, power);
    const auto memory =
        mean_of(points, bench, [](const RawEnergyPoint& point) { return point.memory_end_w; });
    const auto rate = mean_of(points, bench, [&](const RawEnergyPoint& point) {
      return (counted(benches, bench, "dram.read") + counted(benches, bench, "dram.write")) *
             point.warps * point.loops_per_s;
    });
    if (!quiet.empty() && idle && watts && memory && rate && *rate > 0)
      shares.push_back(
          {bench, (*watts - *idle) / *rate * 1e12, (*memory - median(quiet)) / *rate * 1e12});
  }
  return shares;
}

/// Divisions of a warp's loop.
double divisions_of(const std::vector<BenchCounts>& benches, const std::string& name) {
  double divisions = 0;
  for (const auto& bench : benches)
    if (bench.bench == name)
      if (const auto at = bench.by_arithmetic.find("div"); at != bench.by_arithmetic.end())
        divisions = at->second;
  return divisions;
}

/// The cost of a division beside the loads of each level, for every number of threads a block.
void compare_divisions(const std::vector<RawEnergyPoint>& points,
                       const std::vector<BenchCounts>& benches, BoardFacts& facts) {
  constexpr std::int64_t kWarp = 32;
  std::vector<double> fullest;
  for (const char* level : {"l1", "l2", "dram"}) {
    const std::string plain = std::string(level) + "_load", divided = plain + "_div";
    const auto offset = power_at_rate_0(points, plain);
    const double divisions = divisions_of(benches, divided);
    if (!offset || divisions <= 0) continue;
    std::set<std::int64_t> threads;
    for (const auto& point : points)
      if (point.bench == divided) threads.insert(point.threads);
    for (const std::int64_t each : threads) {
      auto joules = [&](const std::string& bench) {  // above the offset, of one loop of one warp
        return mean_of(
            points, bench,
            [&](const RawEnergyPoint& point) {
              return (point.energy_j / point.seconds - *offset) / (point.warps * point.loops_per_s);
            },
            each);
      };
      const auto with = joules(divided), without = joules(plain);
      if (!with || !without) continue;
      const double of_warp =
          divisions * static_cast<double>(std::min(each, kWarp)) / static_cast<double>(kWarp);
      facts.divisions.push_back({level, each, (*with - *without) / of_warp * 1e12, *offset});
      if (each == *threads.rbegin()) fullest.push_back(facts.divisions.back().picojoules);
    }
  }
  const double total = std::accumulate(fullest.begin(), fullest.end(), 0.0);
  if (total > 0) {
    const auto [least, most] = std::ranges::minmax(fullest);
    facts.division_spread = (most - least) * static_cast<double>(fullest.size()) / total;
  }
}

}  // namespace

BoardFacts board_facts(const EnergyPointsFile& file, const std::vector<BenchCounts>& benches) {
  BoardFacts facts;
  if (!file.latencies.empty()) facts.caches = cache_levels(file.latencies);
  facts.sensor = sensor_facts(file.sensor);
  facts.dram_granularity_bytes = dram_granularity(benches);
  compare_counter_and_power(file.points, facts);
  facts.memory = memory_shares(file.points, benches);
  compare_divisions(file.points, benches, facts);
  return facts;
}

}  // namespace gf
