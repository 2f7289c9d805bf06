// Every exact value of the corpus table, computed from the imported columns by a union of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "import/importer.h"

namespace gf {

namespace {

struct Golden {
  const char* file;
  std::int64_t events, gpu_events, span_ns, busy_ns;
};

constexpr Golden kGolden[] = {
    {"h200/bert_amp_eager_b32", 42308, 3684, 179264889, 44104635},
    {"h200/lenet_inf_b1", 1124, 45, 2000513, 91938},
    {"h200/lenet_train_b64", 1508, 162, 9925018, 718173},
    {"h200/resnet50_amp_compile_b64", 16247, 2442, 126109620, 33536300},
    {"h200/resnet50_amp_eager_b64", 25130, 2781, 148452995, 45377825},
    {"h200/resnet50_fp32_eager_b64", 22499, 2067, 233868224, 226852279},
    {"public/hta_a100_nccl", 40573, 3774, 660551005, 157500014},
    {"public/hta_cpu_only", 30, 0, 0, 0},
    {"public/hta_cuda_event_sync", 92, 5, 263000, 51000},
    {"public/hta_mi250_rocm", 220, 16, 8911887, 149042},
    {"public/hta_triton", 71, 1, 1760, 1760},
    {"public/hta_v100_ns_resolution", 68692, 6095, 480029179, 472454441},
    {"public/kineto_v100_resnet50_workers0", 75718, 9096, 996477000, 603558000},
    {"public/kineto_v100_resnet50_workers4", 71424, 9258, 801550000, 614413000},
    {"public/tracelens_b200_eager", 24656, 929, 84487178, 11596482},
    {"public/tracelens_h100_bert_small", 2551, 61, 3907825, 309437},
    {"public/tracelens_h100_qwen_0.5b", 18221, 1707, 49652832, 45647300},
    {"public/tracelens_vllm_decode_graph", 1993, 434, 10743181, 10717708},
};

void expect_golden(const std::string& path, const Golden& golden) {
  auto capture = import_file(path);
  ASSERT_TRUE(capture) << capture.error().message();
  EXPECT_EQ(capture->events, golden.events);
  EXPECT_EQ(capture->format, "kineto");
  for (std::size_t i = 0; i < capture->quality.size(); ++i)
    ADD_FAILURE() << "damage in a sound file: " << capture->text(capture->quality.code[i]) << " "
                  << capture->text(capture->quality.detail[i]);
  const auto& activities = capture->activities;
  ASSERT_EQ(static_cast<std::int64_t>(activities.size()), golden.gpu_events);
  if (activities.empty()) return;
  std::vector<std::pair<Nanos, Nanos>> spans;
  for (std::size_t i = 0; i < activities.size(); ++i) {
    spans.emplace_back(activities.start_ns[i], activities.start_ns[i] + activities.duration_ns[i]);
    EXPECT_LT(activities.device[i], capture->devices.size());
  }
  std::sort(spans.begin(), spans.end());
  Nanos busy = 0, reached = spans[0].first;
  for (const auto& [start, end] : spans) {
    busy += std::max<Nanos>(0, end - std::max(start, reached));
    reached = std::max(reached, end);
  }
  EXPECT_EQ(reached - spans[0].first, golden.span_ns);
  EXPECT_EQ(busy, golden.busy_ns);
}

class KinetoCorpus : public testing::TestWithParam<Golden> {};

TEST_P(KinetoCorpus, GivesTheGoldenValues) {
  const char* corpus = std::getenv("GPUFATHOM_CORPUS");
  if (!corpus || !*corpus) GTEST_SKIP() << "GPUFATHOM_CORPUS is unset";
  expect_golden(std::string(corpus) + "/" + GetParam().file + ".json.gz", GetParam());
}

TEST(KinetoExamples, GiveTheGoldenValues) {
  int found = 0;
  for (const auto& golden : kGolden) {
    const std::string path =
        "examples/" + std::filesystem::path(golden.file).filename().string() + ".json.gz";
    if (!std::filesystem::exists(path)) continue;
    ++found;
    expect_golden(path, golden);
  }
  EXPECT_EQ(found, 6);
}

INSTANTIATE_TEST_SUITE_P(Files, KinetoCorpus, testing::ValuesIn(kGolden), [](const auto& tested) {
  std::string name = std::filesystem::path(tested.param.file).filename().string();
  std::replace_if(
      name.begin(), name.end(),
      [](char letter) { return !std::isalnum(static_cast<unsigned char>(letter)); }, '_');
  return name;
});

}  // namespace

}  // namespace gf
