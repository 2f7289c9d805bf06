// Random trees of operators with known kernels: the product operations of a kernel are those of the
// innermost product around its launch, whatever stands between and around.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "analyze/analyze.h"
#include "analyze/work/kernel_work.h"
#include "support/capture_builder.h"

namespace gf::work {
namespace {

class Tree {
 public:
  test::CaptureBuilder build;
  std::map<Nanos, double> expected;  // product operations of a kernel, by its start

  Tree() { build.capture.framework = "pytorch"; }

  /// An operator with what it calls; true where a product is inside.
  bool grow(int depth, double around) {
    enum Kind { product, elementwise, wrapper, python };
    const auto kind = *rc::gen::element(product, product, elementwise, wrapper, python);
    const Nanos start = now_ += 10;
    const auto row = build.op("", start, start);
    double flops = around;
    auto& ops = build.capture.host_ops;
    auto name = [&](std::string_view text) { ops.name[row] = build.capture.strings.intern(text); };
    if (kind == product) {
      const auto m = *rc::gen::inRange(1, 50), n = *rc::gen::inRange(1, 50),
                 k = *rc::gen::inRange(1, 50), b = *rc::gen::inRange(1, 4);
      const bool batched = *rc::gen::arbitrary<bool>();
      name(batched ? "aten::bmm" : "aten::mm");
      ops.shapes[row] = build.capture.strings.intern(
          batched ? fmt::format("[[{0}, {1}, {2}], [{0}, {2}, {3}]]", b, m, k, n)
                  : fmt::format("[[{}, {}], [{}, {}]]", m, k, k, n));
      ops.types[row] = build.capture.strings.intern(R"(["float","float"])");
      flops = 2.0 * m * n * k * (batched ? b : 1);
    } else if (kind == elementwise) {
      name("aten::add");
      ops.shapes[row] = build.capture.strings.intern("[[8, 8], [8, 8]]");
      ops.types[row] = build.capture.strings.intern(R"(["float","float"])");
    } else {
      name(kind == python ? "PythonSubclass"
                          : *rc::gen::element<const char*>("aten::matmul", "Redistribute",
                                                           "AddmmBackward0", "aten::view"));
    }
    bool products = false;
    for (auto children = depth > 0 ? *rc::gen::inRange(0, 4) : 0; children > 0; --children)
      products = grow(depth - 1, flops) || products;
    if (kind == elementwise) launch("vectorized_elementwise_kernel", 0);
    if (!products && kind == product) launch("ampere_sgemm_128x64_tn", flops);
    now_ += 10;
    ops.duration_ns[row] = now_ - start;
    return products || kind == product;
  }

 private:
  void launch(const char* name, double flops) {
    now_ += 10;
    build.launch(name, {now_, now_ + 5}, {device_, device_ + 1000});
    expected[device_] = flops;
    device_ += 2000;
    now_ += 10;
  }
  Nanos now_ = 0, device_ = 100'000'000;
};

RC_GTEST_PROP(WorkNesting, AKernelDoesTheInnermostProductAroundIt, ()) {
  Tree tree;
  const auto roots = *rc::gen::inRange(1, 4);
  for (int root = 0; root < roots; ++root) tree.grow(5, 0);
  if (tree.expected.empty()) return;
  std::optional<Context> context;
  RC_ASSERT(analyze(tree.build.capture, {}, &context));
  const auto works = kernel_works(*context);
  for (std::size_t i = 0; i < works.kernels.size(); ++i) {
    const auto start = tree.build.capture.activities.start_ns[context->kernels[i].activity];
    RC_ASSERT(std::abs(works.kernels[i].flops - tree.expected.at(start)) < 1e-6);
  }
}

}  // namespace
}  // namespace gf::work
