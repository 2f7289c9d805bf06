// Cost of PM sampling for this process, setting by setting: CPU of decoding, evaluating and
// emptying for each sample, samples that never arrive, memory and where it lies. Usage: pm_cost
// SECONDS SETTING... with SETTING such as
// rate=1000,every=100,hw=16,stall=300,energy,metrics=gpu.busy+sm.active_any. One JSON object a
// line. Needs a GPU; start the load yourself.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collect/cupti/pm_sampler.h"
#include "core/time.h"

namespace {

using namespace gf;

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(by, at), text.size());
    if (end > at) out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string memory() {
  std::string out;
  if (FILE* file = std::fopen("/proc/self/status", "re")) {
    for (char line[256]; std::fgets(line, sizeof line, file);) {
      long long kb = 0;
      char name[32];
      if (std::sscanf(line, "%31[A-Za-z]: %lld", name, &kb) == 2 &&
          (std::string(name).rfind("Rss", 0) == 0 || std::string(name) == "VmHWM"))
        out += fmt::format("{}\"{}\":{:.1f}", out.empty() ? "" : ",", name,
                           static_cast<double>(kb) / 1024);
    }
    std::fclose(file);
  }
  return "{" + out + "}";
}

/// The mappings that hold most resident memory: total and private MB of each file, and of the
/// memory without one.
void mappings() {
  struct Use {
    long long rss = 0, dirty = 0;
  };
  std::map<std::string, Use> uses;
  FILE* file = std::fopen("/proc/self/smaps", "re");
  if (!file) return;
  std::string name;
  for (char line[1024]; std::fgets(line, sizeof line, file);) {
    unsigned long from = 0, to = 0;
    int at = 0;
    long long kb = 0;
    if (std::sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &from, &to, &at) >= 2 && at > 0) {
      name = line + at;
      while (!name.empty() && name.back() == '\n') name.pop_back();
      if (name.empty()) {
        if (to - from >= 4u << 20) {
          name = fmt::format("anonymous {} MB", (to - from) >> 20);
        } else {
          name = "anonymous, small";
        }
      }
    } else if (std::sscanf(line, "Rss: %lld", &kb) == 1)
      uses[name].rss += kb;
    else if (std::sscanf(line, "Anonymous: %lld", &kb) == 1)
      uses[name].dirty += kb;
  }
  std::fclose(file);
  std::vector<std::pair<std::string, Use>> rows(uses.begin(), uses.end());
  std::sort(rows.begin(), rows.end(),
            [](auto& left, auto& right) { return left.second.rss > right.second.rss; });
  for (std::size_t i = 0; i < std::min<std::size_t>(rows.size(), 14); ++i)
    fmt::print("{{\"mapping\":\"{}\",\"rss_mb\":{:.1f},\"anonymous_mb\":{:.1f}}}\n", rows[i].first,
               static_cast<double>(rows[i].second.rss) / 1024.0,
               static_cast<double>(rows[i].second.dirty) / 1024.0);
}

double cpu_seconds() {
  rusage unit{};
  getrusage(RUSAGE_SELF, &unit);
  return static_cast<double>(unit.ru_utime.tv_sec + unit.ru_stime.tv_sec) +
         static_cast<double>(unit.ru_utime.tv_usec + unit.ru_stime.tv_usec) * 1e-6;
}

void pause(double seconds) {
  timespec left{
      static_cast<time_t>(seconds),
      static_cast<long>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e9)};
  nanosleep(&left, nullptr);
}

void stage(const char* name) {
  fmt::print("{{\"stage\":\"{}\",\"cpu_s\":{:.3f},\"memory_mb\":{}}}\n", name, cpu_seconds(),
             memory());
  std::fflush(stdout);
}

/// One way of sampling, from "rate=1000,every=50,...".
struct Setting {
  const char* text;
  PmOptions options;
  double stall = 0;
  bool trim = false;
};

std::optional<Setting> parse_setting(const char* text) {
  Setting setting{text, {}};
  auto& options = setting.options;
  double rate = 1000, every = 0, buffer_mb = 0;
  for (const auto& word : split(text, ',')) {
    const auto equals = word.find('=');
    const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
    if (key == "rate") {
      rate = std::stod(value);
    } else if (key == "every") {
      every = std::stod(value);
    } else if (key == "hw") {
      buffer_mb = std::stod(value);
    } else if (key == "stall") {
      setting.stall = std::stod(value) * 1e-3;
    } else if (key == "trim") {
      setting.trim = true;
    } else if (key == "energy") {
      options.wanted = pm_energy_metrics();
      options.sample_bytes = kPmEnergySampleBytes;
    } else if (key == "metrics") {
      options.metrics = split(value, '+');
    } else {
      fmt::print("unknown setting {}\n", key);
      return std::nullopt;
    }
  }
  options.interval_ns = static_cast<std::int64_t>(1e9 / rate);
  options.decode_every_ns = pm_decode_period(options.interval_ns, options.sample_bytes);
  if (every > 0) options.decode_every_ns = static_cast<Nanos>(every * 1e6);
  options.hardware_buffer_bytes = static_cast<std::size_t>(buffer_mb * (1 << 20));
  return setting;
}

void print_error(const Setting& setting, const Error& error) {
  fmt::print("{{\"setting\":\"{}\",\"error\":\"{}\"}}\n", setting.text, error.message());
}

/// Resources spent between two moments of sampling.
struct Spent {
  double start_cpu = 0, cpu = 0, wall = 0;
  std::int64_t samples = 0, lost = 0;
  int drains = 0;
  PmSampler::Cost before, after;
};

void print_spent(const Setting& setting, const PmSampler& pm, const Spent& spent,
                 const std::vector<double>& sums) {
  std::string means;
  for (std::size_t metric = 0; metric < sums.size(); ++metric) {
    if (metric > 0) means += ',';
    means += fmt::format("\"{}\":{:.5g}", pm.choice().metrics[metric]->id,
                         sums[metric] / static_cast<double>(pm.samples()));
  }
  const auto samples = static_cast<double>(std::max<std::int64_t>(spent.samples, 1));
  fmt::print(
      "{{\"setting\":\"{}\",\"start_cpu_s\":{:.3f},\"image_kb\":{},\"image_samples\":{},\"kb_per_"
      "sample\":{:.2f},\"samples\":{},\"lost\":{},\"overflows\":{},\"hw_mb\":{},\"drains\":{},"
      "\"us_per_sample\":{{\"decode\":{:.2f},\"evaluate\":{:.2f},\"reset\":{:.2f},\"process\":{:."
      "2f}}},"
      "\"cpu_share\":{:.4f},\"memory_mb\":{},\"mean\":{{{}}}}}\n",
      setting.text, spent.start_cpu, pm.image_bytes() >> 10, pm.image_samples(),
      static_cast<double>(pm.image_bytes()) / 1024 / static_cast<double>(pm.image_samples()),
      spent.samples, spent.lost, pm.overflows(), pm.hardware_bytes() >> 20, spent.drains,
      (spent.after.decode_s - spent.before.decode_s) / samples * 1e6,
      (spent.after.evaluate_s - spent.before.evaluate_s) / samples * 1e6,
      (spent.after.reset_s - spent.before.reset_s) / samples * 1e6, spent.cpu / samples * 1e6,
      spent.cpu / spent.wall, memory(), means);
  std::fflush(stdout);
}

void measure(std::shared_ptr<Cupti> cupti, const GpuInfo& gpu, const Setting& setting,
             double seconds) {
  PmRefusal why = PmRefusal::none;
  Spent spent;
  const double cpu_start = cpu_seconds();
  auto sampler = PmSampler::start(std::move(cupti), gpu, setting.options, why);
  if (!sampler) return print_error(setting, sampler.error());
  auto& pm = **sampler;
  spent.start_cpu = cpu_seconds() - cpu_start;
  if (setting.trim) malloc_trim(0);
  std::vector<double> sums(pm.choice().metrics.size(), 0);
  auto drain = [&] {
    const auto ok = pm.drain([&](const PmSample& sample) {
      for (std::size_t metric = 0; metric < sums.size(); ++metric)
        sums[metric] += sample.values[metric];
    });
    if (!ok) print_error(setting, ok.error());
    return static_cast<bool>(ok);
  };
  pause(0.3);
  if (!drain()) return;
  const double cpu_before = cpu_seconds();
  spent.before = pm.cost();
  const auto samples_before = pm.samples(), lost_before = pm.lost();
  const Nanos begin = host_now();
  for (Nanos next = begin; host_now() - begin < static_cast<Nanos>(seconds * 1e9); ++spent.drains) {
    next += setting.options.decode_every_ns;
    if (const Nanos left = next - host_now(); left > 0) pause(static_cast<double>(left) * 1e-9);
    if (spent.drains == 5 && setting.stall > 0) pause(setting.stall);  // a host without time for us
    if (!drain()) break;
  }
  spent.wall = static_cast<double>(host_now() - begin) * 1e-9;
  spent.cpu = cpu_seconds() - cpu_before;
  spent.samples = pm.samples() - samples_before;
  spent.lost = pm.lost() - lost_before;
  spent.after = pm.cost();
  print_spent(setting, pm, spent, sums);
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 3;
  if (argc > 1) seconds = std::atof(argv[1]);
  stage("start");
  auto nvml = Nvml::open();
  if (!nvml || nvml->gpus().empty()) {
    fmt::print("no GPU\n");
    return 1;
  }
  stage("nvml");
  auto cupti = Cupti::open();
  if (!cupti) {
    fmt::print("{}\n", cupti.error().message());
    return 1;
  }
  stage("cupti");
  for (int i = 2; i < argc; ++i) {
    const auto setting = parse_setting(argv[i]);
    if (!setting) return 2;
    measure(*cupti, nvml->gpus()[0], *setting, seconds);
    if (i + 1 == argc) mappings();
  }
  stage("end");
}
