#include "cli/live/serve/served_steps.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "session/served.h"

namespace gf::cli {

namespace {

constexpr Nanos kAnalysisPatience = 60 * kNsPerSecond;  // for the analysis of a window
constexpr Nanos kOldWindows = 3;  // an answer is none any more when so many windows have passed

std::string answer_of(const KernelWindows::Window& window) { return window.path + ".json"; }

void put(std::map<std::string, double>& values, const std::string& name,
         std::optional<double> value) {
  if (value) values[name] = *value;
}
void put_time(std::map<std::string, double>& values, const std::string& name,
              std::optional<Nanos> time) {
  if (time) values[name] = static_cast<double>(*time) * 1e-9;
}

LiveStepKind live_kind(const Serving& serving, const StepKindUse& use) {
  LiveStepKind kind;
  kind.kind = name_of(use.kind);
  auto& values = kind.values;
  if (const auto seconds = static_cast<double>(serving.duration_ns) * 1e-9; seconds > 0) {
    values["steps_per_second"] = static_cast<double>(use.steps) / seconds;
    if (const auto tokens = use.tokens ? use.tokens : use.run_tokens)
      values["tokens_per_second"] = static_cast<double>(*tokens) / seconds;
  }
  put(values, "share", use.share);
  put(values, "joules_per_token", use.joules_per_token);
  put_time(values, "step_seconds_p50", use.p50_ns);
  put_time(values, "step_seconds_p90", use.p90_ns);
  put_time(values, "step_seconds_p99", use.p99_ns);
  return kind;
}

LiveServing live_serving(const Serving& serving) {
  LiveServing live;
  live.source = serving.source;
  live.engines = serving.engines;
  auto& values = live.values;
  put(values, "tokens_per_second", serving.tokens_per_second);
  put(values, "joules_per_token", serving.joules_per_token);
  if (serving.batch_p50) values["requests"] = static_cast<double>(*serving.batch_p50);
  put_time(values, "between_tokens_seconds_p50", serving.between_p50_ns);
  put_time(values, "between_tokens_seconds_p90", serving.between_p90_ns);
  put_time(values, "between_tokens_seconds_p99", serving.between_p99_ns);
  put_time(values, "first_token_seconds_p50", serving.first_p50_ns);
  put_time(values, "first_token_seconds_p90", serving.first_p90_ns);
  put_time(values, "first_token_seconds_p99", serving.first_p99_ns);
  for (const auto& use : serving.kinds) live.kinds.push_back(live_kind(serving, use));
  return live;
}

}  // namespace

ServedSteps::ServedSteps(Nanos length, Nanos every)
    : every_(every), windows_(folder_.path(), length) {}

ServedSteps::~ServedSteps() {
  (void)windows_.finished(host_now(), true);
  for (const auto& reader : readers_) {
    ::kill(reader.process, SIGKILL);
    ::waitpid(reader.process, nullptr, 0);
  }
}

/// Tells what processes hold the GPUs, and asks for a window of each when one is due.
void ServedSteps::begin(const LiveTable& table, Nanos now) {
  std::map<std::int32_t, std::set<std::int64_t>> holders;
  for (const auto& gpu : table.gpus) {
    auto& processes = holders[static_cast<std::int32_t>(gpu.index)];
    for (const auto& process : gpu.processes) processes.insert(process.pid);
  }
  for (const auto& [gpu, processes] : holders) windows_.holders(gpu, processes);
  if (now < next_) return;
  next_ = now + every_;
  (void)windows_.record(now, std::to_string(++number_), -1);
}

void ServedSteps::analyze(const KernelWindows::Window& window) {
  const pid_t process = start_this_program(
      {"gpufathom", "analyze", window.path, "--format", "json", "-o", answer_of(window)});
  if (process > 0) readers_.push_back({process, window});
}

/// True when a reader has ended: with what it read, if it could.
bool ServedSteps::take(const Reader& reader, Nanos now) {
  if (now > reader.window.end + kAnalysisPatience) ::kill(reader.process, SIGKILL);
  int status = 0;
  if (::waitpid(reader.process, &status, WNOHANG) == 0) return false;
  // An answer with a remark on the capture ends with another code.
  if (WIFEXITED(status))
    if (const auto serving = read_serving(answer_of(reader.window))) {
      auto live = live_serving(*serving);
      live.pid = reader.window.program;
      // The recorder's end is seen up to a reading later.
      const auto& steps = serving->steps;
      live.time_ns =
          steps.empty() ? reader.window.end : steps.back().start_ns + steps.back().duration_ns;
      newest_[live.pid] = std::move(live);
    }
  std::error_code ignored;
  std::filesystem::remove(answer_of(reader.window), ignored);
  std::filesystem::remove(reader.window.path, ignored);
  return true;
}

void ServedSteps::look(LiveTable& table, Nanos now) {
  if (folder_.path().empty()) return;
  begin(table, now);
  for (const auto& window : windows_.finished(now)) analyze(window);
  std::erase_if(readers_, [&](const Reader& reader) { return take(reader, now); });
  std::erase_if(newest_, [&](const auto& one) {
    return now > one.second.time_ns + kOldWindows * every_ + kAnalysisPatience;
  });
  for (auto& [pid, live] : newest_) {
    const auto number = pid;
    bool runs = false;
    for (const auto& gpu : table.gpus)
      for (const auto& process : gpu.processes)
        if (process.pid == number) {
          runs = true;
          live.name = process.name;
        }
    if (runs) table.serving.push_back(live);
  }
}

}  // namespace gf::cli
