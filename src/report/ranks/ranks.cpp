#include "report/ranks/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "analyze/ranks/names.h"
#include "report/labels.h"
#include "report/text/format.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

namespace {

Share share_of(Nanos part, Nanos whole) {
  if (whole <= 0) return {};
  return static_cast<double>(part) / static_cast<double>(whole);
}

/// The first numbers of a list.
std::string listed(const std::vector<std::int64_t>& ranks) {
  constexpr std::size_t kNamed = 8;
  std::string named;
  for (std::size_t i = 0; i < std::min(kNamed, ranks.size()); ++i)
    named += fmt::format("{}{}", i ? ", " : "", ranks[i]);
  if (ranks.size() > kNamed) named += ", …";
  return named;
}

std::string job_line(const JobRanks& job) {
  std::string text = plural(static_cast<std::int64_t>(job.ranks.size()), "rank");
  if (job.world_size > static_cast<std::int64_t>(job.ranks.size()))
    text += fmt::format(" of {}", job.world_size);
  return fmt::format("{}, {} over {}", text, plural(job.collectives_matched, "shared collective"),
                     format_time(job.span_ns));
}

Nanos part_of(const RankUse& rank, std::string_view name) {
  for (const auto& piece : rank.time)
    if (piece.part == name) return piece.ns;
  return 0;
}

/// Most waiting caused first, where not all can be shown; else by number.
std::vector<const RankUse*> shown_ranks(const JobRanks& job, std::size_t rows) {
  std::vector<const RankUse*> shown;
  for (const auto& rank : job.ranks) shown.push_back(&rank);
  if (shown.size() <= rows) return shown;
  std::stable_sort(shown.begin(), shown.end(), [](const RankUse* left, const RankUse* right) {
    return left->last > right->last;
  });
  shown.resize(rows);
  return shown;
}

std::string ranks_section(const JobRanks& job, const TextStyle& style, std::size_t rows) {
  TextTable table({{"rank", Align::right},
                   {"host", Align::left, true, 2},
                   {"compute", Align::right},
                   {"waiting", Align::right},
                   {"exchange", Align::right},
                   {"idle", Align::right},
                   {"late for", Align::right},
                   {"clock", Align::right},
                   {"doubt", Align::right, false, 1}});
  for (const RankUse* rank : shown_ranks(job, rows)) {
    const Nanos waiting = part_of(*rank, "waiting");
    const Nanos idle = rank->span_ns - rank->busy_ns;
    table.add({fmt::format("{}", rank->rank), rank->host,
               format_share(share_of(part_of(*rank, "kernels"), rank->span_ns)),
               Cell(format_share(share_of(waiting, rank->span_ns)), Paint::bad),
               format_share(share_of(part_of(*rank, "exchange"), rank->span_ns)),
               format_share(share_of(idle, rank->span_ns)),
               fmt::format("{} of {}", rank->last, rank->matched),
               rank->offset_ns ? format_time(*rank->offset_ns) : std::string("no data"),
               rank->residual_ns ? format_time(*rank->residual_ns) : std::string("no data")});
  }
  std::string remark;
  if (job.ranks.size() > rows)
    remark = fmt::format("{} of {}, those that were late most often", rows, job.ranks.size());
  return section_title(style, "Ranks: shares of each one's time", remark) + table.render(style);
}

/// What every counter calls busy and is none, of the rank that waits most.
std::string busy_line(const JobRanks& job) {
  const RankUse* worst = nullptr;
  for (const auto& rank : job.ranks)
    if (!worst || part_of(rank, "waiting") > part_of(*worst, "waiting")) worst = &rank;
  if (!worst || worst->busy_ns <= 0) return {};
  const Nanos waiting = part_of(*worst, "waiting");
  constexpr double kWorthSaying = 0.05;
  if (share_of(waiting, worst->busy_ns).value_or(0) < kWorthSaying) return {};
  return fmt::format("Rank {} is busy for {} of its time, but waits for {} of it.", worst->rank,
                     format_share(share_of(worst->busy_ns, worst->span_ns)),
                     format_share(share_of(waiting, worst->busy_ns)));
}

std::string late_section(const JobRanks& job, const TextStyle& style, std::size_t rows) {
  if (job.stragglers.empty()) return {};
  TextTable table({{"rank", Align::right},
                   {"why", Align::left},
                   {"where", Align::left, true},
                   {"late by", Align::right},
                   {"waited", Align::right},
                   {"gain", Align::right}});
  std::size_t left = rows;
  for (const auto& late : job.stragglers) {
    if (left-- == 0) break;
    std::string where = late.module.empty() || late.op.empty() ? late.module + late.op
                                                               : late.module + ": " + late.op;
    table.add({fmt::format("{}", late.rank), std::string(late_label(late.cause)), where,
               format_time(late.late_ns), format_time(late.wait_ns),
               Cell(format_time(late.gain_ns), Paint::strong)});
  }
  return section_title(style, "Late ranks by cause",
                       "waited: by the other ranks; gain: of the job") +
         table.render(style);
}

/// Hosts that are slower than the others' while their devices still have work.
std::string behind_section(const JobRanks& job, const TextStyle& style, std::size_t rows) {
  if (job.falling_behind.empty()) return {};
  TextTable table({{"rank", Align::right},
                   {"why", Align::left},
                   {"where", Align::left, true},
                   {"host a step", Align::right},
                   {"next", Align::right},
                   {"more", Align::right},
                   {"gain a step", Align::right}});
  std::size_t left = rows;
  for (const auto& row : job.falling_behind) {
    if (left-- == 0) break;
    table.add({fmt::format("{}", row.rank), std::string(late_label(row.cause)), row.op,
               format_time(row.host_step_ns), format_time(row.next_step_ns),
               format_time(row.more_ns), Cell(format_time(row.gain_step_ns), Paint::strong)});
  }
  return section_title(style, "Hosts falling behind", "their launches are not late yet") +
         table.render(style);
}

std::string behind_line(const JobRanks& job) {
  if (job.falling_behind.empty()) return {};
  const FallingBehind& row = job.falling_behind.front();
  std::string where = row.op.empty() ? "" : " in " + row.op;
  return fmt::format(
      "Nothing has waited for rank {} yet, but its host falls behind: it takes {} more of a step "
      "than any other for {}{}. In the long run a step would gain {} without it, at most {}.",
      row.rank, format_time(row.more_ns), late_label(row.cause), where,
      format_time(row.gain_step_ns), format_time(row.more_ns));
}

/// One character a step, darker where the rank waited longer.
std::string steps_section(const JobRanks& job, const TextStyle& style, std::size_t rows) {
  constexpr std::string_view kShades = " .:-=+*#%@";
  std::map<std::int64_t, std::string> lines;
  std::size_t longest = 0;
  for (const auto& step : job.steps) {
    const double share =
        share_of(step.wait_ns, step.duration_ns).value_or(0) * static_cast<double>(kShades.size());
    auto shade = static_cast<std::size_t>(share);
    shade = std::min(shade, kShades.size() - 1);
    if (shade == 0 && step.wait_ns * 100 > step.duration_ns) shade = 1;
    auto& line = lines[step.rank];
    line += kShades[shade];
    longest = std::max(longest, line.size());
  }
  if (longest < 2) return {};
  std::string text =
      section_title(style, "Waiting, step by step",
                    fmt::format("each of {} steps: blank 0 %, @ over 90 %", longest));
  const std::size_t room = static_cast<std::size_t>(std::max(style.width, 40)) - 10;
  std::size_t left = rows;
  for (const auto& [rank, line] : lines) {
    if (left-- == 0) break;
    text += fmt::format("{:>7} |{}|\n", rank, line.substr(0, room));
  }
  return text;
}

std::string path_section(const JobRanks& job, const TextStyle& style, std::size_t rows) {
  if (job.critical_path.empty() || job.ranks.size() < 2) return {};
  std::map<std::int64_t, Nanos> by_rank;
  Nanos all = 0;
  for (const auto& piece : job.critical_path) {
    by_rank[piece.rank] += piece.duration_ns;
    all += piece.duration_ns;
  }
  std::vector<std::pair<std::int64_t, Nanos>> order(by_rank.begin(), by_rank.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& left, const auto& right) { return left.second > right.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(order.size(), std::min<std::size_t>(rows, 6));
       ++i)
    text += fmt::format("{}rank {} {}", i ? ", " : "", order[i].first,
                        format_share(share_of(order[i].second, all)));
  if (order.size() > 6) text += ", others less";
  return section_title(style, "Critical path",
                       fmt::format("{} hand-overs", job.critical_path.size() - 1)) +
         wrap(text, static_cast<std::size_t>(style.width), 2);
}

std::string rates_section(const JobRanks& job, const TextStyle& style, std::size_t rows) {
  if (job.rates.empty()) return {};
  TextTable table({{"collective", Align::left, true},
                   {"ranks", Align::right},
                   {"size", Align::right},
                   {"count", Align::right},
                   {"transfer", Align::right},
                   {"bus GB/s", Align::right},
                   {"of link", Align::right, false, 1}});
  std::vector<const CollectiveRate*> order;
  for (const auto& rate : job.rates) order.push_back(&rate);
  std::stable_sort(order.begin(), order.end(), [](const auto* left, const auto* right) {
    return left->transfer_ns * left->count > right->transfer_ns * right->count;
  });
  std::size_t left = rows;
  for (const CollectiveRate* rate : order) {
    if (left-- == 0) break;
    table.add({std::string(name_of(rate->type)), fmt::format("{}", rate->ranks),
               format_bytes(rate->bytes), format_count(rate->count), format_time(rate->transfer_ns),
               fmt::format("{:.4g}", rate->bus_gb_per_s), format_share(rate->of_link)});
  }
  return section_title(style, "Transfer rates, waiting excluded", "bus: bytes a link carries") +
         table.render(style);
}

std::string doubts_section(const JobRanks& job, const TextStyle& style) {
  if (job.quality.empty()) return {};
  std::string text = section_title(style, "Data quality");
  for (const auto& note : job.quality)
    text += wrap(fmt::format("{} ({}x): {}", note.code, note.count, note.detail),
                 static_cast<std::size_t>(style.width), 2);
  return text;
}

}  // namespace

std::string missing_ranks_text(const JobRanks& job) {
  if (job.missing_ranks.empty()) return {};
  return fmt::format("{} of {} ranks have no file: {}", job.missing_ranks.size(), job.world_size,
                     listed(job.missing_ranks));
}

namespace {

constexpr double kWorthBlame = 0.01;  // of the job's time

Nanos gain_of(const JobRanks& job, std::int64_t rank) {
  Nanos gain = 0;
  for (const auto& late : job.stragglers)
    if (late.rank == rank) gain += late.gain_ns;
  return gain;
}

std::string gain_text(const JobRanks& job, Nanos gain) {
  return fmt::format("{} of {} ({})", format_time(gain), format_time(job.span_ns),
                     format_share(share_of(gain, job.span_ns)));
}

std::string nobody_late(const JobRanks& job) {
  if (!job.replayed_ns) return "No rank was late by more than the clock uncertainty.";
  return "No rank and no link holds the job up: as its peers, none would gain it 1 %.";
}

std::string link_headline(const JobRanks& job, const SlowLink& link) {
  return fmt::format(
      "The job waits for the link of group {}: {} of {} take {}, in other groups {}. As fast as "
      "these, the job gains {}.",
      link.group, name_of(link.type), format_bytes(link.bytes), format_time(link.transfer_ns),
      format_time(link.others_ns), gain_text(job, link.gain_ns));
}

std::string rank_headline(const JobRanks& job, const Straggler& worst) {
  const Nanos gain = gain_of(job, worst.rank);
  if (worst.cause == RankTime::unknown)
    return fmt::format(
        "Ranks wait for each other, up to {}, for a reason that is not in the captures (a recorder "
        "paused or began later): no rank is blamed for it.",
        gain_text(job, gain));
  std::string where = worst.module.empty() ? worst.op : worst.module;
  if (!where.empty()) where = " in " + where;
  // A rank without a file may have been later still.
  std::string who = fmt::format("The job waits for rank {}", worst.rank);
  if (!job.missing_ranks.empty())
    who = fmt::format("Of the {} ranks here the others wait for rank {}", job.ranks.size(),
                      worst.rank);
  if (!job.replayed_ns)
    return fmt::format("{}: up to {}, most of it for {}{}.", who, gain_text(job, gain),
                       late_label(worst.cause), where);
  return fmt::format("{}: as its peers, the job gains {}, most of it from {}{}.", who,
                     gain_text(job, gain), late_label(worst.cause), where);
}

/// What the headline leaves open, a sentence each.
std::string further_lines(const JobRanks& job, std::size_t width) {
  std::string text;
  auto worth = [&](Nanos gain) { return share_of(gain, job.span_ns).value_or(0) >= kWorthBlame; };
  const Nanos best = job.stragglers.empty() ? 0 : gain_of(job, job.stragglers.front().rank);
  if (job.joint_ranks.size() > 1 && worth(job.joint_gain_ns - best))
    text += wrap(fmt::format("Ranks {} hide each other's delay: together the job gains {}.",
                             listed(job.joint_ranks), gain_text(job, job.joint_gain_ns)),
                 width);
  if (worth(job.missing_gain_ns))
    text += wrap(fmt::format("Up to {} may be waiting for ranks without a file.",
                             gain_text(job, job.missing_gain_ns)),
                 width);
  for (const auto& rank : job.ranks)
    if (worth(rank.recording_doubt_ns))
      text += wrap(fmt::format("The host of rank {} is slower than its peers' ({}); recording "
                               "alone may be why: it is not blamed.",
                               rank.rank, gain_text(job, rank.recording_doubt_ns)),
                   width);
  if (job.pipeline.stages > 0)
    text += wrap(fmt::format("Pipeline of {} stages, {:.0f} micro-batches: ranks wait for each "
                             "other for {} of their time; the schedule alone costs {}.",
                             job.pipeline.stages, job.pipeline.micro_batches,
                             format_share(job.pipeline.waiting), format_share(job.pipeline.ideal)),
                 width);
  return text;
}

std::string links_section(const JobRanks& job, const TextStyle& style, std::size_t rows) {
  if (job.links.empty()) return {};
  TextTable table({{"group", Align::left, true},
                   {"collective", Align::left},
                   {"size", Align::right},
                   {"transfer", Align::right},
                   {"others", Align::right},
                   {"gain", Align::right}});
  std::size_t left = rows;
  for (const auto& link : job.links) {
    if (left-- == 0) break;
    table.add({link.group, std::string(name_of(link.type)), format_bytes(link.bytes),
               format_time(link.transfer_ns), format_time(link.others_ns),
               Cell(format_time(link.gain_ns), Paint::strong)});
  }
  return section_title(style, "Slow links", "others: groups that move as much between as many") +
         table.render(style);
}

}  // namespace

std::string ranks_headline(const JobRanks& job) {
  if (job.ranks.size() < 2)
    return "Only one rank was given: which rank it waited for is unknown without the others.";
  if (job.collectives_matched == 0)
    return "No collective was found on two ranks: waiting is unknown.";
  const Straggler* worst = job.stragglers.empty() ? nullptr : &job.stragglers.front();
  const Nanos gain = worst ? gain_of(job, worst->rank) : 0;
  if (!job.links.empty() && job.links.front().gain_ns > gain)
    return link_headline(job, job.links.front());
  const bool small = job.replayed_ns && share_of(gain, job.span_ns).value_or(0) < kWorthBlame;
  if (!worst || small) return nobody_late(job);
  return rank_headline(job, *worst);
}

std::string ranks_text(const JobRanks& job, const TextStyle& style, std::size_t rows) {
  const auto width = static_cast<std::size_t>(style.width);
  std::string text = paint(style, Paint::dim, job_line(job)) + "\n";
  text += paint(style, Paint::strong, wrap(ranks_headline(job), width));
  if (const auto behind = behind_line(job); !behind.empty()) text += wrap(behind, width);
  text += further_lines(job, width);
  if (const auto busy = busy_line(job); !busy.empty()) text += wrap(busy, width);
  if (const auto missing = missing_ranks_text(job); !missing.empty())
    text += paint(style, Paint::warn, wrap("Incomplete: " + missing, width));
  return text + ranks_section(job, style, rows) + late_section(job, style, rows) +
         links_section(job, style, rows) + behind_section(job, style, rows) +
         steps_section(job, style, rows) + path_section(job, style, rows) +
         rates_section(job, style, rows) + doubts_section(job, style);
}

}  // namespace gf
