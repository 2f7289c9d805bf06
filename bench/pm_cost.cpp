// What PM sampling costs this process, setting by setting: CPU of decoding, evaluating and emptying
// for each sample, samples that never arrive, memory and where it lies. Usage: pm_cost SECONDS
// SETTING... with SETTING such as
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
#include <string>
#include <vector>

#include "collect/cupti/pm_sampler.h"

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
      if (name.empty())
        name = to - from >= 4u << 20 ? fmt::format("anonymous {} MB", (to - from) >> 20)
                                     : "anonymous, small";
    } else if (std::sscanf(line, "Rss: %lld", &kb) == 1)
      uses[name].rss += kb;
    else if (std::sscanf(line, "Anonymous: %lld", &kb) == 1)
      uses[name].dirty += kb;
  }
  std::fclose(file);
  std::vector<std::pair<std::string, Use>> rows(uses.begin(), uses.end());
  std::sort(rows.begin(), rows.end(), [](auto& x, auto& y) { return x.second.rss > y.second.rss; });
  for (std::size_t i = 0; i < std::min<std::size_t>(rows.size(), 14); ++i)
    fmt::print("{{\"mapping\":\"{}\",\"rss_mb\":{:.1f},\"anonymous_mb\":{:.1f}}}\n", rows[i].first,
               rows[i].second.rss / 1024.0, rows[i].second.dirty / 1024.0);
}

double cpu_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

void pause(double seconds) {
  timespec t{
      static_cast<time_t>(seconds),
      static_cast<long>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e9)};
  nanosleep(&t, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  auto stage = [](const char* name) {
    fmt::print("{{\"stage\":\"{}\",\"cpu_s\":{:.3f},\"memory_mb\":{}}}\n", name, cpu_seconds(),
               memory());
    std::fflush(stdout);
  };
  stage("start");
  auto nvml = Nvml::open();
  if (!nvml || nvml->gpus().empty()) return fmt::print("no GPU\n"), 1;
  stage("nvml");
  auto cupti = Cupti::open();
  if (!cupti) return fmt::print("{}\n", cupti.error().message()), 1;
  stage("cupti");
  for (int i = 2; i < argc; ++i) {
    PmOptions o;
    double rate = 1000, every = 0, hw = 0, stall = 0;
    bool trim = false;
    for (const auto& word : split(argv[i], ',')) {
      const auto equals = word.find('=');
      const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
      if (key == "rate")
        rate = std::stod(value);
      else if (key == "every")
        every = std::stod(value);
      else if (key == "hw")
        hw = std::stod(value);
      else if (key == "stall")
        stall = std::stod(value) * 1e-3;
      else if (key == "trim")
        trim = true;
      else if (key == "energy")
        o.wanted = pm_energy_metrics(), o.sample_bytes = kPmEnergySampleBytes;
      else if (key == "metrics")
        o.metrics = split(value, '+');
      else
        return fmt::print("unknown setting {}\n", key), 2;
    }
    o.interval_ns = static_cast<std::int64_t>(1e9 / rate);
    o.decode_every_ns =
        every > 0 ? static_cast<Nanos>(every * 1e6) : pm_decode_period(o.interval_ns);
    o.hardware_buffer_bytes = static_cast<std::size_t>(hw * (1 << 20));
    PmRefusal why = PmRefusal::none;
    const double cpu_start = cpu_seconds();
    auto sampler = PmSampler::start(*cupti, nvml->gpus()[0], o, why);
    if (!sampler) {
      fmt::print("{{\"setting\":\"{}\",\"error\":\"{}\"}}\n", argv[i], sampler.error().message());
      continue;
    }
    const double start_cpu = cpu_seconds() - cpu_start;
    if (trim) malloc_trim(0);
    std::vector<double> sums((*sampler)->choice().metrics.size(), 0);
    auto drain = [&] {
      const auto ok = (*sampler)->drain([&](const PmSample& s) {
        for (std::size_t m = 0; m < sums.size(); ++m) sums[m] += s.values[m];
      });
      if (!ok)
        fmt::print("{{\"setting\":\"{}\",\"error\":\"{}\"}}\n", argv[i], ok.error().message());
      return static_cast<bool>(ok);
    };
    pause(0.3);
    if (!drain()) continue;
    auto& s = **sampler;
    const double cpu0 = cpu_seconds();
    const auto c0 = s.cost();
    const auto n0 = s.samples(), l0 = s.lost();
    const Nanos begin = host_now();
    int drains = 0;
    for (Nanos next = begin; host_now() - begin < static_cast<Nanos>(seconds * 1e9); ++drains) {
      next += o.decode_every_ns;
      if (const Nanos left = next - host_now(); left > 0) pause(static_cast<double>(left) * 1e-9);
      if (drains == 5 && stall > 0) pause(stall);  // a host that has no time for us
      if (!drain()) break;
    }
    const double wall = static_cast<double>(host_now() - begin) * 1e-9, cpu = cpu_seconds() - cpu0,
                 n = static_cast<double>(std::max<std::int64_t>(s.samples() - n0, 1));
    const auto c1 = s.cost();
    std::string means;
    for (std::size_t m = 0; m < sums.size(); ++m)
      means += fmt::format("{}\"{}\":{:.5g}", m ? "," : "", s.choice().metrics[m]->id,
                           sums[m] / static_cast<double>(s.samples()));
    fmt::print(
        "{{\"setting\":\"{}\",\"start_cpu_s\":{:.3f},\"image_kb\":{},\"image_samples\":{},\"kb_per_"
        "sample\":{:.2f},\"samples\":{},\"lost\":{},\"overflows\":{},\"hw_mb\":{},\"drains\":{},"
        "\"us_per_sample\":{{\"decode\":{:.2f},\"evaluate\":{:.2f},\"reset\":{:.2f},\"process\":{:."
        "2f}}},"
        "\"cpu_share\":{:.4f},\"memory_mb\":{},\"mean\":{{{}}}}}\n",
        argv[i], start_cpu, s.image_bytes() >> 10, s.image_samples(),
        static_cast<double>(s.image_bytes()) / 1024 / static_cast<double>(s.image_samples()),
        s.samples() - n0, s.lost() - l0, s.overflows(), s.hardware_bytes() >> 20, drains,
        (c1.decode_s - c0.decode_s) / n * 1e6, (c1.evaluate_s - c0.evaluate_s) / n * 1e6,
        (c1.reset_s - c0.reset_s) / n * 1e6, cpu / n * 1e6, cpu / wall, memory(), means);
    std::fflush(stdout);
    if (i + 1 == argc) mappings();
  }
  stage("end");
}
