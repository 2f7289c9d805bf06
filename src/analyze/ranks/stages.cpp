#include "analyze/ranks/stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/files.h"

namespace gf {

namespace {

// A number from a broken file is no reason to list ranks for hours.
constexpr std::int64_t kMostRanks = 1'000'000;

std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number >= kMostRanks) return {};
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return number;
}

bool take(std::string_view& text, char letter) {
  if (!text.starts_with(letter)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::vector<std::int64_t> listed_ranks(std::string_view list) {
  if (!take(list, '[') || !list.ends_with(']')) return {};
  list.remove_suffix(1);
  std::vector<std::int64_t> ranks;
  while (!list.empty()) {
    const auto first = take_number(list);
    auto last = first, step = std::optional<std::int64_t>(1);
    if (take(list, '-')) last = take_number(list);
    if (take(list, '/')) step = take_number(list);
    if (!first || !last || !step || *step == 0 || *last < *first) return {};
    for (std::int64_t rank = *first; rank <= *last; rank += *step) ranks.push_back(rank);
    if (!list.empty() && (!take(list, ',') || list.empty())) return {};
  }
  return ranks;
}

namespace {

/// Numbers of the groups that a part has collectives of.
std::set<std::size_t> groups_used(const RankPart& part) {
  std::set<std::size_t> used;
  for (const auto group : part.collectives.group)
    if (group >= 0) used.insert(static_cast<std::size_t>(group));
  return used;
}

/// The ranks that are in every listed group of a part, in order; empty where none is listed.
std::vector<std::int64_t> common_ranks(const RankPart& part) {
  std::optional<std::vector<std::int64_t>> common;
  for (const auto number : groups_used(part)) {
    auto ranks = listed_ranks(part.groups[number].ranks);
    if (ranks.empty()) continue;
    std::ranges::sort(ranks);
    if (common) {
      std::vector<std::int64_t> both;
      std::ranges::set_intersection(*common, ranks, std::back_inserter(both));
      ranks = std::move(both);
    }
    common = std::move(ranks);
  }
  return common.value_or(std::vector<std::int64_t>{});
}

}  // namespace

std::optional<std::int64_t> rank_in_groups(const RankPart& part) {
  const auto common = common_ranks(part);
  if (common.size() != 1) return {};
  return common.front();
}

std::int64_t ranks_by_groups(const std::vector<RankPart>& parts) {
  std::int64_t most = -1;
  std::set<std::string_view> seen;  // the ranks of a large job have the same lists
  for (const auto& part : parts)
    for (const auto number : groups_used(part)) {
      most = std::max(most, part.groups[number].size);
      if (!seen.insert(part.groups[number].ranks).second) continue;
      for (const auto rank : listed_ranks(part.groups[number].ranks))
        most = std::max(most, rank + 1);
    }
  return most <= kMostRanks ? most : -1;
}

namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_alphabetic(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

/// Words before a number that tell one rank's file from another's: "rank3", "TP-0", "[PP01".
struct RankWord {
  std::string_view word;
  int place;  // in the order of ranks: pipeline, data, tensor, expert; -1: the rank itself
};
constexpr std::array kRankWords{RankWord{"rank", -1}, RankWord{"worker", -1}, RankWord{"gpu", -1},
                                RankWord{"PP", 0},    RankWord{"DP", 1},      RankWord{"TP", 2},
                                RankWord{"EP", 3}};

/// The rank in a file's name, and the rest of the name, which the other ranks' names share.
struct RankName {
  std::optional<std::int64_t> rank;  // after the word "rank"
  std::array<std::int64_t, 4> place{-1, -1, -1, -1};
  std::string rest;
  bool placed() const { return place != std::array<std::int64_t, 4>{-1, -1, -1, -1}; }
};

RankName read_name(std::string_view path) {
  const auto name = file_name(path);
  RankName out;
  for (std::size_t at = 0; at < name.size();) {
    const bool begins = at == 0 || !is_alphabetic(name[at - 1]);
    std::size_t digits = 0, end = 0;
    const RankWord* found = nullptr;
    for (const auto& word : kRankWords) {
      if (!begins || !name.substr(at).starts_with(word.word)) continue;
      digits = at + word.word.size();
      if (digits < name.size() && (name[digits] == '-' || name[digits] == '_')) ++digits;
      for (end = digits; end < name.size() && is_digit(name[end]);) ++end;
      if (end > digits) found = &word;
      break;
    }
    auto number = name.substr(digits, end - digits);
    const auto value = found ? take_number(number) : std::nullopt;
    if (!found || !value) {
      out.rest += name[at++];
      continue;
    }
    // A number on its host is not that of the job.
    const bool local = out.rest.ends_with("local_") || out.rest.ends_with("local-");
    if (found->place >= 0)
      out.place[static_cast<std::size_t>(found->place)] = *value;
    else if (found->word == "rank" && !local)
      out.rank = *value;
    out.rest.append(name.substr(at, digits - at)).append(1, '#');
    at = end;
  }
  return out;
}

/// "trace9" before "trace10": people number files that have no rank in their names.
bool counts_before(std::string_view left, std::string_view right) {
  while (!left.empty() && !right.empty()) {
    if (!is_digit(left.front()) || !is_digit(right.front())) {
      if (left.front() != right.front()) return left.front() < right.front();
      left.remove_prefix(1);
      right.remove_prefix(1);
      continue;
    }
    const auto take_digits = [](std::string_view& text) {
      text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
      const auto digits = text.substr(0, text.find_first_not_of("0123456789"));
      text.remove_prefix(digits.size());
      return digits;
    };
    const auto one = take_digits(left), other = take_digits(right);
    if (one.size() != other.size()) return one.size() < other.size();
    if (one != other) return one < other;
  }
  return left.size() < right.size();
}

constexpr const char* kOnce = "give each rank once, all from one run";

/// Numbers of TP-0-PP-1 and the like: the tensor parallel one where no two places share it, else
/// their order, in which ranks are made of them.
void number_by_places(std::vector<RankPart>& parts) {
  constexpr std::size_t kTensor = 2;
  std::set<std::array<std::int64_t, 4>> places;
  std::set<std::int64_t> tensor;
  for (const auto& part : parts) {
    const auto name = read_name(part.source);
    if (part.rank >= 0 || !name.placed()) continue;
    places.insert(name.place);
    if (name.place[kTensor] >= 0) tensor.insert(name.place[kTensor]);
  }
  for (auto& part : parts) {
    const auto place = read_name(part.source).place;
    const auto found = places.find(place);
    if (part.rank >= 0 || found == places.end()) continue;
    part.rank =
        tensor.size() == places.size() ? place[kTensor] : std::distance(places.begin(), found);
    part.rank_source = RankSource::file_name;
  }
}

/// The groups of its collectives know a rank better than its place or its file's name.
Status take_ranks_of_groups(std::vector<RankPart>& parts) {
  for (auto& part : parts) {
    if (part.rank_source < RankSource::device) continue;
    const auto common = common_ranks(part);
    if (common.size() == 1) {
      part.rank = common.front();
      part.rank_source = RankSource::groups;
    }
    if (part.rank_source == RankSource::file_name && part.rank >= 0 && !common.empty() &&
        !std::ranges::binary_search(common, part.rank))
      return fail(fmt::format("is rank {} by its name, and its collectives are those of ranks {}",
                              part.rank, fmt::join(common, ", ")),
                  part.source, -1, kOnce);
  }
  return {};
}

/// A file under another rank's number, in its name or inside, is no other rank: no two GPUs take
/// the same nanoseconds for everything. Stages of one rank may, where they are generated.
Status no_capture_twice(const std::vector<RankPart>& parts) {
  std::map<std::string_view, const RankPart*> seen;
  for (const auto& part : parts) {
    if (part.content.empty()) continue;
    const auto [at, added] = seen.try_emplace(part.content, &part);
    const RankPart& first = *at->second;
    if (!added && (first.start_ns == part.start_ns || first.rank != part.rank))
      return fail(fmt::format("has the content of {}: it is the same capture", first.source),
                  part.source, -1, kOnce);
  }
  return {};
}

/// A file under another rank's number is told; numbers of ranks on their host are none of the job.
void doubt_names(std::vector<RankPart>& parts) {
  std::map<std::int64_t, std::set<std::int64_t>> ranks;
  for (const auto& part : parts)
    if (const auto named = read_name(part.source).rank) ranks[*named].insert(part.rank);
  for (const auto& [named, of_name] : ranks)
    if (of_name.size() > 1) return;
  for (auto& part : parts) {
    const auto named = read_name(part.source).rank;
    if (!named || part.rank < 0 || *named == part.rank) continue;
    part.quality.push_back({std::string(kRenamedRank), 1,
                            fmt::format("{} is rank {} by what it holds, and rank {} by its name",
                                        file_name(part.source), part.rank, *named)});
  }
}

/// All ranks that the groups list; empty where a part has a group without a list.
std::set<std::int64_t> all_listed(const std::vector<RankPart>& parts) {
  std::set<std::int64_t> all;
  std::set<std::string_view> seen;
  for (const auto& part : parts) {
    const auto used = groups_used(part);
    if (used.empty() || part.world_size >= 0) return {};
    for (const auto number : used) {
      if (!seen.insert(part.groups[number].ranks).second) continue;
      const auto ranks = listed_ranks(part.groups[number].ranks);
      if (ranks.empty()) return {};
      all.insert(ranks.begin(), ranks.end());
    }
  }
  return all;
}

using Windows = std::vector<RankPart*>;  // of one rank

/// Captures of one process at different times.
bool are_stages(Windows& windows) {
  std::ranges::sort(windows, {}, &RankPart::start_ns);
  for (std::size_t i = 1; i < windows.size(); ++i) {
    const RankPart &before = *windows[i - 1], &after = *windows[i];
    const bool same_process =
        before.process < 0 || after.process < 0 || before.process == after.process;
    const bool same_host = before.host.empty() || after.host.empty() || before.host == after.host;
    if (!same_process || !same_host || before.device_id != after.device_id ||
        before.start_ns + before.span_ns > after.start_ns)
      return false;
  }
  return true;
}

/// Where there are more captures than ranks and nothing else tells these, the process and device of
/// a capture do.
void number_by_process(std::vector<RankPart>& parts, std::size_t ranks) {
  using Process = std::tuple<std::string, std::int64_t, std::int64_t>;
  std::map<Process, Windows> processes;
  for (auto& part : parts) {
    if (part.rank >= 0) return;
    processes[{part.host, part.process, part.device_id}].push_back(&part);
  }
  if (processes.size() > ranks) return;
  for (auto& [process, windows] : processes)
    if (!are_stages(windows)) return;
  std::int64_t rank = 0;
  for (const auto& [process, windows] : processes) {
    for (auto* part : windows) part->rank = rank;
    ++rank;
  }
}

/// The words that distinguish stages: "EXTEND" in "1-TP-#-EXTEND.json", "1-TP-#-DECODE.json".
std::vector<std::string> differing_words(const std::vector<std::string>& names) {
  const auto same_at = [&](auto letter_of) {
    std::size_t same = 0;
    while (std::ranges::all_of(names, [&](const auto& name) {
      return same < name.size() && letter_of(name, same) == letter_of(names.front(), same);
    }))
      ++same;
    return same;
  };
  const auto is_word = [](char letter) { return is_alphabetic(letter) || is_digit(letter); };
  auto from = same_at([](const auto& name, std::size_t at) { return name[at]; });
  while (from > 0 && is_word(names.front()[from - 1])) --from;
  auto behind =
      same_at([](const auto& name, std::size_t at) { return name[name.size() - 1 - at]; });
  while (behind > 0 && is_word(names.front()[names.front().size() - behind])) --behind;
  std::vector<std::string> words;
  for (const auto& name : names)
    words.push_back(from + behind < name.size() ? name.substr(from, name.size() - from - behind)
                                                : name);
  return words;
}

/// The stage of each rank's captures by the rest of their names, where all ranks share it.
std::optional<std::map<std::string, std::size_t>> stages_by_name(
    const std::map<std::int64_t, Windows>& ranks) {
  std::map<std::string, Nanos> begin;
  std::size_t most = 0;
  for (const auto& [rank, windows] : ranks) {
    std::set<std::string> own;
    for (const auto* part : windows) {
      const auto rest = read_name(part->source).rest;
      const auto [at, added] = begin.try_emplace(rest, part->start_ns);
      at->second = std::min(at->second, part->start_ns);
      own.insert(rest);
    }
    if (own.size() != windows.size()) return {};
    most = std::max(most, windows.size());
  }
  if (begin.size() != most) return {};
  std::vector<std::pair<Nanos, std::string>> order;
  for (const auto& [name, start] : begin) order.emplace_back(start, name);
  std::ranges::sort(order);
  std::map<std::string, std::size_t> stages;
  for (std::size_t i = 0; i < order.size(); ++i) stages[order[i].second] = i;
  return stages;
}

Result<std::vector<RankStage>> stages_of(const std::map<std::int64_t, Windows>& ranks) {
  std::size_t most = 0, least = SIZE_MAX;
  for (const auto& [rank, windows] : ranks) {
    most = std::max(most, windows.size());
    least = std::min(least, windows.size());
  }
  std::vector<RankStage> stages(most);
  const auto by_name = stages_by_name(ranks);
  if (!by_name && least != most)
    return fail(fmt::format("ranks have {} to {} captures, and their names do not tell which "
                            "belong together",
                            least, most),
                ranks.begin()->second.front()->source, -1,
                "give the captures of one stretch of time");
  std::vector<std::string> names(most);
  for (const auto& [rank, windows] : ranks)
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const auto rest = read_name(windows[i]->source).rest;
      const std::size_t stage = by_name ? by_name->at(rest) : i;
      names[stage] = rest;
      stages[stage].parts.push_back(std::move(*windows[i]));
    }
  if (by_name) names = differing_words(names);
  for (std::size_t stage = 0; stage < most; ++stage)
    stages[stage].name = by_name ? names[stage] : fmt::format("{}", stage + 1);
  return stages;
}

}  // namespace

Result<std::vector<RankStage>> split_stages(std::vector<RankPart> parts) {
  std::ranges::stable_sort(parts, [](const RankPart& left, const RankPart& right) {
    return counts_before(left.source, right.source);
  });
  if (auto taken = take_ranks_of_groups(parts); !taken) return tl::unexpected(taken.error());
  number_by_places(parts);
  if (auto once = no_capture_twice(parts); !once) return tl::unexpected(once.error());
  doubt_names(parts);
  const auto listed = all_listed(parts);
  const bool too_many = !listed.empty() && parts.size() > listed.size();
  if (too_many) number_by_process(parts, listed.size());
  std::map<std::int64_t, Windows> ranks;
  std::int64_t unnumbered = 0;
  for (auto& part : parts) ranks[part.rank >= 0 ? part.rank : --unnumbered].push_back(&part);
  if (too_many && ranks.size() > listed.size())
    return fail(fmt::format("{} captures are given, and the groups of their collectives have the "
                            "{} ranks {}",
                            parts.size(), listed.size(), fmt::join(listed, ", ")),
                parts.front().source, -1, kOnce);
  bool several = false;
  for (auto& [rank, windows] : ranks) {
    several |= windows.size() > 1;
    if (are_stages(windows)) continue;
    std::ranges::sort(windows, {}, &RankPart::source);
    return fail(fmt::format("is rank {}, and so is {}", rank, windows[0]->source),
                windows[1]->source, -1, kOnce);
  }
  std::vector<RankStage> one(1);
  if (several) return stages_of(ranks);
  one.front().parts = std::move(parts);
  return one;
}

}  // namespace gf
