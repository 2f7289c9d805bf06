// Ranks of a made-up job, for tests: what is true is known to the nanosecond.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "analyze/ranks/names.h"

namespace gf::testing {

struct MadeJob {
  std::int64_t ranks = 4;
  std::size_t collectives = 60;
  std::vector<Nanos> offset;  // of each rank's clock
  std::vector<double> drift;  // parts of one
  Nanos scatter = 1000;       // of the ends
  Nanos span = 10'000'000;    // between collectives, before delays
  std::uint32_t seed = 15;
  bool numbered = false;
  bool periodic = false;  // every collective as far from the next, nobody late

  /// By collective: who was late and by how much.
  std::vector<std::int64_t> late;
  std::vector<Nanos> delay;
  std::vector<RankPart> parts;
  std::vector<std::vector<Nanos>> wait;  // by rank and collective

  void make() {
    std::mt19937 random(seed);
    offset.resize(static_cast<std::size_t>(ranks), 0);
    drift.resize(static_cast<std::size_t>(ranks), 0);
    wait.assign(static_cast<std::size_t>(ranks), {});
    for (std::int64_t rank = 0; rank < ranks; ++rank) parts.push_back(empty_part(rank));
    Nanos now = kBegin;
    for (std::size_t i = 0; i < collectives; ++i) {
      late.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(ranks)));
      delay.push_back(periodic ? 0 : 100'000 + static_cast<Nanos>(random() % 3'000'000));
      now += span + (periodic ? 0 : static_cast<Nanos>(random() % 2'000'000));
      const Nanos transfer = 50'000 + (periodic ? 0 : static_cast<Nanos>(random() % 200'000));
      const Nanos end = now + delay.back() + transfer;
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const Nanos own = rank == late.back() ? delay.back() : 0;
        const Nanos start = now + own;
        const auto jitter = static_cast<Nanos>(random() % 2001) - 1000;
        add(rank, start, end - start + jitter * scatter / 1000, i, own);
        wait[static_cast<std::size_t>(rank)].push_back(delay.back() - own);
      }
      now = end;
    }
    for (auto& part : parts) finish(part);
  }

 private:
  static constexpr Nanos kBegin = 1'790'857'026'000'000'000;

  Nanos clock(std::int64_t rank, Nanos at) const {
    const auto i = static_cast<std::size_t>(rank);
    return at + offset[i] + static_cast<Nanos>(drift[i] * static_cast<double>(at - kBegin));
  }
  RankPart empty_part(std::int64_t rank) const {
    RankPart part;
    part.rank = rank;
    part.world_size = ranks;
    part.rank_source = RankSource::trace;
    part.source = "rank" + std::to_string(rank) + ".json";
    part.device = "NVIDIA H200";
    part.start_ns = clock(rank, kBegin);
    part.groups.push_back({"0", "[all]", ranks});
    part.texts = {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "aten::mm", "planted", ""};
    return part;
  }
  void add(std::int64_t rank, Nanos start, Nanos duration, std::size_t number, Nanos own) {
    RankPart& part = parts[static_cast<std::size_t>(rank)];
    auto& table = part.collectives;
    const Nanos from =
        table.start_ns.empty() ? part.start_ns : table.start_ns.back() + table.duration_ns.back();
    table.start_ns.push_back(clock(rank, start));
    table.duration_ns.push_back(duration);
    table.exposed_ns.push_back(duration);
    table.ahead_ns.push_back(-1);
    table.type.push_back(static_cast<std::int64_t>(CollectiveType::all_reduce));
    table.group.push_back(0);
    table.sequence.push_back(numbered ? static_cast<std::int64_t>(number) : -1);
    table.bytes.push_back(4096);
    table.kernel.push_back(0);
    table.from_rank.push_back(-1);
    table.to_rank.push_back(-1);
    table.step.push_back(-1);
    const auto row = static_cast<std::int64_t>(table.start_ns.size()) - 1;
    if (row > 0) before(part, row, RankTime::collectives, table.duration_ns[number - 1]);
    before(part, row, RankTime::idle_input, own);
    before(part, row, RankTime::kernels, table.start_ns.back() - from - own);
    if (own > 0) owner(part, row, own);
  }
  static void before(RankPart& part, std::int64_t row, RankTime what, Nanos ns) {
    if (ns == 0) return;
    part.before.collective.push_back(row);
    part.before.part.push_back(static_cast<std::int64_t>(what));
    part.before.ns.push_back(ns);
  }
  static void owner(RankPart& part, std::int64_t row, Nanos ns) {
    part.owners.collective.push_back(row);
    part.owners.part.push_back(static_cast<std::int64_t>(RankTime::idle_input));
    part.owners.op.push_back(2);
    part.owners.module.push_back(3);
    part.owners.ns.push_back(ns);
  }
  static void finish(RankPart& part) {
    const auto& table = part.collectives;
    part.span_ns = table.start_ns.back() + table.duration_ns.back() - part.start_ns;
    Nanos busy = 0;
    for (const Nanos duration : table.duration_ns) busy += duration;
    part.busy_ns = part.communication_ns = part.exposed_ns = busy;
    part.time = {{RankTime::kernels, part.span_ns - busy}, {RankTime::collectives, busy}};
    part.busy_ns = part.span_ns;
    part.compute_ns = part.span_ns - busy;
  }
};

}  // namespace gf::testing
