#include "analyze/ranks/what_if_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "analyze/ranks/answer.h"

namespace gf {

namespace {

WhatIfRow row_of(std::string change, std::string meaning, Nanos gain, Nanos own) {
  WhatIfRow row{std::move(change), std::move(meaning), own - gain};
  row.gain_ns = row.gain_low_ns = row.gain_high_ns = gain;
  row.share = row.share_low = row.share_high = share_of(gain, own);
  return row;
}

void add_rank(std::int64_t rank, const RankGains& gains, bool asked, WhatIf& answer) {
  const Nanos own = answer.own_ns;
  const std::string name = fmt::format("rank {}", rank);
  const auto add = [&](const char* part, const char* meaning, Nanos gain) {
    if (asked || gain > 0) answer.changes.push_back(row_of(name + part, meaning, gain, own));
  };
  add("", "as its peers", gains.all);
  add(" gpu", "its kernels as fast as its peers'", gains.kernels);
  add(" host", "its host as fast as its peers'", gains.host);
  add(" input", "its input ready in time", gains.input);
}

/// m micro-batches in p stages take (m + p - 1) / m times what one stage works.
double gain_of_micro_batches(const PipelineUse& pipeline, double times) {
  const double row = static_cast<double>(pipeline.stages - 1), m = pipeline.micro_batches;
  return 1 - (1 + row / (times * m)) / (1 + row / m);
}

}  // namespace

Result<WhatIf> what_if_of_job(std::vector<RankPart> parts, const JobChanges& changes,
                              unsigned workers) {
  const auto worked = work_out(std::move(parts), workers);
  if (!worked) return tl::unexpected(worked.error());
  const Job& job = worked->job;
  if (!worked->gains)
    return fail("these captures do not say what waited for what: the job cannot run again");
  const JobGains& gains = *worked->gains;
  const auto uses = rank_uses(worked->view());
  WhatIf answer;
  answer.device = -1;
  Interval span{INT64_MAX, INT64_MIN};
  for (const auto& use : uses)
    span = {std::min(span.start, use.start_ns), std::max(span.end, use.start_ns + use.span_ns)};
  answer.captured_ns = span.length();
  answer.replayed_ns = answer.own_ns = answer.own_low_ns = answer.own_high_ns = gains.span;
  for (std::size_t part = 0; part < job.parts.size(); ++part)
    if (!changes.rank || *changes.rank == job.parts[part].rank)
      add_rank(job.parts[part].rank, gains.ranks[part], changes.rank.has_value(), answer);
  if (changes.rank && answer.changes.empty())
    return fail(fmt::format("there is no capture of rank {}", *changes.rank));
  if (!changes.rank)
    for (const auto& link : slow_links(worked->view()))
      answer.changes.push_back(
          row_of("link " + link.group, "as fast as its like", link.gain_ns, answer.own_ns));
  if (changes.micro_batches != 1) {
    const PipelineUse pipeline = pipeline_of(worked->view(), uses);
    if (pipeline.stages < 2 || pipeline.micro_batches <= 0)
      return fail("no rank passes its work on to the next one: there are no micro-batches");
    const double gain = gain_of_micro_batches(pipeline, changes.micro_batches);
    answer.changes.push_back(
        row_of("micro_batches", fmt::format("{:g} times as many, at most", changes.micro_batches),
               std::llround(gain * static_cast<double>(answer.own_ns)), answer.own_ns));
  }
  std::ranges::stable_sort(answer.changes, std::greater<>(), &WhatIfRow::gain_ns);
  return answer;
}

}  // namespace gf
