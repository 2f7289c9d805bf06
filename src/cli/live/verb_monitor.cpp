#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "cli/live/flight/flight_process.h"
#include "cli/live/screen/monitor_screen.h"
#include "cli/live/serve/metrics_server.h"
#include "cli/live/serve/otlp_push.h"
#include "cli/live/serve/served_steps.h"
#include "cli/live/verbs.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "collect/live/live_sampler.h"
#include "core/signal_events.h"
#include "core/time.h"
#include "report/json.h"
#include "report/live.h"
#include "report/openmetrics.h"

namespace gf::cli {

namespace {

/// Time limits of the driver: to start, which wakes GPUs up, and for a reading.
constexpr Nanos kOpening = 30 * kNsPerSecond, kReading = kNsPerSecond;

struct MonitorArguments {
  std::string devices = "all", source = "auto";
  std::optional<std::string> serve;
  std::string token_file;
  std::vector<std::string> hosts;
  std::string otlp_url;
  std::optional<OtlpEndpoint> otlp;
  double interval_s = 1;
  std::int64_t count = 0;
  std::string format = "text";
  bool once = false, dcgm_names = false, job_labels = false;
  std::string flight;  // folder of the flight recorder
  double flight_hours = 1, flight_mb = 1024, flight_rate_hz = 100, flight_around_s = 60;
  double flight_kernels_s = 0;
  double steps_s = 0, steps_every_s = 60;

  Nanos interval() const { return static_cast<Nanos>(interval_s * 1e9); }
  /// Readings to give; 0: no end.
  std::int64_t rounds() const { return once ? 1 : count; }
};

Result<LiveSampler> open_sampler(const MonitorArguments& options) {
  auto sampler = LiveSampler::open(options.devices);
  if (!sampler || options.source != "pm") return sampler;
  const auto levels = pm_levels(sampler->gpus(), options.interval());
  if (!levels) return tl::unexpected<Error>(levels.error());
  sampler->use(*levels, "pm_sampling");
  return sampler;
}

Result<std::unique_ptr<MetricsServer>> start_server(const MonitorArguments& options,
                                                    const FlightProcess* flight) {
  PageOptions pages;
  pages.dcgm_names = options.dcgm_names;
  pages.job_labels = options.job_labels;
  pages.hosts = options.hosts;
  if (flight) pages.captures = options.flight;
  if (flight) pages.flight = [flight](const std::string& why) { return flight->ask(why); };
  auto token = read_token(options.token_file);
  if (!token) return tl::unexpected<Error>(token.error());
  pages.token = std::move(*token);
  return MetricsServer::start(*options.serve, std::move(pages));
}

std::string shown(const MonitorArguments& options, const LiveTable& table, bool live, bool last) {
  if (options.format == "csv") return live_csv(table);
  if (options.format == "openmetrics")
    return open_metrics(table, {true, options.dcgm_names, options.job_labels});
  if (options.format == "otlp") return otlp_metrics(table);
  if (options.format == "json") return json_line(table);
  const std::string text = live_text(table, text_style(false));
  if (live) return "\x1b[H\x1b[2J" + text;
  return last ? text : text + "\n";
}

bool print(const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
         std::fflush(stdout) == 0;
}

/// Over what stands there, line by line, so that nothing flickers.
std::string on_screen(const std::string& text) {
  std::string out = "\x1b[H";
  for (const char letter : text) {
    if (letter == '\n') out += "\x1b[K";
    out += letter;
  }
  return out + "\x1b[J";
}

/// A table with a GPU that did not answer is not whole.
int exit_code_of(const LiveTable& table) {
  int code = kWhole;
  for (const auto& gpu : table.gpus)
    if (gpu.stale) code = complain(fmt::format("GPU {}: {}", gpu.index, gpu.missing), kBadInput);
  return code;
}

class Monitor {
 public:
  Monitor(const MonitorArguments& options, LiveSampler sampler, SignalEvents& signals,
          FlightProcess* flight)
      : o_(options), sampler_(std::move(sampler)), signals_(signals), flight_(flight) {
    if (o_.steps_s > 0)
      steps_.emplace(static_cast<Nanos>(o_.steps_s * 1e9),
                     static_cast<Nanos>(o_.steps_every_s * 1e9));
  }

  int run(MetricsServer* server, OtlpPush* push) {
    const LiveTable first = sample(kReading);  // opens the window of the averages: no levels yet
    if (push) fmt::print(stderr, "gpufathom: sending to {}\n", push->endpoint().url());
    const bool serves = server || push;
    if (server) {
      server->publish(first);
      fmt::print(stderr, "gpufathom: serving {}/metrics\n", server->url());
    }
    const bool live = !serves && o_.rounds() == 0 && o_.format == "text" && stdout_is_terminal();
    if (live) {
      Keyboard keyboard;
      if (keyboard.works()) return run_screen(keyboard, first);
    }
    if (o_.format == "csv" && !print(live_csv_header())) return kWhole;
    Nanos next =
        host_now() + (o_.once ? std::min<Nanos>(o_.interval(), 200 * kNsPerMs) : o_.interval());
    const std::int64_t rounds = o_.rounds();
    int code = kWhole;
    for (std::int64_t round = 1; rounds == 0 || round <= rounds; ++round) {
      if (ended_before(next)) break;
      look_at_flight();
      const LiveTable table = sample(kReading);
      next = after(next);
      if (server) server->publish(table);
      if (push) push->send(otlp_metrics(table));
      if (serves && rounds == 0) continue;
      if (!print(shown(o_, table, live, round == rounds))) break;  // the reader is gone
      if (round == rounds) code = exit_code_of(table);
    }
    return std::max(code, code_);
  }

 private:
  /// Waits; true when a signal asks the monitor to end before then.
  bool ended_before(Nanos time) {
    while (signals_.wait(time - host_now())) {
      if (signals_.take() != SIGUSR1) return true;
      if (flight_) flight_->ask("asked for by a signal");
    }
    return false;
  }

  /// Says so when nothing is kept any longer; the table and the server go on.
  void look_at_flight() {
    const std::string ended = flight_ ? flight_->ended_early() : std::string();
    if (!ended.empty()) code_ = complain(ended, kBadInput);
  }

  /// Until a key or a signal ends it. What would be drawn over is said after it.
  int run_screen(Keyboard& keyboard, const LiveTable& first) {
    std::string ended;
    draw_until_asked(keyboard, first, ended);
    return ended.empty() ? kWhole : complain(ended, kBadInput);
  }
  void draw_until_asked(Keyboard& keyboard, const LiveTable& first, std::string& ended) {
    MonitorScreen screen;
    screen.add(first);
    Nanos next = host_now() + o_.interval();
    for (;;) {
      if (!print(on_screen(screen.draw(text_style(false), terminal_rows())))) return;
      const auto keys = keyboard.wait(next - host_now(), signals_.descriptor());
      if (ended_before(host_now())) return;
      for (const Key key : keys)
        if (!screen.press(key)) return;
      if (host_now() < next) continue;
      if (flight_ && ended.empty()) ended = flight_->ended_early();
      screen.add(sample(kReading));
      next = after(next);
    }
  }

  LiveTable sample(Nanos limit) {
    LiveTable table = sampler_.sample(limit, signals_.descriptor());
    // A GPU that hangs holds the others up once, for as long as it is waited for.
    table.stale_after_ns = o_.once ? kReading : 2 * (o_.interval() + kReading);
    drop_stale(table, host_now());
    if (steps_) steps_->look(table, host_now());
    return table;
  }

  /// When the next reading is due; one that was late does not make the others hurry, nor leaves the
  /// next one without levels.
  Nanos after(Nanos due) const {
    const Nanos now = host_now();
    Nanos next = due + o_.interval();
    if (next < now) next = now + o_.interval();
    return std::max(next, now + Gpm::kShortest);
  }

  const MonitorArguments& o_;
  LiveSampler sampler_;
  SignalEvents& signals_;
  FlightProcess* flight_;
  std::optional<ServedSteps> steps_;
  int code_ = kWhole;  // of what was not kept
};

/// Forks the flight recorder where one is wanted; nothing else may have been started.
Result<std::optional<FlightProcess>> start_flight(const MonitorArguments& options) {
  if (options.flight.empty()) return std::optional<FlightProcess>();
  FlightRun run;
  run.flight.folder = options.flight;
  run.flight.keep_ns = static_cast<Nanos>(options.flight_hours * 3600e9);
  run.flight.most_bytes = static_cast<std::uint64_t>(options.flight_mb * 1e6);
  run.flight.before_ns = static_cast<Nanos>(options.flight_around_s * 1e9);
  run.flight.kernels_ns = static_cast<Nanos>(options.flight_kernels_s * 1e9);
  run.record.devices = options.devices;
  run.record.rate_hz = options.flight_rate_hz;
  // Counters serve one sampler: where the table takes them, the flight has GPM.
  if (options.source == "pm") run.record.source = "gpm";
  run.quiet = !options.serve && options.format == "text" && stdout_is_terminal();
  auto started = FlightProcess::start(run);
  if (!started) return tl::unexpected(started.error());
  return std::optional<FlightProcess>(std::move(*started));
}

int monitor(const MonitorArguments& options) {
  auto flight = start_flight(options);
  if (!flight) return complain(flight.error());
  FlightProcess* recorder = *flight ? &**flight : nullptr;
  SignalEvents signals({SIGINT, SIGTERM, SIGHUP, SIGUSR1});  // before any thread starts
  WatchedThread opener;
  auto opened =
      opener.ask([options] { return open_sampler(options); }, kOpening, signals.descriptor());
  if (!opened && signals.wait(0)) return kBadInput;  // ended before it could say anything
  if (!opened)
    return complain(fmt::format("the NVIDIA driver has not answered for {} s (does nvidia-smi "
                                "answer? see dmesg for Xid errors)",
                                kOpening / kNsPerSecond),
                    kBadInput);
  if (!*opened) return complain(opened->error());
  std::unique_ptr<MetricsServer> server;
  if (options.serve) {
    auto started = start_server(options, recorder);
    if (!started) return complain(started.error());
    server = std::move(*started);
  }
  std::optional<OtlpPush> push;
  if (options.otlp) push.emplace(*options.otlp);
  return Monitor(options, std::move(**opened), signals, recorder)
      .run(server.get(), push ? &*push : nullptr);
}

}  // namespace

Verb monitor_verb() {
  Verb verb{"monitor", "show or serve the current activity of every GPU"};
  const auto options = std::make_shared<MonitorArguments>();
  verb.option("--devices", options->devices, "LIST",
              "GPUs to show: 0,2-3 as in nvidia-smi, UUIDs, or all")
      .suggest({"all"});
  verb.option("--source", options->source, "auto|pm",
              "levels from: auto (GPM, Hopper and newer) or pm (counters: issue slots too, needs "
              "permission)")
      .of({"auto", "pm"});
  verb.option("--interval", options->interval_s, "S",
              "seconds between readings (0.1 or more; default: 1)")
      .from(0.1, 86400);
  verb.option("--count", options->count, "N", "stop after N readings").positive();
  verb.flag("--once", options->once, "one reading, then stop");
  verb.option("--format", options->format, "FORMAT",
              "text, json (one object per line), csv, openmetrics (as --serve), or otlp (for an "
              "OpenTelemetry collector)")
      .of({"text", "json", "csv", "openmetrics", "otlp"});
  add_format_flags(verb, options->format, {"json", "csv"});
  verb.option("--serve", options->serve, "ADDR:PORT",
              "serve /metrics for Prometheus; :PORT is reachable from this machine only");
  verb.option("--token-file", options->token_file, "FILE",
              "with --serve: file with the token that scrapers must send (or the variable "
              "GPUFATHOM_TOKEN); needed beyond this machine")
      .with("--serve");
  verb.option("--allow-host", options->hosts, "NAME",
              "with --serve: another host name under which scrapers may ask")
      .with("--serve");
  auto& otlp = verb.option("--otlp-endpoint", options->otlp_url, "URL",
                           "send every reading to an OpenTelemetry collector, such as "
                           "http://localhost:4318 (OTLP over HTTP)");
  otlp.set = [options](const std::string& url) {
    auto endpoint = parse_otlp_endpoint(url);
    if (!endpoint) return endpoint.error().message();
    options->otlp = std::move(*endpoint);
    return std::string();
  };
  verb.flag("--dcgm-names", options->dcgm_names,
            "use dcgm-exporter's names and labels, for existing dashboards");
  verb.flag("--job-labels", options->job_labels,
            "add the labels job, user, rank and pod to every series of a GPU whose processes agree "
            "on them");
  verb.option("--steps", options->steps_s, "S",
              "record S seconds of kernels now and then, of programs under `gpufathom run`, and "
              "tell tokens, times and joules of the steps of those that serve (default: 0, none)")
      .from(0, 60);
  verb.option("--steps-every", options->steps_every_s, "S",
              "with --steps: from one such window to the next (default: 60)")
      .with("--steps")
      .from(1, 86400);
  verb.option("--flight", options->flight, "DIR",
              "keep the last hour on disk, and a capture around every unusual moment")
      .path();
  verb.option("--flight-hours", options->flight_hours, "H",
              "with --flight: hours to keep (default: 1)")
      .with("--flight")
      .from(0.05, 240);
  verb.option("--flight-mb", options->flight_mb, "MB",
              "with --flight: size limit of the folder (default: 1024); half of it is for moments")
      .with("--flight")
      .from(16, 1e6);
  verb.option("--flight-rate", options->flight_rate_hz, "HZ",
              "with --flight: counter samples per second (default: 100)")
      .with("--flight")
      .from(1, 10000);
  verb.option("--flight-around", options->flight_around_s, "S",
              "with --flight: seconds before a moment in its capture (default: 60), half as many "
              "after it")
      .with("--flight")
      .from(1, 600);
  verb.option("--flight-kernels", options->flight_kernels_s, "S",
              "with --flight: also record S seconds of kernels at a moment and every ten minutes, "
              "of programs under `gpufathom run` (default: 0, none)")
      .with("--flight")
      .from(0, 10);
  verb.run = [options] { return monitor(*options); };
  return verb;
}

}  // namespace gf::cli
