// Measures what the GPU of this machine can do at most, for the roofline.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <ctime>
#include <memory>

#include "analyze/work/ceilings.h"
#include "cli/live/verbs.h"
#include "cli/output.h"
#include "collect/microbench/run.h"
#include "model/metrics.h"
#include "report/json.h"

namespace gf::cli {

namespace {

struct CeilingsArguments {
  std::string device = "0", format = "text", output;
};

/// A microbenchmark that is to reach a ceiling: what one of its feature's counts stands for.
struct Reach {
  const char* ceiling;
  const char* bench;
  double unit;  // FLOP or bytes of a count
};

constexpr double kSector = 32;  // bytes of an access

// The best of several kernels that can reach a ceiling counts.
constexpr std::array kReaches{
    Reach{"tensor.bf16", "wgmma_bf16", 1},
    Reach{"tensor.bf16", "mma_bf16", 1},
    Reach{"tensor.fp16", "wgmma_fp16", 1},
    Reach{"tensor.fp16", "mma_fp16", 1},
    Reach{"tensor.tf32", "wgmma_tf32", 1},
    Reach{"tensor.tf32", "mma_tf32", 1},
    Reach{"tensor.fp8", "wgmma_fp8", 1},
    Reach{"fma.fp32", "fma_fp32", 2},
    Reach{"fma.fp16", "fma_fp16", 4},
    Reach{"fma.fp64", "fma_fp64", 2},
    Reach{"shared", "shared_load_wide", kSector},
    Reach{"l1", "l1_load_wide", kSector},
    Reach{"l2", "l2_load_wide", kSector},
    Reach{"dram", "dram_load_wide", kSector},
    Reach{"dram.write"_metric, "dram_store_wide", kSector},
};

const char* unit_of(const std::string& ceiling) {
  return ceiling.starts_with("tensor.") || ceiling.starts_with("fma.") ? "FLOP/s" : "B/s";
}

void keep_best(CeilingsFile& file, const Reach& reach, double value) {
  for (auto& known : file.ceilings)
    if (known.id == reach.ceiling) {
      if (value > known.value) {
        known.value = value;
        known.bench = reach.bench;
      }
      return;
    }
  file.ceilings.push_back({reach.ceiling, unit_of(reach.ceiling), value, reach.bench});
}

Status measure_reach(microbench::Runner& runner, const Reach& reach, CeilingsFile& file) {
  const auto* bench = runner.find(reach.bench);
  if (!bench) return {};  // the chip has no such instruction
  const auto count = bench->per_warp_loop.find(bench->feature);
  if (count == bench->per_warp_loop.end())
    return fail(fmt::format("{} does not say how often it does {}", bench->id, bench->feature));
  // Short launches: long ones of the tensor cores run into the power limit, which is no ceiling of
  // the units.
  constexpr double kSeconds = 0.01;
  constexpr int kLaunches = 25;
  const auto rate = runner.best_rate(*bench, kSeconds, kLaunches);
  if (!rate) return tl::unexpected(rate.error());
  const auto plan = runner.full(*bench);
  const double warps = plan.blocks * std::ceil(plan.threads / 32.0);
  keep_best(file, reach, *rate * warps * count->second * reach.unit);
  return {};
}

Result<CeilingsFile> measure(const std::string& device) {
  auto runner = microbench::Runner::open(device);
  if (!runner) return tl::unexpected(runner.error());
  if (auto status = runner->wake(); !status) return tl::unexpected(status.error());
  CeilingsFile file;
  file.gpu = runner->gpu_name();
  file.driver = runner->driver_version();
  file.date = fmt::format("{:%F}", fmt::gmtime(std::time(nullptr)));
  for (const auto& reach : kReaches)
    if (const auto status = measure_reach(*runner, reach, file); !status)
      fmt::print(stderr, "left out: {}: {}\n", reach.bench, status.error().what);
  constexpr std::size_t kCopy = std::size_t{256} << 20;
  if (const auto link = runner->measure_link(kCopy, 5); link) {
    file.ceilings.push_back({"link.host_to_device", "B/s", link->to_device, "copy of 256 MiB"});
    file.ceilings.push_back({"link.device_to_host", "B/s", link->to_host, "copy of 256 MiB"});
  } else {
    fmt::print(stderr, "left out: link: {}\n", link.error().what);
  }
  if (file.ceilings.empty()) return fail("no ceiling could be measured");
  return file;
}

std::string ceilings_text(const CeilingsFile& file) {
  std::string text = fmt::format("{}, driver {}\n\n", file.gpu, file.driver);
  for (const auto& one : file.ceilings) {
    const char* unit = "GB/s   ";
    double scale = 1e-9;
    if (one.unit == "FLOP/s") {
      unit = "TFLOP/s";
      scale = 1e-12;
    }
    text += fmt::format("  {:22} {:10.1f} {}  by {}\n", one.id, one.value * scale, unit, one.bench);
  }
  return text;
}

int ceilings(const CeilingsArguments& options) {
  const auto file = measure(options.device);
  if (!file) return complain(file.error());
  std::string answer = json_line(*file);
  if (!options.output.empty())
    if (const auto written = write_answer({"json", options.output}, answer); !written)
      return complain(written.error());
  if (options.format != "json") answer = ceilings_text(*file);
  if (const auto written = write_answer({}, answer); !written) return complain(written.error());
  return kWhole;
}

}  // namespace

Verb ceilings_verb() {
  Verb verb{"ceilings", "measure this GPU's peak compute and memory throughput"};
  const auto options = std::make_shared<CeilingsArguments>();
  verb.option(
      "--device", options->device, "GPU",
      "GPU number as in nvidia-smi (regardless of CUDA_VISIBLE_DEVICES) or UUID; default: 0");
  verb.option("--format", options->format, "F", "text (default) or json").of({"text", "json"});
  verb.option("-o,--output", options->output, "FILE", "ceilings to write (JSON), for --ceilings")
      .output();
  verb.wrong = [options] { return wrong_ending(options->output, {".json"}); };
  verb.run = [options] { return ceilings(*options); };
  return verb;
}

}  // namespace gf::cli
