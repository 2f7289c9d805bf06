#include "analyze/ranks/identity.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string>
#include <utility>

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

namespace {

using Word = std::pair<std::string_view, CollectiveType>;

// Without underscores, in lower case; a longer word stands before one that it contains.
constexpr std::array kWords{
    Word{"allreduce", CollectiveType::all_reduce},
    Word{"crossdevicereduce", CollectiveType::all_reduce},
    Word{"reducescatter", CollectiveType::reduce_scatter},
    Word{"allgather", CollectiveType::all_gather},
    Word{"alltoall", CollectiveType::all_to_all},
    Word{"broadcast", CollectiveType::broadcast},
    Word{"barrier", CollectiveType::barrier},
    Word{"sendrecv", CollectiveType::send_receive},
    Word{"reduce", CollectiveType::reduce},
    Word{"gather", CollectiveType::gather},
    Word{"scatter", CollectiveType::scatter},
    Word{"send", CollectiveType::send},
    Word{"recv", CollectiveType::receive},
    Word{"receive", CollectiveType::receive},
};

/// The part of a kernel's name that says what it does: its arguments hold words of their own.
std::string plain(std::string_view name) {
  std::string text;
  for (const char letter : name.substr(0, name.find_first_of("(<"))) {
    if (letter == '_') continue;
    const bool upper = letter >= 'A' && letter <= 'Z';
    text += upper ? static_cast<char>(letter + ('a' - 'A')) : letter;
  }
  return text;
}

}  // namespace

CollectiveType collective_type(std::string_view name) {
  const std::string text = plain(name);
  for (const auto& [word, type] : kWords)
    if (text.find(word) != text.npos) return type;
  return CollectiveType::other;
}

std::int64_t element_bytes(std::string_view dtype) {
  const std::string text = plain(dtype);
  if (text == "double" || text == "long" || text == "int64" || text == "float64" ||
      text == "complexfloat" || text == "uint64")
    return 8;
  if (text == "float" || text == "int" || text == "float32" || text == "int32" || text == "uint32")
    return 4;
  if (text == "bfloat16" || text == "half" || text == "float16" || text == "short") return 2;
  if (text == "byte" || text == "char" || text == "bool" || text == "int8" || text == "uint8" ||
      text.starts_with("float8"))
    return 1;
  return 0;
}

std::int64_t message_bytes(const Capture& capture, std::uint32_t row, CollectiveType type) {
  const auto& table = capture.collectives;
  const std::int64_t size = element_bytes(capture.text(table.dtype[row]));
  std::int64_t elements = table.in_elements[row];
  if (type == CollectiveType::all_gather) elements = table.out_elements[row];
  if (size == 0 || elements < 0 || elements > INT64_MAX / size) return -1;
  return elements * size;
}

bool synchronises(CollectiveType type) {
  switch (type) {
    case CollectiveType::all_reduce:
    case CollectiveType::all_gather:
    case CollectiveType::reduce_scatter:
    case CollectiveType::all_to_all:
    case CollectiveType::barrier:
      return true;
    default:
      return false;
  }
}

bool point_to_point(CollectiveType type) {
  return type == CollectiveType::send || type == CollectiveType::receive ||
         type == CollectiveType::send_receive;
}

double bus_factor(CollectiveType type, std::int64_t ranks) {
  if (ranks < 2) return 1;
  const double count = static_cast<double>(ranks);
  switch (type) {
    case CollectiveType::all_reduce:
      return 2 * (count - 1) / count;
    case CollectiveType::all_gather:
    case CollectiveType::reduce_scatter:
    case CollectiveType::all_to_all:
    case CollectiveType::gather:
    case CollectiveType::scatter:
      return (count - 1) / count;
    default:
      return 1;
  }
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
