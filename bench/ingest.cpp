// Times of the two halves of `gpufathom analyze`: reading a trace, and analysing it; and of running
// all of it again: its graph, and one run with a change. Peak memory is that of the whole process.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "analyze/analyze.h"
#include "analyze/replay/what_if.h"
#include "import/importer.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: ingest TRACE [load | all | replay] [THREADS]\n");
    return 2;
  }
  const bool again = argc > 2 && std::string_view(argv[2]) == "replay";
  const bool all = again || argc < 3 || std::string_view(argv[2]) == "all";
  using Clock = std::chrono::steady_clock;
  auto seconds = [](Clock::time_point left, Clock::time_point right) {
    return std::chrono::duration<double>(right - left).count();
  };
  auto usage = [] {
    rusage used;
    ::getrusage(RUSAGE_SELF, &used);
    return used;
  };
  auto peak = [&] { return usage().ru_maxrss * 1024l; };
  auto processor = [&] {
    const rusage used = usage();
    return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
  };
  gf::ImportOptions options;
  if (argc > 3) options.threads = static_cast<unsigned>(std::atoi(argv[3]));
  const auto start = Clock::now();
  auto capture = gf::import_file(argv[1], options);
  if (!capture) {
    std::fprintf(stderr, "%s\n", capture.error().message().c_str());
    return 1;
  }
  const auto loaded = Clock::now();
  const long load_peak = peak();
  const double load_cpu = processor();
  std::printf(
      "{\"bytes\": %lld, \"events\": %lld, \"texts\": %zu, \"load_s\": %.4f, \"load_cpu_s\": "
      "%.4f, \"load_peak_bytes\": %ld",
      static_cast<long long>(capture->bytes), static_cast<long long>(capture->events),
      capture->strings.size(), seconds(start, loaded), load_cpu, load_peak);
  if (all) {
    std::optional<gf::Context> context;
    auto analysis = gf::analyze(*capture, {}, again ? &context : nullptr);
    if (!analysis) {
      std::fprintf(stderr, "%s\n", analysis.error().message().c_str());
      return 1;
    }
    std::printf(", \"analyze_s\": %.4f, \"analyze_cpu_s\": %.4f, \"peak_bytes\": %ld",
                seconds(loaded, Clock::now()), processor() - load_cpu, peak());
    if (context) {
      // Every set of the changes runs: two of one, 64 of six.
      gf::WhatIfChanges one, six;
      one.graph = six.graph = true;
      six.without = {gf::Without::sync, gf::Without::input, gf::Without::copies,
                     gf::Without::allocations, gf::Without::pauses};
      auto timed = [&](const gf::WhatIfChanges& changes) {
        const double begin = processor();
        if (!gf::what_if_switches(*context, changes, gf::kAllTime)) std::exit(1);
        return processor() - begin;
      };
      const double first = timed(one), second = timed(six);
      const double run = (second - first) / 62;
      std::printf(", \"activities\": %zu, \"graph_cpu_s\": %.4f, \"change_cpu_s\": %.5f",
                  capture->activities.size(), first - 2 * run, run);
    }
  }
  std::printf("}\n");
}
