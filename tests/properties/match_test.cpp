#include "analyze/match/match.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "analyze/match/symbols.h"
#include "import/importer.h"
#include "support/match_noise.h"

namespace gf {
namespace {

using Sequence = std::vector<std::uint32_t>;

Sequence sequence(std::size_t most, std::uint32_t symbols) {
  return *rc::gen::resize(static_cast<int>(most), rc::gen::container<Sequence>(
                                                      rc::gen::inRange<std::uint32_t>(0, symbols)));
}

/// Every pairing with the most pairs, by trying them all.
struct BruteForce {
  const Sequence &a, &b;
  std::size_t best = 0;
  std::set<std::vector<std::uint32_t>> pairings;
  std::vector<std::uint32_t> now = std::vector<std::uint32_t>(a.size(), SequenceMatch::kNone);

  void run(std::size_t i = 0, std::size_t from = 0, std::size_t pairs = 0) {
    if (i == a.size()) {
      if (pairs > best) {
        best = pairs;
        pairings.clear();
      }
      if (pairs == best) pairings.insert(now);
      return;
    }
    run(i + 1, from, pairs);
    for (std::size_t j = from; j < b.size(); ++j)
      if (a[i] == b[j]) {
        now[i] = static_cast<std::uint32_t>(j);
        run(i + 1, j + 1, pairs + 1);
        now[i] = SequenceMatch::kNone;
      }
  }
};

RC_GTEST_PROP(MatchAlign, HasTheMostPairsAndKnowsWhichAreInDoubt, ()) {
  const Sequence a = sequence(8, 3), b = sequence(8, 3);
  BruteForce truth{a, b};
  truth.run();
  const SequenceMatch found = align_exactly(
      a, b, [](std::size_t i, std::size_t j) { return static_cast<double>((i * 7 + j * 3) % 5); });
  RC_ASSERT(truth.pairings.contains(found.partner));
  for (std::size_t i = 0; i < a.size(); ++i) {
    bool always = true;
    for (const auto& p : truth.pairings) always &= p[i] == found.partner[i];
    RC_ASSERT(found.ambiguous[i] == (!always && found.partner[i] != SequenceMatch::kNone));
  }
}

RC_GTEST_PROP(MatchAlign, DurationsChooseTheCheapestOfTheBest, ()) {
  const Sequence a = sequence(7, 2), b = sequence(7, 2);
  const auto cost = [](std::size_t i, std::size_t j) {
    return static_cast<double>((i * 13 + j * 29) % 11);
  };
  const auto sum = [&](const std::vector<std::uint32_t>& p) {
    double total = 0;
    for (std::size_t i = 0; i < p.size(); ++i)
      if (p[i] != SequenceMatch::kNone) total += cost(i, p[i]);
    return total;
  };
  BruteForce truth{a, b};
  truth.run();
  double least = 1e9;
  for (const auto& p : truth.pairings) least = std::min(least, sum(p));
  RC_ASSERT(sum(align_exactly(a, b, cost).partner) == least);
}

RC_GTEST_PROP(MatchLaps, WholeLapsAreLaidWordForWord, ()) {
  // Each symbol once a step, so that no pairing is in doubt; the window may open and close inside a
  // step.
  const auto length = *rc::gen::inRange<std::uint32_t>(1, 60);
  const auto laps = *rc::gen::inRange<std::size_t>(1, 6);
  Sequence report(length), trace;
  for (std::uint32_t i = 0; i < length; ++i) report[i] = i;
  for (std::size_t k = 0; k < laps; ++k) trace.insert(trace.end(), report.begin(), report.end());
  const auto cut = *rc::gen::inRange<std::size_t>(0, trace.size());
  trace.erase(trace.begin(), trace.begin() + static_cast<std::ptrdiff_t>(cut));
  const Laying found = lay_over(trace, report, {});
  // One or two kernels before the first whole lap are too little to be called a lap.
  std::size_t first = 0;
  if (trace.size() % length <= 2) first = trace.size() % length;
  for (std::size_t i = first; i < trace.size(); ++i) {
    RC_ASSERT(found.partner[i] == trace[i]);
    RC_ASSERT(!found.ambiguous[i]);
  }
  RC_ASSERT(found.laps <= (trace.size() + length - 1) / length);
  RC_ASSERT(found.laps >= (trace.size() - first) / length);
}

RC_GTEST_PROP(MatchLaps, PairsAreEqualSymbolsInOrderWithinALap, ()) {
  const Sequence trace = sequence(80, 4), report = sequence(30, 4);
  const Laying found = lay_over(trace, report, {});
  std::size_t turns = 0;
  std::int64_t last = -1;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (found.partner[i] == SequenceMatch::kNone) continue;
    RC_ASSERT(found.partner[i] < report.size());
    RC_ASSERT(report[found.partner[i]] == trace[i]);
    if (static_cast<std::int64_t>(found.partner[i]) <= last) ++turns;
    last = found.partner[i];
  }
  RC_ASSERT(turns <= found.laps);
}

TEST(MatchLaps, LongSequencesAreCutWithoutLoss) {
  // 200 steps of 2000 kernels, layers that repeat; a lost and a doubled kernel here and there.
  Sequence report, trace;
  for (std::uint32_t i = 0; i < 2000; ++i) report.push_back(i < 1800 ? i % 60 + (i / 600) * 60 : i);
  std::vector<std::uint32_t> truth;
  for (std::uint32_t step = 0; step < 200; ++step)
    for (std::uint32_t i = 0; i < 2000; ++i) {
      const std::uint32_t h = (step * 2000 + i) * 2654435761u;
      if (h % 997 == 0) continue;
      for (int n = h % 1009 == 0 ? 2 : 1; n > 0; --n) {
        trace.push_back(report[i]);
        truth.push_back(i);
      }
    }
  const Laying found = lay_over(trace, report, {});
  EXPECT_EQ(found.laps, 200u);
  std::size_t right = 0;
  for (std::size_t i = 0; i < trace.size(); ++i) right += found.partner[i] == truth[i];
  EXPECT_GE(static_cast<double>(right), 0.999 * static_cast<double>(trace.size()));
}

RC_GTEST_PROP(MatchNames, NoTextConfusesTheCanonicalForm, (const std::string& text)) {
  const std::string once = canonical_kernel_name(text);
  RC_ASSERT(name_similarity(once, once) == 1.0);
}

TEST(MatchNames, BothToolsAgree) {
  const std::pair<const char*, const char*> pairs[] = {
      {"void at::native::vectorized_elementwise_kernel<8, "
       "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, "
       "std::array<char*, 2ul> >(int, "
       "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, "
       "std::array<char*, 2ul>)",
       "void at::vectorized_elementwise_kernel<8, "
       "at::bfloat16_copy_kernel_cuda(at::TensorIteratorBase &)::[lambda(float) (instance 1)], "
       "std::array<char *, 2>>(int, T2, T3)"},
      {"void cublasLt::splitKreduce_kernel<32, 16, int, float, "
       "false>(cublasLt::cublasSplitKParams<float>)",
       "void cublasLt::splitKreduce_kernel<32, 16, int, float, "
       "0>(cublasLt::cublasSplitKParams<T6>)"},
      {"void implicit_convolve_sgemm<float, float, 1024, 5, false>(int)",
       "void implicit_convolve_sgemm<float, float, (int)1024, (int)5, (bool)0>(int)"},
      {"void at::native::(anonymous namespace)::f<at::Tensor const&>()",
       "void at::<unnamed>::f<const at::Tensor &>()"},
      {"_ZN2at6native4gemmILi128ELb1EEEvi", "void at::gemm<128, 1>(int)"},
  };
  for (const auto& [kineto, ncu] : pairs)
    EXPECT_EQ(canonical_kernel_name(kineto), canonical_kernel_name(ncu));
  EXPECT_NE(canonical_kernel_name("void f<{lambda(float)#1}>(int)"),
            canonical_kernel_name("void f<{lambda(float)#2}>(int)"));
  EXPECT_NE(canonical_kernel_name("void f<2ul>(int)"), canonical_kernel_name("void f<3ul>(int)"));
}

struct Example {
  Capture capture;
  std::vector<DeviceTimeline> devices;
};

Example example(const std::string& trace, const std::string& report) {
  auto t = import_file("examples/" + trace), r = import_file("examples/" + report);
  EXPECT_TRUE(t && r);
  Example e{test::with_report(std::move(*t), *r), {}};
  std::vector<std::pair<Nanos, std::uint32_t>> order;
  for (std::uint32_t i = 0; i < e.capture.activities.size(); ++i)
    order.emplace_back(e.capture.activities.start_ns[i], i);
  std::ranges::sort(order);
  e.devices.emplace_back().device = 0;
  for (const auto& [start, row] : order) e.devices[0].rows.push_back(row);
  return e;
}

TEST(Match, ResNetInOrderInEveryStep) {
  const Example e = example("resnet50_amp_eager_b64.json.gz", "resnet50_amp_eager_b64.ncu.csv.gz");
  const Matching m = match_kernels(e.capture, e.devices);
  EXPECT_EQ(m.info.verdict, MatchVerdict::good);
  EXPECT_EQ(m.info.matched, 2679);
  EXPECT_EQ(m.info.ambiguous, 0);
  EXPECT_EQ(m.info.report_only, 0);
  EXPECT_EQ(m.info.copies_of_report, 3);
  std::uint32_t expected = 0;
  for (std::uint32_t row : e.devices[0].rows)
    if (e.capture.activities.kind[row] == ActivityKind::kernel) {
      EXPECT_EQ(m.report_row[row], expected++ % 893);
    }
}

TEST(Match, AnotherProgramSaysSo) {
  const std::pair<const char*, const char*> cases[] = {
      {"bert_amp_eager_b32.json.gz", "resnet50_amp_eager_b64.ncu.csv.gz"},
      {"lenet_train_b64.json.gz", "resnet50_amp_eager_b64.ncu.csv.gz"},
      {"resnet50_amp_eager_b64.json.gz", "lenet_train_b64.base.ncu.csv.gz"},
      {"resnet50_fp32_eager_b64.json.gz", "resnet50_amp_eager_b64.ncu.csv.gz"},
      {"resnet50_amp_compile_b64.json.gz", "resnet50_amp_eager_b64.ncu.csv.gz"}};
  for (const auto& [trace, report] : cases) {
    const Example e = example(trace, report);
    const Matching m = match_kernels(e.capture, e.devices);
    EXPECT_EQ(m.info.verdict, MatchVerdict::different_program) << trace << " " << report;
    EXPECT_EQ(m.info.matched + m.info.ambiguous, 0);
    EXPECT_EQ(m.info.trace_only, m.info.trace_kernels);
    EXPECT_TRUE(std::ranges::all_of(m.report_row, [](std::uint32_t r) { return r == kNoRow; }));
  }
}

TEST(Match, SurvivesLossDoublingAndJitter) {
  const Example e = example("resnet50_amp_eager_b64.json.gz", "resnet50_amp_eager_b64.ncu.csv.gz");
  const auto run_of = test::runs_of_equal_kernels(e.capture);
  for (std::uint32_t seed = 0; seed < 5; ++seed) {
    const auto run = test::make_noisy(e.capture, {}, seed);
    const auto q = test::measure_matching(run, match_kernels(run.capture, run.devices), run_of);
    EXPECT_GE(q.precision, 0.99) << seed;
    EXPECT_GE(q.recall, 0.99) << seed;
  }
}

TEST(Match, ATruncatedReportCoversWhatItHas) {
  Example e = example("resnet50_amp_eager_b64.json.gz", "resnet50_amp_eager_b64.ncu.csv.gz");
  auto& r = e.capture.report_kernels;
  r.each_column([](const ColumnInfo&, auto& column) { column.resize(300); });
  const Matching m = match_kernels(e.capture, e.devices);
  EXPECT_EQ(m.info.verdict, MatchVerdict::partial);
  EXPECT_EQ(m.info.matched + m.info.ambiguous, 900);
  EXPECT_EQ(m.info.trace_only, 2679 - 900);
  EXPECT_EQ(m.info.report_only, 0);
}

/// A capture with kernels named by letters: a trace kernel on (device, stream), a report kernel on
/// (device, stream, process).
struct Letters {
  Capture c;
  std::vector<DeviceTimeline> devices;
  Nanos now = 0;

  void trace(std::int32_t device, std::int64_t stream, char kernel) {
    const auto row = c.activities.add(), on = c.device_row(device);
    c.activities.name[row] =
        c.strings.intern(std::string("void ns::kernel_") + kernel + "<2ul>(int)");
    c.activities.start_ns[row] = now += 10;
    c.activities.duration_ns[row] = 5;
    c.activities.device[row] = on;
    c.activities.stream[row] = stream;
    while (devices.size() <= on)
      devices.emplace_back().device = static_cast<std::uint32_t>(devices.size()) - 1;
    for (std::uint32_t d = 0; d < devices.size(); ++d) devices[d].device = d;
    devices[on].rows.push_back(row);
  }
  void report(std::int64_t device, std::int64_t stream, char kernel, std::int64_t pid = 1) {
    const auto row = c.report_kernels.add();
    c.report_kernels.name[row] =
        c.strings.intern(std::string("void kernel_") + kernel + "<2>(int)");
    c.report_kernels.device[row] = device;
    c.report_kernels.stream[row] = stream;
    c.report_kernels.pid[row] = pid;
  }
  std::string partners() const {
    std::string out;
    const Matching m = match_kernels(c, devices);
    for (std::uint32_t row = 0; row < c.activities.size(); ++row)
      out += (row ? " " : "") +
             (m.report_row[row] == kNoRow ? std::string("-") : std::to_string(m.report_row[row]));
    return out;
  }
};

TEST(Match, StreamsArePairedByWhatRanOnThem) {
  Letters
      l;  // two streams that interleave; the report runs one after the other, under other numbers
  for (char k : std::string("abcdef")) {
    l.trace(0, 7, k);
    l.trace(0, 20, static_cast<char>(k + 10));
  }
  for (char k : std::string("klmnop")) l.report(0, 13, k);
  for (char k : std::string("abcdef")) l.report(0, 14, k);
  EXPECT_EQ(l.partners(), "6 0 7 1 8 2 9 3 10 4 11 5");
}

TEST(Match, AReportOnOneStreamServesATraceOnTwo) {
  Letters l;  // the profiler names one stream; the order of the whole device tells
  for (char k : std::string("abcdefgh")) l.trace(0, k % 2, k);
  for (char k : std::string("abcdefgh")) l.report(0, 7, k);
  EXPECT_EQ(l.partners(), "0 1 2 3 4 5 6 7");
}

TEST(Match, DevicesKeepToThemselves) {
  Letters l;
  for (char k : std::string("abcd")) {
    l.trace(0, 7, k);
    l.trace(1, 7, k);
  }
  for (char k : std::string("abcd")) l.report(1, 7, k);
  for (char k : std::string("abcd")) l.report(0, 7, k);
  EXPECT_EQ(l.partners(), "4 0 5 1 6 2 7 3");
}

TEST(Match, AReportOfOneDeviceServesEveryRank) {
  Letters l;
  for (char k : std::string("abcd")) {
    l.trace(0, 7, k);
    l.trace(1, 7, k);
  }
  for (char k : std::string("abcd")) l.report(0, 7, k);
  EXPECT_EQ(l.partners(), "0 0 1 1 2 2 3 3");
}

TEST(Match, AutotunedKernelsStayWithoutPartner) {
  Letters l;  // the library chose x where the profiled run had y
  for (char k : std::string("abcxefgh")) l.trace(0, 7, k);
  for (char k : std::string("abcyefgh")) l.report(0, 7, k);
  EXPECT_EQ(l.partners(), "0 1 2 - 4 5 6 7");
}

TEST(Match, AnotherBatchSizeIsToldApart) {
  Letters l;
  for (char k : std::string("abcdefgh")) {
    l.trace(0, 7, k);
    l.report(0, 7, k);
  }
  for (auto& g : l.c.activities.grid_x) g = 64;
  for (auto& g : l.c.report_kernels.grid_x) g = 32;
  for (auto* column : {&l.c.activities.grid_y, &l.c.activities.grid_z, &l.c.report_kernels.grid_y,
                       &l.c.report_kernels.grid_z})
    for (auto& g : *column) g = 1;
  const Matching m = match_kernels(l.c, l.devices);
  EXPECT_EQ(m.info.verdict, MatchVerdict::different_program);
  EXPECT_NE(m.info.note.find("another batch size"), std::string::npos) << m.info.note;
}

TEST(Match, NothingToMatch) {
  Capture c;
  Matching m = match_kernels(c, {});
  EXPECT_EQ(m.info.verdict, MatchVerdict::no_report);
  c.report_kernels.add();
  m = match_kernels(c, {});
  EXPECT_EQ(m.info.verdict, MatchVerdict::partial);
  EXPECT_EQ(m.info.report_only, 1);
}

}  // namespace
}  // namespace gf
