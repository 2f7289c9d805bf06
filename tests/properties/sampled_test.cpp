// The analysis of samples alone: parts sum to totals to the nanosecond, and levels equal a count of
// every millisecond.
#include "analyze/sampled/sampled.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

#include "analyze/analyze.h"
#include "analyze/finding_ids.h"
#include "analyze/sampled/levels.h"
#include "model/counter_values.h"

namespace gf {
namespace {

constexpr const char* kMetrics[] = {"gpu.busy", "sm.active_any", "issue.active", "tensor.active",
                                    "dram.active"};

void add(Capture& c, std::uint32_t device, const char* metric, Nanos start, Nanos duration,
         double value) {
  auto& t = c.counter_samples;
  const auto row = t.add();
  t.start_ns[row] = start;
  t.duration_ns[row] = duration;
  t.device[row] = device;
  t.metric[row] = c.strings.intern(metric);
  t.value[row] = value;
}

/// One or two devices sampled for some seconds at whole milliseconds, with gaps, start-up, and
/// levels that may contradict each other.
Capture random_samples(std::mt19937_64& random) {
  Capture c;
  c.format = "test";
  for (std::uint32_t d = 0; d < 1 + random() % 2; ++d) {
    c.device_row(static_cast<std::int32_t>(d) + 2);
    const bool instants = random() % 4 == 0;
    const double level = static_cast<double>(random() % 100) / 100;
    Nanos at = static_cast<Nanos>(1 + random() % 500) * kNsPerMs;
    for (std::size_t n = 20 + random() % 200; n > 0; --n) {
      const Nanos length = static_cast<Nanos>(1 + random() % 40) * kNsPerMs;
      if (random() % 12 == 0) at += length;  // samples that never arrived
      if (instants) {
        add(c, d, "monitor.gpu", at, 0, static_cast<double>(random() % 101) / 100);
      } else {
        double most = 0;
        if (random() % 5) most = level;
        for (const char* metric : kMetrics) {
          add(c, d, metric, at, length, most);
          most *= static_cast<double>(random() % 105) / 100;  // sometimes above the rung before
        }
      }
      at += length;
    }
  }
  return c;
}

std::int64_t sum_of(const std::vector<WaterfallBar>& bars) {
  std::int64_t sum = 0;
  for (const auto& b : bars) sum += b.ns;
  return sum;
}

const Level* find(const std::vector<Level>& levels, std::string_view id) {
  for (const auto& l : levels)
    if (l.id == id) return &l;
  return nullptr;
}

RC_GTEST_PROP(Sampled, PartsSumToTotals, (unsigned seed)) {
  std::mt19937_64 random(seed);
  const Capture c = random_samples(random);
  const auto a = analyze(c, {});
  RC_ASSERT(a.has_value());
  RC_ASSERT(!a->devices.empty());
  for (const auto& d : a->devices) {
    RC_ASSERT(d.span_ns > 0);
    RC_ASSERT(sum_of(d.waterfall) == d.span_ns);
    RC_ASSERT(d.busy_ns + d.idle_ns == d.span_ns);
    Nanos idle = 0;
    for (const auto& cause : d.idle) idle += cause.ns;
    RC_ASSERT(idle == d.idle_ns);
    double before = 1;
    for (const char* id : {"gpu.busy", "sm.active", "issue.active"}) {
      const auto* level = find(d.levels, id);
      RC_ASSERT(level != nullptr);
      if (!level->value) break;
      RC_ASSERT(*level->low <= *level->high + 1e-12);
      RC_ASSERT(*level->value <= before + 1e-12);
      before = *level->value;
    }
  }
  for (const auto& l : a->levels)
    if (l.value) RC_ASSERT(*l.low >= 0 && *l.high <= 1 + 1e-12 && *l.low <= *l.high + 1e-12);
}

RC_GTEST_PROP(Sampled, BusyEqualsACountOfEveryMillisecond, (unsigned seed)) {
  std::mt19937_64 random(seed);
  const Capture c = random_samples(random);
  const auto a = analyze(c, {});
  RC_ASSERT(a.has_value());
  const auto& t = c.counter_samples;
  for (const auto& d : a->devices) {
    struct Row {
      bool is_busy;
      Nanos start, end;
      double value;
    };
    std::vector<Row> rows;
    for (std::size_t i = 0; i < t.size(); ++i) {
      const auto metric = c.text(t.metric[i]);
      if (c.devices.id[t.device[i]] == d.id && (metric == "gpu.busy" || metric == "monitor.gpu"))
        rows.push_back(
            {metric == "gpu.busy", t.start_ns[i], t.start_ns[i] + t.duration_ns[i], t.value[i]});
    }
    double busy = 0;
    Nanos known = 0;
    for (Nanos at = d.start_ns; at < d.start_ns + d.span_ns; at += kNsPerMs) {
      std::optional<double> value, before;
      for (const Row& row : rows) {
        if (row.is_busy) {
          if (row.start <= at && at < row.end) value = row.value;
        } else if (row.start <= at) {
          before = row.value;  // utilization is of the time before a reading
        } else if (before) {
          value = row.value;
        }
        if (value) break;
      }
      if (!value) continue;
      busy += *value;
      known += kNsPerMs;
    }
    const auto* level = find(d.levels, "gpu.busy");
    RC_ASSERT(level && level->value);
    const double whole = static_cast<double>(d.span_ns) / kNsPerMs;
    RC_ASSERT(std::abs(*level->low - busy / whole) < 1e-9);
    RC_ASSERT(std::abs(*level->high -
                       (busy / whole + 1 -
                        static_cast<double>(known) / static_cast<double>(d.span_ns))) < 1e-9);
  }
}

RC_GTEST_PROP(Sampled, BucketsHoldWhatTheWholeHolds, (unsigned seed)) {
  std::mt19937_64 random(seed);
  const Capture c = random_samples(random);
  const auto a = analyze(c, {});
  RC_ASSERT(a.has_value());
  const Interval window{a->window.start_ns, a->window.end_ns};
  for (const auto& device : collect_series(c, window, a->samples.bucket_ns))
    for (const auto& s : device) {
      double sum = 0, time = 0;
      for (const double v : s.sum) sum += v;
      for (const double v : s.time) time += v;
      RC_ASSERT(std::abs(sum - s.integral) <= 1e-9 * std::abs(s.integral) + 1e-6);
      RC_ASSERT(std::llround(time) == s.covered);
    }
}

TEST(Sampled, ReadingsOfInstantsHoldUntilTheNextButNotForever) {
  Capture c;
  c.device_row(0);
  for (const auto& [at, watts] : {std::pair{0, 100.0}, {1, 200.0}, {2, 300.0}, {60, 400.0}})
    add(c, 0, "power.module", at * kNsPerSecond, 0, watts);
  std::vector<std::pair<Nanos, double>> spans;
  each_sample_span(c, {0, 100 * kNsPerSecond}, {},
                   [&](std::uint32_t, Text, Nanos start, Nanos end, double value) {
                     EXPECT_EQ(end - start, kNsPerSecond);
                     spans.emplace_back(start, value);
                   });
  EXPECT_EQ(spans, (std::vector<std::pair<Nanos, double>>{{0, 100.0}, {kNsPerSecond, 200.0}}));
}

/// Two seconds of samples of a millisecond, each tenth of a period of 20 at this level.
SampledDevice with_pulses(double level) {
  Capture c;
  c.format = "test";
  c.device_row(0);
  for (Nanos i = 0; i < 2000; ++i)
    add(c, 0, "gpu.busy", i * kNsPerMs, kNsPerMs, i % 20 < 2 ? level : 0);
  return analyze(c, {})->samples.devices.at(0);
}

TEST(Sampled, TicksOfAGpuWithoutWorkAreNoSteps) {
  EXPECT_NEAR(with_pulses(0.8).step_ns.value_or(0), 20e6, 1e4);
  EXPECT_FALSE(with_pulses(0.05).step_ns.has_value());
}

TEST(Sampled, AWindowThatSettles) {
  Capture c;
  c.device_row(0);
  for (int i = 0; i < 1000; ++i)
    add(c, 0, "gpu.busy", i * 10 * kNsPerMs, 10 * kNsPerMs,
        i < 100   ? 0.0
        : i < 300 ? 0.3
        : i < 950 ? 0.8
                  : 0.1);
  AnalyzeOptions options;
  options.window = "stable";
  const auto a = analyze(c, options);
  ASSERT_TRUE(a.has_value());
  EXPECT_EQ(a->window.start_ns, 3 * kNsPerSecond);
  EXPECT_EQ(a->window.end_ns, Nanos(9.5 * kNsPerSecond));
  EXPECT_NEAR(*find(a->levels, "gpu.busy")->value, 0.8, 1e-12);
  options.window = "all";
  const auto all = analyze(c, options);
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->window.start_ns, kNsPerSecond);
  EXPECT_TRUE(std::ranges::any_of(
      all->findings, [](const auto& f) { return f.id == FindingId::start_up_in_window; }));
}

TEST(Sampled, CountsAreRatesAndDevicesWithoutWorkAreLeftOut) {
  Capture c;
  c.device_row(0);
  c.device_row(1);
  for (int i = 0; i < 100; ++i)
    for (std::uint32_t d = 0; d < 2; ++d) {
      add(c, d, "gpu.busy", i * 10 * kNsPerMs, 10 * kNsPerMs, d == 0 ? 0.5 : 0.0);
      add(c, d, "dram.read", i * 10 * kNsPerMs, 10 * kNsPerMs, 5e6);
    }
  const auto a = analyze(c, {});
  ASSERT_TRUE(a.has_value());
  ASSERT_EQ(a->devices.size(), 1u);
  EXPECT_EQ(a->samples.idle_devices, 1);
  ASSERT_EQ(a->samples.devices.size(), 1u);
  for (const auto& r : a->samples.devices[0].readings)
    if (r.id == "dram.read") {
      EXPECT_NEAR(*r.mean, 500e6, 1);
      EXPECT_NEAR(*r.total, 500e6, 1);
      EXPECT_EQ(r.unit, "bytes/s");
    }
}

TEST(Sampled, RecordingsWithKernelsInWindowsShowSamplesOfAllTheTime) {
  Capture c;
  c.device_row(0);
  for (int i = 0; i < 1000; ++i) add(c, 0, "gpu.busy", i * 100 * kNsPerMs, 100 * kNsPerMs, 0.5);
  for (const Nanos start : {10, 70}) {
    const auto w = c.recording_windows.add();
    c.recording_windows.start_ns[w] = start * kNsPerSecond;
    c.recording_windows.duration_ns[w] = 5 * kNsPerSecond;
    const auto a = c.activities.add();
    c.activities.start_ns[a] = (start + 1) * kNsPerSecond;
    c.activities.duration_ns[a] = kNsPerSecond;
    c.activities.device[a] = 0;
    c.activities.name[a] = c.strings.intern("k");
  }
  const auto a = analyze(c, {});
  ASSERT_TRUE(a.has_value());
  EXPECT_EQ(a->window.kind, WindowKind::recording_window);
  EXPECT_EQ(a->window.duration_ns, kNsPerSecond);
  EXPECT_EQ(a->samples.start_ns, 0);
  ASSERT_EQ(a->samples.devices.size(), 1u);
  EXPECT_GE(
      a->samples.bucket_ns * static_cast<Nanos>(a->samples.devices[0].readings[0].values.size()),
      100 * kNsPerSecond);
}

TEST(Sampled, AbsurdTimesEndInAnAnswerOrAnError) {
  for (const Nanos far : {INT64_MAX - 5, INT64_MAX / 2, Nanos(4e18)})
    for (const Nanos near : {INT64_MIN + 5, -far, Nanos(0)}) {
      Capture c;
      c.device_row(0);
      for (const Nanos at : {near, far}) {
        add(c, 0, "gpu.busy", at, 1, 1.0);
        add(c, 0, "monitor.gpu", at, 0, 1.0);
      }
      (void)analyze(c, {});
    }
}

}  // namespace
}  // namespace gf
