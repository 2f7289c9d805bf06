// Whatever two captures hold, linking the nodes of graphs keeps a capture that checks and analyzes.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include "analyze/analyze.h"
#include "analyze/attribution/attribution.h"
#include "analyze/work/work.h"
#include "model/check.h"
#include "support/captures.h"

namespace gf {
namespace {

/// Times as in a run, `from` on.
void make_plausible(Capture& capture, std::uint64_t seed, Nanos from) {
  std::mt19937_64 random(seed);
  capture.each_table([&](auto& table) {
    table.each_column_ref([&](const auto& field) {
      using Declared = typename std::remove_cvref_t<decltype(field)>::Declared;
      if constexpr (std::is_same_v<Declared, declared::Time>)
        for (auto& start : field.column) start = from + static_cast<Nanos>(random() % 4000);
      if constexpr (std::is_same_v<Declared, declared::Duration>)
        for (auto& length : field.column) length = static_cast<Nanos>(random() % 300);
    });
  });
}

RC_GTEST_PROP(GraphNodes, AnyCapturesStayWhole, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto rows = *rc::gen::inRange<std::size_t>(1, 60);
  // The same program twice, of which one launches graphs; times and texts as bad as they come.
  Capture replay = test::random_capture(seed, rows);
  std::vector<Capture> others;
  others.push_back(test::random_capture(seed, rows));
  for (Capture* capture : {&replay, &others[0]})
    for (std::size_t row = 0; row < capture->activities.size(); ++row) {
      capture->activities.captured_op[row] = kNoRow;
      capture->activities.pid[row] = -1;
      capture->activities.name[row] = capture->strings.intern("kernel");
      capture->activities.correlation[row] = static_cast<std::int64_t>(row % 5);
      capture->activities.kind[row] = ActivityKind::kernel;
    }
  for (std::size_t row = 0; row < replay.api_calls.size(); ++row) {
    replay.api_calls.correlation[row] = others[0].api_calls.correlation[row] =
        static_cast<std::int64_t>(row % 5);
    replay.api_calls.kind[row] = ApiKind::graph_launch;
    others[0].api_calls.kind[row] = ApiKind::launch;
  }
  for (Capture* capture : {&replay, &others[0]})
    if (!capture->threads.empty()) {
      for (auto& thread : capture->host_ops.thread) thread = 0;
      for (auto& thread : capture->api_calls.thread) thread = 0;
    }
  constexpr Nanos kFar = kFarthestTime - 5000;
  const auto from = *rc::gen::element<Nanos>(0, kFar, -kFar);
  if (*rc::gen::inRange(0, 4) > 0) {
    make_plausible(replay, seed, 0);
    make_plausible(others[0], seed, from);
  }
  RC_ASSERT(replay.check().has_value());
  RC_ASSERT(others[0].check().has_value());
  link_captured_nodes(replay);
  const auto linked = link_captured_nodes(replay, others);
  RC_CLASSIFY(linked.has_value());
  RC_ASSERT(replay.check().has_value());
  std::optional<Context> context;
  if (const auto analysis = analyze(replay, {}, &context); analysis && context)
    (void)measure_work(*context, *analysis);
}

}  // namespace
}  // namespace gf
