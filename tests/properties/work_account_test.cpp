// The account of peak x time: whatever a kernel does, its time is divided without rest.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "analyze/analyze.h"
#include "analyze/work/sections.h"
#include "analyze/work/work.h"
#include "support/capture_builder.h"

namespace gf::work {
namespace {

double some(double least, double most) {
  return least + (most - least) * *rc::gen::inRange(0, 10001) / 10000.0;
}

RC_GTEST_PROP(WorkAccount, SharesOfAKernelSumToOne, ()) {
  KernelFacts kernel;
  kernel.seconds = some(1e-6, 1e-2);
  kernel.peak = 1e15;
  kernel.own_peak = some(1e13, 2e15);
  kernel.flops = some(0, 2) * kernel.seconds * kernel.peak;
  kernel.recomputed = some(0, 1) * kernel.flops;
  kernel.covered = some(0.5, 2) * kernel.flops;
  kernel.multiplies = *rc::gen::arbitrary<bool>();
  kernel.known = *rc::gen::arbitrary<bool>();
  kernel.communicates = *rc::gen::inRange(0, 10) == 0;
  if (*rc::gen::arbitrary<bool>()) {
    kernel.sm_active = some(0, 1);
    if (*rc::gen::arbitrary<bool>()) kernel.issue_active = some(0, kernel.sm_active);
    if (*rc::gen::arbitrary<bool>()) kernel.tensor_active = some(0, kernel.sm_active);
    if (*rc::gen::arbitrary<bool>()) kernel.tensor_issue = some(0, 0.2);
  } else {
    kernel.blocks_per_sm = some(0, 3);
  }
  const KernelShares shares = split_work(kernel);
  double sum = 0;
  for (const double share : shares.of) {
    RC_ASSERT(share >= 0);
    sum += share;
  }
  RC_ASSERT(std::abs(sum - 1) < 1e-9);
  const double work = (kernel.flops - kernel.recomputed) / kernel.peak / kernel.seconds;
  if (!kernel.communicates) RC_ASSERT(shares.at(WorkPart::work) <= work + 1e-9);
}

/// A program of products and other kernels on an H200.
Capture program(std::int64_t kernels) {
  test::CaptureBuilder build;
  auto intern = [&](std::string_view text) { return build.capture.strings.intern(text); };
  build.capture.framework = "pytorch";
  Nanos now = 0;
  for (std::int64_t i = 0; i < kernels; ++i) {
    const bool product = *rc::gen::arbitrary<bool>();
    const auto op = build.op(product ? "aten::mm" : "aten::add", now, now + 1000);
    const auto m = *rc::gen::inRange(1, 3000), n = *rc::gen::inRange(1, 3000);
    auto& ops = build.capture.host_ops;
    ops.shapes[op] = intern(fmt::format("[[{}, {}], [{}, {}]]", m, n, product ? n : m, n));
    ops.types[op] = intern(R"(["c10::BFloat16","c10::BFloat16"])");
    const Nanos length = *rc::gen::inRange<Nanos>(500, 200'000);
    const Nanos start = now + *rc::gen::inRange<Nanos>(100, 5000);
    const auto kernel =
        build.launch(product ? "nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN"
                             : "vectorized_elementwise_kernel",
                     {now + 10, now + 90}, {start, start + length}, *rc::gen::inRange(7, 9));
    build.capture.activities.grid_x[kernel] = *rc::gen::inRange(1, 400);
    now += *rc::gen::inRange<Nanos>(1100, 100'000);
  }
  build.capture.devices.name[0] = intern("NVIDIA H200");
  build.capture.devices.sm_count[0] = 132;
  return std::move(build.capture);
}

RC_GTEST_PROP(WorkAccount, PartsSumToTheWindow, ()) {
  const Capture capture = program(*rc::gen::inRange(2, 40));
  std::optional<Context> context;
  const auto analysis = analyze(capture, {}, &context);
  RC_ASSERT(analysis.has_value());
  const WorkUse use = measure_work(*context, *analysis);
  for (const auto& account : use.accounts) {
    Nanos sum = 0;
    for (const auto& part : account.parts) {
      Nanos owners = 0;
      for (const auto& owner : part.owners) owners += owner.ns;
      RC_ASSERT(owners == part.ns);
      RC_ASSERT(part.ns >= 0);
      sum += part.ns;
    }
    RC_ASSERT(sum == account.span_ns);
    RC_ASSERT(*account.mfu <= *account.hfu + 1e-12);
  }
  // The headline of analyze is the account's number, but for whole nanoseconds.
  RC_ASSERT(analysis->work.mfu.has_value() == !use.accounts.empty());
  if (!use.accounts.empty()) {
    const auto& account = use.accounts.front();
    const double rounding = 41.0 / static_cast<double>(account.span_ns);
    RC_ASSERT(std::abs(*analysis->work.mfu - *account.mfu) <= rounding);
    RC_ASSERT(analysis->work.coverage == account.coverage);
  }
}

/// Each row of the table by shape against a walk over the kernels of its own operation.
RC_GTEST_PROP(OperatorTable, RowsSumToTheKernelTime, ()) {
  const Capture capture = program(*rc::gen::inRange(2, 40));
  std::optional<Context> context;
  const auto analysis = analyze(capture, {}, &context);
  RC_ASSERT(analysis.has_value());
  struct Expected {
    std::int64_t calls = 0;
    Nanos ns = 0, least = INT64_MAX, most = 0;
  };
  std::map<std::string, Expected> expected;
  for (const auto& kernel : context->kernels) {
    const auto op = context->attribution.op[kernel.activity];
    std::string shapes(capture.text(capture.host_ops.shapes[op]));  // "[[1, 2], [3, 4]]"
    Expected& row = expected[fmt::format("{} {}", capture.text(capture.host_ops.name[op]), shapes)];
    ++row.calls;
    row.ns += kernel.exclusive_ns;
    row.least = std::min(row.least, kernel.exclusive_ns);
    row.most = std::max(row.most, kernel.exclusive_ns);
  }
  const WorkUse use = measure_work(*context, *analysis);
  Nanos sum = 0;
  for (const auto& row : use.operators) {
    std::string shapes = "[[";
    for (const char letter : row.shapes)
      if (letter == 'x')
        shapes += ", ";
      else if (letter == '*')
        shapes += "], [";
      else if (letter != ' ')
        shapes += letter;
    const auto found = expected.find(fmt::format("{} {}]]", row.name, shapes));
    RC_ASSERT(found != expected.end());
    RC_ASSERT(row.calls == found->second.calls);
    RC_ASSERT(row.ns == found->second.ns);
    if (found->second.least > 0) {
      RC_ASSERT(row.ns_min == found->second.least);
      RC_ASSERT(row.ns_max == found->second.most);
      RC_ASSERT(*row.ns_min <= *row.ns_median);
      RC_ASSERT(*row.ns_median <= *row.ns_max);
    }
    Nanos of_kernels = 0;
    for (const auto& kernel : row.by_kernel) of_kernels += kernel.ns;
    RC_ASSERT(of_kernels == row.ns);
    sum += row.ns;
    expected.erase(found);
  }
  RC_ASSERT(expected.empty());
  RC_ASSERT(sum == analysis->devices.at(0).kernel_busy_ns);
  // Cut rows become one row.
  const auto short_table = longest_operators(use.operators, 1);
  Nanos cut = 0;
  for (const auto& row : short_table) cut += row.ns;
  RC_ASSERT(short_table.size() <= 2);
  RC_ASSERT(cut == sum);
}

}  // namespace
}  // namespace gf::work
