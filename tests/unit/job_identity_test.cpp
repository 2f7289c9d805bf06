#include "collect/record/job_identity.h"

#include <gtest/gtest.h>

#include <map>

namespace gf {

namespace {

using Variables = std::map<std::string, std::string>;
using Found = std::map<std::string, std::string>;

const std::string kId = "3f2a1b0c9d8e7f60514233241506978877665544332211ffeeddccbbaa998877";

Found identity(Variables variables, std::string cgroup = {}, std::string mounts = {}) {
  JobSources sources;
  sources.variable = [variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
  sources.cgroup = std::move(cgroup);
  sources.mounts = std::move(mounts);
  sources.user = "ada";
  const auto list = job_identity(sources);
  return {list.begin(), list.end()};
}

TEST(JobIdentity, NothingIsSaidOfAProgramThatNobodyLaunched) {
  EXPECT_EQ(identity({}), (Found{{"job.user", "ada"}}));
}

TEST(JobIdentity, TorchrunUnderSlurmKnowsTheRankBest) {
  const auto found = identity({{"RANK", "5"},
                               {"WORLD_SIZE", "16"},
                               {"LOCAL_RANK", "1"},
                               {"TORCHELASTIC_RUN_ID", "none"},
                               {"SLURM_JOB_ID", "77"},
                               {"SLURM_STEP_ID", "0"},
                               {"SLURM_PROCID", "2"},
                               {"SLURM_STEP_NUM_TASKS", "4"},
                               {"SLURM_JOB_USER", "eve"}});
  EXPECT_EQ(found, (Found{{"job.rank", "5"},
                          {"job.world_size", "16"},
                          {"job.local_rank", "1"},
                          {"job.scheduler", "slurm"},
                          {"job.id", "77"},
                          {"job.step", "0"},
                          {"job.user", "eve"}}));
}

TEST(JobIdentity, ABatchScriptIsNoRank) {
  const auto found = identity({{"SLURM_JOB_ID", "77"}, {"SLURM_PROCID", "0"}});
  EXPECT_EQ(found.count("job.rank"), 0u);
  EXPECT_EQ(found.at("job.id"), "77");
}

TEST(JobIdentity, MpiRanks) {
  const auto open_mpi = identity({{"OMPI_COMM_WORLD_RANK", "3"},
                                  {"OMPI_COMM_WORLD_SIZE", "8"},
                                  {"OMPI_COMM_WORLD_LOCAL_RANK", "3"}});
  EXPECT_EQ(open_mpi.at("job.rank"), "3");
  EXPECT_EQ(open_mpi.at("job.world_size"), "8");
  EXPECT_EQ(identity({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}).at("job.world_size"), "2");
  EXPECT_EQ(identity({{"RANK", "1"}}).count("job.rank"), 0u) << "a name that others use as well";
}

TEST(JobIdentity, ContainersByControlGroupOrMounts) {
  EXPECT_EQ(container_id("0::/system.slice/docker-" + kId + ".scope\n", ""), kId);
  EXPECT_EQ(container_id("12:cpu:/kubepods/burstable/pod6f1c-22/" + kId + "\n", ""), kId);
  EXPECT_EQ(container_id("0::/user.slice/user-1000.slice/session-3.scope\n", ""), "");
  const std::string mounts = "661 640 254:1 /var/lib/docker/containers/" + kId +
                             "/hostname /etc/hostname rw,relatime - ext4 /dev/vda1 rw\n";
  EXPECT_EQ(container_id("0::/\n", mounts), kId);
  const std::string foreign = "31 28 0:26 / /var/lib/docker/containers/" + kId + " rw - tmpfs x\n";
  EXPECT_EQ(container_id("0::/\n", foreign), "") << "a host that runs containers is in none";
}

TEST(JobIdentity, PodsWhereTheirVariablesAre) {
  const auto found = identity(
      {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}, {"HOSTNAME", "train-0"}, {"POD_NAMESPACE", "ml"}});
  EXPECT_EQ(found.at("kubernetes.pod"), "train-0");
  EXPECT_EQ(found.at("kubernetes.namespace"), "ml");
  EXPECT_EQ(identity({{"HOSTNAME", "desk"}}).count("kubernetes.pod"), 0u);
}

/// The facts that a monitor of another user may read.
TEST(JobIdentity, TheControlGroupTellsWhereTheEnvironmentDoesNot) {
  auto found = identity({}, "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n");
  EXPECT_EQ(found["job.id"], "4711");
  EXPECT_EQ(found["job.scheduler"], "slurm");
  EXPECT_EQ(identity({}, "0::/user.slice/job_4711/x\n").count("job.id"), 0);
  found = identity({{"SLURM_JOB_ID", "12"}}, "0::/slurm/uid_1000/job_4711/step_0\n");
  EXPECT_EQ(found["job.id"], "12");
}

TEST(JobIdentity, TheKubeletNamesControlGroupsAfterThePod) {
  const std::string uid = "8dbc3c1a-91c5-4a0e-9a35-6c2a0c6ad3f1";
  EXPECT_EQ(identity({},
                     "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-"
                     "pod8dbc3c1a_91c5_4a0e_9a35_6c2a0c6ad3f1.slice/cri-containerd-" +
                         kId + ".scope\n")["kubernetes.pod_uid"],
            uid);
  EXPECT_EQ(
      identity({}, "0::/kubepods/besteffort/pod" + uid + "/" + kId + "\n")["kubernetes.pod_uid"],
      uid);
  EXPECT_EQ(identity({}, "0::/../../pod" + uid + "/" + kId + "\n")["kubernetes.pod_uid"], uid);
  EXPECT_EQ(identity({}, "0::/kubepods/podium\n").count("kubernetes.pod_uid"), 0);
}

}  // namespace

}  // namespace gf
