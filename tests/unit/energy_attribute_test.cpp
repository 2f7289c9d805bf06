#include <gtest/gtest.h>

#include "analyze/analyze.h"
#include "analyze/energy/attribute.h"
#include "analyze/energy/power_curve.h"
#include "analyze/energy/work.h"
#include "support/capture_builder.h"

namespace gf {

namespace {

constexpr Nanos kMs = kNsPerMs, kS = kNsPerSecond;

void sample(Capture& c, std::string_view metric, Nanos start, Nanos duration, double value,
            std::int32_t device = 0) {
  auto& t = c.counter_samples;
  const auto row = t.add();
  t.start_ns[row] = start;
  t.duration_ns[row] = duration;
  t.value[row] = value;
  t.device[row] = c.device_row(device);
  t.metric[row] = c.strings.intern(metric);
}

EnergyModelFile model_file() {
  EnergyModelFile f{"m.json", {}};
  f.model.static_w = f.model.static_low = f.model.static_high = 100;
  f.model.active_w = f.model.active_low = f.model.active_high = 40;
  f.model.sm_mhz_low = 1700;
  f.model.sm_mhz_high = 1980;
  f.model.coefficients = {{"l2.load", "", 1000, 900, 1100}, {"dram.read", "", 2000, 1900, 2100}};
  return f;
}

const EnergyPart* part(const std::vector<EnergyPart>& parts, std::string_view id) {
  for (const auto& p : parts)
    if (p.component == id) return &p;
  return nullptr;
}

bool warned(const DeviceEnergy& d, std::string_view code) {
  for (const auto& w : d.warnings)
    if (w.code == code) return true;
  return false;
}

}  // namespace

TEST(PowerCurve, TheCounterSaysHowMuchAndThePowerWhen) {
  Capture c;
  sample(c, "energy.module", 0, 0, 1000);
  sample(c, "energy.module", kS, 0, 1300);  // 300 J in a second
  sample(c, "power.module", 0, 0, 100);
  sample(c, "power.module", kS / 2, 0,
         400);  // by its own integral 250 J, a fifth of it in the first half
  sample(c, "power.module", kS, 0, 400);
  const PowerCurve curve(c, 0);
  EXPECT_EQ(curve.source(), EnergySource::energy_counter);
  EXPECT_EQ(curve.nanojoules({0, kS}), 300'000'000'000);
  EXPECT_EQ(curve.nanojoules({0, kS / 2}), 60'000'000'000);
  EXPECT_EQ(*curve.nanojoules({0, kS / 3}) + *curve.nanojoules({kS / 3, kS}), 300'000'000'000);
  EXPECT_EQ(curve.nanojoules({0, kS + 100 * kMs}),
            340'000'000'000);  // a little beyond: the last power goes on
  EXPECT_FALSE(curve.nanojoules({0, 2 * kS}));
}

TEST(PowerCurve, WithoutACounterThePowerIsIntegrated) {
  Capture c;
  for (int i = 0; i <= 10; ++i) sample(c, "power.average", i * 100 * kMs, 0, 200 + i % 2);
  const PowerCurve curve(c, 0);
  EXPECT_EQ(curve.source(), EnergySource::power_average);
  EXPECT_EQ(curve.nanojoules({0, kS}), 200'500'000'000);
  EXPECT_EQ(curve.period(), 100 * kMs);
  EXPECT_EQ(PowerCurve(c, 7).source(), EnergySource::none);
  EXPECT_FALSE(PowerCurve(c, 7).nanojoules({0, 1}));
}

TEST(PowerCurve, AReadingHoldsAsLongAsReadingsDo) {
  Capture c;
  for (int second : {0, 1, 3, 4, 6}) sample(c, "power.average", second * kS, 0, 100, 0);
  for (int second : {0, 1, 3, 4, 6, 8}) sample(c, "power.average", second * kS, 0, 100, 1);
  for (int second : {0, 1, 2, 3}) sample(c, "power.average", second * kS, 0, 100, 2);
  EXPECT_EQ(PowerCurve(c, 0).nanojoules({0, 8 * kS}), 800'000'000'000);
  EXPECT_FALSE(PowerCurve(c, 0).nanojoules({0, 8 * kS + 1}));
  const EnergyUse use = measure_energy(c, {0, 8 * kS}, nullptr);
  ASSERT_EQ(use.devices.size(), 2U);
  EXPECT_TRUE(use.why_missing.starts_with("GPU 2: the readings of power cover 3 of its 8 s"))
      << use.why_missing;
  EXPECT_NE(use.why_missing.find("there is no energy model"), std::string::npos);
}

TEST(PowerCurve, PowerAtInstantsRisesBetweenThem) {
  Capture c;
  sample(c, "power.module", 0, 0, 100);
  sample(c, "power.module", kS, 0, 300);
  sample(c, "power.module", 2 * kS, 0, 300);
  const PowerCurve curve(c, 0);
  EXPECT_EQ(curve.source(), EnergySource::power_instant);
  EXPECT_EQ(curve.nanojoules({0, 2 * kS}), 500'000'000'000);
  // A window that ends between readings: the line's half, and not the mean's.
  EXPECT_EQ(curve.nanojoules({0, kS / 2}), 75'000'000'000);
  EXPECT_EQ(curve.nanojoules({kS / 2, kS}), 125'000'000'000);
}

// A log in local time: the zone that fits, of those that there are.
TEST(PowerCurve, TheZoneOfALog) {
  const auto said = [](Nanos minutes) {
    const Nanos shift = minutes * 60 * kS;
    return outside_readings({shift - kS, shift + 21 * kS}, {0, 20 * kS});
  };
  EXPECT_NE(said(120).find("2 h ahead of UTC: if the log is in local time, pass --zone +02:00"),
            std::string::npos);
  EXPECT_NE(said(330).find("5 h 30 min ahead of UTC"), std::string::npos);
  EXPECT_NE(said(-210).find("pass --zone -03:30"), std::string::npos);
  EXPECT_EQ(said(15).find("--zone"), std::string::npos);
  EXPECT_EQ(said(16 * 60).find("--zone"), std::string::npos);
}

TEST(PowerCurve, ACounterThatFallsWasResetAndIsNotUsed) {
  Capture c;
  sample(c, "energy.module", 0, 0, 1000);
  sample(c, "energy.module", kS, 0, 5);
  sample(c, "power.module", 0, 0, 100);
  sample(c, "power.module", kS, 0, 100);
  EXPECT_EQ(PowerCurve(c, 0).source(), EnergySource::power_instant);
}

TEST(EnergyOfSamples, CountsTimesCoefficients) {
  Capture c;
  for (int i = 0; i <= 20; ++i) sample(c, "energy.module", i * 100 * kMs, 0, 30.0 * i);  // 300 W
  sample(c, "clock.sm", 0, 0, 1.98e9);
  for (int i = 0; i < 2000; ++i) {
    sample(c, "sm.active_any", i * kMs, kMs, 0.5);
    sample(c, "l2.sm_reads", i * kMs, kMs, 20e6);     // 2e10 a second: 20 W
    sample(c, "dram.read", i * kMs, kMs, 32 * 10e6);  // 1e10 a second: 20 W
  }
  const auto file = model_file();
  const auto use = measure_energy(c, {0, kS}, &file);
  ASSERT_EQ(use.devices.size(), 1u);
  const auto& d = use.devices[0];
  EXPECT_EQ(d.counts_source, CountsSource::samples);
  EXPECT_EQ(d.nj, 300'000'000'000);
  EXPECT_EQ(part(d.parts, "static")->nj, 100'000'000'000);
  EXPECT_EQ(part(d.parts, "active")->nj, 20'000'000'000);
  EXPECT_EQ(part(d.parts, "l2")->nj, 20'000'000'000);
  EXPECT_EQ(part(d.parts, "dram")->nj, 20'000'000'000);
  EXPECT_EQ(part(d.parts, "rest")->nj, 140'000'000'000);
  // 2 J of the fit, and sampled counts on another board: 20 J x (1 - e^(-1.96 x 0.0854)).
  EXPECT_NEAR(static_cast<double>(part(d.parts, "l2")->low_nj), 16.32e9, 1e7);
  EXPECT_FALSE(warned(d, "clock_outside_model"));
  // Half the span lies outside the samples: what is there stands for all of it, and that is said.
  const auto beyond = measure_energy(c, {kS, 2 * kS + 100 * kMs}, &file);
  EXPECT_TRUE(warned(beyond.devices[0], "samples_missing"));
  EXPECT_NEAR(static_cast<double>(part(beyond.devices[0].parts, "l2")->nj), 22e9, 1e3);
}

// While the host empties the GPU's buffer the SMs' counters stand still for nearly all of a sample,
// those of L2 and DRAM do not (H200, driver 580).
TEST(EnergyOfSamples, WhatTheSmsDidNotCountIsOfTheOtherSamples) {
  Capture c;
  auto file = model_file();
  file.model.coefficients.push_back({"inst", "", 100, 90, 110});
  for (int i = 0; i <= 20; ++i) sample(c, "energy.module", i * 100 * kMs, 0, 30.0 * i);
  sample(c, "clock.sm", 0, 0, 1.98e9);
  for (int i = 0; i < 1000; ++i) {
    // At work from the hundredth on: a clock that rises is none that was cut.
    const double counted = i % 10 == 5 ? 0.01 : 1, clock = i < 100 ? 345e3 : 1980e3;
    sample(c, "sm.active_any", i * kMs, kMs, i % 10 == 5 ? 0.9 : 0.5);
    sample(c, "sm.cycles", i * kMs, kMs, clock * counted);
    sample(c, "inst.executed", i * kMs, kMs, 200e6 * counted);
    sample(c, "dram.read", i * kMs, kMs, 32 * 10e6);
  }
  const auto use = measure_energy(c, {0, kS}, &file);
  const auto& d = use.devices.at(0);
  EXPECT_EQ(part(d.parts, "instructions")->nj, 20'000'000'000);
  EXPECT_EQ(part(d.parts, "active")->nj, 20'000'000'000);
  EXPECT_EQ(part(d.parts, "dram")->nj, 20'000'000'000);
  EXPECT_EQ(d.sm_mhz, 1980);
  EXPECT_FALSE(warned(d, "samples_missing"));
  for (const auto& count : d.counts)
    if (count.feature == "inst") {
      EXPECT_DOUBLE_EQ(count.count, 200e9);
    }
}

TEST(EnergyOfKernels, ReportCountsMakeKernelsAndLayersSumToTheDevice) {
  test::CaptureBuilder b;
  auto& c = b.capture;
  for (int i = 0; i <= 20; ++i) sample(c, "energy.module", i * 100 * kMs, 0, 25.0 * i);  // 250 W
  b.kernel("reads", 0, 400 * kMs);
  b.kernel("sleeps", 500 * kMs, kS);
  for (const char* name : {"reads", "sleeps"}) {
    const auto k = c.report_kernels.add();
    c.report_kernels.name[k] = c.strings.intern(name);
    c.report_kernels.duration_ns[k] = 1e6;
    auto count = [&](const char* metric, double value) {
      const auto v = c.kernel_counters.add();
      c.kernel_counters.kernel[v] = k;
      c.kernel_counters.metric[v] = c.strings.intern(metric);
      c.kernel_counters.value[v] = value;
    };
    const bool reads = k == 0;
    count("lts__t_sectors_srcunit_tex_op_read.sum", reads ? 3e10 : 0);
    count("dram__sectors_read.sum", reads ? 1e10 : 0);
    count("sm__cycles_active.sum", reads ? 100 : 50);
    count("sm__cycles_elapsed.sum", 100);
  }
  const auto file = model_file();
  AnalyzeOptions options;
  options.energy_model = &file;
  const auto a = analyze(c, options);
  ASSERT_TRUE(a);
  ASSERT_EQ(a->energy.devices.size(), 1u);
  const auto& d = a->energy.devices[0];
  EXPECT_EQ(d.counts_source, CountsSource::counter_report);
  EXPECT_EQ(d.nj, 250'000'000'000);
  EXPECT_EQ(part(d.parts, "active")->nj, 26'000'000'000);  // 40 W x (0.4 s x 1 + 0.5 s x 0.5)
  EXPECT_EQ(part(d.parts, "l2")->nj, 30'000'000'000);
  EXPECT_EQ(part(d.parts, "dram")->nj, 20'000'000'000);
  std::int64_t kernels = 0, types = 0;
  for (const auto& r : d.kernels) {
    kernels += r.nj;
    if (r.name == "sleeps") {
      EXPECT_EQ(part(r.parts, "dram"), nullptr);
    }
    if (r.name == "(idle)") {  // 0.1 s of static power, no rest
      EXPECT_EQ(r.nj, 10'000'000'000);
    }
  }
  for (const auto& r : d.layer_types) types += r.nj;
  EXPECT_EQ(kernels, d.nj);
  EXPECT_EQ(types, d.nj);
}

TEST(EnergyOfKernels, SamplesGiveEachKernelWhatItDid) {
  test::CaptureBuilder b;
  auto& c = b.capture;
  for (int i = 0; i <= 30; ++i) sample(c, "energy.module", i * 100 * kMs, 0, 40.0 * i);
  // "reads" and "waits" in turns, of lengths that samples do not follow, with gaps that let the
  // clocks be laid over each other.
  std::vector<std::pair<Interval, bool>> spans;
  for (Nanos t = 0; t < 2500 * kMs; t += 6100 * kNsPerUs) {
    spans.push_back({{t, t + 2300 * kNsPerUs}, true});
    spans.push_back({{t + 2900 * kNsPerUs, t + 4600 * kNsPerUs}, false});
  }
  for (const auto& [span, reads] : spans) b.kernel(reads ? "reads" : "waits", span.start, span.end);
  for (Nanos t = 0; t < 2500 * kMs; t += kMs) {
    Nanos busy = 0, reading = 0;
    for (const auto& [span, reads] : spans) {
      const Nanos overlap =
          std::max<Nanos>(0, std::min(span.end, t + kMs) - std::max(span.start, t));
      busy += overlap;
      if (reads) reading += overlap;
    }
    sample(c, "gpu.busy", t, kMs, static_cast<double>(busy) / kMs);
    sample(c, "sm.active_any", t, kMs, static_cast<double>(busy) / kMs);
    sample(c, "dram.read", t, kMs,
           32.0 * 50.0 *
               static_cast<double>(reading));  // 50 accesses a nanosecond: 100 W while it reads
  }
  const auto file = model_file();
  AnalyzeOptions options;
  options.energy_model = &file;
  const auto a = analyze(c, options);
  ASSERT_TRUE(a);
  const auto& d = a->energy.devices.at(0);
  EXPECT_EQ(d.counts_source, CountsSource::samples);
  EXPECT_FALSE(warned(d, "kernels_not_resolved"));
  const double whole = static_cast<double>(part(d.parts, "dram")->nj);
  std::int64_t sum = 0;
  for (const auto& r : d.kernels) {
    sum += r.nj;
    const auto* dram = part(r.parts, "dram");
    if (r.name == "reads") {
      EXPECT_GT(static_cast<double>(dram->nj), 0.97 * whole);
    }
    if (r.name == "reads") {
      EXPECT_NEAR(static_cast<double>(dram->nj) / static_cast<double>(r.ns), 100, 5);
    }
    if (r.name == "(idle)") {
      EXPECT_EQ(dram, nullptr);
    }
  }
  EXPECT_EQ(sum, d.nj);
}

TEST(EnergyOfKernels, GapsBetweenRecordingWindowsAreNoIdleTime) {
  test::CaptureBuilder b;
  for (int i = 0; i <= 20; ++i) sample(b.capture, "power.module", i * 100 * kMs, 0, 300);
  b.kernel("a", 0, 300 * kMs);
  b.kernel("a", 900 * kMs, kS);
  for (const Nanos start : {0 * kMs, 800 * kMs}) {
    const auto w = b.capture.recording_windows.add();
    b.capture.recording_windows.start_ns[w] = start;
    b.capture.recording_windows.duration_ns[w] = 400 * kMs;
  }
  AnalyzeOptions options;
  options.window = "0:1s";
  const auto across = analyze(b.capture, options);
  ASSERT_TRUE(across);
  EXPECT_TRUE(warned(across->energy.devices.at(0), "kernels_not_recorded"));
  const auto inside = analyze(b.capture, {});  // the longest window alone
  ASSERT_TRUE(inside);
  EXPECT_FALSE(warned(inside->energy.devices.at(0), "kernels_not_recorded"));
}

TEST(EnergyOfKernels, WithoutAModelEnergyGoesByTimeAndLevelsHaveNoData) {
  test::CaptureBuilder b;
  for (int i = 0; i <= 20; ++i) sample(b.capture, "power.module", i * 100 * kMs, 0, 300);
  b.kernel("a", 0, 300 * kMs);
  b.kernel("b", 300 * kMs, kS);
  const auto a = analyze(b.capture, {});
  ASSERT_TRUE(a);
  const auto& d = a->energy.devices.at(0);
  EXPECT_TRUE(d.parts.empty());
  EXPECT_EQ(d.kernels.at(0).nj, 210'000'000'000);
  EXPECT_NE(a->energy.why_missing.find("no energy model"), std::string::npos);
}

TEST(EnergyOfKernels, WithoutPowerThereIsNoEnergyAndASentenceWhy) {
  test::CaptureBuilder b;
  b.kernel("a", 0, kS);
  const auto a = analyze(b.capture, {});
  ASSERT_TRUE(a);
  EXPECT_TRUE(a->energy.devices.empty());
  EXPECT_NE(a->energy.why_missing.find("power was not measured"), std::string::npos);
}

namespace {

/// A kernel with counters of a report, under 250 W.
DeviceEnergy with_counter(const char* kernel, const char* counter, double value,
                          const EnergyModelFile& file) {
  test::CaptureBuilder b;
  auto& c = b.capture;
  for (int i = 0; i <= 20; ++i) sample(c, "energy.module", i * 100 * kMs, 0, 25.0 * i);
  b.kernel(kernel, 0, kS);
  c.devices.name[0] = c.strings.intern("NVIDIA H200");
  const auto k = c.report_kernels.add();
  c.report_kernels.name[k] = c.strings.intern(kernel);
  c.report_kernels.duration_ns[k] = 1e9;
  auto count = [&](const char* metric, double times) {
    const auto v = c.kernel_counters.add();
    c.kernel_counters.kernel[v] = k;
    c.kernel_counters.metric[v] = c.strings.intern(metric);
    c.kernel_counters.value[v] = times;
  };
  count("dram__sectors_read.sum", 1e10);
  count("sm__cycles_active.sum", 100);
  count("sm__cycles_elapsed.sum", 100);
  if (*counter) count(counter, value);
  AnalyzeOptions options;
  options.energy_model = &file;
  const auto a = analyze(c, options);
  EXPECT_TRUE(a);
  return a->energy.devices.at(0);
}

}  // namespace

// Work that no coefficient is of: its energy is in the rest, which reaches further, and that is
// said.
TEST(EnergyOfKernels, WorkWithoutATermWidensTheRestAndIsSaid) {
  const auto file = model_file();
  const auto plain = with_counter("plain", "", 0, file);
  EXPECT_FALSE(warned(plain, "no_term"));
  for (const auto& [counter, what] :
       {std::pair{"sm__ops_path_tensor_src_fp64.sum", "FP64 tensor operations"},
        {"sm__inst_executed_pipe_tensor_op_dmma.sum", "FP64 tensor operations"},
        {"sm__ops_path_tensor_src_int8.sum", "integer tensor operations"},
        {"smsp__inst_executed_pipe_tensor_op_imma.sum", "integer tensor operations"},
        {"l1tex__t_requests_pipe_tex.sum", "textures"}}) {
    const auto d = with_counter("plain", counter, 1e6, file);
    EXPECT_EQ(part(d.parts, "rest")->nj, part(plain.parts, "rest")->nj) << counter;
    EXPECT_LT(part(d.parts, "rest")->low_nj, part(plain.parts, "rest")->low_nj) << counter;
    EXPECT_EQ(part(d.parts, "rest")->high_nj, part(plain.parts, "rest")->high_nj) << counter;
    EXPECT_GT(*d.predicted_high_nj, *plain.predicted_high_nj) << counter;
    ASSERT_TRUE(warned(d, "no_term")) << counter;
    const auto said = std::ranges::find(d.warnings, "no_term", &EnergyWarning::code);
    EXPECT_NE(said->text.find(what), std::string::npos) << said->text;
    // Counted and none there.
    EXPECT_FALSE(warned(with_counter("plain", counter, 0, file), "no_term")) << counter;
  }
  // A model with the term needs no such doubt, where the term's own counter is there.
  auto with_terms = model_file();
  for (const char* feature : {"tensor.fp64", "tensor.int8.mma", "l2.atomic"})
    with_terms.model.coefficients.push_back({feature, "", 1, 1, 1});
  for (const char* counter :
       {"sm__ops_path_tensor_src_fp64.sum", "sm__ops_path_tensor_src_int8.sum"})
    EXPECT_FALSE(warned(with_counter("plain", counter, 1e6, with_terms), "no_term")) << counter;
  for (const char* counter :
       {"sm__inst_executed_pipe_tensor_op_dmma.sum", "smsp__inst_executed_pipe_tensor_op_imma.sum"})
    EXPECT_TRUE(warned(with_counter("plain", counter, 1e6, with_terms), "no_term")) << counter;
}

TEST(EnergyOfKernels, NamesTellOfWorkWithoutATermWhereCountersDoNot) {
  const auto file = model_file();
  for (const char* name : {"cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1",
                           "cutlass_80_tensorop_i16832gemm_s8_128x128_64x3_tn_align16_int8"}) {
    const auto d = with_counter(name, "", 0, file);
    EXPECT_TRUE(warned(d, "no_term")) << name;
  }
  // The counter knows better than the name.
  EXPECT_FALSE(warned(with_counter("cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1",
                                   "sm__ops_path_tensor_src_fp64.sum", 0, file),
                      "no_term"));
}

}  // namespace gf
