#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyze/ranks/job.h"

namespace gf {

namespace {

constexpr const char* kOneRun = "give the files of one run";

/// A number that no source told comes from the order of the files.
void number_by_order(std::vector<RankPart>& parts) {
  std::set<std::int64_t> taken;
  for (const auto& part : parts)
    if (part.rank >= 0) taken.insert(part.rank);
  std::int64_t next = 0;
  for (auto& part : parts) {
    if (part.rank >= 0) continue;
    while (taken.count(next) > 0) ++next;
    part.rank = next++;
    part.rank_source = RankSource::order;
  }
}

Status same_text(const std::vector<RankPart>& parts, std::string RankPart::* member,
                 std::string_view what) {
  const RankPart* first = nullptr;
  for (const auto& part : parts) {
    if ((part.*member).empty()) continue;
    if (!first) first = &part;
    if (part.*member != first->*member)
      return fail(fmt::format("is of another job than {}: {} {}, there {}", first->source, what,
                              part.*member, first->*member),
                  part.source, -1, kOneRun);
  }
  return {};
}

Status same_size(const std::vector<RankPart>& parts) {
  const RankPart* first = nullptr;
  for (const auto& part : parts) {
    if (part.world_size < 0) continue;
    if (!first) first = &part;
    if (part.world_size != first->world_size)
      return fail(fmt::format("is of another job than {}: {} ranks, there {}", first->source,
                              part.world_size, first->world_size),
                  part.source, -1, kOneRun);
  }
  return {};
}

Status different_ranks(const std::vector<RankPart>& parts) {
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (parts[i].rank == parts[i - 1].rank)
      return fail(fmt::format("is rank {}, and so is {}", parts[i].rank, parts[i - 1].source),
                  parts[i].source, -1, "give each rank once, all of one run");
  for (const auto& part : parts)
    if (part.world_size >= 0 && part.rank >= part.world_size)
      return fail(fmt::format("says that it is rank {} of {}", part.rank, part.world_size),
                  part.source, -1, kOneRun);
  return {};
}

}  // namespace

Result<Job> join_parts(std::vector<RankPart> parts) {
  number_by_order(parts);
  std::stable_sort(parts.begin(), parts.end(), [](const RankPart& left, const RankPart& right) {
    if (left.rank != right.rank) return left.rank < right.rank;
    return left.source < right.source;
  });
  if (auto same = same_text(parts, &RankPart::job, "job"); !same)
    return tl::unexpected(same.error());
  if (auto same = same_size(parts); !same) return tl::unexpected(same.error());
  if (auto apart = different_ranks(parts); !apart) return tl::unexpected(apart.error());
  Job job;
  std::int64_t guessed = 0;
  for (const auto& part : parts)
    if (part.rank_source >= RankSource::file_name) ++guessed;
  if (guessed > 0)
    job.note("rank_guessed", guessed,
             "the number of a rank is taken from its file's name or place: the capture does not "
             "say it");
  job.parts = std::move(parts);
  job.clocks.resize(job.parts.size());
  return job;
}

}  // namespace gf
