#include "analyze/ranks/ranks.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <set>
#include <type_traits>

#include "analyze/ranks/answer.h"
#include "analyze/ranks/measure_rank.h"
#include "analyze/ranks/stages.h"

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
      return fail(fmt::format("belongs to another job than {}: {} {}, there {}", first->source,
                              what, part.*member, first->*member),
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
      return fail(fmt::format("belongs to another job than {}: {} ranks, there {}", first->source,
                              part.world_size, first->world_size),
                  part.source, -1, kOneRun);
  }
  return {};
}

Status different_ranks(const std::vector<RankPart>& parts) {
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (parts[i].rank == parts[i - 1].rank)
      return fail(fmt::format("is rank {}, and so is {}", parts[i].rank, parts[i - 1].source),
                  parts[i].source, -1, "give each rank once, all from one run");
  for (const auto& part : parts)
    if (part.world_size >= 0 && part.rank >= part.world_size)
      return fail(fmt::format("says that it is rank {} of {}", part.rank, part.world_size),
                  part.source, -1, kOneRun);
  return {};
}

/// The ranks of the job, by the captures or the launcher, else by the groups of its collectives.
std::int64_t ranks_of(const std::vector<RankPart>& parts) {
  std::int64_t size = -1;
  for (const auto& part : parts) size = std::max(size, part.world_size);
  if (size < 0) size = ranks_by_groups(parts);
  // A number from a broken file is no reason to list ranks for hours.
  constexpr std::int64_t kMost = 1'000'000;
  return size <= kMost ? size : -1;
}

}  // namespace

Result<Job> join_parts(std::vector<RankPart> parts) {
  number_by_order(parts);
  std::stable_sort(parts.begin(), parts.end(), [](const RankPart& left, const RankPart& right) {
    return left.rank != right.rank ? left.rank < right.rank : left.source < right.source;
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
  job.world_size = ranks_of(parts);
  job.parts = std::move(parts);
  job.clocks.resize(job.parts.size());
  return job;
}

std::vector<std::int64_t> Job::missing_ranks() const {
  std::vector<std::int64_t> ranks;
  std::size_t at = 0;
  for (std::int64_t rank = 0; rank < world_size; ++rank) {
    while (at < parts.size() && parts[at].rank < rank) ++at;
    if (at == parts.size() || parts[at].rank != rank) ranks.push_back(rank);
  }
  return ranks;
}

namespace {

Nanos span_of(const std::vector<RankUse>& ranks) {
  Nanos begin = INT64_MAX, end = INT64_MIN;
  for (const auto& rank : ranks) {
    if (!rank.offset_ns) continue;
    begin = std::min(begin, rank.start_ns);
    end = std::max(end, rank.start_ns + rank.span_ns);
  }
  return end > begin ? end - begin : 0;
}

/// Adds the notes of single captures, each code once.
void add_quality(const Job& job, JobRanks& answer) {
  answer.quality = job.quality;
  for (const auto& part : job.parts)
    for (const auto& note : part.quality) {
      const auto same =
          std::find_if(answer.quality.begin(), answer.quality.end(),
                       [&](const QualityNote& known) { return known.code == note.code; });
      if (same != answer.quality.end())
        same->count += note.count;
      else
        answer.quality.push_back(
            {note.code, note.count, fmt::format("rank {}: {}", part.rank, note.detail)});
    }
  std::int64_t unmatched = 0;
  for (const auto& rank : answer.ranks) unmatched += rank.collectives - rank.matched;
  if (unmatched > 0 && answer.ranks.size() > 1)
    answer.quality.push_back(
        {"unmatched_collectives", unmatched,
         "collectives that appear in only one of the files: waiting in them is not separated"});
}

void add_replayed(const JobView& view, JobRanks& answer) {
  const JobGains& gains = *view.gains;
  answer.replayed_ns = gains.span;
  answer.missing_gain_ns = gains.missing;
  answer.joint_gain_ns = gains.joint_gain;
  for (const auto part : gains.joint) answer.joint_ranks.push_back(view.job.parts[part].rank);
  for (std::size_t part = 0; part < gains.ranks.size(); ++part) {
    answer.ranks[part].recording_doubt_ns = gains.ranks[part].host_in_doubt;
    answer.ranks[part].same_kernels = gains.ranks[part].same_kernels;
  }
}

std::size_t bytes_of_graphs(const Job& job) {
  std::size_t bytes = 0;
  for (const auto& part : job.parts) bytes += part.graph.nodes.size();
  return bytes;
}

}  // namespace

namespace {

Result<RankStage> only_stage(std::vector<RankPart> parts) {
  if (parts.empty()) return fail("there is no rank to analyze");
  auto stages = split_stages(std::move(parts));
  if (!stages) return tl::unexpected(stages.error());
  if (stages->size() > 1) {
    std::string names;
    for (const auto& stage : *stages) names += (names.empty() ? "" : ", ") + stage.name;
    return fail("the captures are of several stretches of time: " + names,
                stages->front().parts.front().source, -1, "give the captures of one of them");
  }
  return std::move(stages->front());
}

Result<WorkedJob> paired_stage(RankStage stage, unsigned workers) {
  auto job = join_parts(std::move(stage.parts));
  if (!job) return tl::unexpected(job.error());
  if (auto paired = pair_collectives(*job, workers); !paired) return tl::unexpected(paired.error());
  WorkedJob worked{std::move(*job), {}, {}, {}};
  worked.splits = split_waiting(worked.job);
  return worked;
}

}  // namespace

Result<WorkedJob> pair_up(std::vector<RankPart> parts, unsigned workers) {
  auto stage = only_stage(std::move(parts));
  if (!stage) return tl::unexpected(stage.error());
  return paired_stage(std::move(*stage), workers);
}

Result<WorkedJob> work_out(std::vector<RankPart> parts, unsigned workers) {
  auto stage = only_stage(std::move(parts));
  if (!stage) return tl::unexpected(stage.error());
  return work_out(std::move(*stage), workers);
}

Result<WorkedJob> work_out(RankStage stage, unsigned workers) {
  auto paired = paired_stage(std::move(stage), workers);
  if (!paired) return paired;
  WorkedJob worked = std::move(*paired);
  worked.charges = charge_waiting(worked.job, worked.splits);
  if (bytes_of_graphs(worked.job) > kMostPackedGraphs)
    worked.job.note("bounds_by_waiting", 1,
                    "the job is too large to run again: gains are bounds by the others' waiting");
  else if (const auto graph = join_graphs(worked.job))
    worked.gains = gains_of(worked.job, *graph, workers);
  return worked;
}

JobRanks answer_of(const JobView& view, const RanksOptions& options) {
  JobRanks answer;
  answer.world_size = view.job.world_size;
  answer.missing_ranks = view.job.missing_ranks();
  answer.ranks = rank_uses(view);
  answer.groups = group_uses(view);
  answer.stragglers = stragglers(view);
  answer.falling_behind = falling_behind(view, answer.stragglers);
  answer.links = slow_links(view);
  if (view.gains) add_replayed(view, answer);
  answer.pipeline = pipeline_of(view, answer.ranks);
  answer.steps = rank_steps(view);
  answer.rates = collective_rates(view);
  answer.critical_path = critical_path(view);
  answer.collectives_matched = static_cast<std::int64_t>(view.job.shared.size());
  answer.collectives = collective_rows(view, options.max_collectives);
  answer.span_ns = span_of(answer.ranks);
  add_quality(view.job, answer);
  return answer;
}

Result<std::vector<JobRanks>> analyze_stages(std::vector<RankPart> parts,
                                             const RanksOptions& options) {
  if (parts.empty()) return fail("there is no rank to analyze");
  auto stages = split_stages(std::move(parts));
  if (!stages) return tl::unexpected(stages.error());
  std::vector<JobRanks> answers;
  for (auto& stage : *stages) {
    const std::string name = stage.name;
    const auto worked = work_out(std::move(stage), options.workers);
    if (!worked) return tl::unexpected(worked.error());
    answers.push_back(answer_of(worked->view(), options));
    answers.back().stage = name;
  }
  return answers;
}

Result<JobRanks> analyze_ranks(std::vector<RankPart> parts, const RanksOptions& options) {
  const auto worked = work_out(std::move(parts), options.workers);
  if (!worked) return tl::unexpected(worked.error());
  return answer_of(worked->view(), options);
}

namespace {

namespace dom = simdjson::dom;

bool read(const dom::element& json, std::string& out) {
  std::string_view text;
  if (json.get_string().get(text)) return false;
  out = text;
  return true;
}

bool read(const dom::element& json, std::int64_t& out) { return !json.get_int64().get(out); }

template <NamedEnum E>
bool read(const dom::element& json, E& out) {
  std::string_view text;
  if (json.get_string().get(text)) return false;
  const auto value = enum_from<E>(text);
  if (value) out = *value;
  return value.has_value();
}

template <class T>
bool read(const dom::element& json, std::vector<T>& out);

template <Described T>
bool read(const dom::element& json, T& out) {
  dom::object object;
  if (json.get_object().get(object)) return false;
  bool sound = true;
  T::fields([&](const char* name, auto member, const char*) {
    dom::element value;
    if (!object.at_key(name).get(value))
      sound = sound && read(value, out.*member);
    else  // parts of earlier releases have no graph, no process and no digest
      sound = sound && (std::is_same_v<decltype(member), PartGraph T::*> ||
                        std::string_view(name) == "process" || std::string_view(name) == "content");
  });
  return sound;
}

template <class T>
bool read(const dom::element& json, std::vector<T>& out) {
  dom::array list;
  if (json.get_array().get(list)) return false;
  out.reserve(list.size());
  for (const dom::element item : list)
    if (!read(item, out.emplace_back())) return false;
  return true;
}

/// Every column has the same rows, and every number names something.
class Checked {
 public:
  explicit Checked(const RankPart& part) : part_(part) {}

  bool sound() const {
    const auto& table = part_.collectives;
    const std::size_t rows = table.start_ns.size();
    bool even = true;
    PartCollectives::fields([&](const char*, auto member, const char*) {
      even = even && (table.*member).size() == rows;
    });
    return even && times_sound() &&
           numbers(table.type, 0, EnumNames<CollectiveType>::names.size()) &&
           numbers(table.group, -1, part_.groups.size()) &&
           numbers(table.step, -1, part_.steps.size()) &&
           numbers(table.kernel, 0, part_.texts.size()) && before_sound(rows) &&
           owners_sound(rows) && hosts_sound() && part_.start_ns >= -kLongest &&
           part_.start_ns <= kLongest;
  }

 private:
  static constexpr std::int64_t kLongest = std::int64_t{1} << 61;

  static bool numbers(const std::vector<std::int64_t>& column, std::int64_t least,
                      std::size_t count) {
    for (const auto number : column)
      if (number < least || number >= static_cast<std::int64_t>(count)) return false;
    return true;
  }
  bool times_sound() const {
    const auto& table = part_.collectives;
    for (std::size_t i = 0; i < table.start_ns.size(); ++i) {
      if (table.start_ns[i] < -kLongest || table.start_ns[i] > kLongest) return false;
      if (table.duration_ns[i] < 0 || table.duration_ns[i] > kLongest) return false;
      if (i > 0 && table.start_ns[i] < table.start_ns[i - 1]) return false;
    }
    return true;
  }
  bool before_sound(std::size_t rows) const {
    const auto& before = part_.before;
    return before.part.size() == before.collective.size() &&
           before.ns.size() == before.collective.size() && numbers(before.collective, 0, rows) &&
           numbers(before.part, 0, kRankTimes);
  }
  bool owners_sound(std::size_t rows) const {
    const auto& owners = part_.owners;
    const std::size_t count = owners.collective.size();
    return owners.part.size() == count && owners.op.size() == count &&
           owners.module.size() == count && owners.ns.size() == count &&
           numbers(owners.collective, 0, rows) && numbers(owners.part, 0, kRankTimes) &&
           numbers(owners.op, 0, part_.texts.size()) &&
           numbers(owners.module, 0, part_.texts.size());
  }

  bool hosts_sound() const {
    const auto& hosts = part_.hosts;
    bool even = true;
    PartHost::fields([&](const char*, auto member, const char*) {
      even = even && (hosts.*member).size() == hosts.step.size();
    });
    if (!even) return false;
    for (const auto* column : {&hosts.duration_ns, &hosts.blocked_ns, &hosts.input_ns,
                               &hosts.operators_ns, &hosts.other_ns})
      for (const Nanos time : *column)
        if (time < 0 || time > kLongest) return false;
    return numbers(hosts.input_op, -1, part_.texts.size()) &&
           numbers(hosts.other_op, -1, part_.texts.size());
  }

  const RankPart& part_;
};

}  // namespace

Result<RankPart> read_rank_part(std::string_view json, const std::string& path) {
  constexpr const char* kMapAgain = "make it again with gpufathom ranks --map";
  dom::parser parser;
  dom::element root;
  if (parser.parse(json.data(), json.size()).get(root))
    return fail("is not the JSON of a rank, or is truncated", path, -1, kMapAgain);
  std::string_view schema;
  if (root["schema"].get_string().get(schema) || schema != "gpufathom.rank/2")
    return fail("contains no rank with the layout gpufathom.rank/2", path, -1, kMapAgain);
  RankPart part;
  if (!read(root, part) || !Checked(part).sound())
    return fail("contains an inconsistent rank", path, -1, kMapAgain);
  for (auto& group : part.groups) group.ranks = short_list(group.ranks);  // of an older part
  return part;
}

Nanos part_of(const RankUse& rank, std::string_view name) {
  for (const auto& piece : rank.time)
    if (piece.part == name) return piece.ns;
  return 0;
}

const RankUse* who_waits_most(const JobRanks& job, std::optional<std::int64_t> but) {
  const RankUse* most = nullptr;
  for (const auto& rank : job.ranks)
    if (rank.rank != but && (!most || part_of(rank, "waiting") > part_of(*most, "waiting")))
      most = &rank;
  return most;
}

Nanos gain_of(const JobRanks& job, std::int64_t rank) {
  Nanos gain = 0;
  for (const auto& late : job.stragglers)
    if (late.rank == rank) gain += late.gain_ns;
  return gain;
}

bool is_worth_blame(const JobRanks& job, Nanos gain) {
  constexpr double kWorthBlame = 0.01;  // of the job's time
  return share_of(gain, job.span_ns).value_or(0) >= kWorthBlame;
}

}  // namespace gf
