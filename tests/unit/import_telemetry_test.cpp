#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "import/importer.h"
#include "import/telemetry/quantities.h"
#include "import/telemetry/telemetry.h"
#include "import/telemetry/timestamps.h"
#include "model/metrics.h"
#include "support/report_view.h"

namespace gf {
namespace {

using test::quality_of;

/// Values of a metric on a device, in order.
std::vector<double> values(const Capture& c, std::string_view metric, std::int32_t device = 0) {
  std::vector<double> out;
  for (std::size_t i = 0; i < c.counter_samples.size(); ++i)
    if (c.text(c.counter_samples.metric[i]) == metric && c.devices.id[c.counter_samples.device[i]] == device) out.push_back(c.counter_samples.value[i]);
  return out;
}

TEST(Telemetry, NvidiaSmiWithUnits) {
  const auto c = telemetry::parse_csv(
      "timestamp, index, name, power.draw.instant [W], utilization.gpu [%], clocks.current.sm [MHz], memory.used [MiB], temperature.memory, clocks_event_reasons.active, ecc.errors\n"
      "2026/11/20 12:34:56.789, 0, NVIDIA H200, 79.48 W, 12 %, 345 MHz, 1024 MiB, 40, 0x0000000000000004, [N/A]\n"
      "2026/11/20 12:34:56.790, 1, NVIDIA H200, [Not Supported], 0 %, 345 MHz, 0 MiB, [N/A], 0x0, 3\n",
      "x.csv");
  ASSERT_TRUE(c.has_value()) << c.error().message();
  EXPECT_EQ(c->devices.size(), 2u);
  EXPECT_EQ(c->text(c->devices.name[1]), "NVIDIA H200");
  EXPECT_EQ(values(*c, "power.module"), std::vector<double>{79.48});
  EXPECT_EQ(values(*c, "monitor.gpu"), std::vector<double>{0.12});
  EXPECT_EQ(values(*c, "clock.sm", 1), std::vector<double>{345e6});
  EXPECT_EQ(values(*c, "memory.used"), std::vector<double>{1024.0 * 1024 * 1024});
  EXPECT_EQ(values(*c, "clock.limits"), std::vector<double>{4});
  EXPECT_EQ(values(*c, "power.module", 1), std::vector<double>{});  // not supported: no data, not 0
  EXPECT_EQ(values(*c, "ecc.errors", 1), std::vector<double>{3});
  EXPECT_EQ(c->counter_samples.start_ns[0], 1795178096789000000);
  EXPECT_EQ(quality_of(*c), (std::map<std::string, long>{{"local_time", 1}, {"no_reading", 3}}));
}

TEST(Telemetry, NoUnitsReadTheSame) {
  const auto c = telemetry::parse_csv("timestamp, power.draw [W], clocks.sm [MHz]\r\n2026/11/20 12:34:56.789, 79.48, 345\r\n", "x.csv");
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(values(*c, "power.average"), std::vector<double>{79.48});
  EXPECT_EQ(values(*c, "clock.sm"), std::vector<double>{345e6});
}

TEST(Telemetry, OwnLog) {
  const auto c = import_file("examples/power_mixed.csv.gz");
  ASSERT_TRUE(c.has_value()) << c.error().message();
  EXPECT_EQ(c->format, "telemetry_csv");
  EXPECT_TRUE(c->quality.empty());
  EXPECT_EQ(static_cast<std::size_t>(c->events) * 7, c->counter_samples.size());
  EXPECT_EQ(c->counter_samples.start_ns[0], 1795187717697197000);
  EXPECT_EQ(values(*c, "power.module")[0], 79.484);
  EXPECT_NEAR(values(*c, "energy.module")[0], 2244.182, 1e-9);
  for (std::size_t i = 0; i < 7; ++i) EXPECT_NE(find_metric(c->text(c->counter_samples.metric[i])), nullptr) << c->text(c->counter_samples.metric[i]);
}

TEST(Telemetry, Dmon) {
  const auto c = telemetry::parse_dmon("#Entity   GRACT  TENSO  POWER  GPUTL  PCITX\nID                      W\nGPU 0     0.914  0.250  412.5  91     N/A\nGPU 1     0.000  0.000  80.0   0      12\n"
                                       "GPU 0     0.900  0.240  410.0  90     5\nnoise\n", "x");
  ASSERT_TRUE(c.has_value()) << c.error().message();
  EXPECT_EQ(values(*c, "gpu.busy"), (std::vector<double>{0.914, 0.9}));
  EXPECT_EQ(values(*c, "tensor.active"), (std::vector<double>{0.25, 0.24}));
  EXPECT_EQ(values(*c, "monitor.gpu"), (std::vector<double>{0.91, 0.9}));
  EXPECT_EQ(values(*c, "power.average", 1), std::vector<double>{80});
  EXPECT_EQ(values(*c, "PCITX"), std::vector<double>{5});  // a rate: not the catalogue's byte counter
  EXPECT_EQ(quality_of(*c), (std::map<std::string, long>{{"bad_row", 1}, {"no_reading", 1}, {"no_timestamps", 1}}));
}

TEST(Telemetry, DamageIsCounted) {
  const auto c = telemetry::parse_csv("unix_time_s,power_w\n1.5,10\ngarbage\n2.5,20\n3.5", "x");
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(values(*c, "power.average"), (std::vector<double>{10, 20}));
  EXPECT_EQ(quality_of(*c), (std::map<std::string, long>{{"bad_row", 1}, {"truncated", 1}}));
  EXPECT_FALSE(telemetry::parse_csv("power.draw [W], clocks.sm [MHz]\n1,2\n", "x").has_value());  // no time
  EXPECT_FALSE(telemetry::parse_csv("", "x").has_value());
  EXPECT_FALSE(telemetry::parse_dmon("hello\n", "x").has_value());
}

TEST(Telemetry, SniffsLogsOnly) {
  EXPECT_GT(telemetry::sniff_csv("", "timestamp, power.draw [W]\n"), 50);
  EXPECT_GT(telemetry::sniff_csv("", "unix_time_s,temp_c\n"), 50);
  EXPECT_EQ(telemetry::sniff_csv("", "a,b,c\n"), 0);
  EXPECT_EQ(telemetry::sniff_csv("", "{\"traceEvents\": [1, 2]}"), 0);
  EXPECT_EQ(telemetry::sniff_csv("", "\"ID\",\"Process ID\",\"Kernel Name\"\n"), 0);
  EXPECT_GT(telemetry::sniff_dmon("", "# Entity  POWER\nID  W\n"), 50);
}

TEST(Telemetry, Calendar) {
  EXPECT_EQ(telemetry::parse_calendar("1971/01/01 00:00:00.001"), 31536000001000000);
  EXPECT_EQ(telemetry::parse_calendar("2026-11-20T12:34:56Z"), 1795178096000000000);
  for (const char* bad : {"", "2026/13/01 00:00:00", "2026/02/30 00:00:00", "2026/11/20 25:00:00", "2026/11/20", "2026/11/20 12:34:56,7", "2026-11/20 12:34:56"})
    EXPECT_FALSE(telemetry::parse_calendar(bad)) << bad;
}

}  // namespace
}  // namespace gf
