#include "analyze/ranks/measure_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "analyze/attribution/attribution.h"
#include "analyze/chosen_devices.h"
#include "analyze/collective_type.h"
#include "analyze/context.h"
#include "analyze/device_use.h"
#include "analyze/host_threads.h"
#include "analyze/idle/idle.h"
#include "analyze/ranks/identity.h"
#include "analyze/ranks/names.h"
#include "analyze/replay/build_graph.h"
#include "analyze/steps/steps.h"
#include "analyze/timeline.h"
#include "analyze/vocabulary.h"
#include "analyze/window.h"
#include "core/strings.h"
#include "model/launches.h"

namespace gf {

namespace {

class OwnerNames {
 public:
  explicit OwnerNames(const Context& context)
      : context_(context), naming_(context.capture, context.names, context.attribution) {}
  /// The operation that names the layer of a kernel or copy.
  std::string_view op_of_activity(std::uint32_t activity);
  /// The host's operation during idle time.
  std::string_view op_of_host(std::uint32_t op) const;
  std::string_view module_of(std::uint32_t activity) const;

 private:
  const Context& context_;
  NamingOperations naming_;
};

constexpr std::size_t kKept = 4;  // operators kept of one stretch

using Owner = std::tuple<RankTime, std::string_view, std::string_view>;

/// Adds times to the stretches between the starts of collectives.
class Stretches {
 public:
  explicit Stretches(const std::vector<Nanos>& starts) : starts_(starts), owners_(starts.size()) {}

  void add(Interval span, const Owner& owner) {
    auto index = static_cast<std::size_t>(
        std::upper_bound(starts_.begin(), starts_.end(), span.start) - starts_.begin());
    for (Nanos from = span.start; from < span.end && index < starts_.size(); ++index) {
      const Nanos to = std::min(span.end, starts_[index]);
      if (to > from) owners_[index][owner] += to - from;
      from = std::max(from, to);
    }
  }

  void write(RankPart& part, Texts& texts) const {
    for (std::size_t index = 0; index < owners_.size(); ++index) {
      std::vector<std::pair<Owner, Nanos>> largest(owners_[index].begin(), owners_[index].end());
      std::stable_sort(largest.begin(), largest.end(), [](const auto& left, const auto& right) {
        return left.second > right.second;
      });
      if (largest.size() > kKept) largest.resize(kKept);
      for (const auto& [owner, ns] : largest) {
        part.owners.collective.push_back(static_cast<std::int64_t>(index));
        part.owners.part.push_back(static_cast<std::int64_t>(std::get<0>(owner)));
        part.owners.op.push_back(texts.number(std::get<1>(owner)));
        part.owners.module.push_back(texts.number(std::get<2>(owner)));
        part.owners.ns.push_back(ns);
      }
    }
  }

 private:
  const std::vector<Nanos>& starts_;
  std::vector<std::map<Owner, Nanos>> owners_;
};

std::string_view OwnerNames::op_of_activity(std::uint32_t activity) {
  const Capture& capture = context_.capture;
  const auto named = naming_.of(context_.attribution.op[activity]);
  if (named != kNoRow) return capture.text(capture.host_ops.name[named]);
  return capture.text(capture.activities.name[activity]);
}

std::string_view OwnerNames::op_of_host(std::uint32_t op) const {
  if (op == kNoRow) return {};
  return context_.capture.text(context_.capture.host_ops.name[op]);
}

std::string_view OwnerNames::module_of(std::uint32_t activity) const {
  if (activity == kNoRow) return {};
  const auto& attribution = context_.attribution;
  return attribution.modules[attribution.module[activity]];
}

/// Fills owners of `part`, whose collectives are there: for each the operators with most time since
/// the one before.
void fill_owners(const Context& context, const DeviceTimeline& line, OwnerNames& names,
                 RankPart& part, Texts& texts) {
  const Capture& capture = context.capture;
  Stretches stretches(part.collectives.start_ns);
  for (std::size_t i = 0; i < line.rows.size(); ++i) {
    const auto row = line.rows[i];
    const bool kernel = capture.activities.kind[row] == ActivityKind::kernel;
    if (kernel && communicates(context.names.kernel(capture.activities.name[row]))) continue;
    stretches.add(line.spans[i], {kernel ? RankTime::kernels : RankTime::copies,
                                  names.op_of_activity(row), names.module_of(row)});
  }
  for (const auto& piece : line.idle_pieces)
    stretches.add(piece.span(), {rank_time(piece.reason), names.op_of_host(piece.op),
                                 names.module_of(piece.next)});
  stretches.write(part, texts);
}

/// Unions of a device's work by kind, inside its window.
struct DeviceWork {
  Intervals compute, copies, collectives;
};

struct LabelledSpan {
  Interval span;
  RankTime label = RankTime::unknown;
};

using LabelSums = std::array<Nanos, kRankTimes>;

/// Sums of labels up to any instant, asked in any order. O(log n) a question.
class LabelIntegral {
 public:
  explicit LabelIntegral(std::vector<LabelledSpan> spans);
  /// Time of each label before `at`.
  LabelSums before(Nanos at) const;
  /// The same within a span.
  LabelSums within(Interval span) const;
  const std::vector<LabelledSpan>& spans() const { return spans_; }

 private:
  static constexpr std::size_t kStride = 64;  // spans between two stored sums
  std::vector<LabelledSpan> spans_;
  std::vector<LabelSums> sums_;
};

void add_all(std::vector<LabelledSpan>& spans, const Intervals& set, RankTime label) {
  for (const auto& span : set) spans.push_back({span, label});
}

void add(LabelSums& sums, const LabelledSpan& piece, Nanos until) {
  const Nanos end = std::min(piece.span.end, until);
  if (end > piece.span.start) sums[static_cast<std::size_t>(piece.label)] += end - piece.span.start;
}

DeviceWork device_work(const Context& context, const DeviceTimeline& line) {
  const Capture& capture = context.capture;
  DeviceWork work;
  for (std::size_t i = 0; i < line.rows.size(); ++i) {
    const auto row = line.rows[i];
    if (capture.activities.kind[row] != ActivityKind::kernel)
      work.copies.push_back(line.spans[i]);
    else if (communicates(context.names.kernel(capture.activities.name[row])))
      work.collectives.push_back(line.spans[i]);
    else
      work.compute.push_back(line.spans[i]);
  }
  work.compute = normalised(std::move(work.compute));
  work.copies = normalised(std::move(work.copies));
  work.collectives = normalised(std::move(work.collectives));
  return work;
}

/// The window of `line` in pieces in order of time, without a gap.
std::vector<LabelledSpan> label_time(const DeviceTimeline& line, const DeviceWork& work) {
  std::vector<LabelledSpan> spans;
  add_all(spans, work.compute, RankTime::kernels);
  add_all(spans, subtract(work.copies, work.compute), RankTime::copies);
  add_all(spans, subtract(subtract(work.collectives, work.copies), work.compute),
          RankTime::collectives);
  for (const auto& piece : line.idle_pieces)
    spans.push_back({piece.span(), rank_time(piece.reason)});
  std::erase_if(spans, [](const LabelledSpan& piece) { return piece.span.length() <= 0; });
  std::sort(spans.begin(), spans.end(), [](const LabelledSpan& left, const LabelledSpan& right) {
    return left.span.start < right.span.start;
  });
  return spans;
}

LabelIntegral::LabelIntegral(std::vector<LabelledSpan> spans) : spans_(std::move(spans)) {
  LabelSums sums{};
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    if (i % kStride == 0) sums_.push_back(sums);
    add(sums, spans_[i], spans_[i].span.end);
  }
}

LabelSums LabelIntegral::before(Nanos at) const {
  const auto after =
      std::partition_point(spans_.begin(), spans_.end(),
                           [&](const LabelledSpan& piece) { return piece.span.start < at; });
  const auto count = static_cast<std::size_t>(after - spans_.begin());
  if (count == 0) return {};
  const std::size_t stored = (count - 1) / kStride;
  LabelSums sums = sums_[stored];
  for (std::size_t i = stored * kStride; i < count; ++i) add(sums, spans_[i], at);
  return sums;
}

LabelSums LabelIntegral::within(Interval span) const {
  LabelSums sums = before(span.end);
  const LabelSums earlier = before(span.start);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] -= earlier[i];
  return sums;
}

/// Row of the collectives table by row of activities.
std::vector<std::uint32_t> described_by(const Capture& capture) {
  std::vector<std::uint32_t> described(capture.activities.size(), kNoRow);
  const auto& table = capture.collectives;
  for (std::uint32_t row = 0; row < table.size(); ++row) {
    const auto activity = table.activity[row];
    if (activity < described.size()) described[activity] = row;
  }
  return described;
}

/// The numbers of "[0,1,2]"; none where it is no list of numbers.
std::vector<std::int64_t> numbers_of(std::string_view list) {
  std::vector<std::int64_t> numbers;
  if (!list.starts_with('[') || !list.ends_with(']')) return numbers;
  const char *at = list.data() + 1, *const end = list.data() + list.size() - 1;
  for (; at < end; ++at) {
    std::int64_t number = -1;
    const auto [stop, bad] = std::from_chars(at, end, number);
    if (bad != std::errc{} || number < 0 || (stop != end && *stop != ',')) return {};
    numbers.push_back(number);
    at = stop;
  }
  return numbers;
}

class Groups {
 public:
  Groups(const Capture& capture, RankPart& part) : capture_(capture), part_(part) {}

  std::int64_t of(std::uint32_t row) {
    const auto& table = capture_.collectives;
    const std::pair recorded{Text{table.group_name[row]}, Text{table.group_ranks[row]}};
    const auto known = recorded_.find(recorded);  // a list may name thousands of ranks
    if (known != recorded_.end()) return known->second;
    std::string name(capture_.text(recorded.first));
    std::string ranks = short_list(capture_.text(recorded.second));
    const auto key = std::pair(name, ranks);
    const auto [at, added] =
        numbers_.try_emplace(key, static_cast<std::int64_t>(part_.groups.size()));
    if (added) part_.groups.push_back({std::move(name), std::move(ranks), table.group_size[row]});
    return recorded_[recorded] = at->second;
  }

 private:
  const Capture& capture_;
  RankPart& part_;
  std::map<std::pair<std::string, std::string>, std::int64_t> numbers_;
  std::map<std::pair<Text, Text>, std::int64_t> recorded_;
};

/// A communicator has a stream of its own: what is not described belongs to the one group that is
/// described on its stream, or on the device.
void fill_groups(const Capture& capture, const std::vector<std::uint32_t>& rows, RankPart& part) {
  constexpr std::int64_t kSeveral = -2;
  std::map<std::int64_t, std::int64_t> of_stream;
  auto& group = part.collectives.group;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (group[i] < 0) continue;
    const auto [at, added] = of_stream.try_emplace(capture.activities.stream[rows[i]], group[i]);
    if (!added && at->second != group[i]) at->second = kSeveral;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (group[i] >= 0) continue;
    const auto found = of_stream.find(capture.activities.stream[rows[i]]);
    if (found != of_stream.end() && found->second != kSeveral) group[i] = found->second;
    if (group[i] < 0 && part.groups.size() == 1) group[i] = 0;
  }
}

/// Fills groups and collectives of `part` for these rows; `compute` is the time in which kernels
/// computed. What the profiler did not describe takes the group of the others on its stream.
void collect_collectives(const Capture& capture, const std::vector<std::uint32_t>& rows,
                         const Intervals& compute, RankPart& part, Texts& texts) {
  const auto described = described_by(capture);
  const auto& activities = capture.activities;
  const auto& table = capture.collectives;
  Groups groups(capture, part);
  auto& out = part.collectives;
  for (const auto row : rows) {
    const std::string_view kernel = capture.text(activities.name[row]);
    const auto about = described[row];
    auto type = collective_type(kernel);
    if (about != kNoRow)
      if (const auto said = collective_type(capture.text(table.name[about]));
          said != CollectiveType::other)
        type = said;
    const Nanos start = activities.start_ns[row], duration = activities.duration_ns[row];
    out.start_ns.push_back(start);
    out.duration_ns.push_back(duration);
    out.exposed_ns.push_back(duration - covered(compute, {start, start + duration}));
    out.type.push_back(static_cast<std::int64_t>(type));
    out.kernel.push_back(texts.number(kernel));
    out.group.push_back(about == kNoRow ? -1 : groups.of(about));
    out.sequence.push_back(about == kNoRow ? -1 : table.sequence[about]);
    out.bytes.push_back(about == kNoRow ? -1 : message_bytes(capture, about, type));
    out.from_rank.push_back(about == kNoRow ? -1 : table.from_rank[about]);
    out.to_rank.push_back(about == kNoRow ? -1 : table.to_rank[about]);
  }
  fill_groups(capture, rows, part);
}

std::vector<PartTime> parts_of(const LabelSums& sums) {
  std::vector<PartTime> parts;
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i] != 0) parts.push_back({static_cast<RankTime>(i), sums[i]});
  return parts;
}

/// Steps of the device; the step of each collective is the one in which it began.
void place_in_steps(const std::vector<StepInfo>& steps, const LabelIntegral& labels,
                    Interval window, RankPart& part) {
  for (const auto& step : steps) {
    const Interval span{std::max(step.start_ns, window.start),
                        std::min(step.start_ns + step.duration_ns, window.end)};
    if (span.length() <= 0) continue;
    part.steps.push_back({step.index, span.start, span.length(), parts_of(labels.within(span))});
  }
  std::size_t at = 0;
  for (const Nanos start : part.collectives.start_ns) {
    while (at < part.steps.size() && part.steps[at].start_ns + part.steps[at].duration_ns <= start)
      ++at;
    const bool inside = at < part.steps.size() && part.steps[at].start_ns <= start;
    part.collectives.step.push_back(inside ? static_cast<std::int64_t>(at) : -1);
  }
}

void fill_before(const LabelIntegral& labels, Nanos begin, RankPart& part) {
  LabelSums earlier = labels.before(begin);
  const auto& starts = part.collectives.start_ns;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const LabelSums now = labels.before(starts[i]);
    for (std::size_t label = 0; label < now.size(); ++label) {
      if (now[label] == earlier[label]) continue;
      part.before.collective.push_back(static_cast<std::int64_t>(i));
      part.before.part.push_back(static_cast<std::int64_t>(label));
      part.before.ns.push_back(now[label] - earlier[label]);
    }
    earlier = now;
  }
}

/// The process that launched most of a device's work, -1: not known.
std::int64_t process_of(const Context& context, const DeviceTimeline& line) {
  const Capture& capture = context.capture;
  std::map<std::int64_t, std::size_t> launched;
  for (const auto row : line.rows) {
    std::int64_t pid = capture.activities.pid[row];
    const auto call = context.launches[row];
    if (pid < 0 && call != kNoRow) {
      const auto thread = capture.api_calls.thread[call];
      if (thread < capture.threads.size()) pid = capture.threads.pid[thread];
    }
    if (pid >= 0) ++launched[pid];
  }
  const auto most =
      std::ranges::max_element(launched, {}, [](const auto& entry) { return entry.second; });
  return most == launched.end() ? -1 : most->first;
}

RankPart measure_device(const Context& context, const DeviceTimeline& line,
                        const std::vector<StepInfo>& steps, const StepMarks& marks,
                        OwnerNames& names, const CollectiveRows& rows) {
  const Capture& capture = context.capture;
  RankPart part;
  const DeviceWork work = device_work(context, line);
  const LabelIntegral labels(label_time(line, work));
  part.device = capture.text(capture.devices.name[line.device]);
  part.device_id = capture.devices.id[line.device];
  part.process = process_of(context, line);
  part.content = content_of(capture, line);
  part.start_ns = line.window.start;
  part.span_ns = line.window.length();
  part.busy_ns = total(line.busy);
  part.compute_ns = total(work.compute);
  part.communication_ns = total(work.collectives);
  part.exposed_ns = part.communication_ns - shared_length(work.collectives, work.compute);
  part.time = parts_of(labels.within(line.window));
  Texts texts;
  collect_collectives(capture, rows, work.compute, part, texts);
  fill_queued(context, line, part);
  fill_hosts(context, line, marks, part, texts);
  place_in_steps(steps, labels, line.window, part);
  fill_before(labels, line.window.start, part);
  fill_owners(context, line, names, part, texts);
  ReplayGraph graph = build_graph(context, line, rows, kAllTime, NodeNames::given).graph;
  part.graph.nodes = pack(graph);
  part.graph.names = std::move(graph.names);
  part.texts = std::move(texts).take();
  return part;
}

/// Fills in what all parts of a capture share. Several devices with collectives are several ranks.
void identify(const Capture& capture, std::vector<RankPart>& parts) {
  const RankIdentity identity = identify_rank(capture);
  const auto quality = quality_of(capture);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    RankPart& part = parts[i];
    part.source = capture.path;
    part.format = capture.format;
    part.events = capture.events;
    part.bytes = capture.bytes;
    part.job = identity.job;
    part.host = identity.host;
    part.world_size = identity.world_size;
    const auto ranks = static_cast<std::size_t>(std::max<std::int64_t>(1, part.world_size));
    if (part.graph.nodes.size() > kMostPackedGraphs / ranks) part.graph = {};
    part.rank = identity.rank;
    part.rank_source = identity.source;
    part.quality = quality;
    if (parts.size() > 1) {
      part.rank = static_cast<std::int64_t>(i);
      part.rank_source = RankSource::device;
    }
  }
}

/// The devices that take part in collectives; all of them where none does.
std::vector<const DeviceTimeline*> devices_of_ranks(const Context& context) {
  std::vector<const DeviceTimeline*> with, all;
  for (const auto& line : context.devices) {
    all.push_back(&line);
    if (!collective_rows(context, line).empty()) with.push_back(&line);
  }
  return with.empty() ? all : with;
}

}  // namespace

std::string short_list(std::string_view ranks) {
  constexpr std::size_t kShort = 16, kRun = 4;
  std::string plain;
  for (const char letter : ranks)
    if (letter != ' ') plain += letter;
  const auto numbers = numbers_of(plain);
  if (numbers.size() <= kShort) return plain;
  std::string out = "[";
  for (std::size_t from = 0; from < numbers.size();) {
    std::size_t last = std::min(from + 1, numbers.size() - 1);
    const std::int64_t step = numbers[last] - numbers[from];
    while (last + 1 < numbers.size() && numbers[last + 1] - numbers[last] == step) ++last;
    if (step <= 0 || last - from + 1 < kRun) last = from;
    out += fmt::format("{}{}", from > 0 ? "," : "", numbers[from]);
    if (last > from) out += fmt::format("-{}", numbers[last]);
    if (last > from && step > 1) out += fmt::format("/{}", step);
    from = last + 1;
  }
  return out + "]";
}

Result<std::vector<RankPart>> measure_ranks(const Capture& capture,
                                            std::vector<CollectiveRows>* rows,
                                            std::string_view devices, std::string_view wanted) {
  AnalyzeOptions options;
  options.devices = devices;
  options.threads = 1;  // other ranks have the other cores
  Context context{capture, options};
  context.host = HostThreads(capture);
  context.names = Names(capture);
  context.launches = join_launches(capture);
  const Steps steps = find_steps(capture, context.launches, context.host, context.names);
  auto chosen = choose_devices(capture, devices);
  if (!chosen) return tl::unexpected(chosen.error());
  context.chosen = std::move(*chosen);
  auto window = choose_window(capture, wanted, steps, context.chosen);
  if (!window) return tl::unexpected(window.error());
  context.window = std::move(*window);
  context.attribution = attribute(capture, context.host, context.names, context.launches);
  context.devices = build_timelines(capture, context.window);
  set_others_aside(context);
  auto idle = explain_idle(context, collect_launch_facts(context));
  for (std::size_t device = 0; device < idle.size(); ++device)
    context.devices[device].idle_pieces = std::move(idle[device].pieces);
  OwnerNames names(context);
  const StepMarks marks = find_marks(capture);
  std::vector<RankPart> parts;
  for (const DeviceTimeline* line : devices_of_ranks(context)) {
    auto of_part = collective_rows(context, *line);
    parts.push_back(measure_device(context, *line, steps.steps, marks, names, of_part));
    if (rows) rows->push_back(std::move(of_part));
  }
  identify(capture, parts);
  return parts;
}

}  // namespace gf
