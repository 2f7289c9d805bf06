// Steps of serving engines: what their marks say, what their kernels tell, and what follows.
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "analyze/analyze.h"
#include "analyze/steps/steps.h"
#include "model/counter_values.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

constexpr Nanos kUs = 1'000, kMs = 1'000'000;

TEST(EngineMarks, SayKindTokensAndRequests) {
  const auto work = [](std::string_view name) {
    const auto step = parse_step_name(name);
    return step && step->work ? *step->work : EngineWork{};
  };
  const auto prompts = work("execute_context_2(300)_generation_0(0)");
  EXPECT_EQ(prompts.kind, StepKind::prefill);
  EXPECT_EQ(prompts.tokens, 300);
  EXPECT_EQ(prompts.requests, 2);
  EXPECT_EQ(prompts.decodes, 0);
  EXPECT_EQ(prompts.generated, std::nullopt) << "a prompt may go on in the next step";
  const auto both = work("execute_context_1(256)_generation_3(3)");
  EXPECT_EQ(both.kind, StepKind::mixed);
  EXPECT_EQ(both.tokens, 259);
  EXPECT_EQ(both.decodes, 3);
  EXPECT_EQ(work("execute_context_0(0)_generation_3(12)").kind, StepKind::speculative);
  EXPECT_EQ(work("step[DECODE bs=8 toks=8]").generated, 8);
  EXPECT_EQ(work("step[DECODE bs=8]").tokens, 8);
  EXPECT_EQ(work("step[TARGET_VERIFY bs=8 toks=32]").kind, StepKind::speculative);
  EXPECT_EQ(work("step[IDLE bs=0 toks=0]").kind, StepKind::unknown);
  const auto trt = work("[Executor] _forward_step 7: 1 ctx reqs, 256 ctx tokens, 3 gen reqs");
  EXPECT_EQ(trt.kind, StepKind::mixed);
  EXPECT_EQ(trt.requests, 4);
  EXPECT_EQ(work("execute_new_1_cached_7").requests, 8);
  EXPECT_EQ(work("execute_new_1_cached_7").kind, StepKind::unknown);
}

TEST(EngineMarks, OtherFormsSayTheSame) {
  const auto work = [](std::string_view name) {
    const auto step = parse_step_name(name);
    return step && step->work ? *step->work : EngineWork{};
  };
  EXPECT_EQ(work("execute_context_1(888_788544)_generation_0(0)").tokens, 888);
  const auto mixed = work(
      "step[MIXED bs=5 c=2 g=3 c_sq=6144 c_sk=7144 c_sqsq=209 c_sqsk=230 g_sq=3 g_sk=6144 "
      "g_sqsq=3 g_sqsk=6144]");
  EXPECT_EQ(mixed.kind, StepKind::mixed);
  EXPECT_EQ(mixed.tokens, 6147);
  EXPECT_EQ(mixed.decodes, 3);
  EXPECT_EQ(work("step[MIXED bs=1 c=1 g=0 c_sq=3 g_sq=0]").kind, StepKind::prefill);
  EXPECT_EQ(work("step[DECODE bs=64 g_sq=64 g_sk=131072]").tokens, 64);
  EXPECT_EQ(work("step[DECODE bs=64 g_sq=128 g_sk=131072]").kind, StepKind::speculative);
  EXPECT_EQ(work("draft step[DECODE bs=8]").pass, ModelPass::draft);
  EXPECT_EQ(work("step[DRAFT_EXTEND bs=8]").pass, ModelPass::draft);
  const auto prompts = work("prefill[bs=6 tok=17408 ctx=[4096, 4096, 4096]...+3]");
  EXPECT_EQ(prompts.kind, StepKind::prefill);
  EXPECT_EQ(prompts.requests, 6);
  EXPECT_EQ(prompts.tokens, 17408);
  const auto padded = work("decode[bs=117/128 tok=117 d=117]");
  EXPECT_EQ(padded.kind, StepKind::decode);
  EXPECT_EQ(padded.requests, 117);
  EXPECT_EQ(padded.run_tokens, 128);
  EXPECT_EQ(work("decode[bs=32 tok=128 d=32 spec=3]").kind, StepKind::speculative);
  EXPECT_EQ(work("decode[bs=128 tok=384 p=2 d=126]").kind, StepKind::mixed);
}

TEST(EngineMarks, NoRequestsAndImpossibleNumbersSayNothing) {
  const auto work = [](std::string_view name) {
    const auto step = parse_step_name(name);
    return step && step->work ? *step->work : EngineWork{};
  };
  EXPECT_EQ(work("step[DECODE bs=0 toks=0]").kind, StepKind::unknown);
  EXPECT_EQ(work("execute_context_0(0)_generation_0(0)").kind, StepKind::unknown);
  const auto huge = work("step[DECODE bs=999999999999999999 toks=99999999999999999999999]");
  EXPECT_EQ(huge.requests, std::nullopt);
  EXPECT_EQ(huge.generated, std::nullopt);
  for (const auto* name :
       {"step[12]", "step[train 3]", "decode[7]", "prefill[abs=3]", "step[bs=8]"}) {
    const auto step = parse_step_name(name);
    EXPECT_FALSE(step && step->work) << name;
  }
  EXPECT_EQ(parse_step_name("step[12]")->number, 12);
}

/// An engine of eight layers: the host launches a step and waits for its tokens.
struct Engine : test::CaptureBuilder {
  Nanos now = kMs;

  void kernel(std::string_view name, std::int64_t blocks, Nanos length) {
    const auto row = launch(name, {now, now + 4 * kUs}, {now + 5 * kUs, now + 5 * kUs + length});
    capture.activities.grid_x[row] = static_cast<std::int32_t>(blocks);
    now += 5 * kUs + length;
  }
  void step(std::int64_t prefills, std::int64_t prompt_tokens, std::int64_t decodes,
            std::int64_t padded = 0) {
    const std::int64_t rows = std::max(padded, prompt_tokens + decodes);
    for (int layer = 0; layer < 8; ++layer) {
      kernel("rms_norm_kernel", rows, 5 * kUs);
      if (prefills > 0) kernel("flash_fwd_kernel", prefills, 20 * kUs);
      if (decodes > 0) kernel("paged_attention", decodes, 8 * kUs);
      kernel("gemm", 32, 10 * kUs);
    }
    kernel("argmax_kernel", prefills + decodes, 4 * kUs);
    const auto row =
        copy(CopyKind::device_to_host, {now, now + 4 * kUs}, {now + 5 * kUs, now + 7 * kUs});
    capture.activities.bytes[row] = 8 * (prefills + decodes);
    now += 30 * kUs;
  }
  Serving served() const {
    const auto analysis = analyze(capture, {});
    EXPECT_TRUE(analysis && analysis->serving);
    return analysis && analysis->serving ? *analysis->serving : Serving{};
  }

  /// A step within a mark.
  void marked(std::string_view mark, std::int64_t prefills, std::int64_t prompt_tokens,
              std::int64_t decodes, std::uint32_t thread = 100) {
    const Nanos begin = now;
    step(prefills, prompt_tokens, decodes);
    this->mark(mark, begin, now - 20 * kUs, thread);
  }
};

/// Prompts alone and beside two requests that decode.
Engine engine() {
  Engine made;
  made.step(2, 100, 0);
  for (int i = 0; i < 10; ++i) made.step(0, 0, 2);
  made.step(1, 60, 2);
  for (int i = 0; i < 10; ++i) made.step(0, 0, 3);
  return made;
}

TEST(Serving, KindsAreLearnedFromKernels) {
  const Serving serving = engine().served();
  ASSERT_EQ(serving.steps.size(), 22u);
  EXPECT_EQ(serving.source, "sampler");
  EXPECT_EQ(serving.kind_confidence, 1.0);
  EXPECT_EQ(serving.steps[0].kind, StepKind::prefill);
  EXPECT_EQ(serving.steps[0].run_tokens, 100);
  EXPECT_EQ(serving.steps[1].kind, StepKind::decode);
  EXPECT_EQ(serving.steps[1].tokens, 2);
  const EngineStep& mixed = serving.steps[11];
  EXPECT_EQ(mixed.kind, StepKind::mixed);
  EXPECT_EQ(mixed.run_tokens, 62);
  EXPECT_EQ(mixed.requests, 3);
  EXPECT_EQ(mixed.decodes, 2);
  EXPECT_EQ(serving.generated, 2 + 20 + 3 + 30);
  EXPECT_EQ(serving.batch_most, 3);
  EXPECT_EQ(serving.first_p50_ns, std::nullopt) << "no mark says when requests arrive";
  ASSERT_TRUE(serving.mixed_longer_ns);
  EXPECT_GT(*serving.mixed_longer_ns, 8 * 20 * kUs);
  std::int64_t steps = 0;
  for (const auto& kind : serving.kinds) steps += kind.steps;
  EXPECT_EQ(steps, 22);
}

TEST(Serving, TimeBetweenTokensHoldsThePromptsBetweenThem) {
  Engine made;
  made.step(2, 100, 0);
  for (int i = 0; i < 4; ++i) made.step(0, 0, 2);
  made.step(1, 60, 0);  // both wait for it
  for (int i = 0; i < 4; ++i) made.step(0, 0, 3);
  const Serving serving = made.served();
  const auto length = [&](std::size_t step) { return serving.steps[step].duration_ns; };
  // 8 and 12 times one token after the other; twice with the prompt's step between them.
  EXPECT_EQ(serving.between_p50_ns, length(1));
  EXPECT_EQ(serving.between_p99_ns, length(5) + length(6));
}

TEST(Serving, PaddingIsWhatFillsUpAGraph) {
  Engine made;
  made.step(3, 100, 0);
  for (int i = 0; i < 10; ++i) made.step(0, 0, 3);
  for (int i = 0; i < 10; ++i) made.step(0, 0, 3, 4);
  for (std::uint32_t row = 0; row < made.capture.activities.size(); ++row)
    if (made.capture.text(made.capture.activities.name[row]) != "flash_fwd_kernel" &&
        made.capture.activities.start_ns[row] > 2 * kMs)
      made.capture.activities.graph_id[row] = 1;
  const Serving serving = made.served();
  const auto decode = std::ranges::find(serving.kinds, StepKind::decode, &StepKindUse::kind);
  ASSERT_NE(decode, serving.kinds.end());
  EXPECT_EQ(decode->tokens, 60);
  EXPECT_EQ(decode->run_tokens, 70);
  EXPECT_NEAR(decode->padding.value_or(0), 1.0 / 7, 1e-9);
}

TEST(Serving, NumbersThatComeTwiceAreOfTwoRuns) {
  Engine made;
  for (int run = 0; run < 2; ++run)
    for (int i = 0; i < 8; ++i) {
      const bool prompts = i == 4 * run;
      made.marked("[Executor] _forward_step " + std::to_string(i) + ": " + (prompts ? "1" : "0") +
                      " ctx reqs, " + (prompts ? "0" : "2") + " gen reqs",
                  prompts ? 1 : 0, prompts ? 50 : 0, prompts ? 0 : 2);
    }
  const Serving serving = made.served();
  ASSERT_EQ(serving.steps.size(), 16u);
  EXPECT_EQ(serving.steps[8].kind, StepKind::decode);
  EXPECT_EQ(serving.steps[12].kind, StepKind::prefill);
  EXPECT_EQ(serving.generated, 2 + 14 * 2);
}

TEST(Serving, PassesOfADraftBelongToTheCheckOfItsTokens) {
  Engine made;
  made.marked("step[EXTEND bs=2 toks=100]", 2, 100, 0);
  made.marked("step[EXTEND bs=2 toks=100]", 2, 100, 0);  // of the draft
  for (int i = 0; i < 10; ++i) {
    for (int draft = 0; draft < 3; ++draft) made.marked("step[DECODE bs=2]", 0, 0, 2);
    made.marked("step[TARGET_VERIFY bs=2]", 0, 0, 8);
    made.marked("step[DRAFT_EXTEND bs=2]", 0, 0, 8);
  }
  const Serving serving = made.served();
  ASSERT_EQ(serving.steps.size(), 11u);
  EXPECT_EQ(serving.steps[0].kind, StepKind::prefill);
  for (std::size_t i = 1; i < 11; ++i) EXPECT_EQ(serving.steps[i].kind, StepKind::speculative);
  EXPECT_EQ(serving.steps[1].requests, 2);
  EXPECT_EQ(serving.generated, std::nullopt) << "how many were kept is not known";
}

TEST(Serving, OfTwoEnginesNoSumIsKnown) {
  Engine made;
  for (int i = 0; i < 10; ++i) {
    made.marked("step[DECODE bs=2]", 0, 0, 2);
    made.mark("step[DECODE bs=" + std::to_string(3 + i % 3) + "]", made.now - 50 * kUs,
              made.now - 10 * kUs, 101);
  }
  const Serving serving = made.served();
  EXPECT_EQ(serving.engines, 2);
  EXPECT_EQ(serving.steps.size(), 10u);
  EXPECT_EQ(serving.generated, std::nullopt);
  EXPECT_EQ(serving.tokens_per_second, std::nullopt);
}

TEST(Serving, TokensChosenBehindTheMarkAreOfItsStep) {
  Engine made;
  const auto name = [](int prompts, int decodes) {
    return "execute_context_" + std::to_string(prompts) + "(" + std::to_string(50 * prompts) +
           ")_generation_" + std::to_string(decodes) + "(" + std::to_string(decodes) + ")";
  };
  for (int i = 0; i < 12; ++i) {
    const int prompts = i % 4 == 0;
    const Nanos begin = made.now;
    made.step(prompts, 50 * prompts, prompts ? 0 : 2);
    // The mark ends before the tokens are chosen, and the next one begins before they are copied.
    made.mark(name(prompts, prompts ? 0 : 2), begin, made.now - 60 * kUs);
  }
  const Serving serving = made.served();
  ASSERT_EQ(serving.steps.size(), 12u);
  EXPECT_EQ(serving.steps[8].kind, StepKind::prefill) << "and not part of a prompt";
  EXPECT_EQ(serving.generated, 3 + 9 * 2);
}

TEST(Serving, OtherStepsAreNoEngines) {
  test::CaptureBuilder builder;
  for (int i = 0; i < 20; ++i) {
    builder.mark("train_step " + std::to_string(i), i * kMs, (i + 1) * kMs);
    builder.launch("gemm", {i * kMs, i * kMs + kUs}, {i * kMs + 2 * kUs, i * kMs + 500 * kUs});
  }
  const auto analysis = analyze(builder.capture, {});
  ASSERT_TRUE(analysis);
  EXPECT_FALSE(analysis->serving);
}

TEST(Serving, RequestsSumToTheirSteps) {
  Engine made;
  made.mark("gpufathom.arrived(a)", made.now - 300 * kUs, made.now - 299 * kUs);
  const auto name = [&](std::string_view text) {
    made.mark(text, made.now + kUs, made.now + 2 * kUs);
  };
  name("gpufathom.request(a, 70)");
  name("gpufathom.request(b, 30)");
  made.step(2, 100, 0);
  for (int i = 0; i < 9; ++i) {
    name("gpufathom.request(a)");
    if (i < 5) name("gpufathom.request(b)");
    made.step(0, 0, i < 5 ? 2 : 1);
  }
  const Serving serving = made.served();
  ASSERT_EQ(serving.requests.size(), 2u);
  const auto& first = serving.requests[0];
  EXPECT_EQ(first.id, "a");
  EXPECT_EQ(first.steps, 10);
  EXPECT_EQ(first.tokens, 79);
  EXPECT_EQ(serving.requests[1].tokens, 35);
  EXPECT_EQ(first.first_token_ns,
            serving.steps[0].start_ns + serving.steps[0].duration_ns - (kMs - 300 * kUs));
  EXPECT_EQ(serving.requests[1].first_token_ns, std::nullopt) << "its arrival is not known";
  Nanos all = 0, shares = 0;
  for (const auto& step : serving.steps) all += step.duration_ns;
  for (const auto& request : serving.requests) shares += request.step_ns;
  EXPECT_EQ(shares, all) << "to the nanosecond";
}

}  // namespace
}  // namespace gf
