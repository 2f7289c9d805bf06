#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "import/formats.h"
#include "import/importer.h"
#include "import/nsight_compute/units.h"
#include "support/ncu_page.h"
#include "support/report_view.h"

namespace gf {
namespace {

using test::counters_of;

constexpr const char* kHeader =
    R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream",)csv"
    R"csv("Block Size","Grid Size","Device","CC",)csv";

Capture parsed(const std::string& text) {
  auto capture = ncu::parse_csv(text, "test.csv");
  EXPECT_TRUE(capture.has_value()) << (capture ? "" : capture.error().message());
  if (capture) return std::move(*capture);
  return Capture{};
}

TEST(NcuNumbers, EveryPrintedForm) {
  const ncu::NumberStyle english{'.'}, european{','};
  EXPECT_EQ(ncu::parse_number("8,896.00", english)->value, 8896);
  EXPECT_EQ(ncu::parse_number("8.896000", english, 3)->value, 8896);
  EXPECT_EQ(ncu::parse_number("706.926288", english, 6)->value, 706926288);
  EXPECT_EQ(ncu::parse_number("2,147,483,647", english)->value, 2147483647);
  EXPECT_EQ(ncu::parse_number("-1.5", english)->value, -1.5);
  EXPECT_EQ(ncu::parse_number("1.5e+03", english)->value, 1500);
  EXPECT_EQ(ncu::parse_number("27.595.520", european)->value, 27595520);
  EXPECT_EQ(ncu::parse_number("65,77", european)->value, 65.77);
  EXPECT_EQ(ncu::parse_number("27\xC2\xA0"
                              "595\xE2\x80\xAF"
                              "520,5",
                              european)
                ->value,
            27595520.5);
  for (const char* text : {"", "n/a", "PolicySpread", "-", "1.2.3", "0x12", "1 2 x", ".", "--1",
                           "(1, 2, 3)", "nan", "inf", "No-CC"})
    EXPECT_FALSE(ncu::parse_number(text, english)) << text;
}

TEST(NcuNumbers, OneFileOneLocale) {
  const auto decimal = [](std::initializer_list<const char*> cells) {
    ncu::NumberStyleVote vote;
    for (const char* cell : cells) vote.add(cell);
    return vote.style().decimal;
  };
  EXPECT_EQ(decimal({}), '.');
  EXPECT_EQ(decimal({"1,024", "1"}), '.');  // says nothing either way
  EXPECT_EQ(decimal({"1.024", "27.595.520"}), ',');
  EXPECT_EQ(decimal({"1.024", "65,77"}), ',');
  EXPECT_EQ(decimal({"1.234,56"}), ',');
  EXPECT_EQ(decimal({"1,234.56", "3.166667"}), '.');
}

TEST(NcuUnits, ScaledToBase) {
  const auto scaled = [](const char* printed) {
    const auto unit = ncu::parse_unit(printed);
    return std::pair{unit.base, unit.factor * std::pow(10.0, unit.exponent)};
  };
  using P = std::pair<std::string, double>;
  EXPECT_EQ(scaled("us"), P("ns", 1e3));
  EXPECT_EQ(scaled("usecond"), P("ns", 1e3));
  EXPECT_EQ(scaled("Kbyte/block"), P("byte/block", 1e3));
  EXPECT_EQ(scaled("Gbyte/second"), P("byte/s", 1e9));
  EXPECT_EQ(scaled("byte/ns"), P("byte/s", 1e9));
  EXPECT_EQ(scaled("cycle/nsecond"), P("cycle/s", 1e9));
  EXPECT_EQ(scaled("Ghz"), P("hz", 1e9));
  EXPECT_EQ(scaled("KiB"), P("byte", 1024));
  EXPECT_EQ(scaled("%"), P("%", 1));
  EXPECT_EQ(scaled("register/thread"), P("register/thread", 1));
  EXPECT_EQ(scaled(""), P("", 1));
}

TEST(NcuCsv, RawPageQuirks) {
  const Capture capture = parsed(
      std::string("\xEF\xBB\xBF") +
      "==PROF== Connected to process 7 (/usr/bin/python3)\nepoch 1, loss 0.5\n==WARNING== No "
      "metrics found for foo\n" +
      kHeader +
      R"csv("device__attribute_display_name","device__attribute_multiprocessor_count",)csv"
      R"csv("dram__bytes.sum","gpu__time_duration.sum","launch__func_cache_config",)csv"
      R"csv("launch__occupancy","launch__registers_per_thread",)csv"
      R"csv("launch__shared_mem_per_block_dynamic","launch__shared_mem_per_block_static",)csv"
      R"csv("x__unit_less.avg")csv"
      "\n"
      R"csv("","","","","","","","","","","","","","Mbyte","us","","%","register/thread",)csv"
      R"csv("Kbyte/block","byte/block","")csv"
      "\r\n"
      R"csv("0","464","python3.12","127.0.0.1","void f<int, ""q"">(T1)","1","7","(8, 8, )csv"
      R"csv(1)","(1568, 1, 1)","0","9.0","NVIDIA H200","132","1.500000","8.896000",)csv"
      R"csv("CachePreferNone","n/a","64","2.048000","256","6,092.48")csv"
      "\r\n"
      "==PROF== Profiling g\n"
      R"csv("1","464","python3.12","127.0.0.1","g","1","7","(1, 1, 1)","(2, 3, 4)","0",)csv"
      R"csv("9.0","NVIDIA H200","132","","1.000000","all","12.5","8","0.000000","0","1,)csv"
      R"csv(024")csv"
      "\n");
  ASSERT_EQ(capture.report_kernels.size(), 2u);
  EXPECT_EQ(capture.text(capture.report_kernels.name[0]), "void f<int, \"q\">(T1)");
  EXPECT_EQ(capture.report_kernels.grid_x[0], 1568);
  EXPECT_EQ(capture.report_kernels.block_y[0], 8);
  EXPECT_EQ(capture.report_kernels.grid_z[1], 4);
  EXPECT_EQ(capture.report_kernels.registers[0], 64);
  EXPECT_EQ(capture.report_kernels.shared_bytes[0], 2304);
  EXPECT_EQ(capture.report_kernels.duration_ns[0], 8896);
  auto first = counters_of(capture, 0);
  EXPECT_EQ(first.at("dram__bytes.sum"), (test::CounterCell{1.5e6, "", "byte"}));
  EXPECT_EQ(first.at("launch__func_cache_config").text, "CachePreferNone");
  EXPECT_TRUE(std::isnan(first.at("launch__func_cache_config").value));
  EXPECT_EQ(first.at("x__unit_less.avg").value, 6092.48);
  EXPECT_FALSE(first.contains("launch__occupancy"));  // n/a is no data, not 0
  EXPECT_FALSE(
      first.contains("device__attribute_multiprocessor_count"));  // once, not on every kernel
  EXPECT_FALSE(counters_of(capture, 1).contains("dram__bytes.sum"));
  ASSERT_EQ(capture.devices.size(), 1u);
  EXPECT_EQ(capture.text(capture.devices.name[0]), "NVIDIA H200");
  EXPECT_EQ(capture.devices.sm_count[0], 132);
  EXPECT_EQ(capture.devices.compute_major[0], 9);
  EXPECT_EQ(capture.metadata_value("device.0.display_name"), "NVIDIA H200");
  EXPECT_EQ(capture.metadata_value("process"), "python3.12");
  EXPECT_EQ(test::quality_of(capture),
            (std::map<std::string, long>{{"profiler_message", 2}, {"rounded_counters", 1}}));
}

TEST(NcuCsv, EuropeanSeparators) {
  const Capture capture = parsed(
      R"csv("ID";"Process ID";"Process Name";"Host Name";"Kernel Name";"Context";"Stream";)csv"
      R"csv("smsp__cycles_active.sum";"sm__throughput.avg.pct_of_peak_sustained_elapsed")csv"
      "\n\"\";\"\";\"\";\"\";\"\";\"\";\"\";\"cycle\";\"%\"\n"
      "\"0\";\"1\";\"a\";\"h\";\"k\";\"1\";\"7\";\"27.595.520\";\"65,77\"\n");
  const auto cells = counters_of(capture, 0);
  EXPECT_EQ(cells.at("smsp__cycles_active.sum").value, 27595520);
  EXPECT_EQ(cells.at("sm__throughput.avg.pct_of_peak_sustained_elapsed").value, 65.77);
  EXPECT_EQ(capture.report_kernels.grid_x[0],
            -1);  // an old layout without Grid Size: not known, not 0
}

/// Two kernels of a details page, with what rules say of the first.
std::vector<test::NcuKernel> two_kernels() {
  return {{"a",
           {{"Duration", "us", "8.90", "GPU Speed Of Light Throughput"},
            {"Memory Throughput", "%", "12.50", "GPU Speed Of Light Throughput"},
            {"Memory Throughput", "Gbyte/second", "1.25", "Memory Workload Analysis"},
            {"Registers Per Thread", "register/thread", "64", "Launch Statistics"},
            {"Dynamic Shared Memory Per Block", "Kbyte/block", "2.05", "Launch Statistics"},
            {"Static Shared Memory Per Block", "byte/block", "256", "Launch Statistics"},
            {"Function Cache Configuration", "", "CachePreferNone", "Launch Statistics"},
            {"Max Active Clusters", "cluster", "n/a", "Occupancy"},
            {"L2 Hit Rate", "%", "(!) nan", "Memory Workload Analysis"}},
           {{"SpeedOfLight", "SOLBottleneck", "OPT", "This kernel, \"small\", is\n...", "", ""},
            {"Occupancy", "TheoreticalOccupancy", "OPT", "limited by registers", "local", "81.25"},
            {"LaunchStats", "LaunchConfiguration", "OPT", "tail effect", "global", "50"}}},
          {"b",
           {{"Duration", "us", "1.10", "GPU Speed Of Light Throughput"},
            {"Registers Per Thread", "register/thread", "32", "Launch Statistics"}},
           {}}};
}

TEST(NcuCsv, DetailsPageWithRules) {
  const Capture capture = parsed(test::ncu_details(two_kernels()));
  ASSERT_EQ(capture.report_kernels.size(), 2u);
  EXPECT_EQ(capture.report_kernels.duration_ns[0], 8900);
  EXPECT_EQ(capture.report_kernels.registers[0], 64);
  EXPECT_EQ(capture.report_kernels.shared_bytes[0], 2306);
  EXPECT_EQ(capture.report_kernels.duration_ns[1], 1100);
  EXPECT_EQ(capture.report_kernels.registers[1], 32);
  EXPECT_EQ(capture.report_kernels.shared_bytes[1], -1);
  const auto cells = counters_of(capture, 0);
  EXPECT_EQ(cells.at("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed").value,
            12.5);
  EXPECT_EQ(cells.at("dram__bytes.sum.per_second").value, 1.25e9);
  EXPECT_EQ(cells.at("Function Cache Configuration").text, "CachePreferNone");
  EXPECT_FALSE(cells.contains("Max Active Clusters"));
  EXPECT_FALSE(cells.contains("lts__t_sector_hit_rate.pct"));
  EXPECT_EQ(test::quality_of(capture), (std::map<std::string, long>{{"rounded_counters", 5}}));

  const auto& rules = capture.kernel_rules;
  ASSERT_EQ(rules.size(), 3u);
  EXPECT_EQ(capture.text(rules.description[0]), "This kernel, \"small\", is\n...");
  EXPECT_EQ(capture.text(rules.section[0]), "SpeedOfLight");
  EXPECT_TRUE(std::isnan(rules.speedup[0])) << "no estimate is none, not 0";
  EXPECT_EQ(capture.text(rules.rule[1]), "TheoreticalOccupancy");
  EXPECT_EQ(capture.text(rules.kind[1]), "OPT");
  EXPECT_EQ(capture.text(rules.speedup_kind[1]), "local");
  EXPECT_EQ(rules.speedup[1], 81.25);
  EXPECT_EQ(capture.text(rules.speedup_kind[2]), "global");
  for (std::size_t row = 0; row < rules.size(); ++row) EXPECT_EQ(rules.kernel[row], 0u);
}

/// Everything that a page says of its kernels, but for rules.
auto said(const Capture& capture) {
  std::vector<std::tuple<std::string, double, std::map<std::string, test::CounterCell>>> out;
  for (std::uint32_t kernel = 0; kernel < capture.report_kernels.size(); ++kernel)
    out.emplace_back(capture.text(capture.report_kernels.name[kernel]),
                     capture.report_kernels.duration_ns[kernel], counters_of(capture, kernel));
  return out;
}

TEST(NcuCsv, RulesOnAndOffAndRowsInAnyOrderSayTheSame) {
  auto kernels = two_kernels();  // without texts: a NaN beside them is equal to nothing
  std::erase_if(kernels[0].metrics, [](const auto& metric) { return metric.unit.empty(); });
  const auto plain = said(parsed(test::ncu_details(kernels, {.rules = false})));
  ASSERT_EQ(plain.size(), 2u);
  for (const test::NcuStyle style : {test::NcuStyle{},
                                     {.padded = true},
                                     {.by_metric = true},
                                     {.rules = false, .by_metric = true}}) {
    const Capture capture = parsed(test::ncu_details(kernels, style));
    EXPECT_EQ(said(capture), plain);
    EXPECT_FALSE(test::quality_of(capture).contains("bad_row"));
  }
}

TEST(NcuCsv, EveryCutOfADetailsPageIsToldOrLosesNothing) {
  auto kernels = two_kernels();
  std::erase_if(kernels[0].metrics, [](const auto& metric) { return metric.unit.empty(); });
  kernels[0].rules[0].description = "in one line";
  const std::string page = test::ncu_details(kernels);
  const Capture whole = parsed(page);
  const std::vector expected{counters_of(whole, 0), counters_of(whole, 1)};
  const std::size_t header = test::ncu_header(true).size();
  for (std::size_t cut = header + 1; cut < page.size(); ++cut) {
    const Capture capture = parsed(page.substr(0, cut));
    const bool told = test::quality_of(capture).contains("truncated");
    // A cut between two rows, or behind all of a row but its line end, looks like a shorter page.
    const bool at_row = page[cut - 1] == '\n' || page[cut] == '\n';
    EXPECT_EQ(told, !at_row) << cut << ": " << page.substr(cut - 20, 20);
    for (std::uint32_t kernel = 0; kernel < capture.report_kernels.size(); ++kernel)
      for (const auto& [metric, cell] : counters_of(capture, kernel))
        EXPECT_EQ(cell, expected.at(kernel).at(metric)) << cut << " " << metric;
  }
}

TEST(NcuCsv, ARowThatLacksMoreThanItsKindIsDamage) {
  std::string page = test::ncu_details(two_kernels());
  const auto value = page.find(",\"8.90\",");
  ASSERT_NE(value, page.npos);
  page.erase(value, 8);  // the row ends after its unit, and the page goes on
  const Capture capture = parsed(page);
  EXPECT_EQ(test::quality_of(capture).at("bad_row"), 1);
  EXPECT_TRUE(std::isnan(capture.report_kernels.duration_ns[0]));
  EXPECT_EQ(capture.report_kernels.registers[0], 64);
}

TEST(NcuCsv, RulesOfOlderVersionsHaveNoEstimate) {
  std::string page = test::ncu_details(two_kernels());
  // Columns up to 2022.3: the last two are missing in the header and in the rows of rules.
  const auto drop = [&](const std::string& text) {
    const auto at = page.find(text);
    ASSERT_NE(at, page.npos) << text;
    page.erase(at, text.size());
  };
  drop(",\"Estimated Speedup Type\",\"Estimated Speedup\"");
  for (const char* cells : {",\"\",\"\"\n", ",\"local\",\"81.25\"\n", ",\"global\",\"50\"\n"}) {
    const auto at = page.find(cells);
    ASSERT_NE(at, page.npos) << cells;
    page.replace(at, std::string_view(cells).size(), "\n");
  }
  const Capture capture = parsed(page);
  ASSERT_EQ(capture.kernel_rules.size(), 3u);
  EXPECT_TRUE(std::isnan(capture.kernel_rules.speedup[1]));
  EXPECT_FALSE(test::quality_of(capture).contains("bad_row"));
}

TEST(NcuCsv, NamesBesideLabelsAndInstancesBesideValues) {
  const Capture capture =
      parsed(test::ncu_details({{"k",
                                 {{"Duration gpu__time_duration.sum", "ns", "8896 (8000; 896)"},
                                  {"L2 Hit Rate (lts__t_sector_hit_rate.pct)", "%", "50.5"},
                                  {"launch__registers_per_thread", "register/thread", "40"}},
                                 {}}}));
  EXPECT_EQ(capture.report_kernels.duration_ns[0], 8896);
  EXPECT_EQ(counters_of(capture, 0).at("lts__t_sector_hit_rate.pct").value, 50.5);
  EXPECT_EQ(capture.report_kernels.registers[0], 40);
}

TEST(NcuCsv, ASummaryHasTheMeansOfItsLaunches) {
  const std::string header =
      R"csv("Process ID","Process Name","Host Name","Kernel Name","Block Size","Grid Size",)csv"
      R"csv("Device","CC","Invocations","Section Name","Metric Name","Metric Unit","Minimum",)csv"
      R"csv("Maximum","Average")csv"
      "\n";
  const auto row = [](const char* block, const char* launches, const char* rest) {
    return std::string(R"csv("9","app","127.0.0.1","saxpy(float*)",")csv") + block +
           R"csv(","(4096, 1, 1)","0","11.0",")csv" + launches + "\"," + rest + "\n";
  };
  const Capture capture = parsed(
      "==PROF== Connected to process 9 (/app)\n" + header +
      row("(256, 1, 1)", "14",
          R"csv("GPU Speed Of Light Throughput","Duration","us","1.00","3.00","2.00")csv") +
      row("(256, 1, 1)", "14",
          R"csv("Occupancy","Achieved Occupancy","%","73.56","79.38","74.92")csv") +
      row("(1, 1, 1)", "2",
          R"csv("GPU Speed Of Light Throughput","Duration","us","10.00","30.00","20.00")csv"));
  ASSERT_EQ(capture.report_kernels.size(), 2u);
  EXPECT_EQ(capture.report_kernels.launches[0], 14);
  EXPECT_EQ(capture.report_kernels.duration_ns[0], 2000);
  EXPECT_EQ(counters_of(capture, 0).at("sm__warps_active.avg.pct_of_peak_sustained_active").value,
            74.92);
  EXPECT_EQ(capture.report_kernels.launches[1], 2);
  EXPECT_EQ(capture.report_kernels.block_x[1], 1);

  // A summary of a whole GPU, without names of kernels.
  const Capture gpu = parsed(
      R"csv("Process ID","Device","CC","Invocations","Section Name","Metric Name","Metric Unit",)csv"
      R"csv("Minimum","Maximum","Average")csv"
      "\n"
      R"csv("9","0","8.0","10","Command line profiler metrics","gpu__time_duration.sum","ns",)csv"
      R"csv("900","1,100","1,000")csv"
      "\n");
  ASSERT_EQ(gpu.report_kernels.size(), 1u);
  EXPECT_EQ(gpu.text(gpu.report_kernels.name[0]), "(all kernels)");
  EXPECT_EQ(gpu.report_kernels.duration_ns[0], 1000);
  EXPECT_EQ(gpu.report_kernels.launches[0], 10);
}

TEST(NcuCsv, PagesOneAfterTheOtherAreAllRead) {
  const std::string raw =
      std::string(kHeader) + "\"gpu__time_duration.sum\"\n" +
      R"csv("","","","","","","","","","","","us")csv"
      "\n"
      R"csv("0","8","p","h","c","1","7","(8, 8, 1)","(1568, 1, 1)","0","9.0","5")csv"
      "\n";
  const Capture capture = parsed(test::ncu_details(two_kernels()) + raw +
                                 test::ncu_details(two_kernels(), {.rules = false}));
  ASSERT_EQ(capture.report_kernels.size(), 5u);
  EXPECT_EQ(capture.text(capture.report_kernels.name[2]), "c");
  EXPECT_EQ(capture.report_kernels.duration_ns[2], 5000);
  EXPECT_EQ(capture.report_kernels.duration_ns[3], 8900);
  EXPECT_FALSE(test::quality_of(capture).contains("bad_row"));
}

TEST(NcuCsv, DamageCostsTheRowAndIsCounted) {
  const std::string header =
      std::string(kHeader) +
      "\"a__b.sum\"\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"\n";
  const std::string row =
      R"csv("0","464","p","h","k","1","7","(8, 8, 1)","(1568, 1, 1)","0","9.0","5")csv"
      "\n";
  EXPECT_EQ(test::quality_of(parsed(header + row + "loss 0.4, acc 0.9\n" + row)),
            (std::map<std::string, long>{{"bad_row", 1}}));
  for (std::size_t cut = 1; cut < row.size() - 1; ++cut) {
    const Capture capture = parsed(header + row + row.substr(0, cut));
    EXPECT_EQ(capture.report_kernels.size(), 1u) << "a cell without its closing quote is no value";
    EXPECT_EQ(capture.quality.size(), 1u) << cut;
  }
}

TEST(NcuCsv, NoTableSaysWhatToDo) {
  const auto message = [](std::string_view text) {
    return ncu::parse_csv(text, "x.csv").error().message();
  };
  EXPECT_NE(message("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access "
                    "NVIDIA GPU Performance Counters")
                .find("NVreg_RestrictProfilingToAdminUsers=0"),
            std::string::npos);
  EXPECT_NE(message("==WARNING== No kernels were profiled.\n").find("profiled no kernel"),
            std::string::npos);
  EXPECT_NE(
      message("==ERROR== An error occurred while trying to profile.\n").find("An error occurred"),
      std::string::npos);
  EXPECT_NE(message("\n\n").find("HOME"), std::string::npos);
  EXPECT_NE(message("hello\n").find("--page raw"), std::string::npos);
}

TEST(NcuCsv, ThreeExportsOfOneReportAgree) {
  const auto load = [](const char* name) {
    return import_file(std::string("examples/lenet_train_b64.") + name + ".ncu.csv.gz");
  };
  const auto base = load("base"), scaled = load("auto"), details = load("details");
  ASSERT_TRUE(base && scaled && details);
  for (const auto* page : {&*base, &*scaled, &*details}) {
    ASSERT_EQ(page->report_kernels.size(), 50u);
    EXPECT_EQ(page->report_kernels.registers[0], 64);
    EXPECT_EQ(page->report_kernels.grid_x[0], 1568);
    EXPECT_EQ(page->report_kernels.stream[49], 7);
  }
  EXPECT_EQ(scaled->report_kernels.shared_bytes[0], 2304);
  EXPECT_EQ(scaled->report_kernels.duration_ns[0], 8896);
  EXPECT_EQ(scaled->text(scaled->devices.name[0]), "NVIDIA H200");
  EXPECT_EQ(scaled->devices.sm_count[0], 132);
  EXPECT_EQ(scaled->devices.memory_bytes[0], 150109880320);
  EXPECT_EQ(scaled->devices.clock_khz[0], 1980000);
  for (std::uint32_t kernel = 0; kernel < 50; ++kernel) {
    const auto from_base = counters_of(*base, kernel), from_scaled = counters_of(*scaled, kernel),
               from_details = counters_of(*details, kernel);
    ASSERT_EQ(from_base.size(), from_scaled.size());
    for (const auto& [metric, cell] : from_base) {
      const auto& other = from_scaled.at(metric);
      EXPECT_EQ(cell.text, other.text);
      EXPECT_EQ(cell.unit, other.unit) << metric;
      // Base units are printed with 2 decimals; scaled ones with 6 of a unit up to a million times
      // larger.
      if (cell.text.empty()) {
        EXPECT_NEAR(cell.value, other.value, 0.005 + 0.5e-6 * 1e6) << metric;
      }
    }
    EXPECT_EQ(from_details.size(), 15u);
    for (const auto& [metric, cell] : from_details)
      EXPECT_NEAR(cell.value, from_scaled.at(metric).value,
                  metric.starts_with("gpu__time") ? 5 : 0.005)
          << metric;
  }
}

}  // namespace
}  // namespace gf
