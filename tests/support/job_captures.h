// Captures of a job's ranks with power readings, made so that a reader can work out their energy.
#pragma once

#include <string>

#include "analyze/analyze.h"
#include "analyze/energy/model_file.h"
#include "analyze/ranks/job_energy.h"
#include "analyze/ranks/measure_rank.h"
#include "support/capture_builder.h"

namespace gf::test {

/// Every `every` a product of 1 ms, 1 us less for each rank, marked as a step, then a collective
/// for which rank 0 is late by `delay`; rank r's clock is r seconds ahead.
struct MadeRank {
  std::int64_t rank = 0, ranks = 2;
  int collectives = 12;
  Nanos every = 10'000'000, delay = 2'000'000, transfer = 500'000;
  double watts = 300;  // 0: power was not measured
  bool alone = false;  // other kernels in place of the collectives
  bool marks = true;   // of steps
  Nanos readings = 0;  // how long the readings go on, 0: beyond all
  double sms = -1;  // share of SMs with work, as a counter report says of all kernels; none below 0
  std::string uuid = {};  // of its board
};

inline void sample_power(Capture& capture, Nanos at, std::string_view metric, double value) {
  auto& samples = capture.counter_samples;
  const auto row = samples.add();
  samples.start_ns[row] = at;
  samples.value[row] = value;
  samples.device[row] = capture.device_row(0);
  samples.metric[row] = capture.strings.intern(metric);
}

inline Capture made_rank(const MadeRank& made) {
  CaptureBuilder build;
  const Nanos clock = kNsPerSecond * (made.rank + 1);
  auto& capture = build.capture;
  auto& table = capture.collectives;
  auto intern = [&](std::string_view text) { return capture.strings.intern(text); };
  for (int i = 0; i < made.collectives; ++i) {
    const Nanos begin = clock + (i + 1) * made.every, step = begin - made.every / 2;
    const Nanos late = made.delay + 10'000 * i;
    if (made.marks) build.mark("ProfilerStep#" + std::to_string(i), step, step + made.every);
    build.launch("gemm", {step, step + 1000},
                 {begin - 2'000'000, begin - 1'000'000 - 1000 * made.rank});
    const Nanos start = made.rank == 0 ? begin + late : begin;
    const auto kernel =
        build.launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", {step + 2000, step + 3000},
                     {start, begin + late + made.transfer}, 20);
    if (made.alone) continue;
    const auto about = table.add();
    table.activity[about] = kernel;
    table.name[about] = intern("allreduce");
    table.dtype[about] = intern("Float");
    table.in_elements[about] = 1024;
    table.group_size[about] = static_cast<std::int32_t>(made.ranks);
    table.group_name[about] = intern("0");
    table.group_ranks[about] = intern("[all]");
    table.sequence[about] = i;
  }
  const Nanos end =
      made.readings ? clock + made.readings : clock + (made.collectives + 2) * made.every;
  for (Nanos at = clock - 50'000'000; made.watts > 0 && at <= end; at += 5'000'000) {
    sample_power(capture, at, "energy.module",
                 made.watts * static_cast<double>(at - clock + 50'000'000) * 1e-9);
    sample_power(capture, at, "power.module", made.watts);
  }
  for (const char* name : {"gemm", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"}) {
    if (made.sms < 0) break;
    const auto kernel = capture.report_kernels.add();
    capture.report_kernels.name[kernel] = intern(name);
    capture.report_kernels.duration_ns[kernel] = 1e6;
    for (const auto& [counter, value] :
         {std::pair{"sm__cycles_active.sum", 100 * made.sms}, {"sm__cycles_elapsed.sum", 100.0}}) {
      const auto row = capture.kernel_counters.add();
      capture.kernel_counters.kernel[row] = kernel;
      capture.kernel_counters.metric[row] = intern(counter);
      capture.kernel_counters.value[row] = value;
    }
  }
  if (!made.uuid.empty()) capture.devices.uuid[0] = intern(made.uuid);
  capture.path = "rank" + std::to_string(made.rank) + ".json";
  return std::move(capture);
}

/// The whole way from captures to the energy of their job, as the session goes it.
inline Result<JobEnergy> energy_of(const std::vector<MadeRank>& made,
                                   const EnergyModelFile* model = nullptr, std::int64_t batch = 0) {
  std::vector<Capture> captures;
  for (const MadeRank& rank : made) captures.push_back(made_rank(rank));
  std::vector<RankPart> parts;
  for (const auto& capture : captures) {
    auto measured = measure_ranks(capture, nullptr, {}, "auto");
    if (!measured) return tl::unexpected(measured.error());
    parts.push_back(std::move(measured->front()));
  }
  const auto worked = pair_up(std::move(parts), 1);
  if (!worked) return tl::unexpected(worked.error());
  std::vector<MeasuredRank> ranks(worked->job.parts.size());
  for (const auto& capture : captures)
    for (std::size_t part = 0; part < ranks.size(); ++part) {
      if (worked->job.parts[part].source != capture.path) continue;
      const auto waiting = waiting_in(*worked, capture, {}, "auto");
      if (!waiting) return tl::unexpected(waiting.error());
      AnalyzeOptions options;
      options.span = own_windows(worked->job)[part];
      options.energy_model = model;
      if (*waiting) options.waiting = &**waiting;
      const auto analysis = analyze(capture, options);
      if (!analysis) return tl::unexpected(analysis.error());
      ranks[part].uuid = std::string(capture.text(capture.devices.uuid[0]));
      if (analysis->energy.devices.empty())
        ranks[part].why_missing = analysis->energy.why_missing;
      else
        ranks[part].energy = analysis->energy.devices.front();
    }
  JobFacts facts;
  facts.batch = batch;
  return sum_job_energy(worked->job, std::move(ranks), facts);
}

}  // namespace gf::test
