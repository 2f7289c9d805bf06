#include "cli/live/flight/flight_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cli/output.h"
#include "cli/verbs.h"
#include "report/json.h"

namespace gf::cli {

namespace {

constexpr int kEndTries = 500, kEndTryMicroseconds = 20'000;  // 10 s for the last file

/// One line of JSON a moment, in DIR/moments.jsonl; said as well where somebody reads.
void tell(const FlightRun& run, const FlightEntry& entry) {
  std::string line;
  to_json(line, entry);
  line += '\n';
  const std::string path = run.flight.folder + "/moments.jsonl";
  const int log = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const bool logged =
      log >= 0 && ::write(log, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (log >= 0) ::close(log);
  if (!logged) complain(fmt::format("{}: {}", path, std::strerror(errno)), kBadInput);
  if (run.quiet) return;
  const std::string whose = entry.gpu >= 0 ? fmt::format("GPU {}: ", entry.gpu) : "";
  complain(
      fmt::format("{}{}: {}", whose, entry.text,
                  entry.capture.empty() ? "no capture" : run.flight.folder + "/" + entry.capture),
      kWhole);
}

int fly(const FlightRun& run, FlightRecorder& recorder) {
  RecordOptions options = run.record;
  options.follower = &recorder;
  options.output = recorder.first_file(host_now());
  options.say = [&](const std::string& line) {
    if (!run.quiet) complain(line, kWhole);
  };
  int exit_code = kWhole;
  const auto recorded = record(options, exit_code);
  if (!recorded) return complain(recorded.error());
  recorder.finish(host_now());
  return exit_code;
}

}  // namespace

Result<FlightProcess> FlightProcess::start(const FlightRun& asked) {
  FlightRun run = asked;
  int orders[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, orders) != 0)
    return fail(fmt::format("no socket: {}", std::strerror(errno)));
  run.flight.orders = orders[0];
  // Opened here, so that what is wrong with the folder is said before anything starts.
  auto recorder =
      FlightRecorder::open(run.flight, [&run](const FlightEntry& entry) { tell(run, entry); });
  const pid_t process = recorder ? ::fork() : -1;
  if (process == 0) {
    ::close(orders[1]);
    const int code = fly(run, **recorder);
    std::fflush(nullptr);
    std::_Exit(code);
  }
  ::close(orders[0]);
  if (process > 0) return FlightProcess(process, orders[1]);
  ::close(orders[1]);
  if (!recorder) return tl::unexpected(recorder.error());
  return fail(fmt::format("cannot start a process: {}", std::strerror(errno)));
}

FlightProcess::FlightProcess(FlightProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)), orders_(std::exchange(other.orders_, -1)) {}

FlightProcess::~FlightProcess() {
  if (orders_ >= 0) ::close(orders_);
  if (process_ <= 0) return;
  for (int tries = 0; tries < kEndTries; ++tries) {
    if (::waitpid(process_, nullptr, WNOHANG) != 0) return;
    ::usleep(kEndTryMicroseconds);
  }
  ::kill(process_, SIGKILL);  // it hangs in the driver; what it wrote is in its file
  ::waitpid(process_, nullptr, 0);
}

bool FlightProcess::ask(const std::string& why) const {
  const std::string line = why + "\n";
  // A recorder that is gone must not take the monitor with it; one that is slow has enough orders.
  return ::send(orders_, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0 ||
         errno == EAGAIN;
}

std::string FlightProcess::ended_early() {
  int status = 0;
  if (process_ <= 0 || ::waitpid(process_, &status, WNOHANG) != process_) return {};
  process_ = -1;
  const std::string how = WIFSIGNALED(status) ? fmt::format("by signal {}", WTERMSIG(status))
                                              : fmt::format("with {}", WEXITSTATUS(status));
  return fmt::format(
      "the flight recorder has ended {}: nothing more is kept until the monitor starts again", how);
}

}  // namespace gf::cli
