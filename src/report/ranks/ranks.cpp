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

std::string job_line(const JobRanks& job) {
  std::string text = plural(job.ranks.size(), "rank");
  if (job.world_size > static_cast<std::int64_t>(job.ranks.size()))
    text += fmt::format(" of {}", job.world_size);
  if (!job.stage.empty()) text = fmt::format("Stage {}: {}", job.stage, text);
  const std::string of = job.window == "all" ? "whole captures" : "--window " + job.window;
  return fmt::format("{}, {} over {} ({})", text,
                     plural(job.collectives_matched, "shared collective"), format_time(job.span_ns),
                     of);
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
    // Of collectives that no other capture holds, a part is waiting: how much is not known.
    std::optional<double> waiting = share_of(part_of(*rank, "waiting"), rank->span_ns);
    if (rank->matched == 0 && rank->collectives > 0) waiting.reset();
    const Nanos idle = rank->span_ns - rank->busy_ns;
    table.add({fmt::format("{}", rank->rank), rank->host,
               format_share(share_of(part_of(*rank, "kernels"), rank->span_ns)),
               Cell(format_share(waiting), Paint::bad),
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
  if (longest < 2 || job.collectives_matched == 0) return {};
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

std::string ranks_text(const JobRanks& job, const TextStyle& style, std::size_t rows) {
  const auto width = static_cast<std::size_t>(style.width);
  std::string text = paint(style, Paint::dim, job_line(job)) + "\n";
  const auto sentences = ranks_sentences(job);
  text += paint(style, Paint::strong, wrap(sentences.front(), width));
  for (std::size_t i = 1; i < sentences.size(); ++i) text += wrap(sentences[i], width);
  if (const auto missing = missing_ranks_text(job); !missing.empty())
    text += paint(style, Paint::warn, wrap("Incomplete: " + missing, width));
  return text + ranks_section(job, style, rows) + late_section(job, style, rows) +
         links_section(job, style, rows) + behind_section(job, style, rows) +
         steps_section(job, style, rows) + path_section(job, style, rows) +
         rates_section(job, style, rows) + doubts_section(job, style);
}

}  // namespace gf
