#include "analyze/ranks/identity.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string>

#include "core/xxh64.h"

namespace gf {

namespace {

std::int64_t number_in(std::string_view text) {
  std::int64_t number = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || number < 0) return -1;
  return number;
}

/// The recorder notes what the scheduler or launcher told the program.
std::string job_of(const Capture& capture) {
  const auto job = capture.metadata_value("job.id");
  if (job.empty()) return {};
  return std::string(capture.metadata_value("job.scheduler")) + " " + std::string(job);
}

std::string host_of(const Capture& capture) {
  for (const std::string_view key :
       {"job.host", "host_name", "record.host", "hostname", "nsys.HostName"})
    if (const auto host = capture.metadata_value(key); !host.empty()) return std::string(host);
  return {};
}

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

}  // namespace

std::optional<std::int64_t> rank_in_name(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  for (const std::string_view word : {"rank", "worker", "gpu"}) {
    for (auto at = name.find(word); at != name.npos; at = name.find(word, at + 1)) {
      if (at > 0 && is_letter(name[at - 1])) continue;
      auto digits = at + word.size();
      if (digits < name.size() && (name[digits] == '_' || name[digits] == '-')) ++digits;
      auto end = digits;
      while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
      if (const auto rank = number_in(name.substr(digits, end - digits)); rank >= 0) return rank;
    }
  }
  return {};
}

RankIdentity identify_rank(const Capture& capture) {
  RankIdentity identity;
  identity.job = job_of(capture);
  identity.host = host_of(capture);
  identity.world_size = number_in(capture.metadata_value("distributedInfo.world_size"));
  if (identity.world_size < 0)
    identity.world_size = number_in(capture.metadata_value("job.world_size"));
  if (identity.world_size < 0)
    identity.world_size = number_in(capture.metadata_value("nccl.world_size"));
  identity.rank = number_in(capture.metadata_value("distributedInfo.rank"));
  if (identity.rank < 0) identity.rank = number_in(capture.metadata_value("nccl.rank"));
  if (identity.rank >= 0) {
    identity.source = RankSource::trace;
    return identity;
  }
  identity.rank = number_in(capture.metadata_value("job.rank"));
  if (identity.rank >= 0) {
    identity.source = RankSource::environment;
    return identity;
  }
  if (const auto rank = rank_in_name(capture.path)) {
    identity.rank = *rank;
    identity.source = RankSource::file_name;
  }
  return identity;
}

std::string content_of(const Capture& capture, const DeviceTimeline& line) {
  constexpr std::size_t kFew = 16;  // activities: fewer may take equal times on two ranks
  const auto& activities = capture.activities;
  const bool few = line.rows.size() < kFew;
  const Nanos origin = few ? 0 : activities.start_ns[line.rows.front()];
  std::uint64_t digest = 0;
  for (const auto row : line.rows) {
    const std::array<Nanos, 2> times{activities.start_ns[row] - origin,
                                     activities.duration_ns[row]};
    digest = xxh64({reinterpret_cast<const char*>(times.data()), sizeof times}, digest);
    digest = xxh64(capture.text(activities.name[row]), digest);
  }
  return fmt::format("{:016x}", digest);
}

}  // namespace gf
