// Small traces written out: each rule of docs/formats/kineto.md, and what each kind of damage
// costs.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "import/formats.h"
#include "support/captures.h"

namespace gf {

namespace {

Result<Capture> load_text(const std::string& text) {
  const test::TempDir dir;
  const std::string path = dir.file("trace.json");
  std::ofstream(path, std::ios::binary) << text;
  return kineto::load(path, {});
}

Capture from_events(const std::string& text) {
  auto capture = load_text(text);
  EXPECT_TRUE(capture) << capture.error().message();
  return capture ? std::move(*capture) : Capture{};
}

std::string kernel(const std::string& name, const std::string& ts, const std::string& dur,
                   const std::string& args = "\"device\": 0, \"stream\": 7") {
  return R"({"ph": "X", "cat": "kernel", "name": ")" + name + R"(", "pid": 0, "tid": 7, "ts": )" +
         ts + R"(, "dur": )" + dur + R"(, "args": {)" + args + "}}";
}

std::string trace(const std::string& events, const std::string& before = "\"schemaVersion\": 1,",
                  const std::string& after = "") {
  return "{" + before + " \"traceEvents\": [" + events + "]" + after + "}";
}

std::map<std::string, std::int64_t> quality(const Capture& c) {
  std::map<std::string, std::int64_t> counts;
  for (std::size_t i = 0; i < c.quality.size(); ++i)
    counts[std::string(c.text(c.quality.code[i]))] = c.quality.count[i];
  return counts;
}

using Counts = std::map<std::string, std::int64_t>;

}  // namespace

/// An operation with one inside on two threads, each told by two events, and a kernel.
TEST(KinetoRules, ABeginAndAnEndAreASpan) {
  std::string events;
  const auto border = [&](const std::string& rest) {
    events += std::string(events.empty() ? "" : ",") + "{" + rest + "}";
  };
  for (int i = 0; i < 40; ++i) {
    const auto at = [&](int us) { return R"("ts": )" + std::to_string(100 * i + us); };
    const std::string op = R"("ph": "B", "cat": "cpu_op", "pid": 1, "tid": 1, "name": )";
    border(op + R"("outer", )" + at(0));
    border(op + R"("inner", )" + at(10));
    border(R"("ph": "B", "cat": "cpu_op", "pid": 1, "tid": 2, "name": "beside", )" + at(15));
    border(R"("ph": "E", "pid": 1, "tid": 1, )" + at(30));
    border(op + R"("behind", )" + at(30));
    border(
        R"("ph": "B", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "args": {"device": 0}, )" +
        at(40));
    border(R"("ph": "E", "pid": 1, "tid": 1, )" + at(60));
    border(R"("ph": "E", "pid": 1, "tid": 2, )" + at(65));
    border(R"("ph": "E", "pid": 1, "tid": 1, )" + at(70));
    border(R"("ph": "E", "pid": 0, "tid": 7, )" + at(90));
  }
  const test::TempDir dir;
  const std::string path = dir.file("trace.json");
  std::ofstream(path) << trace(events);
  for (const std::size_t chunk_bytes : {0u, 130u, 333u, 1000u}) {
    ImportOptions options;
    options.chunk_bytes = chunk_bytes;
    const auto capture = kineto::load(path, options);
    ASSERT_TRUE(capture);
    EXPECT_TRUE(quality(*capture).empty());
    ASSERT_EQ(capture->host_ops.size(), 160u);
    const std::map<std::string_view, Nanos> expected{
        {"outer", 70'000}, {"inner", 20'000}, {"beside", 50'000}, {"behind", 30'000}};
    for (std::uint32_t op = 0; op < 160; ++op)
      EXPECT_EQ(capture->host_ops.duration_ns[op],
                expected.at(capture->text(capture->host_ops.name[op])))
          << op << " in chunks of " << chunk_bytes;
    ASSERT_EQ(capture->activities.size(), 40u);
    for (const Nanos length : capture->activities.duration_ns) EXPECT_EQ(length, 50'000);
  }
}

TEST(KinetoRules, ASpanThatDoesNotEndIsDamage) {
  const Capture capture =
      from_events(trace(R"({"ph": "B", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1},)"
                        R"({"ph": "E", "pid": 1, "tid": 2, "ts": 9},)" +
                        kernel("k", "1", "1")));
  EXPECT_EQ(quality(capture), (Counts{{"bad_event", 2}}));
}

TEST(KinetoRules, ATraceInsideAnotherObjectKeepsItsDescription) {
  const Capture capture =
      from_events(R"({"of": {"x": "a{b"}, "runs": [{"trace": )" +
                  trace(kernel("k", "1", "1"),
                        R"("deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}],)",
                        R"(, "traceName": "t.json")") +
                  "}], \"z\": 1}");
  EXPECT_TRUE(quality(capture).empty());
  EXPECT_EQ(capture.text(capture.devices.name[0]), "NVIDIA H200");
  EXPECT_EQ(capture.metadata_value("traceName"), "t.json");
}

/// Frames that C++ calls (hooks, threads of autograd) have null as their parent, and come again:
/// each stays a root, and its child keeps it as parent.
TEST(KinetoRules, RootFramesThatComeAgainStayRoots) {
  constexpr int kRoots = 3000;
  std::string events;
  const auto frame = [&](const char* name, int at, int duration, int id,
                         const std::string& parent) {
    events += std::string(events.empty() ? "" : ",") +
              R"({"ph": "X", "cat": "python_function", "name": ")" + name +
              R"(", "pid": 1, "tid": 1, "ts": )" + std::to_string(at) + R"(, "dur": )" +
              std::to_string(duration) + R"(, "args": {"Python parent id": )" + parent +
              R"(, "Python id": )" + std::to_string(id) + "}}";
  };
  for (int i = 0; i < kRoots; ++i) {
    frame("hook.py(10): backward", i * 30, 20, 2 * i + 1, "null");
    frame("hook.py(20): inner", i * 30 + 1, 15, 2 * i + 2, std::to_string(2 * i + 1));
  }
  const Capture c = from_events(trace(events));
  ASSERT_EQ(c.host_ops.size(), 2u * kRoots);
  for (int i = 0; i < kRoots; ++i) {
    const auto row = static_cast<std::size_t>(2 * i);
    ASSERT_EQ(c.host_ops.python_parent[row], -1) << "root " << i;
    ASSERT_EQ(c.host_ops.python_parent[row + 1], 2 * i + 1) << "child " << i;
  }
}

/// A writer that names neither the device nor the process of GPU work means the only GPU.
TEST(KinetoRules, WorkWithoutADeviceIsTheOnlyGpus) {
  const std::string bare =
      R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 2, "args": {"External id": 1}})";
  const Capture described = from_events(
      trace(bare, R"("deviceProperties": [{"id": 3, "name": "NVIDIA A100", "numSms": 108}],)"));
  ASSERT_EQ(described.devices.size(), 1u);
  EXPECT_EQ(described.activities.device[0], 0u);
  EXPECT_EQ(described.devices.id[0], 3);
  EXPECT_EQ(quality(described), (Counts{{"assumed_device", 1}}));
  const Capture alone = from_events(trace(bare + "," + bare));
  ASSERT_EQ(alone.devices.size(), 1u);
  EXPECT_EQ(alone.devices.id[0], 0);
  EXPECT_EQ(quality(alone), (Counts{{"assumed_device", 2}}));
}

/// A rewriting tool left the shared memory's size as the number of SMs.
TEST(KinetoRules, AnImpossibleNumberOfSmsIsNotTaken) {
  const auto sms = [&](const std::string& said) {
    return from_events(
               trace(kernel("k", "1", "2"), R"("deviceProperties": [{"id": 0, )" + said + "}],"))
        .devices.sm_count[0];
  };
  EXPECT_EQ(sms(R"("numSms": 108)"), 108);
  EXPECT_EQ(sms(R"("numSms": 167936, "multiProcessorCount": 108)"), 108);
  EXPECT_EQ(sms(R"("numSms": 167936)"), -1);
}

/// The Python exporter of torch 2.13 writes the number of SMs under another name.
TEST(KinetoRules, SmsOfAnExporterWithoutNumSms) {
  const auto device = [&](const std::string& said) {
    const Capture capture = from_events(
        trace(kernel("k", "1", "2"), R"("deviceProperties": [{"id": 0, )" + said + "}],"));
    return std::pair(capture.devices.sm_count[0], capture.devices.max_threads_per_sm[0]);
  };
  EXPECT_EQ(device(R"("name": "X", "maxThreadsPerMultiprocessor": 132)"), std::pair(132, -1));
  EXPECT_EQ(device(R"("numSms": 108, "maxThreadsPerMultiprocessor": 2048)"), std::pair(108, 2048));
}

/// torch's own CUPTI reader names every copy "Memcpy".
TEST(KinetoRules, ACopysDirectionStandsInItsArgs) {
  const std::string head =
      R"({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy", "pid": 0, "tid": 7, "dur": 1, "ts": )";
  const Capture c =
      from_events(trace(head + R"(1, "args": {"device": 0, "stream": 7, "copy kind": "HtoD",)" +
                        R"( "src kind": "pageable", "dst kind": "device"}},)" + head +
                        R"(3, "args": {"device": 0, "stream": 7, "copy kind": "DtoH"}})"));
  ASSERT_EQ(c.activities.size(), 2u);
  EXPECT_EQ(c.activities.copy[0], CopyKind::host_to_device);
  EXPECT_EQ(c.text(c.activities.name[0]), "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(c.activities.copy[1], CopyKind::device_to_host);
}

/// An object of the args that looks like an event is no event, whichever reader meets it.
TEST(KinetoRules, AnEventInsideAnEventsArgsIsNone) {
  const Capture c = from_events(trace(
      kernel("caf\u00e9", "1", "2", R"("device": 0, "stream": 7, "x": {"ph": "X", "ts": 5})") +
      "," + kernel("b", "4", "2")));
  EXPECT_EQ(c.events, 2);
  EXPECT_EQ(c.activities.size(), 2u);
  EXPECT_EQ(quality(c), Counts{});
}

TEST(KinetoRules, EveryTimestampVariantIsExact) {
  auto start = [](const std::string& ts, const std::string& before = "",
                  const std::string& after = "") {
    const Capture c = from_events(trace(kernel("k", ts, "1"), before, after));
    return c.activities.size() == 1 ? c.activities.start_ns[0] : -1;
  };
  EXPECT_EQ(start("1661203463029687"), 1661203463029687000);
  EXPECT_EQ(start("1712195495523334.959"), 1712195495523334959);
  EXPECT_EQ(start("4329702664395.481", "\"baseTimeNanoseconds\": 1790857026000000000,"),
            1795186728664395481);
  EXPECT_EQ(start("4329702664395.481", "", ", \"baseTimeNanoseconds\": 1790857026000000000"),
            1795186728664395481);
  EXPECT_EQ(start("4329702664395.481", "", ", \"baseTimeNanoseconds\": \"1790857026000000000\""),
            1795186728664395481);
  EXPECT_EQ(start("\"1712195495523334.959\""), 1712195495523334959);
  EXPECT_EQ(start("1.712195495523334959e15"), 1712195495523334959);
  EXPECT_EQ(start("12.5"), 12500);
  EXPECT_EQ(start("-0.002"), -2);
}

TEST(KinetoRules, GpuWorkIsToldByItsCategoryAlone) {
  const Capture c = from_events(
      trace(R"({"ph": "X", "cat": "cpu_op", "name": "triton", "pid": 1, "tid": 1, "ts": 1, )"
            R"("dur": 2, "args": {"stream": 7, "grid": [1, 2, 3]}},)" +
            kernel("k", "1", "2") + "," + kernel("old", "5", "2") +
            R"j(, {"ph": "X", "cat": "gpu_user_annotation", "name": "step", "pid": 0, "tid": 7,
      "ts": 0, "dur": 100, "args": {}},
                               {"ph": "X", "cat": "Memcpy",
                                 "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0,
                                 "tid": "stream 7", "ts": 8, "dur": 1, "args": {"bytes": 4,
                                 "Bytes": 5}})j"));
  EXPECT_EQ(c.host_ops.size(), 1u);
  ASSERT_EQ(c.activities.size(), 3u);
  EXPECT_EQ(c.device_annotations.size(), 1u);
  EXPECT_EQ(c.activities.kind[2], ActivityKind::memcpy);
  EXPECT_EQ(c.activities.copy[2], CopyKind::host_to_device);
  EXPECT_EQ(c.activities.bytes[2], 4);
  EXPECT_EQ(c.activities.stream[2], 7);
  EXPECT_EQ(quality(c), Counts{});
}

TEST(KinetoRules, BareArraysCountersFlowsMemoryAndCollectives) {
  const Capture c = from_events(
      "[" +
      kernel("ncclDevKernel", "1", "2",
             R"("device": 1, "stream": 9, "Collective name": "allreduce", "dtype": "BFloat16",
      "In msg nelems": 10,
    "Group size": 8, "Process Group Ranks": "[0, 1]", "Seq": 41, "Src Rank": 1,
     "Dst Rank": 0, "Comms Id": 99999999999999999999)") +
      R"(,{"ph": "C", "cat": "hardware_counters", "name": "sm__cycles", "pid": "GPU 1 Counters",
      "tid": 0, "ts": 3, "args": {"": 12.5}},
    {"ph": "s", "id": 5, "pid": 1, "tid": 1, "ts": 4, "cat": "fwdbwd", "name": "fwdbwd"},
      {"ph": "f", "id": 5, "pid": 1, "tid": 2, "ts": 5, "cat": "fwdbwd", "name": "fwdbwd",
      "bp": "e"},
    {"ph": "s", "id": 6, "pid": 1, "tid": 1, "ts": 4, "cat": "ac2g", "name": "ac2g"},
    {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1,
      "ts": 6,
     "args": {"Total Reserved": 100, "Total Allocated": 50, "Bytes": -512, "Addr": 140002,
       "Device Id": 1, "Device Type": 1}},
    {"ph": "X", "cat": "cuda_sync", "name": "Event Sync", "pid": 0, "tid": -1, "ts": 7,
      "dur": 33,
     "args": {"cuda_sync_kind": "Event Sync", "wait_on_stream": 7,
       "wait_on_cuda_event_record_corr_id": 1533, "stream": -1, "correlation": 1536,
       "device": 1}}])");
  EXPECT_EQ(c.events, 7);
  EXPECT_EQ(quality(c), Counts{});
  ASSERT_EQ(c.collectives.size(), 1u);
  EXPECT_EQ(c.text(c.collectives.name[0]), "allreduce");
  EXPECT_EQ(c.collectives.group_size[0], 8);
  EXPECT_EQ(c.text(c.collectives.group_ranks[0]), "[0, 1]");
  EXPECT_EQ(c.collectives.sequence[0], 41);
  EXPECT_EQ(c.collectives.from_rank[0], 1);
  EXPECT_EQ(c.collectives.to_rank[0], 0);
  EXPECT_EQ(c.text(c.collectives.communicator[0]), "99999999999999999999");
  ASSERT_EQ(c.counter_samples.size(), 1u);
  EXPECT_EQ(c.devices.id[c.counter_samples.device[0]], 1);
  EXPECT_EQ(c.counter_samples.value[0], 12.5);
  ASSERT_EQ(c.flows.size(), 2u);
  EXPECT_EQ(c.flows.finish[1], 1);
  ASSERT_EQ(c.memory_events.size(), 1u);
  EXPECT_EQ(c.memory_events.bytes[0], -512);
  ASSERT_EQ(c.syncs.size(), 1u);
  EXPECT_EQ(c.syncs.wait_on_correlation[0], 1533);
}

TEST(KinetoRules, OneDescriptionAndOneDeviceWithWorkAreTheSame) {
  const std::string described =
      R"("deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X", "numSms": 304}],)";
  const Capture one =
      from_events(trace(kernel("k", "1", "2", R"("device": 2, "stream": 0)"), described));
  ASSERT_EQ(one.devices.size(), 1u);
  EXPECT_EQ(one.devices.id[0], 2);
  EXPECT_EQ(one.devices.sm_count[0], 304);
  EXPECT_EQ(one.activities.device[0], 0u);
  const Capture two = from_events(trace(kernel("k", "1", "2", R"("device": 2, "stream": 0)") + "," +
                                            kernel("k", "3", "2", R"("device": 0, "stream": 0)"),
                                        described));
  EXPECT_EQ(two.devices.size(), 2u);
}

TEST(KinetoRules, MemoryEventsOf2021HaveNoCategory) {
  const Capture c =
      from_events(trace(R"({"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1,
    "ts": 6, "args": {"Device Type": 0, "Device Id": -1, "Bytes": 4}},
    {"ph": "i", "s": "t", "name": "other", "pid": 1, "tid": 1, "ts": 7, "args": {}})"));
  ASSERT_EQ(c.memory_events.size(), 1u);
  EXPECT_EQ(c.memory_events.bytes[0], 4);
  EXPECT_EQ(c.memory_events.allocated_bytes[0], -1);
}

TEST(KinetoRules, CountersOfProfiledRangesAreSamples) {
  const Capture c =
      from_events(trace(R"({"ph": "X", "cat": "cuda_profiler_range", "name": "__profile__",
    "pid": 1, "tid": "CUPTI", "ts": 6, "dur": 4, "args": {"device": 1, "stream": 0,
    "correlation": 0, "smsp__inst_executed.sum": 1234, "sm__cycles_active.avg": 5.5,
    "kernel": "none"}})"));
  ASSERT_EQ(c.device_annotations.size(), 1u);
  EXPECT_EQ(c.text(c.device_annotations.name[0]), "__profile__");
  const auto& s = c.counter_samples;
  ASSERT_EQ(s.size(), 2u);
  EXPECT_EQ(c.text(s.metric[0]), "smsp__inst_executed.sum");
  EXPECT_EQ(s.value[0], 1234);
  EXPECT_EQ(s.value[1], 5.5);
  EXPECT_EQ(s.start_ns[1], 6000);
  EXPECT_EQ(s.duration_ns[1], 4000);
  EXPECT_EQ(c.devices.id[s.device[0]], 1);
  EXPECT_EQ(quality(c), Counts{});
}

TEST(KinetoRules, ThreadsTakeTheirNamesAndGpuRowsAreNoThreads) {
  const Capture c = from_events(trace(
      R"j({"name": "thread_name", "ph": "M", "ts": 1, "pid": 1, "tid": 2,
      "args": {"name": "thread 2 (python3)"}},
    {"name": "process_name", "ph": "M", "ts": 1, "pid": 1, "tid": 0,
      "args": {"name": "python3"}}, {"name": "thread_name", "ph": "M", "ts": 1, "pid": 0,
      "tid": 7, "args": {"name": "stream 7"}},
    {"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": "2", "ts": 1, "dur": 2},)j" +
      kernel("k", "1", "2")));
  ASSERT_EQ(c.threads.size(), 1u);
  EXPECT_EQ(c.text(c.threads.name[0]), "thread 2 (python3)");
  EXPECT_EQ(c.text(c.threads.process_name[0]), "python3");
}

TEST(KinetoDamage, CostsOnlyTheEventItHits) {
  const std::string good = kernel("first", "1", "2"), last = kernel("last", "5", "2");
  auto with = [&](const std::string& damaged) {
    return from_events(trace(good + ",\n" + damaged + ",\n" + last));
  };
  struct Case {
    const char* what;
    std::string event;
    std::size_t kernels;
    Counts counts;
  };
  const Case cases[] = {
      {"unescaped quotes", kernel("a \"b\" c", "3", "1"), 3, {{"repaired_event", 1}}},
      {"one unescaped quote", kernel("a \" c", "3", "1"), 3, {{"repaired_event", 1}}},
      {"quote before braces", kernel("a \"} ] c", "3", "1"), 3, {{"repaired_event", 1}}},
      {"control character", kernel("a\tb\x01", "3", "1"), 3, {{"repaired_event", 1}}},
      {"line break in a name", kernel("a\nb", "3", "1"), 3, {{"repaired_event", 1}}},
      {"invalid UTF-8", kernel("a\xff\xfe", "3", "1"), 3, {{"repaired_event", 1}}},
      {"UTF-8", kernel("caf\xc3\xa9", "3", "1"), 3, {}},
      {"escapes", kernel("a\\\\b\\\"c\\u00e9", "3", "1"), 3, {}},
      {"NaN time", kernel("k", "NaN", "1"), 2, {{"bad_event", 1}}},
      {"infinite duration", kernel("k", "3", "Infinity"), 2, {{"bad_event", 1}}},
      {"values that nobody reads",
       kernel("k", "3", "1", "\"device\": 0, \"memory bandwidth (GB/s)\": inf, \"x\": N/A"),
       3,
       {}},
      {"None",
       kernel("k", "3", "1", "\"device\": 0, \"correlation\": None"),
       3,
       {{"bad_value", 1}}},
      {"beyond int64",
       kernel("k", "3", "1", "\"device\": 0, \"correlation\": 9223372036854775808"),
       3,
       {{"bad_value", 1}}},
      {"time beyond int64", kernel("k", "99999999999999999999", "1"), 2, {{"bad_event", 1}}},
      {"negative duration", kernel("k", "3", "-1"), 3, {{"negative_duration", 1}}},
      {"huge duration", kernel("k", "3", "900000000000000"), 2, {{"implausible_duration", 1}}},
      {"duplicate keys",
       R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "ts": 3, "dur": 1, "pid": 0, )"
       R"("tid": 7})",
       3,
       {{"duplicate_key", 1}}},
      {"no duration",
       R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "pid": 0, "tid": 7})",
       2,
       {{"bad_event", 1}}},
      {"no phase", R"({"cat": "kernel", "name": "k", "ts": 1, "dur": 1})", 2, {{"bad_event", 1}}},
      {"not an object", "42", 2, {{"bad_event", 1}}},
      {"a text", "\"x\"", 2, {{"bad_event", 1}}},
      {"a stray bracket", "]", 2, {{"bad_event", 1}}},
      {"an unclosed object",
       R"({"ph": "X", "cat": "kernel", "args": {"x": [1, 2)",
       2,
       {{"bad_event", 1}}},
      {"an injected log line", "\"WARNING\": [\"a \"broken\" line\", ", 2, {{"bad_event", 1}}},
      {"unknown phase",
       R"({"ph": "b", "cat": "kernel", "name": "k", "ts": 1})",
       2,
       {{"unknown_phase", 1}}},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    const Capture c = with(test.event);
    EXPECT_EQ(quality(c), test.counts);
    EXPECT_EQ(c.events, 3);
    ASSERT_EQ(c.activities.size(), test.kernels);
    EXPECT_EQ(c.text(c.activities.name[0]), "first");
    EXPECT_EQ(c.text(c.activities.name[test.kernels - 1]), "last");
  }
  const Capture c = with(kernel("k", "NaN", "1"));
  EXPECT_NE(c.text(c.quality.detail[0])
                .find("first at byte " +
                      std::to_string(
                          ("{\"schemaVersion\": 1, \"traceEvents\": [" + good + ",\n").size())),
            std::string::npos)
      << c.text(c.quality.detail[0]);
}

TEST(KinetoDamage, EveryTruncationKeepsWhatIsWhole) {
  const std::string text =
      trace(kernel("a", "1", "2") + ",\n" + kernel("b", "5", "2") + ",\n" + kernel("c", "8", "2"),
            "\"schemaVersion\": 1,", ", \"traceName\": \"x\"");
  for (std::size_t n = 1; n < text.size(); ++n) {
    const auto capture = load_text(text.substr(0, n));
    const auto list = text.find('[') + 1;
    EXPECT_EQ(capture.has_value(), n >= list) << n;
    if (!capture) continue;
    EXPECT_EQ(capture->quality.size(), 1u) << n;
    std::size_t whole = 0;
    for (const char* name : {"a", "b", "c"}) {
      const auto at = text.find(kernel(name,
                                       name[0] == 'a'   ? "1"
                                       : name[0] == 'b' ? "5"
                                                        : "8",
                                       "2"));
      whole += n >= text.find("}}", at) + 2;
    }
    EXPECT_EQ(capture->activities.size(), whole) << n;
  }
}

TEST(KinetoDamage, BrokenMetadataIsSearchedForWhatMatters) {
  for (const auto& [before, after] :
       {std::pair<std::string, std::string>{
            R"("WARNING": ["a "broken" line", ], "baseTimeNanoseconds": 5000, )"
            R"("deviceProperties": [{"id": 3, "name": "X"}],)",
            ""},
        {R"("deviceProperties": [{"id": 3, "name": "X"}],)", R"(, "INFO": ["a "broken" line"
      "], "baseTimeNanoseconds": 5000)"}}) {
    const Capture c = from_events(trace(kernel("k", "1", "2"), before, after));
    EXPECT_EQ(quality(c), (Counts{{"bad_metadata", 1}}));
    ASSERT_EQ(c.activities.size(), 1u);
    EXPECT_EQ(c.activities.start_ns[0], 6000);
    EXPECT_EQ(c.devices.id[0], 3);
  }
}

TEST(KinetoDamage, WhatIsNoTraceIsAnError) {
  for (const auto& [text, words] :
       {std::pair<std::string, std::string>{"{\"a\": 1}", "has no list \"traceEvents\""},
        {"hello", "is not JSON"},
        {"{\"traceEvents\": 3}", "has no list"}}) {
    const auto capture = load_text(text);
    ASSERT_FALSE(capture) << text;
    EXPECT_NE(capture.error().message().find(words), std::string::npos)
        << capture.error().message();
  }
  EXPECT_EQ(from_events("{\"traceEvents\": []}").events, 0);
  EXPECT_EQ(from_events("\xef\xbb\xbf [ ] \r\n").events, 0);
}

}  // namespace gf
