#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "import/formats.h"
#include "import/importer.h"
#include "import/telemetry/quantities.h"
#include "import/telemetry/timestamps.h"
#include "model/metrics.h"
#include "support/report_view.h"

namespace gf {
namespace {

/// Values of a metric on a device, in order.
std::vector<double> values(const Capture& c, std::string_view metric, std::int32_t device = 0) {
  std::vector<double> out;
  for (std::size_t i = 0; i < c.counter_samples.size(); ++i)
    if (c.text(c.counter_samples.metric[i]) == metric &&
        c.devices.id[c.counter_samples.device[i]] == device)
      out.push_back(c.counter_samples.value[i]);
  return out;
}

TEST(Telemetry, NvidiaSmiWithUnits) {
  const auto c = telemetry::parse_csv(
      "timestamp, index, name, power.draw.instant [W], utilization.gpu [%], clocks.current.sm "
      "[MHz], memory.used [MiB], temperature.memory, clocks_event_reasons.active, ecc.errors\n"
      "2026/11/20 12:34:56.789, 0, NVIDIA H200, 79.48 W, 12 %, 345 MHz, 1024 MiB, 40, "
      "0x0000000000000004, [N/A]\n"
      "2026/11/20 12:34:56.790, 1, NVIDIA H200, [Not Supported], 0 %, 345 MHz, 0 MiB, [N/A], 0x0, "
      "3\n",
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
  EXPECT_EQ(test::quality_of(*c),
            (std::map<std::string, long>{{"local_time", 1}, {"no_reading", 3}}));
}

TEST(Telemetry, NoUnitsReadTheSame) {
  const auto c = telemetry::parse_csv(
      "timestamp, power.draw [W], clocks.sm [MHz]\r\n2026/11/20 12:34:56.789, 79.48, 345\r\n",
      "x.csv");
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
  for (std::size_t i = 0; i < 7; ++i)
    EXPECT_NE(find_metric(c->text(c->counter_samples.metric[i])), nullptr)
        << c->text(c->counter_samples.metric[i]);
}

TEST(Telemetry, Dmon) {
  const auto c = telemetry::parse_dmon(
      "#Entity   GRACT  TENSO  POWER  GPUTL  PCITX\nID                      W\nGPU 0     0.914  "
      "0.250  412.5  91     N/A\nGPU 1     0.000  0.000  80.0   0      12\n"
      "GPU 0     0.900  0.240  410.0  90     5\nnoise\n",
      "x");
  ASSERT_TRUE(c.has_value()) << c.error().message();
  EXPECT_EQ(values(*c, "gpu.busy"), (std::vector<double>{0.914, 0.9}));
  EXPECT_EQ(values(*c, "tensor.active"), (std::vector<double>{0.25, 0.24}));
  EXPECT_EQ(values(*c, "monitor.gpu"), (std::vector<double>{0.91, 0.9}));
  EXPECT_EQ(values(*c, "power.average", 1), std::vector<double>{80});
  EXPECT_EQ(values(*c, "PCITX"), std::vector<double>{5});  // a rate: not the catalog's byte counter
  EXPECT_EQ(test::quality_of(*c),
            (std::map<std::string, long>{{"bad_row", 1}, {"no_reading", 1}, {"no_timestamps", 1}}));
}

TEST(Telemetry, DcgmCountsAGpuAndItsInstancesOnce) {
  const std::string heading = "#Entity   POWER  FBUSD\nID\n";
  const std::string parts = "GPU-I 0  400  30000\nGPU-CI 0  400  30000\n";
  const auto both = telemetry::parse_dmon(heading + "GPU 0  400  60000\n" + parts, "x");
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->devices.size(), 1u);
  EXPECT_EQ(values(*both, "power.average"), std::vector<double>{400});
  EXPECT_EQ(test::quality_of(*both),
            (std::map<std::string, long>{{"line_not_read", 2}, {"no_timestamps", 1}}));
  const auto alone = telemetry::parse_dmon(heading + parts, "x");
  ASSERT_TRUE(alone.has_value());
  EXPECT_EQ(alone->devices.size(), 2u);
  EXPECT_EQ(values(*alone, "memory.used", 1000), std::vector<double>{30000.0 * (1 << 20)});
  // The power of the whole GPU is not that of a part, and not there twice.
  for (const std::int32_t part : {1000, 1001})
    EXPECT_EQ(values(*alone, "power.average", part), std::vector<double>{});
  EXPECT_EQ(test::quality_of(*alone),
            (std::map<std::string, long>{{"line_not_read", 2}, {"no_timestamps", 1}}));
}

// DCGM 4.6 prints its links between its GPUs.
TEST(Telemetry, DcgmLinksAreNoDamage) {
  const auto c = telemetry::parse_dmon(
      "#Entity   SMACT  POWER\nID\nGPU 0  0.5  400\nGPU 0 LINK 3  12  13\nGPU 0 LINK 4  12  13\n",
      "x");
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(values(*c, "power.average"), std::vector<double>{400});
  EXPECT_EQ(test::quality_of(*c),
            (std::map<std::string, long>{{"line_not_read", 2}, {"no_timestamps", 1}}));
}

TEST(Telemetry, DcgmBlanksAreNoData) {
  const auto c = telemetry::parse_dmon(
      "#Entity   POWER  TOTEC  FBUSD\nID\nGPU 0  140737488355328  9223372036854775794  "
      "2147483632\nGPU 0  80.5  1000  2\n",
      "x");
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(values(*c, "power.average"), std::vector<double>{80.5});
  EXPECT_EQ(values(*c, "energy.module"), std::vector<double>{1});
  EXPECT_EQ(values(*c, "memory.used"), std::vector<double>{2 << 20});
  EXPECT_EQ(test::quality_of(*c),
            (std::map<std::string, long>{{"no_reading", 3}, {"no_timestamps", 1}}));
}

TEST(Telemetry, SmiDmon) {
  const auto c = telemetry::parse_smi_dmon(
      "# gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk      gract     smutil  other\n# Idx  "
      "    W      C      C      %      %    MHz    MHz      GPM:%      GPM:%   what\n"
      "    0    700     37      -     91      5   2619   1980         74         59      7\n    1  "
      "   75     30     40      0      0   2619    345          -          -      8\n"
      "# gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk      gract     smutil  other\n# Idx  "
      "    W      C      C      %      %    MHz    MHz      GPM:%      GPM:%   what\n"
      "    0    690     37      -     90      5   2619   1980         75         60      7\n no "
      "reading\n",
      "x");
  ASSERT_TRUE(c.has_value()) << c.error().message();
  EXPECT_EQ(c->events, 3);
  EXPECT_EQ(values(*c, "power.average"), (std::vector<double>{700, 690}));
  EXPECT_EQ(values(*c, "monitor.gpu"), (std::vector<double>{0.91, 0.9}));
  EXPECT_EQ(values(*c, "sm.active_any"), (std::vector<double>{0.59, 0.6}));
  EXPECT_EQ(values(*c, "sm.active_any", 1), std::vector<double>{});
  EXPECT_EQ(values(*c, "temperature.memory", 1), std::vector<double>{40});
  EXPECT_EQ(values(*c, "clock.sm", 1), std::vector<double>{345e6});
  EXPECT_EQ(values(*c, "other", 1), std::vector<double>{8});
  EXPECT_EQ(c->counter_samples.start_ns.back(), kNsPerSecond);
  EXPECT_EQ(c->counter_samples.duration_ns.back(), kNsPerSecond);
  EXPECT_EQ(test::quality_of(*c),
            (std::map<std::string, long>{{"bad_row", 1}, {"no_reading", 4}, {"no_timestamps", 1}}));
  EXPECT_FALSE(telemetry::parse_smi_dmon("hello\n", "x").has_value());
}

TEST(Telemetry, SmiDmonTimes) {
  const std::string rows =
      " 20261231   23:59:58      0     91\n 20261231   23:59:59      0     90\n\n 20270101   "
      "00:00:01      0     89\n";
  const auto c = telemetry::parse_smi_dmon(
      "#Date       Time        gpu    sm\n#YYYYMMDD   HH:MM:SS    Idx     %\n" + rows, "x");
  ASSERT_TRUE(c.has_value());
  ASSERT_EQ(c->counter_samples.size(), 3u);
  EXPECT_EQ(c->counter_samples.start_ns[1],
            *telemetry::parse_calendar("2026/12/31 23:59:58"));  // up to the moment it was printed
  EXPECT_EQ(c->counter_samples.duration_ns[2], 2 * kNsPerSecond);
  EXPECT_EQ(test::quality_of(*c), (std::map<std::string, long>{{"local_time", 1}}));
  const auto t = telemetry::parse_smi_dmon(
      "#Time, gpu, sm\n#HH:MM:SS, Idx, %\n23:59:59, 0, 90\n00:00:01, 0, 89\n",
      "x");  // --format csv -o T
  const auto n =
      telemetry::parse_smi_dmon("#gpu, pwr, sm\n0, 90, 50\n", "x");  // --format csv,nounit
  ASSERT_TRUE(n.has_value());
  EXPECT_EQ(values(*n, "monitor.gpu"), std::vector<double>{0.5});
  ASSERT_TRUE(t.has_value());
  ASSERT_EQ(t->counter_samples.size(), 2u);
  EXPECT_EQ(t->counter_samples.start_ns[1] - t->counter_samples.start_ns[0], kNsPerSecond);
  EXPECT_EQ(t->counter_samples.duration_ns[1], 2 * kNsPerSecond);
  EXPECT_EQ(test::quality_of(*t), (std::map<std::string, long>{{"no_timestamps", 1}}));
}

TEST(Telemetry, GpusByWhateverNamesThem) {
  for (const char* column : {"uuid", "pci.bus_id", "serial"}) {
    const auto c = telemetry::parse_csv(std::string("timestamp, name, ") + column +
                                            ", power.draw [W]\n2026/11/20 12:34:56.1, H200, GPU-a, "
                                            "100 W\n2026/11/20 12:34:56.2, H200, GPU-b, 200 W\n" +
                                            "2026/11/20 12:34:57.1, H200, GPU-a, 101 W\n",
                                        "x");
    ASSERT_TRUE(c.has_value());
    EXPECT_EQ(values(*c, "power.average"), (std::vector<double>{100, 101})) << column;
    EXPECT_EQ(values(*c, "power.average", 1), std::vector<double>{200}) << column;
  }
}

TEST(Telemetry, GpusByNumbersUnderManyNames) {
  for (const char* column : {"gpu_index", "gpu_id", "GPU", "device_index", "minor_number"})
    for (const char* cell : {"", "gpu", "GPU ", "cuda:"}) {
      const auto c = telemetry::parse_csv(
          fmt::format("timestamp, {0}, power.draw [W]\n2026/11/20 12:34:56.1, {1}0, 100 W\n"
                      "2026/11/20 12:34:56.1, {1}1, 200 W\n2026/11/20 12:34:57.1, {1}0, 101 W\n",
                      column, cell),
          "x");
      ASSERT_TRUE(c.has_value());
      EXPECT_EQ(values(*c, "power.average"), (std::vector<double>{100, 101})) << column << cell;
      EXPECT_EQ(values(*c, "power.average", 1), std::vector<double>{200}) << column << cell;
    }
}

/// Eight GPUs in column `gpu`, power 70 + GPU; `index` holds the same number in all lines.
TEST(Telemetry, TheColumnThatTellsGpusApartIsTheirNumber) {
  for (const char* heading :
       {"timestamp,gpu,index,power.draw\n", "timestamp,index,gpu,power.draw\n"})
    for (const int apart : {0, 3}) {  // milliseconds between lines of a moment
      const bool gpu_first = std::string_view(heading).find("gpu,index") != std::string_view::npos;
      std::string text = heading;
      for (int second = 0; second < 4; ++second)
        for (int gpu = 0; gpu < 8; ++gpu)
          text += fmt::format("2026-09-08T17:26:5{}.{:03}+08:00, {}, {}, {}\n", second, gpu * apart,
                              gpu_first ? gpu : 0, gpu_first ? 0 : gpu, 70 + gpu);
      const auto c = telemetry::parse_csv(text, "x");
      ASSERT_TRUE(c.has_value()) << c.error().message();
      ASSERT_EQ(c->devices.size(), 8u) << heading << apart;
      for (int gpu = 0; gpu < 8; ++gpu)
        EXPECT_EQ(values(*c, "power.average", gpu), std::vector<double>(4, 70 + gpu));
    }
}

/// A utilization that is called `gpu` beside the number of the one GPU.
TEST(Telemetry, AColumnThatVariesIsNoNumberOfAGpu) {
  const auto c = telemetry::parse_csv(
      "unix_time_s,index,gpu,power_w\n1,3,80,10\n2,3,90,11\n3,3,80,12\n4,3,7,13\n", "x");
  ASSERT_TRUE(c.has_value());
  ASSERT_EQ(c->devices.size(), 1u);
  EXPECT_EQ(values(*c, "power.average", 3), (std::vector<double>{10, 11, 12, 13}));
}

TEST(Telemetry, GpusOfSeveralMachines) {
  const auto c = telemetry::parse_csv(
      "time_ns,host,index,power_instant_w\n1,a,0,10\n1,b,0,20\n2,a,0,11\n2,b,0,21\n", "x");
  ASSERT_TRUE(c.has_value());
  ASSERT_EQ(c->devices.size(), 2u);
  EXPECT_EQ(values(*c, "power.module"), (std::vector<double>{10, 11}));
}

/// Lines of `count` GPUs without a column that tells them apart, `apart` nanoseconds between them.
std::string unnamed_lines(int count, Nanos apart, int moments) {
  std::string text = "time_ns,power_instant_w\n";
  for (int moment = 0; moment < moments; ++moment)
    for (int gpu = 0; gpu < count; ++gpu)
      text += fmt::format("{},{}\n", 1795178096250000000 + moment * kNsPerSecond + gpu * apart,
                          100 * gpu + moment);
  return text;
}

TEST(Telemetry, ReadingsOfOneMomentAreOfSeveralGpus) {
  for (const Nanos apart : {Nanos{0}, 20 * kNsPerMs}) {
    const auto c = telemetry::parse_csv(unnamed_lines(4, apart, 5), "x");
    ASSERT_TRUE(c.has_value()) << c.error().message();
    ASSERT_EQ(c->devices.size(), 4u);
    EXPECT_EQ(values(*c, "power.module", 3), (std::vector<double>{300, 301, 302, 303, 304}));
    EXPECT_EQ(test::quality_of(*c), (std::map<std::string, long>{{"devices_by_order", 1}}));
  }
  const auto one = telemetry::parse_csv(unnamed_lines(1, 0, 20), "x");
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->devices.size(), 1u);
  EXPECT_EQ(test::quality_of(*one), (std::map<std::string, long>{}));
  // Whole seconds: one GPU read often and several GPUs look alike; so do moments that differ.
  for (const char* text :
       {"unix_time_s,power_w\n1795178096,1\n1795178096,2\n1795178097,1\n1795178097,2\n",
        "time_ns,power_w\n15,1\n15,2\n35,1\n55,1\n55,2\n55,3\n75,1\n"}) {
    const auto unclear = telemetry::parse_csv(text, "x");
    ASSERT_FALSE(unclear.has_value());
    EXPECT_NE(unclear.error().message().find("index"), std::string::npos);
  }
}

TEST(Telemetry, AHeadingAgainIsNoDamage) {
  const auto c = telemetry::parse_csv(
      "unix_time_s,power_w\n1.5,10\nunix_time_s,power_w\n2.5,20\nunix_time_s,temp_c,power_w\n"
      "3.5,40,30\n",
      "x");
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(values(*c, "power.average"), (std::vector<double>{10, 20, 30}));
  EXPECT_EQ(values(*c, "temperature.gpu"), std::vector<double>{40});
  EXPECT_EQ(test::quality_of(*c), (std::map<std::string, long>{}));
}

TEST(Telemetry, LocalTimeLeavesWithItsZone) {
  auto c = telemetry::parse_csv("timestamp, power.draw [W]\n2026/11/20 12:34:56.5, 3 W\n", "x");
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(test::quality_of(*c).count("local_time"), 1u);
  const Nanos before = c->counter_samples.start_ns[0];
  telemetry::leave_local_time(*c, *telemetry::parse_zone("+01:00"));
  EXPECT_EQ(c->counter_samples.start_ns[0], before - 3600 * kNsPerSecond);
  EXPECT_EQ(test::quality_of(*c).count("local_time"), 0u);
  telemetry::leave_local_time(*c, *telemetry::parse_zone("+01:00"));  // now it is UTC
  EXPECT_EQ(c->counter_samples.start_ns[0], before - 3600 * kNsPerSecond);
  EXPECT_EQ(telemetry::parse_zone("-0530"), -19800 * kNsPerSecond);
  EXPECT_EQ(telemetry::parse_zone("UTC"), 0);
  for (const char* none : {"", "CET", "+1:00:00", "+25:00", "1"})
    EXPECT_FALSE(telemetry::parse_zone(none)) << none;
}

TEST(Telemetry, LogOfTheMonitor) {
  const auto c = telemetry::parse_csv(
      "time_ns,host,gpu,uuid,instance,source,gpu.busy,memory.used [B],pcie.tx "
      "[B/s]\n1795187717697197001,h,3,GPU-a,,nvml,,1024,7\n1795187717697197001,h,3,MIG-a,1/"
      "0,gpm,0.5,512,\n",
      "x");
  ASSERT_TRUE(c.has_value());
  ASSERT_EQ(c->devices.size(), 2u);  // an instance is not its GPU
  EXPECT_EQ(c->text(c->devices.name[1]), "GPU 3, MIG instance 1/0");
  EXPECT_EQ(values(*c, "gpu.busy", 3), std::vector<double>{});
  EXPECT_EQ(values(*c, "memory.used", 3), std::vector<double>{1024});
  EXPECT_EQ(values(*c, "pcie.tx [B/s]", 3), std::vector<double>{7});
  EXPECT_EQ(c->counter_samples.start_ns[0], 1795187717697197001);
}

TEST(Telemetry, TimesOfManyKinds) {
  struct Case {
    const char* cell;
    std::int64_t ns;
    bool local;
  };
  for (const auto& t : {Case{"2026-11-20T12:34:56+01:00", 1795174496000000000, false},
                        Case{"2026-11-20 12:34:56.5 -0130", 1795183496500000000, false},
                        Case{"2026-11-20T12:34:56Z", 1795178096000000000, false},
                        Case{"2026/11/20 12:34:56.789 UTC", 1795178096789000000, false},
                        Case{"\"2026-11-20 12:34:56,789\"", 1795178096789000000, true},
                        Case{"1795178096.25", 1795178096250000000, false},
                        Case{"1795178096250", 1795178096250000000, false},
                        Case{"1795178096250001", 1795178096250001000, false},
                        Case{"1795178096250001002", 1795178096250001002, false}}) {
    const auto c =
        telemetry::parse_csv(std::string("timestamp, power.draw [W]\n") + t.cell + ", 3 W\n", "x");
    ASSERT_TRUE(c.has_value()) << t.cell << " " << c.error().message();
    ASSERT_EQ(c->counter_samples.size(), 1u) << t.cell;
    EXPECT_EQ(c->counter_samples.start_ns[0], t.ns) << t.cell;
    EXPECT_EQ(test::quality_of(*c).count("local_time"), t.local ? 1u : 0u) << t.cell;
  }
  const auto c = telemetry::parse_csv("timestamp, power.draw [W]\n20.31.2026 12:34:56, 3 W\n", "x");
  ASSERT_FALSE(c.has_value());
  EXPECT_NE(c.error().message().find("'20.31.2026 12:34:56'"), std::string::npos);
  const auto headless = telemetry::parse_csv("2026/11/20 12:34:56.789, 0, 12 %\n", "x");
  ASSERT_FALSE(headless.has_value());
  EXPECT_NE(headless.error().message().find("noheader"), std::string::npos);
  EXPECT_GT(telemetry::sniff_csv("", "2026/11/20 12:34:56.789, 0, 12 %\n"), 0);
}

TEST(Telemetry, NamesAreOneWhateverPartsTheirWords) {
  for (const char* column : {"power_draw_W", "power.draw [W]", "Power Draw (W)", "Power (W)",
                             "power used", "power_draw_mW"}) {
    const bool milli = std::string_view(column).ends_with("mW");
    const std::string text = fmt::format("timestamp,{}\n2026-10-13T14:56:20+00:00,{}\n", column,
                                         milli ? "6450" : "6.45");
    EXPECT_GT(telemetry::sniff_csv("", text), 50) << column;
    const auto c = telemetry::parse_csv(text, "x");
    ASSERT_TRUE(c.has_value()) << column;
    EXPECT_EQ(values(*c, "power.average"), std::vector<double>{6.45}) << column;
  }
}

TEST(Telemetry, DateAndTimeInTwoColumns) {
  struct {
    const char* dates[2];
    double days;
    bool known;
  } cases[] = {{{"04-03-2021", "05-03-2021"}, 1, false}, {{"12.03.2021", "13.03.2021"}, 1, true},
               {{"03/12/2021", "03/13/2021"}, 1, true},  {{"2021-03-04", "2021-03-05"}, 1, true},
               {{"3/30/2021", "4/1/2021"}, 2, true},     {{"2021/3/4", "2021/3/4"}, 0, true}};
  for (const auto& [dates, days, known] : cases) {
    const auto text = fmt::format(
        "Date,Time,Power Used, Power Max\n{},13:32:10,100,250\n"
        "{},13:32:11.5,101,250\n",
        dates[0], dates[1]);
    EXPECT_GT(telemetry::sniff_csv("", text), 50);
    const auto c = telemetry::parse_csv(text, "x");
    ASSERT_TRUE(c.has_value()) << dates[0] << c.error().message();
    EXPECT_EQ(values(*c, "power.average"), (std::vector<double>{100, 101}));
    EXPECT_EQ(values(*c, "power.limit"), (std::vector<double>{250, 250}));
    const auto& at = c->counter_samples.start_ns;
    EXPECT_EQ(static_cast<double>(at.back() - at[0]) / 1e9, days * 86400 + 1.5) << dates[0];
    EXPECT_EQ(c->text(c->quality.detail[0]).find("day, month") == std::string_view::npos, known);
  }
}

TEST(Telemetry, OneTimeInAllLinesIsNoTime) {
  const auto c = telemetry::parse_csv(
      "Date,Time,Power Used\n04-03-2021,13:32:39,1\n04-03-2021,13:32:39,1\n", "x");
  ASSERT_FALSE(c.has_value());
  EXPECT_NE(c.error().message().find("all 2 lines have one time"), std::string::npos);
}

TEST(Telemetry, DecimalCommasAreToldFromColumns) {
  const auto c = telemetry::parse_csv(
      "Timestamp,Power (W)\n2025-02-18 15:16:10,30,0\n2025-02-18 15:16:11,31\n"
      "2025-02-18 15:16:12,30,2\n",
      "x");
  ASSERT_FALSE(c.has_value());
  EXPECT_NE(c.error().message().find("decimal commas"), std::string::npos);
  // One line in three of another kind is damage.
  const auto damaged = telemetry::parse_csv("time_s,power_w\n1,30\n2,31\n3,30,0\n4,29\n", "x");
  ASSERT_TRUE(damaged.has_value());
  EXPECT_EQ(values(*damaged, "power.average"), (std::vector<double>{30, 31, 29}));
}

TEST(Telemetry, DamageIsCounted) {
  const auto c = telemetry::parse_csv("unix_time_s,power_w\n1.5,10\ngarbage\n2.5,20\n3.5", "x");
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(values(*c, "power.average"), (std::vector<double>{10, 20}));
  EXPECT_EQ(test::quality_of(*c), (std::map<std::string, long>{{"bad_row", 1}, {"truncated", 1}}));
  EXPECT_FALSE(
      telemetry::parse_csv("power.draw [W], clocks.sm [MHz]\n1,2\n", "x").has_value());  // no time
  EXPECT_FALSE(telemetry::parse_csv("", "x").has_value());
  EXPECT_FALSE(telemetry::parse_dmon("hello\n", "x").has_value());
}

TEST(Telemetry, SniffsLogsOnly) {
  EXPECT_GT(telemetry::sniff_csv("", "timestamp, power.draw [W]\n"), 50);
  EXPECT_GT(telemetry::sniff_csv("", "unix_time_s,temp_c\n"), 50);
  EXPECT_EQ(telemetry::sniff_csv("", "a,b,c\n"), 0);
  EXPECT_EQ(telemetry::sniff_csv("", "{\"traceEvents\": [1, 2]}"), 0);
  EXPECT_EQ(telemetry::sniff_csv("", "\"ID\",\"Process ID\",\"Kernel Name\"\n"), 0);
  EXPECT_GT(telemetry::sniff_smi_dmon("", "#Date       Time        gpu   pwr\n"), 50);
  EXPECT_GT(telemetry::sniff_smi_dmon("", "#gpu, rxpci, txpci\n"), 50);
  EXPECT_EQ(telemetry::sniff_smi_dmon("", "# gpu notes on pwr and sm\n"), 0);
  EXPECT_EQ(telemetry::sniff_dmon("", "# gpu    pwr\n"), 0);
  EXPECT_GT(telemetry::sniff_dmon("", "# Entity  POWER\nID  W\n"), 50);
}

TEST(Telemetry, Calendar) {
  EXPECT_EQ(telemetry::parse_calendar("1971/01/01 00:00:00.001"), 31536000001000000);
  EXPECT_EQ(telemetry::parse_calendar("2026-11-20T12:34:56Z"), 1795178096000000000);
  for (const char* bad :
       {"", "2026/13/01 00:00:00", "2026/02/30 00:00:00", "2026/11/20 25:00:00", "2026/11/20",
        "2026/11/20 12:34:56;7", "2026/11/20 12:34:56+1", "2026-11/20 12:34:56"})
    EXPECT_FALSE(telemetry::parse_calendar(bad)) << bad;
}

}  // namespace
}  // namespace gf
