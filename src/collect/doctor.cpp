#include "collect/doctor.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <thread>

#include "collect/cupti/find.h"
#include "collect/cupti/pm_sampler.h"
#include "collect/nvml/gpm.h"
#include "collect/nvml/nvml.h"

namespace gf {

namespace {

/// Value of a line "KEY: VALUE" of the driver's parameter file, empty when there is none.
std::string driver_parameter(const std::string& key) {
  std::ifstream file("/proc/driver/nvidia/params");
  for (std::string line; std::getline(file, line);)
    if (line.rfind(key + ":", 0) == 0) return line.substr(line.find_first_not_of(' ', key.size() + 1));
  return {};
}

/// Running programs that may hold the counters: name -> pids.
std::map<std::string, std::string> other_profilers() {
  static constexpr std::array known = {"nv-hostengine", "dcgm-exporter", "ncu", "nsys", "nsys-launcher", "gpufathom"};
  std::map<std::string, std::string> out;
  if (DIR* proc = opendir("/proc")) {
    while (const dirent* e = readdir(proc)) {
      const long pid = std::atol(e->d_name);
      if (pid <= 0 || pid == getpid()) continue;
      const std::string name = process_name(pid);
      if (std::find(known.begin(), known.end(), name) != known.end()) out[name] += fmt::format("{}{}", out[name].empty() ? "" : ", ", pid);
    }
    closedir(proc);
  }
  return out;
}

std::string try_pm(const std::shared_ptr<Cupti>& cupti, const GpuInfo& gpu, DoctorCheck& check) {
  PmRefusal why = PmRefusal::none;
  PmOptions options;
  auto sampler = PmSampler::start(cupti, gpu, options, why);
  if (!sampler) {
    check.status = "missing";
    check.detail = sampler.error().what;
    check.advice = sampler.error().advice;
    return {};
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(120));
  const auto drained = (*sampler)->drain([](const PmSample&) {});
  if (!drained || (*sampler)->samples() == 0) {
    check.status = "missing";
    check.detail = drained ? "a session starts, but no sample arrives" : drained.error().what;
    return {};
  }
  const auto& choice = (*sampler)->choice();
  std::string left;
  for (const auto& id : choice.left_out) left += (left.empty() ? "" : ", ") + id;
  check.detail = fmt::format("{} counters in one pass on {}, {} samples in 0.12 s{}", choice.counters.size(), (*sampler)->chip(), (*sampler)->samples(), left.empty() ? "" : "; without " + left);
  return "pm";
}

}  // namespace

DoctorReport examine() {
  DoctorReport report;
  auto add = [&](std::string name, std::string status, std::string detail, std::string advice = {}) -> DoctorCheck& {
    report.checks.push_back({std::move(name), std::move(status), std::move(detail), std::move(advice)});
    return report.checks.back();
  };
  auto verb = [&](const char* name, const char* status, std::string detail) { report.verbs.push_back({name, status, std::move(detail), {}}); };
  verb("analyze", "ok", "reads traces, reports and captures anywhere");
  auto nvml = Nvml::open();
  if (!nvml) {
    add("driver", "missing", nvml.error().what, nvml.error().advice);
    verb("monitor", "missing", "needs the driver");
    verb("record", "missing", "needs the driver");
    return report;
  }
  add("driver", "ok", fmt::format("{}, CUDA {}", nvml->driver_version(), nvml->cuda_version()));
  const std::string only_admin = driver_parameter("RmProfilingAdminOnly");
  if (only_admin.empty()) add("permission", "warning", "the driver's parameters cannot be read (/proc/driver/nvidia/params): a container may hide them");
  else if (only_admin == "0") add("permission", "ok", "every user may read hardware counters");
  else if (geteuid() == 0) add("permission", "ok", "only administrators may read hardware counters, and you are one");
  else
    add("permission", "warning", "only administrators may read hardware counters",
        "write 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into /etc/modprobe.d/nvidia.conf and reload the driver; or run as root, or with CAP_SYS_ADMIN");
  const auto others = other_profilers();
  if (others.empty()) add("other profilers", "ok", "none runs in sight");
  for (const auto& [name, pids] : others)
    add("other profilers", "warning", fmt::format("{} runs (pid {})", name, pids), "it may hold the counters: dcgmi profiling can be paused with dcgmi profile --pause");

  auto cupti = Cupti::open();
  if (cupti) add("cupti", "ok", fmt::format("{} {}", (*cupti)->version(), (*cupti)->path()));
  else add("cupti", "missing", cupti.error().what, cupti.error().advice);
  bool any_pm = false, any_gpm = false;
  for (const auto& gpu : nvml->gpus()) {
    std::string state = fmt::format("{}, compute {}.{}, {:.0f} GiB", gpu.name, gpu.compute_major, gpu.compute_minor, static_cast<double>(gpu.memory_bytes) / (1ull << 30));
    if (gpu.max_sm_clock_mhz > 0) state += fmt::format(", up to {:.0f} MHz", gpu.max_sm_clock_mhz);
    if (gpu.power_limit_watts > 0) state += fmt::format(", limit {:.0f} W", gpu.power_limit_watts);
    add(fmt::format("gpu {}", gpu.index), "ok", state);
    if (gpu.mig)
      add(fmt::format("mig {}", gpu.index), "warning", fmt::format("MIG is on, {} instances", gpu.instances.size()), "levels come for each instance from GPM (monitor); PM sampling needs MIG off");
    auto reading = nvml->read(gpu, {true, true, true, false});
    std::string have, lack;
    auto sensor = [&](const char* name, bool there) { (there ? have : lack) += (there ? have : lack).empty() ? name : std::string(", ") + name; };
    sensor("instant power", reading.power_instant_watts.has_value());
    sensor("average power", reading.power_average_watts.has_value());
    sensor("memory power", reading.power_memory_watts.has_value());
    sensor("energy counter", reading.energy_joules.has_value());
    sensor("clocks", reading.sm_clock_mhz.has_value());
    sensor("PCIe bytes", reading.pcie_tx_bytes.has_value());
    sensor("NVLink bytes", reading.nvlink_tx_bytes.has_value());
    add(fmt::format("sensors {}", gpu.index), reading.lost ? "missing" : "ok", reading.lost ? "the GPU is lost" : have + (lack.empty() ? "" : "; not on this GPU: " + lack));
    any_gpm |= gpu.gpm;
    add(fmt::format("gpm {}", gpu.index), gpu.gpm ? "ok" : "missing", gpu.gpm ? "levels at 10 Hz without permission" : "not supported", gpu.gpm ? "" : "GPM came with Hopper");
    auto& pm = add(fmt::format("pm sampling {}", gpu.index), "ok", "");
    if (cupti) any_pm |= try_pm(*cupti, gpu, pm) == "pm";
    else pm = {pm.name, "missing", "needs CUPTI", ""};
  }
  verb("monitor", any_gpm || any_pm ? "ok" : "warning", any_gpm ? "all levels but issue slots, from GPM" : any_pm ? "levels with --source pm" : "power, memory and clocks only");
  verb("record", any_pm ? "ok" : "warning", any_pm ? "all levels at 1 kHz and more" : any_gpm ? "levels at 10 Hz from GPM, no issue slots" : "power, memory and clocks only");
  verb("record --kernels", cupti ? "ok" : "missing", cupti ? "kernels through CUPTI Activity, which needs no permission" : "needs CUPTI in the program's environment");
  return report;
}

}  // namespace gf
