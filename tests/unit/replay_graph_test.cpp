#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "analyze/replay/graph.h"
#include "core/base64.h"

namespace gf {
namespace {

/// Any graph: nodes in order of time, edges from earlier ones.
ReplayGraph made(std::uint32_t seed, std::uint32_t nodes) {
  std::mt19937 random(seed);
  ReplayGraph graph;
  graph.names = {"a", "@b c", "d"};
  Nanos clock = 1'790'000'000'000'000'000;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    clock += static_cast<Nanos>(random() % 20'000);
    graph.start_ns.push_back(clock);
    graph.duration_ns.push_back(static_cast<Nanos>(random() % 50'000));
    graph.name.push_back(static_cast<std::uint32_t>(random() % 3));
    graph.collective.push_back(static_cast<std::int64_t>(random() % 5) - 1);
    graph.input_ns.push_back(random() % 4 == 0 ? 700 : 0);
    graph.profiler_ns.push_back(random() % 2 == 0 ? 1900 : 0);
    for (std::uint32_t i = 0; node > 0 && i < random() % 4; ++i)
      graph.edges.push_back({static_cast<std::uint32_t>(random() % node),
                             static_cast<WaitsFor>(random() % 5),
                             static_cast<Nanos>(random() % 9000) - 1000});
    graph.first_edge.push_back(static_cast<std::uint32_t>(graph.edges.size()));
  }
  return graph;
}

std::vector<Nanos> lags(const ReplayGraph& graph) {
  std::vector<Nanos> out;
  for (const auto& edge : graph.edges) out.push_back(edge.lag);
  return out;
}

TEST(ReplayGraph, ReadsBackAsItWasPacked) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const ReplayGraph graph = made(seed, seed * 13);
    const auto read = unpack(pack(graph), graph.names);
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(read->start_ns, graph.start_ns);
    EXPECT_EQ(read->duration_ns, graph.duration_ns);
    EXPECT_EQ(read->name, graph.name);
    EXPECT_EQ(read->collective, graph.collective);
    EXPECT_EQ(read->input_ns, graph.input_ns);
    EXPECT_EQ(read->profiler_ns, graph.profiler_ns);
    EXPECT_EQ(read->first_edge, graph.first_edge);
    EXPECT_EQ(lags(*read), lags(graph));
  }
}

TEST(ReplayGraph, DamageIsRefused) {
  const ReplayGraph graph = made(1, 40);
  const std::string text = pack(graph);
  EXPECT_FALSE(unpack("", graph.names));
  EXPECT_FALSE(unpack("not base64", graph.names));
  EXPECT_FALSE(unpack(text.substr(0, text.size() / 2 / 4 * 4), graph.names));
  EXPECT_FALSE(unpack(text, {"a"}));  // numbers that name nothing
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    std::string bytes = *from_base64(text);
    bytes[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
    const auto read = unpack(base64(bytes), graph.names);  // ends, whatever it says
    if (read) replay(*read, read->duration_ns, lags(*read));
  }
}

TEST(ReplayGraph, WhatTakesLongerEndsNothingEarlier) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const ReplayGraph graph = made(seed, 200);
    auto duration = graph.duration_ns;
    const auto before = replay(graph, duration, lags(graph));
    for (std::size_t node = 0; node < graph.size(); node += 7) duration[node] += 5000;
    const auto after = replay(graph, duration, lags(graph));
    for (std::size_t node = 0; node < graph.size(); ++node) EXPECT_GE(after[node], before[node]);
  }
}

TEST(ReplayGraph, SeveralRunsAtOnceAreAReplayEach) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const ReplayGraph graph = made(seed, seed * 9);
    std::mt19937 random(seed);
    OfRuns<3> of_runs(graph.edges.size());
    std::array<std::vector<Nanos>, 3> lag{lags(graph), lags(graph), lags(graph)};
    for (std::size_t edge = 0; edge < of_runs.size(); ++edge)
      for (std::size_t run = 0; run < lag.size(); ++run) {
        if (random() % 3 == 0)
          lag[run][edge] = random() % 4 == 0 ? kNoWait : static_cast<Nanos>(random() % 7000);
        of_runs[edge][run] = lag[run][edge];
      }
    using Times = std::array<Nanos, 3>;
    std::uint32_t asked = 0;
    OfRuns<3> ends;
    replay_runs<3>(
        graph, EndPlaces(graph),
        [&](std::uint32_t node, std::uint32_t edge, const Times& before, Times& times) {
          EXPECT_EQ(edge, asked++);
          EXPECT_GE(edge, graph.first_edge[node]);
          EXPECT_LT(edge, graph.first_edge[node + 1]);
          EXPECT_EQ(before, ends[graph.edges[edge].from]);
          for (std::size_t run = 0; run < 3; ++run)
            times[run] = std::max(times[run], before[run] + of_runs[edge][run]);
        },
        [&](std::uint32_t node, Times& times) {
          EXPECT_EQ(node, ends.size());
          const Nanos duration = graph.duration_ns[node];
          times[0] += duration;
          times[1] += duration + 50;
          times[2] += duration / 2;
          ends.push_back(times);
        });
    for (std::size_t run = 0; run < lag.size(); ++run) {
      auto duration = graph.duration_ns;
      for (auto& one : duration) one = run == 0 ? one : run == 1 ? one + 50 : one / 2;
      const auto alone = replay(graph, duration, lag[run]);
      for (std::size_t node = 0; node < graph.size(); ++node)
        ASSERT_EQ(ends[node][run], alone[node]) << seed << " " << run;
    }
  }
}

TEST(ReplayGraph, EndsAreKeptOnlyWhileANodeWaitsForThem) {
  ReplayGraph graph;
  graph.names = {"a"};
  for (std::uint32_t node = 0; node < 100; ++node) {  // two chains, and what nothing waits for
    graph.start_ns.push_back(node);
    graph.duration_ns.push_back(1);
    if (node % 3 != 2 && node >= 3) graph.edges.push_back({node - 3, WaitsFor::stream, 0});
    if (node % 3 == 1) graph.edges.push_back({node - 1, WaitsFor::launch, 0});
    graph.first_edge.push_back(static_cast<std::uint32_t>(graph.edges.size()));
  }
  const EndPlaces places(graph);
  EXPECT_EQ(places.count, 3U);
  EXPECT_EQ(places.of_node.size(), graph.size());
  EXPECT_EQ(places.of_edge.size(), graph.edges.size());
}

TEST(ReplayGraph, RunningAgainWithChangesIsAReplay) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const ReplayGraph graph = made(seed, seed * 7 + 1);
    std::mt19937 random(seed);
    const ReplayBase base(graph, lags(graph));
    Rerun rerun(base);
    const auto span = [&](const std::vector<Nanos>& duration, const std::vector<Nanos>& lag) {
      const auto ends = replay(graph, duration, lag);
      return *std::ranges::max_element(ends) - *std::ranges::min_element(graph.start_ns);
    };
    EXPECT_EQ(base.span(), span(graph.duration_ns, lags(graph)));
    for (int turn = 0; turn < 10; ++turn) {  // each forgets the one before
      const unsigned most = turn % 3 == 0 ? 200 : 6;
      auto duration = graph.duration_ns, lag = lags(graph);
      Rerun::Values durations, changed;
      for (std::uint32_t i = 0; i < random() % most; ++i) {
        durations.push_back({random() % graph.size(), random() % 90'000});
        duration[durations.back().first] = durations.back().second;
      }
      for (std::uint32_t i = 0; !lag.empty() && i < random() % most; ++i) {
        changed.push_back({random() % lag.size(), random() % 5 == 0 ? kNoWait : 0});
        lag[changed.back().first] = changed.back().second;
      }
      EXPECT_EQ(rerun.span(durations, changed), span(duration, lag)) << seed << " " << turn;
    }
  }
}

TEST(ReplayGraph, ANodeBeginsWithTheLastThatItWaitsFor) {
  ReplayGraph graph;
  graph.names = {"a"};
  graph.start_ns = {10, 12, 100};
  graph.duration_ns = {5, 30, 1};
  graph.name = {0, 0, 0};
  graph.first_edge = {0, 0, 0, 2};
  graph.edges = {{0, WaitsFor::launch, 4}, {1, WaitsFor::stream, 2}};
  EXPECT_EQ(replay(graph, graph.duration_ns, {4, 2}), (std::vector<Nanos>{15, 42, 45}));
  EXPECT_EQ(replay(graph, {5, 1, 1}, {4, 2}), (std::vector<Nanos>{15, 13, 20}));
}

TEST(Base64, ReadsBackWhatItWrites) {
  for (const std::string text : {"", "f", "fo", "foo", "foob", "\xff\xfe\x01"})
    EXPECT_EQ(from_base64(base64(text)), text);
  EXPECT_FALSE(from_base64("abc"));
  EXPECT_FALSE(from_base64("ab*="));
}

}  // namespace
}  // namespace gf
