#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "cli/help.h"
#include "cli/metrics_server.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "collect/live/live_sampler.h"
#include "collect/live/pm_levels.h"
#include "collect/nvml/gpm.h"
#include "report/json.h"
#include "report/live.h"
#include "report/openmetrics.h"

namespace gf::cli {

namespace {

struct Options {
  std::string devices = "all", source = "auto";
  std::optional<std::string> serve;
  double interval_s = 1;
  std::int64_t count = 0;
  std::string format = "text";
  bool once = false, dcgm_names = false;
};

/// Waits until `deadline` or a signal that ends the program; true when it came.
bool wait_until(Nanos deadline, int signals) {
  for (;;) {
    const Nanos left = deadline - host_now();
    if (left <= 0) return false;
    pollfd p{signals, POLLIN, 0};
    if (poll(&p, 1, static_cast<int>(std::min<Nanos>(left / kNsPerMs + 1, 1000))) > 0) return true;
  }
}

int monitor(const Options& o) {
  sigset_t ending;
  sigemptyset(&ending);
  for (int s : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ending, s);
  sigprocmask(SIG_BLOCK, &ending, nullptr);  // before any thread starts, so that all inherit it
  const int signals = signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);

  auto probe = Nvml::open();
  if (!probe) return complain(probe.error());
  auto devices = select_devices(o.devices, probe->gpus());
  if (!devices) return complain(devices.error());
  auto sampler = LiveSampler::open(*devices);
  if (!sampler) return complain(sampler.error());
  if (o.source == "pm") {
    auto levels = pm_levels(sampler->gpus(), static_cast<Nanos>(o.interval_s * 1e9));
    if (!levels) return complain(levels.error());
    sampler->use(std::move(*levels), "pm_sampling");
  }

  std::unique_ptr<MetricsServer> server;
  if (o.serve) {
    auto started = MetricsServer::start(*o.serve, o.dcgm_names);
    if (!started) return complain(started.error());
    server = std::move(*started);
  }
  const bool live = !o.once && !o.count && o.format == "text" && stdout_is_terminal() && !server;
  const auto interval = static_cast<Nanos>(o.interval_s * 1e9);
  const LiveTable first = sampler->sample();  // opens the window of the averages: no levels yet
  if (server) {
    server->publish(first);
    fmt::print(stderr, "gpufathom: serving {}/metrics\n", server->url());
  }
  Nanos next = host_now() + (o.once ? std::min<Nanos>(interval, 200 * kNsPerMs) : interval);
  if (o.format == "csv") fmt::print("{}", live_csv_header());
  const std::int64_t rounds = o.once ? 1 : o.count;
  for (std::int64_t round = 0; rounds == 0 || round < rounds; ++round) {
    if (wait_until(next, signals)) break;
    const LiveTable table = sampler->sample();
    next += interval;
    if (next < host_now()) next = host_now() + interval;  // fell behind: do not hurry after
    next = std::max(
        next,
        host_now() + Gpm::kShortest);  // a late reading must not leave the next one without levels
    if (server) {
      server->publish(table);
      if (rounds == 0) continue;
    }
    std::string out;
    if (o.format == "json") {
      to_json(out, table);
      out += '\n';
    } else if (o.format == "csv") {
      out = live_csv(table);
    } else if (o.format == "openmetrics") {
      out = open_metrics(table, {true, o.dcgm_names});
    } else {
      out = live_text(table, text_style(false));
      if (live)
        out = "\x1b[H\x1b[2J" + out;
      else if (round + 1 != rounds)
        out += '\n';
    }
    if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size() || std::fflush(stdout) != 0)
      break;  // the reader is gone
  }
  close(signals);
  return kWhole;
}

}  // namespace

void add_monitor(CLI::App& app, int& exit_code) {
  auto* verb =
      app.add_subcommand("monitor", "what every GPU does now: levels, power, memory, processes");
  auto o = std::make_shared<Options>();
  verb->add_option("--devices", o->devices, "GPUs to show: 0,2-3, UUIDs, or all")
      ->option_text("LIST");
  verb->add_option("--source", o->source,
                   "levels from: auto (GPM, Hopper and newer) or pm (counters: issue slots too, "
                   "needs permission)")
      ->check(CLI::IsMember({"auto", "pm"}))
      ->option_text("auto|pm");
  verb->add_option("--interval", o->interval_s,
                   "seconds between readings (0.1 or more; default: 1)")
      ->check(CLI::Range(0.1, 86400.0))
      ->option_text("S");
  verb->add_option("--count", o->count, "stop after N readings")
      ->check(positive())
      ->option_text("N");
  verb->add_flag("--once", o->once, "one reading, then stop");
  verb->add_option("--format", o->format,
                   "text, json (one object a line), csv, or openmetrics (what --serve serves)")
      ->check(CLI::IsMember({"text", "json", "csv", "openmetrics"}))
      ->option_text("FORMAT");
  add_format_flags(*verb, o->format, {"json", "csv"});
  verb->add_option("--serve", o->serve,
                   "serve /metrics for Prometheus; :PORT is reachable from this machine alone")
      ->option_text("ADDR:PORT");
  verb->add_flag("--dcgm-names", o->dcgm_names,
                 "names and labels of dcgm-exporter, for dashboards that exist");
  verb->callback([o, &exit_code] { exit_code = monitor(*o); });
}

}  // namespace gf::cli
