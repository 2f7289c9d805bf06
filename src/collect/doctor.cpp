#include "collect/doctor.h"

#include <dirent.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nvml.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "collect/cupti/pm_sampler.h"
#include "collect/inject/reader.h"
#include "collect/nvml/nvml.h"
#include "collect/record/child.h"
#include "collect/record/process_tree.h"
#include "collect/watched_call.h"
#include "core/time.h"

namespace gf {

namespace {

/// The result of an examination.
struct ToolFacts {
  bool pm_sampling = false, gpm = false, mig = false;  // on some GPU
  bool kernels = false;                                // record --kernels works
  bool nvidia_smi = false, ncu = false;                // on the PATH
};

DoctorCheck running(const ToolFacts& facts) {
  DoctorCheck out{"is the GPU used", "ok", {}, {}};
  if (facts.gpm)
    out.detail = "gpufathom monitor: GPU busy and SM active";
  else if (facts.pm_sampling)
    out.detail = "gpufathom monitor --source pm: GPU busy and SM active";
  else if (facts.nvidia_smi)
    out = {
        out.name, "warning", "nvidia-smi, or gpufathom monitor: power against its limit",
        "utilization is only the share of time in which some kernel ran: one thread gives 100 %"};
  else
    out = {out.name, "warning", "gpufathom monitor: power against its limit", {}};
  return out;
}

DoctorCheck how_deep(const ToolFacts& facts) {
  if (facts.pm_sampling)
    return {"utilization by level",
            "ok",
            "gpufathom record -- PROGRAM: issue slots, tensor and DRAM active, by the millisecond",
            {}};
  if (facts.gpm && !facts.mig)
    return {"utilization by level", "warning",
            "gpufathom record -- PROGRAM: SM, tensor and DRAM active at 10 Hz; no issue slots",
            "hardware counters provide the rest: see pm sampling above"};
  if (facts.gpm)
    return {"utilization by level",
            "warning",
            "gpufathom record, or monitor: SM, tensor and DRAM active of each MIG instance",
            {}};
  return {"utilization by level", "missing",
          "levels are not available: power is the closest indicator",
          "hardware counters would provide them: see pm sampling above"};
}

DoctorCheck why_idle(const ToolFacts& facts) {
  if (facts.kernels)
    return {"kernels, idle causes",
            "ok",
            "gpufathom record --kernels -- PROGRAM, then analyze: the idle causes, not the share",
            {}};
  return {"kernels, idle causes", "warning",
          "torch.profiler for a few steps, then gpufathom analyze of its trace",
          "its overhead appears as idle time: +13 to +31 % were measured"};
}

DoctorCheck inside_a_kernel(const ToolFacts& facts) {
  if (facts.ncu)
    return {"inside one kernel",
            "ok",
            "ncu for a few launches (each is replayed: 0.4 s), then analyze --counters",
            {}};
  if (facts.pm_sampling && facts.kernels)
    return {"inside one kernel", "warning",
            "gpufathom record --kernels --rate 5000, then analyze: rates solved from samples",
            "ncu is not on the PATH: it counts what samples can only estimate"};
  return {"inside one kernel", "missing", "ncu is not on the PATH", "install Nsight Compute"};
}

DoctorCheck joules(const ToolFacts& facts) {
  if (facts.pm_sampling)
    return {"energy by component",
            "ok",
            "gpufathom record --metrics energy -- PROGRAM, then energy",
            {}};
  return {"energy by component", "warning",
          "gpufathom record -- PROGRAM: joules of the whole GPU, not by component",
          "hardware counters separate components: see pm sampling above"};
}

/// One a question: the name is the question, the detail the command and what to read of it.
std::vector<DoctorCheck> which_tool(const ToolFacts& facts) {
  DoctorCheck line{"source lines",
                   "ok",
                   "torch.profiler for a few steps, then gpufathom analyze of its trace",
                   {}};
  return {running(facts),  how_deep(facts),        why_idle(facts),
          std::move(line), inside_a_kernel(facts), joules(facts)};
}

/// Value of a line "KEY: VALUE" of the driver's parameter file, empty when there is none.
std::string driver_parameter(const std::string& key) {
  std::ifstream file("/proc/driver/nvidia/params");
  for (std::string line; std::getline(file, line);)
    if (line.rfind(key + ":", 0) == 0)
      return line.substr(line.find_first_not_of(' ', key.size() + 1));
  return {};
}

/// Running programs that may hold the counters: name -> pids.
std::map<std::string, std::string> other_profilers() {
  static constexpr std::array known = {"nv-hostengine", "dcgm-exporter", "ncu",
                                       "nsys",          "nsys-launcher", "gpufathom"};
  std::map<std::string, std::string> out;
  if (DIR* proc = opendir("/proc")) {
    while (const dirent* entry = readdir(proc)) {
      const long pid = std::atol(entry->d_name);
      if (pid <= 0 || pid == getpid()) continue;
      const std::string name = process_name(pid);
      if (std::find(known.begin(), known.end(), name) != known.end())
        out[name] += fmt::format("{}{}", !out[name].empty() ? ", " : "", pid);
    }
    closedir(proc);
  }
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

/// Tries a short session of PM sampling: nothing else tells whether it works.
bool try_pm(const std::shared_ptr<Cupti>& cupti, const GpuInfo& gpu, DoctorCheck& check) {
  PmRefusal why = PmRefusal::none;
  PmOptions options;
  check.status = "missing";
  auto sampler = PmSampler::start(cupti, gpu, options, why);
  if (!sampler) {
    check.detail = sampler.error().what;
    check.advice = sampler.error().advice;
    return false;
  }
  const Nanos start = host_now();
  while ((*sampler)->samples() == 0 && host_now() - start < kNsPerSecond) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (const auto drained = (*sampler)->drain([](const PmSample&) {}); !drained) {
      check.detail = drained.error().what;
      return false;
    }
  }
  if ((*sampler)->samples() == 0) {
    check.detail = "a session starts, but no sample arrives within a second";
    check.advice = "is the GPU in exclusive use by another program, or suspended?";
    return false;
  }
  const auto& choice = (*sampler)->choice();
  check.status = "ok";
  check.detail =
      fmt::format("{} counters in one pass on {}", choice.counters.size(), (*sampler)->chip());
  if (!choice.left_out.empty()) check.detail += "; without " + joined(choice.left_out);
  return true;
}

std::string clocks_text(const GpuInfo& gpu, const GpuReading& reading) {
  auto of = [](const std::optional<double>& now, double most) {
    if (now) return fmt::format("{:.0f} of {:.0f} MHz", *now, most);
    return std::string("unknown");
  };
  std::string out = fmt::format("SM {}, memory {}", of(reading.sm_clock_mhz, gpu.max_sm_clock_mhz),
                                of(reading.memory_clock_mhz, gpu.max_memory_clock_mhz));
  if (const auto held = throttle_words(reading.throttle_reasons.value_or(0)); !held.empty())
    out += "; throttled by " + joined(held);
  return out;
}

std::string sensors_text(const GpuReading& reading) {
  std::vector<std::string> have, lack;
  auto sensor = [&](const char* name, bool there) {
    if (there)
      have.emplace_back(name);
    else
      lack.emplace_back(name);
  };
  sensor("instant power", reading.power_instant_watts.has_value());
  sensor("average power", reading.power_average_watts.has_value());
  sensor("memory power", reading.power_memory_watts.has_value());
  sensor("energy counter", reading.energy_joules.has_value());
  sensor("clocks", reading.sm_clock_mhz.has_value());
  sensor("PCIe bytes", reading.pcie_tx_bytes.has_value());
  sensor("NVLink bytes", reading.nvlink_tx_bytes.has_value());
  if (lack.empty()) return joined(have);
  return fmt::format("{}{}not on this GPU: {}", joined(have), have.empty() ? "" : "; ",
                     joined(lack));
}

/// The state of an examination, and its questions to the driver.
struct Examination {
  std::mutex mutex;
  DoctorReport report;
  std::string asked;
  std::uint64_t questions = 0;

  void ask(std::string what, const DoctorReport& so_far) {
    const std::lock_guard lock(mutex);
    report = so_far;
    asked = std::move(what);
    ++questions;
  }
  std::uint64_t count() {
    const std::lock_guard lock(mutex);
    return questions;
  }
};

const char* ok_or(bool fine, const char* otherwise) { return fine ? "ok" : otherwise; }

/// The abilities that this machine's GPUs give the verbs.
struct Abilities {
  bool pm = false;
  bool gpm = false;
  bool gpm_whole_gpu = false;  // not of MIG instances alone
  bool alive = false;          // a GPU answers
  bool mig = false;            // instances are what programs run on
};

const char* monitor_words(const Abilities& can) {
  if (can.gpm && can.pm) return "all levels but issue slots from GPM, all with --source pm";
  if (can.gpm) return "all levels but issue slots, from GPM";
  return can.pm ? "levels with --source pm" : "power, memory and clocks only";
}

const char* record_words(const Abilities& can) {
  if (can.pm) return "all levels at 1 kHz and more";
  if (can.gpm_whole_gpu) return "levels at 10 Hz from GPM, no issue slots";
  return "power, memory and clocks only";
}

const char* calibrate_words(bool cupti) {
  if (!cupti) return "needs the CUDA driver";
  if (geteuid() == 0) return "can lock the clocks too";
  return "at the clocks that the GPU chooses; only root may lock them";
}

std::string overhead_words() {
  std::vector<std::string> tools;
  int code = 0;
  for (const char* tool : {"nvidia-smi", "dcgmi", "nsys", "ncu"})
    if (find_command(tool, code)) tools.emplace_back(tool);
  if (tools.empty())
    return "compares gpufathom's own recorders; nvidia-smi, dcgmi, nsys and ncu are not on the "
           "PATH";
  return "compares gpufathom's own recorders, and " + joined(tools);
}

const char* profiler_advice(const std::string& name) {
  if (name.starts_with("nv-") || name.starts_with("dcgm"))
    return "before Hopper it may hold the counters: dcgmi profile --pause frees them";
  return "it may be using the counters: if PM sampling is refused below, stop it or wait";
}

std::string gpu_words(const GpuInfo& gpu) {
  std::string words =
      fmt::format("{}, compute {}.{}", gpu.name, gpu.compute_major, gpu.compute_minor);
  if (gpu.memory_bytes > 0)
    words += fmt::format(", {:.0f} GiB", static_cast<double>(gpu.memory_bytes) / (1ull << 30));
  if (gpu.power_limit_watts > 0) words += fmt::format(", limit {:.0f} W", gpu.power_limit_watts);
  return words;
}

/// Examines the machine in the order of the report; says before each question what it asks.
class Examiner {
 public:
  explicit Examiner(Examination& examination) : examination_(examination) {}

  DoctorReport examine() {
    verb("analyze", "ok",
         "reads traces, reports, logs and captures anywhere, as compare, energy, export and query "
         "do");
    ask("its GPUs");
    auto nvml = Nvml::open();
    if (!nvml) {
      add("driver", "missing", nvml.error().what, nvml.error().advice);
      no_gpu("needs the driver");
      return std::move(report_);
    }
    ask("CUDA and CUPTI");
    const auto cupti = Cupti::open();
    driver(*nvml, cupti);
    permission();
    profilers();
    if (cupti)
      add("cupti", "ok", fmt::format("{} {}", (*cupti)->version(), (*cupti)->path()));
    else
      add("cupti", "missing", cupti.error().what, cupti.error().advice);
    if (nvml->gpus().empty()) {
      add("gpu", "missing", "the driver reports no GPU",
          "check nvidia-smi, and that the container has access to a GPU");
      no_gpu("needs a GPU");
      return std::move(report_);
    }
    Abilities can;
    for (const auto& info : nvml->gpus()) gpu(*nvml, cupti, info, can);
    if (can.alive)
      verbs(cupti.has_value(), can);
    else
      no_gpu("needs a GPU that answers");
    return std::move(report_);
  }

 private:
  using OpenedCupti = Result<std::shared_ptr<Cupti>>;

  void ask(std::string what) { examination_.ask(std::move(what), report_); }
  DoctorCheck& add(std::string name, std::string status, std::string detail,
                   std::string advice = {}) {
    report_.checks.push_back(
        {std::move(name), std::move(status), std::move(detail), std::move(advice)});
    return report_.checks.back();
  }
  void verb(const char* name, const char* status, std::string detail) {
    report_.verbs.push_back({name, status, std::move(detail), {}});
  }
  void no_gpu(const char* why) {
    for (const char* name : {"monitor", "record", "record --kernels", "calibrate"})
      verb(name, "missing", why);
  }

  void driver(const Nvml& nvml, const OpenedCupti& cupti) {
    const bool old =
        cupti && (*cupti)->driver_cuda_version() > 0 && (*cupti)->driver_cuda_version() < 12060;
    auto& check = add("driver", ok_or(!old, "warning"),
                      fmt::format("{}, CUDA {}", nvml.driver_version(), nvml.cuda_version()));
    if (old) check.advice = advice_for(PmRefusal::driver);
  }

  void permission() {
    const std::string only_admin = driver_parameter("RmProfilingAdminOnly");
    if (only_admin.empty())
      add("permission", "warning",
          "the driver's parameters cannot be read (/proc/driver/nvidia/params): a container may "
          "hide them",
          "see below whether PM sampling works");
    else if (only_admin == "0")
      add("permission", "ok", "every user may read hardware counters");
    else if (geteuid() == 0)
      add("permission", "ok", "only administrators may read hardware counters, and you are one");
    else
      add("permission", "warning", "only administrators may read hardware counters",
          "write 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into "
          "/etc/modprobe.d/nvidia.conf and reload the driver; or run as root, or with "
          "CAP_SYS_ADMIN");
  }

  void profilers() {
    const auto others = other_profilers();
    if (others.empty()) add("other profilers", "ok", "none is visible");
    for (const auto& [name, pids] : others)
      add("other profilers", "warning", fmt::format("{} runs (pid {})", name, pids),
          profiler_advice(name));
  }

  void gpu(Nvml& nvml, const OpenedCupti& cupti, const GpuInfo& info, Abilities& can) {
    auto named = [&](const char* what) { return fmt::format("{} {}", what, info.index); };
    ask(fmt::format("the sensors of GPU {}", info.index));
    const auto reading = nvml.read(info, {true, true, true, false});
    if (reading.lost) {
      add(named("gpu"), "missing", fmt::format("{} is lost: it fell off the bus", info.name),
          "see dmesg for the Xid error; reset it with nvidia-smi --gpu-reset, or reboot");
      return;
    }
    can.alive = true;
    add(named("gpu"), "ok", gpu_words(info));
    if (info.mig)
      add(named("mig"), "warning",
          fmt::format("MIG is on, {} instance{}", info.instances.size(),
                      info.instances.size() != 1 ? "s" : ""),
          "levels come for each instance from GPM (monitor, record); PM sampling needs MIG off");
    constexpr std::uint64_t faults =
        nvmlClocksThrottleReasonHwSlowdown | nvmlClocksEventReasonSwThermalSlowdown |
        nvmlClocksThrottleReasonHwThermalSlowdown | nvmlClocksThrottleReasonHwPowerBrakeSlowdown;
    const bool hot = reading.throttle_reasons.value_or(0) & faults;
    add(named("clocks"), ok_or(!hot, "warning"), clocks_text(info, reading),
        hot ? "temperature or power throttles this GPU: timings are not comparable" : "");
    add(named("sensors"), "ok", sensors_text(reading));
    if (info.gpm)
      add(named("gpm"), "ok", "levels at 10 Hz without permission");
    else
      add(named("gpm"), "missing", "not supported", "GPM came with Hopper");
    can.gpm |= info.gpm;
    can.mig |= info.mig;
    can.gpm_whole_gpu |= info.gpm && !info.mig;
    ask(fmt::format("hardware counters of GPU {}", info.index));
    auto& pm = add(named("pm sampling"), "missing", "needs CUPTI");
    if (cupti) can.pm |= try_pm(*cupti, info, pm);
  }

  void verbs(bool cupti, const Abilities& can) {
    verb("monitor", ok_or(can.gpm || can.pm, "warning"), monitor_words(can));
    verb("record", ok_or(can.pm, "warning"), record_words(can));
    record_kernels(cupti);
    verb("overhead", "ok", overhead_words());
    verb("calibrate", ok_or(cupti, "missing"), calibrate_words(cupti));
    int code = 0;
    const bool kernels =
        std::any_of(report_.verbs.begin(), report_.verbs.end(), [](const DoctorCheck& one) {
          return one.name == "record --kernels" && one.status == "ok";
        });
    report_.tools =
        which_tool({can.pm, can.gpm, can.mig, kernels, find_command("nvidia-smi", code).has_value(),
                    find_command("ncu", code).has_value()});
  }

  void record_kernels(bool cupti) {
    std::error_code ignored;
    const char* other = std::getenv("CUDA_INJECTION64_PATH");
    if (!cupti)
      verb("record --kernels", "missing", "needs CUPTI: see above");
    else if (!std::filesystem::exists(agent_path(), ignored))
      verb("record --kernels", "missing",
           fmt::format("its library {} is missing: reinstall gpufathom", agent_path()));
    else if (other && *other)
      verb("record --kernels", "warning",
           fmt::format(
               "is disabled while CUDA_INJECTION64_PATH names another profiler's library, {}",
               other));
    else
      verb("record --kernels", "ok", "kernels through CUPTI Activity, which needs no permission");
  }

  Examination& examination_;
  DoctorReport report_;
};

}  // namespace

DoctorReport examine() {
  constexpr Nanos kPatience = 20 * kNsPerSecond;  // with one question; counters take a few seconds
  const auto examination = std::make_shared<Examination>();
  const auto report = std::make_shared<DoctorReport>();
  WatchedThread thread;
  thread.start([examination, report] { *report = Examiner(*examination).examine(); });
  for (std::uint64_t asked = 0;;) {
    if (thread.wait(kPatience) == CallEnd::returned) return std::move(*report);
    const auto now = examination->count();
    if (now == asked) break;
    asked = now;
  }
  const std::lock_guard lock(examination->mutex);
  DoctorReport partly = examination->report;
  const Error hang = no_answer(kPatience, examination->asked);
  partly.checks.push_back({"driver", "missing", hang.what, hang.advice});
  for (const char* name : {"monitor", "record", "record --kernels", "calibrate"})
    partly.verbs.push_back({name, "missing", "needs a driver that answers", {}});
  return partly;
}

}  // namespace gf
