#include "cli/live/overhead/run_processes.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "core/read_file.h"

namespace gf::cli {

namespace {

struct Process {
  pid_t parent = 0;
  std::string name;
  double cpu_seconds = 0;
  std::int64_t memory_bytes = 0;
};

/// Of /proc/PID/stat: the name stands in brackets and may hold anything.
std::optional<Process> read_process(const std::string& folder) {
  const std::string stat = text_of_file(folder + "/stat");
  const auto open = stat.find('('), close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  Process out;
  out.name = stat.substr(open + 1, close - open - 1);
  std::istringstream fields(stat.substr(close + 1));
  std::string state;
  fields >> state >> out.parent;
  long long value = 0, user = 0, system = 0, pages = 0;
  constexpr int kUser = 14, kSystem = 15, kResident = 24;  // numbers of proc(5)
  for (int field = 5; field <= kResident && fields >> value; ++field) {
    if (field == kUser) user = value;
    if (field == kSystem) system = value;
    if (field == kResident) pages = value;
  }
  out.cpu_seconds = static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  out.memory_bytes = pages * sysconf(_SC_PAGESIZE);
  return out;
}

bool holds(const std::string& environment, const std::string& marker) {
  const auto at = ('\0' + environment).find('\0' + marker + '\0');
  return at != std::string::npos;
}

}  // namespace

RunProcesses::RunProcesses(std::string marker, std::vector<std::string> command,
                           std::vector<std::string> daemons)
    : marker_(std::move(marker)), daemons_(std::move(daemons)) {
  for (const auto& word : command) command_ += word + '\0';
}

void RunProcesses::look() {
  std::map<pid_t, Process> all;
  std::set<pid_t> of_run, programs;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto pid = static_cast<pid_t>(std::atol(entry.path().filename().c_str()));
    if (pid <= 0) continue;
    auto process = read_process(entry.path());
    if (!process) continue;
    if (holds(text_of_file(entry.path().string() + "/environ"), marker_)) of_run.insert(pid);
    if (of_run.contains(pid) && text_of_file(entry.path().string() + "/cmdline") == command_)
      programs.insert(pid);
    all.emplace(pid, std::move(*process));
  }
  auto program_holds = [&](pid_t pid) {
    for (auto at = all.find(pid); at != all.end(); at = all.find(at->second.parent))
      if (programs.contains(at->first)) return true;
    return false;
  };
  std::int64_t memory = 0;
  for (const auto& [pid, process] : all) {
    const bool daemon = std::find(daemons_.begin(), daemons_.end(), process.name) != daemons_.end();
    // Before the program's own process is there, nothing is known to be the tool's.
    const bool tool = of_run.contains(pid) && !programs.empty() && !program_holds(pid);
    if (!daemon && !tool) continue;
    const auto [use, added] = tool_.try_emplace(pid);
    if (added) use->second = {daemon ? process.cpu_seconds : 0, 0, daemon};
    use->second.last = process.cpu_seconds;
    memory += process.memory_bytes;
  }
  memory_ = std::max(memory_, memory);
}

std::optional<double> RunProcesses::tool_cpu_seconds() const {
  if (tool_.empty()) return {};
  double seconds = 0;
  for (const auto& [pid, use] : tool_) seconds += use.last - use.first;
  return seconds;
}

}  // namespace gf::cli
