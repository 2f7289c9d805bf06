// Times of the two halves of `gpufathom analyze`: reading a trace, and analysing it. Peak memory is
// that of the whole process.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "analyze/analyze.h"
#include "import/importer.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: ingest TRACE [load | all] [THREADS]\n");
    return 2;
  }
  const bool all = argc < 3 || std::string_view(argv[2]) == "all";
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
    auto analysis = gf::analyze(*capture, {});
    if (!analysis) {
      std::fprintf(stderr, "%s\n", analysis.error().message().c_str());
      return 1;
    }
    std::printf(", \"analyze_s\": %.4f, \"analyze_cpu_s\": %.4f, \"peak_bytes\": %ld",
                seconds(loaded, Clock::now()), processor() - load_cpu, peak());
  }
  std::printf("}\n");
}
