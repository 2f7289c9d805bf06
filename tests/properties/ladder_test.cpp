// Exact accounting on random captures: bars, layers and kernels sum to the window; levels keep
// their order and agree with a nanosecond-by-nanosecond count; the order of rows in the tables does
// not matter.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyze/analyze.h"
#include "analyze/utilization/levels.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

struct Random {
  struct Kernel {
    Nanos start, length;
    int name, stream, device;
    bool copy, counted;
    double active, issue, tensor, tensor_issue, cycles;
  };
  std::vector<Kernel> kernels;
};

Random random_program() {
  Random r;
  const int n = *rc::gen::inRange(1, 30);
  auto share = [] { return *rc::gen::inRange(0, 101) / 100.0; };
  for (int i = 0; i < n; ++i) {
    Random::Kernel k;
    k.start = *rc::gen::inRange(0, 400) * 32 +
              i;  // no two begin together: nanoseconds left over then have one owner
    k.length = *rc::gen::inRange(0, 60) * 7;
    k.name = *rc::gen::inRange(0, 5);
    k.stream = *rc::gen::inRange(0, 3);
    k.device = *rc::gen::inRange(0, 2);
    k.copy = *rc::gen::inRange(0, 5) == 0;
    k.counted = *rc::gen::inRange(0, 4) != 0;
    k.active = share();
    k.issue = k.active * share();
    k.tensor = k.active * share();
    k.tensor_issue = k.issue * share();
    k.cycles = 1000.0 * *rc::gen::inRange(1, 50);
    r.kernels.push_back(k);
  }
  return r;
}

/// The program as a capture with its report; `order` is the order of the rows.
struct Built : test::CaptureBuilder {
  Matching matching;
  Built(const Random& r, const std::vector<std::size_t>& order) {
    static constexpr std::string_view kNames[] = {"gemm", "elementwise_kernel", "softmax",
                                                  "reduce_kernel", "unheard_of"};
    op("aten::mm", 0, 5000);
    for (const auto i : order) {
      const auto& k = r.kernels[i];
      if (k.copy) {
        const auto row = activity(ActivityKind::memcpy, "Memcpy", k.start, k.start + k.length, -1,
                                  k.stream, k.device);
        if (k.name % 2) {
          capture.activities.copy[row] = CopyKind::host_to_device;
        } else {
          capture.activities.copy[row] = CopyKind::device_to_host;
        }
      } else if (k.name == 0) {
        launch(kNames[0], {k.start, k.start + 1}, {k.start, k.start + k.length}, k.stream,
               k.device);
      } else {
        kernel(kNames[k.name], k.start, k.start + k.length, k.stream, k.device);
      }
      matching.report_row.push_back(!k.copy && k.counted ? report(k) : kNoRow);
    }
  }
  std::uint32_t report(const Random::Kernel& k) {
    const auto row = capture.report_kernels.add();
    auto counter = [&](std::string_view name, double value) {
      const auto c = capture.kernel_counters.add();
      capture.kernel_counters.kernel[c] = row;
      capture.kernel_counters.metric[c] = capture.strings.intern(name);
      capture.kernel_counters.value[c] = value;
    };
    counter("smsp__cycles_elapsed.sum", k.cycles);
    counter("smsp__cycles_active.sum", k.active * k.cycles);
    counter("smsp__issue_active.sum", k.issue * k.cycles);
    counter("sm__pipe_tensor_cycles_active.sum", k.tensor * k.cycles);
    counter("sm__inst_executed_pipe_tensor.sum", k.tensor_issue * k.cycles);
    return row;
  }
  /// The analysis, with `matching` in place of what the matcher would find.
  std::pair<Analysis, Context> analysed() {
    std::optional<Context> context;
    auto analysis = analyze(capture, {}, &context);
    RC_ASSERT(analysis.has_value());
    context->matching = matching;
    const KernelLevels levels(capture, matching);
    put(measure_layers(*context, levels), *analysis);
    put(measure_levels(*context, levels, analysis->devices), *analysis);
    return {std::move(*analysis), std::move(*context)};
  }
};

std::vector<std::size_t> in_order(std::size_t n) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

template <class Rows>
Nanos sum_ns(const Rows& rows) {
  Nanos sum = 0;
  for (const auto& row : rows) sum += row.ns;
  return sum;
}

const Level& level(const std::vector<Level>& levels, std::string_view id) {
  return *std::find_if(levels.begin(), levels.end(), [&](const Level& l) { return l.id == id; });
}

RC_GTEST_PROP(Ladder, EverySumIsExact, ()) {
  const Random r = random_program();
  Built built(r, in_order(r.kernels.size()));
  const auto [a, context] = built.analysed();
  Nanos busy = 0;
  for (const auto& d : a.devices) {
    busy += d.kernel_busy_ns;
    RC_ASSERT(sum_ns(d.waterfall) == d.span_ns);
    for (const auto& bar : d.waterfall) {
      RC_ASSERT(bar.ns >= 0);
      if (bar.id != Bar::idle || !d.idle.empty()) RC_ASSERT(sum_ns(bar.parts) == bar.ns);
      if (bar.id != Bar::idle && bar.id != Bar::copy) RC_ASSERT(sum_ns(bar.kernels) == bar.ns);
    }
  }
  RC_ASSERT(sum_ns(a.kernels) == busy);
  RC_ASSERT(sum_ns(a.layers) == busy);
  RC_ASSERT(sum_ns(a.layer_types) == busy);
  // A device whose kernels take no time beside the other's is set aside.
  const auto instances = std::count_if(r.kernels.begin(), r.kernels.end(), [&](const auto& k) {
    return !k.copy && std::none_of(context.others.begin(), context.others.end(), [&](auto& other) {
      return built.capture.devices.id[other.device] == k.device;
    });
  });
  auto counted = [](const auto& rows) {
    return std::accumulate(rows.begin(), rows.end(), std::int64_t{0},
                           [](auto n, const auto& row) { return n + row.kernels; });
  };
  RC_ASSERT(counted(a.layers) == instances);
  RC_ASSERT(counted(a.layer_types) == instances);
}

RC_GTEST_PROP(Ladder, LevelsKeepTheirOrderAndMatchACountByNanosecond, ()) {
  const Random r = random_program();
  Built built(r, in_order(r.kernels.size()));
  const auto [a, context] = built.analysed();
  Nanos window = 0;
  for (const auto& d : a.devices) window += d.span_ns;
  if (window == 0) return;
  const auto& sm = level(a.levels, "sm.active");
  if (!sm.value) return;  // no counters at all
  const double gpu = *level(a.levels, "gpu.busy").value;
  const std::pair<const char*, double Random::Kernel::*> kLevels[] = {
      {"sm.active", &Random::Kernel::active},
      {"issue.active", &Random::Kernel::issue},
      {"tensor.active", &Random::Kernel::tensor},
      {"tensor.issue", &Random::Kernel::tensor_issue}};
  for (const auto& [id, ratio] : kLevels) {
    double known = 0, unknown = 0;
    for (int device = 0; device < 2; ++device)
      for (Nanos t = 0; t < 400 * 32 + 30 + 60 * 7; ++t) {
        int running = 0;
        double here = 0, missing = 0;
        for (const auto& k : r.kernels) {
          if (k.copy || k.device != device || t < k.start || t >= k.start + k.length) continue;
          ++running;
          if (k.counted)
            here += k.*ratio;
          else
            missing += 1;
        }
        if (running) {
          known += here / running;
          unknown += missing / running;
        }
      }
    const auto& l = level(a.levels, id);
    const double slack = 2.0 * static_cast<double>(r.kernels.size() * r.kernels.size()) /
                         static_cast<double>(window);
    RC_ASSERT(std::abs(*l.low - known / static_cast<double>(window)) <= slack + 1e-12);
    RC_ASSERT(std::abs(*l.high - (known + unknown) / static_cast<double>(window)) <= slack + 1e-12);
    RC_ASSERT(*l.value == *l.low);
    RC_ASSERT(*l.high <= gpu + 1e-12);
  }
  auto low = [&](const char* id) { return *level(a.levels, id).low; };
  auto high = [&](const char* id) { return *level(a.levels, id).high; };
  RC_ASSERT(low("sm.active") <= gpu + 1e-12);
  RC_ASSERT(low("issue.active") <= low("sm.active") + 1e-12);
  RC_ASSERT(high("issue.active") <= high("sm.active") + 1e-12);
  RC_ASSERT(low("tensor.active") <= low("sm.active") + 1e-12);
  RC_ASSERT(low("tensor.issue") <= low("issue.active") + 1e-12);
  // The last bar is the tensor level, the first kernel bar what sm.active leaves of the kernels
  // that have counters.
  Nanos tensor = 0;
  for (const auto& d : a.devices)
    for (const auto& bar : d.waterfall)
      if (bar.id == Bar::tensor) tensor += bar.ns;
  RC_ASSERT(
      std::abs(static_cast<double>(tensor) / static_cast<double>(window) - low("tensor.active")) <=
      2.0 * static_cast<double>(a.devices.size()) / static_cast<double>(window));
}

RC_GTEST_PROP(Ladder, OrderOfRowsDoesNotMatter, ()) {
  const Random r = random_program();
  auto order = in_order(r.kernels.size());
  Built sorted(r, order);
  // A shuffle of rapidcheck's own making, so that a failure shrinks.
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1],
              order[static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(i)))]);
  Built shuffled(r, order);
  auto [a, context_a] = sorted.analysed();
  auto [b, context_b] = shuffled.analysed();
  auto by_device = [](const DeviceUse& x, const DeviceUse& y) { return x.id < y.id; };
  std::sort(a.devices.begin(), a.devices.end(), by_device);
  std::sort(b.devices.begin(), b.devices.end(), by_device);
  RC_ASSERT(a.devices.size() == b.devices.size());
  for (std::size_t d = 0; d < a.devices.size(); ++d)
    for (std::size_t bar = 0; bar < a.devices[d].waterfall.size(); ++bar)
      RC_ASSERT(std::abs(a.devices[d].waterfall[bar].ns - b.devices[d].waterfall[bar].ns) <= 1);
  for (std::size_t l = 0; l < a.levels.size(); ++l) {
    RC_ASSERT(a.levels[l].value.has_value() == b.levels[l].value.has_value());
    if (a.levels[l].value) RC_ASSERT(std::abs(*a.levels[l].value - *b.levels[l].value) < 1e-12);
  }
  RC_ASSERT(a.kernels.size() == b.kernels.size());
  for (std::size_t k = 0; k < a.kernels.size(); ++k)
    RC_ASSERT(a.kernels[k].name == b.kernels[k].name && a.kernels[k].ns == b.kernels[k].ns);
  RC_ASSERT(a.layers.size() == b.layers.size());
  for (std::size_t k = 0; k < a.layers.size(); ++k)
    RC_ASSERT(a.layers[k].name == b.layers[k].name && a.layers[k].ns == b.layers[k].ns);
}

}  // namespace
}  // namespace gf
