#include "analyze/ranks/collect_collectives.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "analyze/host_roles.h"
#include "analyze/ranks/collective_type.h"

namespace gf {

namespace {

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

std::int64_t message_bytes(const Capture& capture, std::uint32_t row, CollectiveType type) {
  const auto& table = capture.collectives;
  const std::int64_t size = element_bytes(capture.text(table.dtype[row]));
  std::int64_t elements = table.in_elements[row];
  if (type == CollectiveType::all_gather) elements = table.out_elements[row];
  if (size == 0 || elements < 0 || elements > INT64_MAX / size) return -1;
  return elements * size;
}

/// Spaces after commas are a matter of taste.
std::string without_spaces(std::string_view text) {
  std::string out;
  for (const char letter : text)
    if (letter != ' ') out += letter;
  return out;
}

/// How much of a span a normalised set covers.
Nanos covered(const Intervals& set, Interval span) {
  auto at = std::partition_point(
      set.begin(), set.end(), [&](const Interval& interval) { return interval.end <= span.start; });
  Nanos sum = 0;
  for (; at != set.end() && at->start < span.end; ++at)
    sum += std::min(at->end, span.end) - std::max(at->start, span.start);
  return sum;
}

class Groups {
 public:
  Groups(const Capture& capture, RankPart& part) : capture_(capture), part_(part) {}

  std::int64_t of(std::uint32_t row) {
    const auto& table = capture_.collectives;
    std::string name(capture_.text(table.group_name[row]));
    std::string ranks = without_spaces(capture_.text(table.group_ranks[row]));
    const auto key = std::pair(name, ranks);
    const auto [at, added] =
        numbers_.try_emplace(key, static_cast<std::int64_t>(part_.groups.size()));
    if (added) part_.groups.push_back({std::move(name), std::move(ranks), table.group_size[row]});
    return at->second;
  }

 private:
  const Capture& capture_;
  RankPart& part_;
  std::map<std::pair<std::string, std::string>, std::int64_t> numbers_;
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

}  // namespace

std::vector<std::uint32_t> collective_rows(const Capture& capture, const DeviceTimeline& line) {
  std::vector<signed char> by_name(capture.strings.size(), -1);
  std::vector<std::uint32_t> rows;
  for (const auto row : line.rows) {
    if (capture.activities.kind[row] != ActivityKind::kernel) continue;
    const Text name = capture.activities.name[row];
    auto& known = by_name[static_cast<std::uint32_t>(name)];
    if (known < 0) known = is_collective_kernel(capture.text(name)) ? 1 : 0;
    if (known == 1) rows.push_back(row);
  }
  return rows;
}

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

}  // namespace gf
