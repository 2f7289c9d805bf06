#include "session/late_rank.h"

#include <algorithm>

#include "analyze/findings/finding_rows.h"

namespace gf {

namespace {

/// Of what the job would gain: so much more of a finding than its peer a late rank must have.
constexpr double kExplains = 0.25;

const RankUse* use_of(const JobRanks& job, std::int64_t rank) {
  const auto at = std::ranges::find(job.ranks, rank, &RankUse::rank);
  return at == job.ranks.end() ? nullptr : &*at;
}

std::vector<Finding> recommendations_for(const RankUse& rank, const RankInputs& inputs,
                                         const Progress& progress) {
  InputOptions input;
  input.trace = rank.source;
  input.max_bytes = inputs.max_bytes;
  input.threads = inputs.threads;
  input.graphs = inputs.graphs;
  input.among_others = true;
  const auto loaded = load_capture(input, progress);
  if (!loaded) return {};
  Question question;
  question.devices = inputs.devices;
  if (inputs.window != RankInputs{}.window) question.window = inputs.window;
  question.brief = true;
  question.progress = progress;
  auto answer = answer_question(*loaded, question);
  if (!answer) return {};
  std::vector<Finding> found = std::move(answer->analysis.findings);
  std::erase_if(found, [](const Finding& finding) {
    // What a rank waits for in collectives is no cause of its own host being late.
    return !is_recommendation(finding.id) || !finding.gain_ns ||
           finding.group == FindingGroup::communication;
  });
  return found;
}

}  // namespace

std::vector<ApartFinding> findings_apart(const JobRanks& job, const RankInputs& inputs,
                                         const std::map<std::string, std::size_t>& captures,
                                         const Progress& progress) {
  if (job.stragglers.empty()) return {};
  const Straggler& worst = job.stragglers.front();
  if (worst.cause == RankTime::kernels || worst.cause == RankTime::collectives ||
      worst.cause == RankTime::unknown)
    return {};
  const Nanos gain = gain_of(job, worst.rank);
  const RankUse* rank = use_of(job, worst.rank);
  const RankUse* peer = who_waits_most(job, worst.rank);
  const auto at_hand = [&](const RankUse& use) {
    const auto found = captures.find(use.source);
    return found != captures.end() && found->second == 1;
  };
  if (!rank || !peer || !at_hand(*rank) || !at_hand(*peer) || !is_worth_blame(job, gain)) return {};
  const auto said = recommendations_for(*rank, inputs, progress);
  if (said.empty()) return {};
  const auto of_peer = recommendations_for(*peer, inputs, progress);
  for (const auto& finding : said) {
    const auto same = std::ranges::find(of_peer, finding.id, &Finding::id);
    const Nanos theirs = same == of_peer.end() ? 0 : *same->gain_ns;
    if (static_cast<double>(*finding.gain_ns - theirs) < kExplains * static_cast<double>(gain))
      continue;
    return {{worst.rank, peer->rank, finding.id, finding.text, *finding.gain_ns, theirs}};
  }
  return {};
}

}  // namespace gf
