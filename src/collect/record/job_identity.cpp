#include "collect/record/job_identity.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <sstream>

#include "core/files.h"
#include "core/secrets.h"

namespace gf {

namespace {

constexpr std::size_t kIdLength = 64;  // hexadecimal digits of a container's id

/// A launcher that tells a process its place: rank, world size, rank on its host.
struct Launcher {
  const char* rank;
  const char* world_size;
  const char* local_rank;
  const char* only_with;  // a variable without which the others mean nothing; null: none
};
// torchrun and what follows its habit come first: under srun they know the ranks better.
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", nullptr},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", nullptr},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", nullptr},
    // Outside a step, in a batch script or an allocation, the rank is always 0.
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_ID"},
};

/// A scheduler that gives a job its number.
struct Scheduler {
  const char* name;
  const char* job;
};
constexpr Scheduler kSchedulers[] = {
    {"slurm", "SLURM_JOB_ID"}, {"pbs", "PBS_JOBID"},    {"lsf", "LSB_JOBID"},
    {"sge", "JOB_ID"},         {"flux", "FLUX_JOB_ID"}, {"torchrun", "TORCHELASTIC_RUN_ID"},
};

std::string user_name(pid_t process) {
  struct stat owner{};
  if (::stat(fmt::format("/proc/{}", process).c_str(), &owner) != 0) return {};
  const passwd* entry = ::getpwuid(owner.st_uid);
  return entry ? entry->pw_name : std::to_string(owner.st_uid);
}

/// The first run of exactly as many hexadecimal digits as an id has, from `at` on.
std::string id_in(std::string_view text, std::size_t at = 0) {
  std::size_t run = 0;
  for (std::size_t i = at; i <= text.size(); ++i) {
    if (i < text.size() && std::isxdigit(static_cast<unsigned char>(text[i]))) {
      ++run;
      continue;
    }
    if (run == kIdLength) return std::string(text.substr(i - run, run));
    run = 0;
  }
  return {};
}

/// The part of `text` after `before`, as long as its letters are among `letters`.
std::string after(std::string_view text, std::string_view before, std::string_view letters) {
  const auto at = text.find(before);
  if (at == std::string_view::npos) return {};
  const auto rest = text.substr(at + before.size());
  return std::string(rest.substr(0, rest.find_first_not_of(letters)));
}

/// Slurm names its control groups after the job: a monitor of another user may read that, and not
/// the environment.
std::string slurm_job_of(std::string_view cgroup) {
  if (cgroup.find("slurm") == std::string_view::npos) return {};
  return after(cgroup, "/job_", "0123456789");
}

/// The kubelet names them after the pod's uid, with "_" in place of "-" under systemd. From within
/// a control group's namespace, as a container has, paths begin at it: "/../../podUID".
std::string pod_uid_of(std::string_view cgroup) {
  constexpr std::size_t length = 36;
  if (cgroup.find("kubepods") == std::string_view::npos &&
      cgroup.find(":/../") == std::string_view::npos)
    return {};
  for (const char* before : {"-pod", "/pod"}) {
    std::string uid = after(cgroup, before, "0123456789abcdef-_");
    if (uid.size() != length) continue;
    std::replace(uid.begin(), uid.end(), '_', '-');
    return uid;
  }
  return {};
}

class Identity {
 public:
  explicit Identity(const JobSources& sources) : sources_(sources) {}
  std::string of(const char* name) const { return sources_.variable(name); }
  void put(const char* key, std::string value) {
    if (!value.empty()) found_.emplace_back(key, without_secrets(value));
  }
  void put_ranks();
  void put_job();
  void put_container();
  JobIdentity take() { return std::move(found_); }

 private:
  const JobSources& sources_;
  JobIdentity found_;
};

void Identity::put_ranks() {
  for (const auto& launcher : kLaunchers) {
    if (of(launcher.rank).empty()) continue;
    if (launcher.only_with && of(launcher.only_with).empty()) continue;
    put("job.rank", of(launcher.rank));
    put("job.world_size", of(launcher.world_size));
    put("job.local_rank", of(launcher.local_rank));
    return;
  }
}

void Identity::put_job() {
  bool known = false;
  for (const auto& scheduler : kSchedulers) {
    std::string job = of(scheduler.job);
    if (job.empty() || job == "none") continue;
    if (job == "undefined") continue;  // of Grid Engine, for a task number
    put("job.scheduler", scheduler.name);
    put("job.id", std::move(job));
    known = true;
    break;
  }
  if (const std::string job = slurm_job_of(sources_.cgroup); !known && !job.empty()) {
    put("job.scheduler", "slurm");
    put("job.id", job);
  }
  put("job.step", of("SLURM_STEP_ID"));
  put("job.name", of("SLURM_JOB_NAME"));
  put("job.user", of("SLURM_JOB_USER").empty() ? sources_.user : of("SLURM_JOB_USER"));
}

void Identity::put_container() {
  put("container.id", container_id(sources_.cgroup, sources_.mounts));
  put("kubernetes.pod_uid", pod_uid_of(sources_.cgroup));
  if (of("KUBERNETES_SERVICE_HOST").empty()) return;
  put("kubernetes.pod", of("POD_NAME").empty() ? of("HOSTNAME") : of("POD_NAME"));
  put("kubernetes.namespace",
      of("POD_NAMESPACE").empty() ? sources_.pod_namespace : of("POD_NAMESPACE"));
}

}  // namespace

std::string container_id(std::string_view cgroup, std::string_view mounts) {
  if (auto id = id_in(cgroup); !id.empty()) return id;
  // With a control group namespace the path is "/"; the files that the engine mounts tell.
  std::istringstream lines{std::string(mounts)};
  for (std::string line; std::getline(lines, line);)
    for (const char* part : {"/containers/", "/overlay-containers/", "/sandboxes/"})
      if (const auto at = line.find(part);
          at != std::string::npos && line.find(" /etc/") != std::string::npos)
        if (auto id = id_in(line, at); !id.empty()) return id;
  return {};
}

JobIdentity job_identity(const JobSources& sources) {
  Identity identity(sources);
  identity.put_ranks();
  identity.put_job();
  identity.put_container();
  return identity.take();
}

JobIdentity job_identity_of(pid_t process) {
  const pid_t number = process > 0 ? process : ::getpid();
  const std::string folder = fmt::format("/proc/{}/", number);
  std::map<std::string, std::string, std::less<>> variables;
  std::istringstream environment(process > 0 ? text_of_file(folder + "environ") : std::string());
  for (std::string word; std::getline(environment, word, '\0');)
    if (const auto equals = word.find('='); equals != std::string::npos)
      variables.emplace(word.substr(0, equals), word.substr(equals + 1));
  JobSources sources;
  sources.variable = [&](const char* name) -> std::string {
    if (process == 0) {
      const char* value = std::getenv(name);
      return value ? value : "";
    }
    const auto found = variables.find(name);
    return found == variables.end() ? "" : found->second;
  };
  sources.cgroup = text_of_file(folder + "cgroup");
  sources.mounts = text_of_file(folder + "mountinfo");
  sources.user = user_name(number);
  sources.pod_namespace =
      text_of_file(folder + "root/var/run/secrets/kubernetes.io/serviceaccount/namespace");
  return job_identity(sources);
}

}  // namespace gf
