// The job of a process: rank and job of Slurm, torchrun or MPI, container and pod. From the
// process's environment and control group; what is not there is not said.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gf {

/// Keys as in a capture's metadata (docs/record.md), in a fixed order.
using JobIdentity = std::vector<std::pair<std::string, std::string>>;

struct JobSources {
  std::function<std::string(const char*)> variable;  // empty: not set
  std::string cgroup, mounts;                        // /proc/PID/cgroup and mountinfo
  std::string user;                                  // name of the process's owner
  std::string pod_namespace;                         // of the service account, where there is one
};
JobIdentity job_identity(const JobSources& sources);

/// The job of a process that can be looked at; 0: this one.
JobIdentity job_identity_of(pid_t process);

/// The id of the container that a control group's path or a table of mounts names; empty: none.
std::string container_id(std::string_view cgroup, std::string_view mounts);

}  // namespace gf
