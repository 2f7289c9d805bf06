// Communication that nothing hides, and with the captures of other ranks how much of it is waiting.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/findings/facts.h"
#include "analyze/findings/rules.h"
#include "analyze/ranks/job_waiting.h"
#include "analyze/ranks/names.h"
#include "core/text.h"

namespace gf::trace_rules {

namespace {

struct Communication {
  Nanos all = 0, exposed = 0;
};

Communication communication(const Facts& facts) {
  Communication sum;
  for (const auto& line : facts.context.devices) {
    auto kernels = [&](bool communicate) {
      Intervals spans;
      for (std::size_t i = 0; i < line.rows.size(); ++i)
        if (facts.capture().activities.kind[line.rows[i]] == ActivityKind::kernel &&
            (facts.context.attribution.layer[line.rows[i]] == LayerType::communication) ==
                communicate)
          spans.push_back(line.spans[i]);
      return normalised(std::move(spans));
    };
    const Intervals communication = kernels(true);
    if (communication.empty()) continue;
    sum.all += total(communication);
    sum.exposed += total(subtract(communication, kernels(false)));
  }
  return sum;
}

/// The rank that was waited for most, over all devices; empty when none was.
std::string most_waited_for(const Facts& facts) {
  std::vector<NamedTime> ranks;
  for (const auto& line : facts.context.devices) {
    if (!line.waiting) continue;
    for (const auto& rank : line.waiting->ranks) {
      const auto same = std::ranges::find(ranks, rank.name, &NamedTime::name);
      if (same == ranks.end())
        ranks.push_back(rank);
      else
        same->ns += rank.ns;
    }
  }
  const auto most = std::ranges::max_element(ranks, {}, &NamedTime::ns);
  if (most == ranks.end()) return {};
  return most->name;
}

/// " (launch too late in aten::mm)", "" where nothing is known of the rank.
std::string why_late(const JobRanks& job, std::string_view rank) {
  const auto late = std::ranges::find_if(job.stragglers, [&](const Straggler& straggler) {
    return fmt::format("rank {}", straggler.rank) == rank;
  });
  if (late == job.stragglers.end() || late->cause == RankTime::unknown) return {};
  std::string where = late->op;
  if (where.empty()) where = late->module;
  return fmt::format(" ({}{}{})", late_label(late->cause), where.empty() ? "" : " in ", where);
}

std::string advice(const Facts& facts, Nanos exposed) {
  if (facts.waiting * 2 < exposed)
    return ". Start it earlier or in smaller pieces (gradient buckets), overlap it with the "
           "backward pass, or communicate less.";
  const std::string rank = most_waited_for(facts);
  return fmt::format(
      ", and {} of the time it only waits for other ranks, mostly for {}{}. Look at that rank: "
      "communicating less recovers none of the waiting time.",
      say_share(facts.of_window(facts.waiting)), rank,
      why_late(facts.context.options.waiting->job, rank));
}

}  // namespace

std::optional<Finding> exposed_communication(const Facts& facts) {
  const Communication sum = communication(facts);
  if (facts.of_window(sum.exposed) < 0.03) return {};
  std::string evidence =
      fmt::format("{} of {} communication is exposed", say_time(sum.exposed), say_time(sum.all));
  if (facts.waiting > 0)
    evidence += fmt::format(", {} of that waits for other ranks", say_time(facts.waiting));
  return Finding{FindingId::exposed_communication,
                 fmt::format("Exposed communication takes {} of the time{}",
                             say_share(facts.of_window(sum.exposed)), advice(facts, sum.exposed)),
                 std::move(evidence), sum.exposed};
}

}  // namespace gf::trace_rules
