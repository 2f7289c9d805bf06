#include <fmt/format.h>

#include <algorithm>

#include "report/labels.h"
#include "report/ranks/ranks.h"
#include "report/text/format.h"

namespace gf {

namespace {

/// The first numbers of a list.
std::string listed(const std::vector<std::int64_t>& ranks) {
  constexpr std::size_t kNamed = 8;
  std::string named;
  for (std::size_t i = 0; i < std::min(kNamed, ranks.size()); ++i)
    named += fmt::format("{}{}", i ? ", " : "", ranks[i]);
  if (ranks.size() > kNamed) named += ", …";
  return named;
}

/// The time that every counter calls busy although the rank that waits most only waits.
std::string busy_line(const JobRanks& job) {
  const RankUse* worst = who_waits_most(job);
  if (!worst || worst->busy_ns <= 0) return {};
  const Nanos waiting = part_of(*worst, "waiting");
  constexpr double kWorthSaying = 0.05;
  if (share_of(waiting, worst->busy_ns).value_or(0) < kWorthSaying) return {};
  return fmt::format("Rank {} is busy {} of its time, of which {} is waiting for other ranks.",
                     worst->rank, format_share(share_of(worst->busy_ns, worst->span_ns)),
                     format_share(share_of(waiting, worst->busy_ns)));
}

std::string behind_line(const JobRanks& job) {
  if (job.falling_behind.empty()) return {};
  const FallingBehind& row = job.falling_behind.front();
  std::string where = row.op.empty() ? "" : " in " + row.op;
  return fmt::format(
      "No rank has waited for rank {} yet, but its host falls behind: each step takes it {} longer "
      "than any other rank, for {}{}. In the long run the job would gain {} a step without this, "
      "at most {}.",
      row.rank, format_time(row.more_ns), late_label(row.cause), where,
      format_time(row.gain_step_ns), format_time(row.more_ns));
}

std::string gain_text(const JobRanks& job, Nanos gain) {
  return fmt::format("{} of {} ({})", format_time(gain), format_time(job.span_ns),
                     format_share(share_of(gain, job.span_ns)));
}

std::string nobody_late(const JobRanks& job) {
  if (!job.replayed_ns) return "No rank was late by more than the clock uncertainty.";
  if (!job.missing_ranks.empty())
    return fmt::format(
        "None of the {} ranks here holds up the job by 1 % or more, and no link does.",
        job.ranks.size());
  return "No rank or link holds up the job by 1 % or more.";
}

std::string link_headline(const JobRanks& job, const SlowLink& link) {
  return fmt::format(
      "The job waits for the link of group {}: {} of {} takes {}, and {} in other groups. At their "
      "speed, the job gains {}.",
      link.group, name_of(link.type), format_bytes(link.bytes), format_time(link.transfer_ns),
      format_time(link.others_ns), gain_text(job, link.gain_ns));
}

std::string rank_headline(const JobRanks& job, const Straggler& worst) {
  const Nanos gain = gain_of(job, worst.rank);
  if (worst.cause == RankTime::unknown)
    return fmt::format(
        "Ranks wait up to {} for each other, for a reason that is not in the captures (a recorder "
        "paused or began later). No rank is blamed.",
        gain_text(job, gain));
  std::string where = worst.module.empty() ? worst.op : worst.module;
  if (!where.empty()) where = " in " + where;
  // A rank without a file may have been later still.
  std::string who = fmt::format("The job waits for rank {}", worst.rank);
  if (!job.missing_ranks.empty())
    who = fmt::format("Among the {} ranks here, the others wait for rank {}", job.ranks.size(),
                      worst.rank);
  if (!job.replayed_ns)
    return fmt::format("{}: up to {}, most of it for {}{}.", who, gain_text(job, gain),
                       late_label(worst.cause), where);
  return fmt::format("{}: at the speed of its peers, the job gains {}, most of it from {}{}.", who,
                     gain_text(job, gain), late_label(worst.cause), where);
}

/// Of a rank that is late by its kernels, where they are the same ones on a slower GPU.
std::string slow_gpu_line(const JobRanks& job, const Straggler& worst) {
  constexpr double kSlower = 1.05;
  const auto rank = std::ranges::find(job.ranks, worst.rank, &RankUse::rank);
  if (worst.cause != RankTime::kernels || rank == job.ranks.end() ||
      rank->same_kernels.value_or(1) < kSlower)
    return {};
  return fmt::format(
      "Kernels that its peers run too take {:.2f} times as long on rank {}: larger inputs, another "
      "program on its GPU, lower clocks, or transfers beside them.",
      *rank->same_kernels, worst.rank);
}

/// The caveats of the headline, a sentence each.
void say_rest(const JobRanks& job, std::vector<std::string>& said) {
  const auto worth = [&](Nanos gain) { return is_worth_blame(job, gain); };
  if (!job.stragglers.empty() && worth(gain_of(job, job.stragglers.front().rank)))
    if (auto line = slow_gpu_line(job, job.stragglers.front()); !line.empty())
      said.push_back(std::move(line));
  for (const auto& finding : job.apart)
    said.push_back(fmt::format("`analyze` says of rank {}, and {} of rank {}: {}", finding.rank,
                               finding.peer_gain_ns > 0 ? "less" : "not", finding.peer,
                               finding.text));
  const Nanos best = job.stragglers.empty() ? 0 : gain_of(job, job.stragglers.front().rank);
  if (job.joint_ranks.size() > 1 && worth(job.joint_gain_ns - best))
    said.push_back(
        fmt::format("Ranks {} hide each other's delays: without all of them, the job gains {}.",
                    listed(job.joint_ranks), gain_text(job, job.joint_gain_ns)));
  if (worth(job.missing_gain_ns))
    said.push_back(fmt::format("Up to {} may be waiting for ranks without a file.",
                               gain_text(job, job.missing_gain_ns)));
  for (const auto& rank : job.ranks)
    if (worth(rank.recording_doubt_ns))
      said.push_back(
          fmt::format("The host of rank {} is slower than its peers' ({}), but recording alone may "
                      "be the reason. The rank is not blamed.",
                      rank.rank, gain_text(job, rank.recording_doubt_ns)));
  if (job.pipeline.stages > 0)
    said.push_back(fmt::format(
        "Pipeline of {} stages, {:.0f} micro-batches: ranks wait for each other {} of their time; "
        "the schedule alone costs {}. Twice as many micro-batches of half the size would save at "
        "most {} of a step.",
        job.pipeline.stages, job.pipeline.micro_batches, format_share(job.pipeline.waiting),
        format_share(job.pipeline.ideal), format_share(job.pipeline.twice_gain)));
}

std::string headline_of(const JobRanks& job) {
  if (job.ranks.size() < 2)
    return "Only one rank was given: the others' captures show which rank it waited for.";
  if (job.collectives_matched == 0)
    return "No collective appears on two ranks, so waiting is unknown.";
  const Straggler* worst = job.stragglers.empty() ? nullptr : &job.stragglers.front();
  const Nanos gain = worst ? gain_of(job, worst->rank) : 0;
  if (!job.links.empty() && job.links.front().gain_ns > gain)
    return link_headline(job, job.links.front());
  const bool small = job.replayed_ns && !is_worth_blame(job, gain);
  return !worst || small ? nobody_late(job) : rank_headline(job, *worst);
}

}  // namespace

std::string missing_ranks_text(const JobRanks& job) {
  if (job.missing_ranks.empty()) return {};
  return fmt::format("{} of {} ranks have no file: {}", job.missing_ranks.size(), job.world_size,
                     listed(job.missing_ranks));
}

std::vector<std::string> ranks_sentences(const JobRanks& job) {
  std::vector<std::string> said{headline_of(job)};
  if (auto behind = behind_line(job); !behind.empty()) said.push_back(std::move(behind));
  say_rest(job, said);
  if (auto busy = busy_line(job); !busy.empty()) said.push_back(std::move(busy));
  return said;
}

}  // namespace gf
