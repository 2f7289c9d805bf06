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
#include <thread>

#include "collect/cupti/pm_sampler.h"
#include "collect/inject/reader.h"
#include "collect/nvml/open.h"
#include "collect/record/child.h"
#include "collect/watched_call.h"
#include "core/when.h"

namespace gf {

namespace {

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
        out[name] += fmt::format("{}{}", when(!out[name].empty(), ", "), pid);
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
    check.detail = "a session starts, but no sample arrives in a second";
    check.advice = "is the GPU in another program's exclusive hands, or asleep?";
    return false;
  }
  const auto& choice = (*sampler)->choice();
  check.status = "ok";
  check.detail =
      fmt::format("{} counters in one pass on {}{}", choice.counters.size(), (*sampler)->chip(),
                  choice.left_out.empty() ? "" : "; without " + joined(choice.left_out));
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
    out += "; held down by " + joined(held);
  return out;
}

std::string sensors_text(const GpuReading& reading) {
  std::vector<std::string> have, lack;
  auto sensor = [&](const char* name, bool there) { (there ? have : lack).emplace_back(name); };
  sensor("instant power", reading.power_instant_watts.has_value());
  sensor("average power", reading.power_average_watts.has_value());
  sensor("memory power", reading.power_memory_watts.has_value());
  sensor("energy counter", reading.energy_joules.has_value());
  sensor("clocks", reading.sm_clock_mhz.has_value());
  sensor("PCIe bytes", reading.pcie_tx_bytes.has_value());
  sensor("NVLink bytes", reading.nvlink_tx_bytes.has_value());
  if (lack.empty()) return joined(have);
  return fmt::format("{}{}not on this GPU: {}", joined(have), when(!have.empty(), "; "),
                     joined(lack));
}

/// What an examination has found so far, and what it asks the driver now.
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

DoctorReport examine_machine(Examination& examination) {
  DoctorReport report;
  auto ask = [&](std::string what) { examination.ask(std::move(what), report); };
  auto add = [&](std::string name, std::string status, std::string detail,
                 std::string advice = {}) -> DoctorCheck& {
    report.checks.push_back(
        {std::move(name), std::move(status), std::move(detail), std::move(advice)});
    return report.checks.back();
  };
  auto verb = [&](const char* name, const char* status, std::string detail) {
    report.verbs.push_back({name, status, std::move(detail), {}});
  };
  auto no_gpu = [&](const char* why) {
    for (const char* name : {"monitor", "record", "record --kernels", "calibrate"})
      verb(name, "missing", why);
  };
  verb(
      "analyze", "ok",
      "reads traces, reports, logs and captures anywhere, as compare, energy, export and query do");
  ask("its GPUs");
  auto nvml = Nvml::open();
  if (!nvml) {
    add("driver", "missing", nvml.error().what, nvml.error().advice);
    no_gpu("needs the driver");
    return report;
  }
  ask("CUDA and CUPTI");
  auto cupti = Cupti::open();
  const bool old =
      cupti && (*cupti)->driver_cuda_version() > 0 && (*cupti)->driver_cuda_version() < 12060;
  add("driver", old ? "warning" : "ok",
      fmt::format("{}, CUDA {}", nvml->driver_version(), nvml->cuda_version()),
      old ? advice_for(PmRefusal::driver) : "");
  const std::string only_admin = driver_parameter("RmProfilingAdminOnly");
  if (only_admin.empty())
    add("permission", "warning",
        "the driver's parameters cannot be read (/proc/driver/nvidia/params): a container may hide "
        "them",
        "see below whether PM sampling works");
  else if (only_admin == "0")
    add("permission", "ok", "every user may read hardware counters");
  else if (geteuid() == 0)
    add("permission", "ok", "only administrators may read hardware counters, and you are one");
  else
    add("permission", "warning", "only administrators may read hardware counters",
        "write 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into "
        "/etc/modprobe.d/nvidia.conf and reload the driver; or run as root, or with CAP_SYS_ADMIN");
  const auto others = other_profilers();
  if (others.empty()) add("other profilers", "ok", "none runs in sight");
  for (const auto& [name, pids] : others)
    add("other profilers", "warning", fmt::format("{} runs (pid {})", name, pids),
        name.starts_with("nv-") || name.starts_with("dcgm")
            ? "before Hopper it may hold the counters: dcgmi profile --pause frees them"
            : "it may hold the counters: if PM sampling is refused below, end it or wait");

  if (cupti)
    add("cupti", "ok", fmt::format("{} {}", (*cupti)->version(), (*cupti)->path()));
  else
    add("cupti", "missing", cupti.error().what, cupti.error().advice);
  if (nvml->gpus().empty()) {
    add("gpu", "missing", "the driver shows no GPU",
        "see what nvidia-smi says, and that the container was given a GPU");
    no_gpu("needs a GPU");
    return report;
  }
  bool any_pm = false, any_gpm = false, record_gpm = false, alive = false;
  for (const auto& gpu : nvml->gpus()) {
    auto named = [&](const char* what) { return fmt::format("{} {}", what, gpu.index); };
    ask(fmt::format("the sensors of GPU {}", gpu.index));
    const auto reading = nvml->read(gpu, {true, true, true, false});
    if (reading.lost) {
      add(named("gpu"), "missing", fmt::format("{} is lost: it fell off the bus", gpu.name),
          "see dmesg for the Xid error; reset it with nvidia-smi --gpu-reset, or reboot");
      continue;
    }
    alive = true;
    std::string state =
        fmt::format("{}, compute {}.{}", gpu.name, gpu.compute_major, gpu.compute_minor);
    if (gpu.memory_bytes > 0)
      state += fmt::format(", {:.0f} GiB", static_cast<double>(gpu.memory_bytes) / (1ull << 30));
    if (gpu.power_limit_watts > 0) state += fmt::format(", limit {:.0f} W", gpu.power_limit_watts);
    add(named("gpu"), "ok", state);
    if (gpu.mig)
      add(named("mig"), "warning",
          fmt::format("MIG is on, {} instance{}", gpu.instances.size(),
                      when(gpu.instances.size() != 1, "s")),
          "levels come for each instance from GPM (monitor); PM sampling needs MIG off");
    constexpr std::uint64_t faults =
        nvmlClocksThrottleReasonHwSlowdown | nvmlClocksEventReasonSwThermalSlowdown |
        nvmlClocksThrottleReasonHwThermalSlowdown | nvmlClocksThrottleReasonHwPowerBrakeSlowdown;
    const bool hot = reading.throttle_reasons.value_or(0) & faults;
    add(named("clocks"), hot ? "warning" : "ok", clocks_text(gpu, reading),
        when(hot, "heat or the power supply slows this GPU: times will not compare"));
    add(named("sensors"), "ok", sensors_text(reading));
    add(named("gpm"), gpu.gpm ? "ok" : "missing",
        gpu.gpm ? "levels at 10 Hz without permission" : "not supported",
        when(!gpu.gpm, "GPM came with Hopper"));
    any_gpm |= gpu.gpm;
    record_gpm |= gpu.gpm && !gpu.mig;
    ask(fmt::format("hardware counters of GPU {}", gpu.index));
    auto& pm = add(named("pm sampling"), "missing", "needs CUPTI");
    if (cupti) any_pm |= try_pm(*cupti, gpu, pm);
  }
  if (!alive) {
    no_gpu("needs a GPU that answers");
    return report;
  }
  verb("monitor", any_gpm || any_pm ? "ok" : "warning",
       any_gpm  ? any_pm ? "all levels but issue slots from GPM, all with --source pm"
                         : "all levels but issue slots, from GPM"
       : any_pm ? "levels with --source pm"
                : "power, memory and clocks only");
  verb("record", any_pm ? "ok" : "warning",
       any_pm       ? "all levels at 1 kHz and more"
       : record_gpm ? "levels at 10 Hz from GPM, no issue slots"
                    : "power, memory and clocks only");
  std::error_code ignored;
  const char* other = std::getenv("CUDA_INJECTION64_PATH");
  if (!cupti)
    verb("record --kernels", "missing", "needs CUPTI: see above");
  else if (!std::filesystem::exists(agent_path(), ignored))
    verb("record --kernels", "missing",
         fmt::format("its library {} is missing: install gpufathom whole", agent_path()));
  else if (other && *other)
    verb(
        "record --kernels", "warning",
        fmt::format("stands aside while CUDA_INJECTION64_PATH names another profiler's library, {}",
                    other));
  else
    verb("record --kernels", "ok", "kernels through CUPTI Activity, which needs no permission");
  std::vector<std::string> tools;
  int code = 0;
  for (const char* tool : {"nvidia-smi", "dcgmi", "nsys", "ncu"})
    if (find_command(tool, code)) tools.emplace_back(tool);
  verb("overhead", "ok",
       tools.empty() ? "compares gpufathom's own ways to watch; nvidia-smi, dcgmi, nsys and ncu "
                       "are not on the PATH"
                     : "compares gpufathom's own ways to watch, and " + joined(tools));
  verb("calibrate", cupti ? "ok" : "missing",
       cupti ? geteuid() == 0 ? "can hold the clocks too"
                              : "at the clocks that the GPU chooses; only root may hold them"
             : "needs the CUDA driver");
  return report;
}

}  // namespace

DoctorReport examine() {
  constexpr Nanos kPatience = 20 * kNsPerSecond;  // with one question; counters take a few seconds
  const auto examination = std::make_shared<Examination>();
  const auto report = std::make_shared<DoctorReport>();
  WatchedThread thread;
  thread.start([examination, report] { *report = examine_machine(*examination); });
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
