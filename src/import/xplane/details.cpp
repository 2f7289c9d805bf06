#include "import/xplane/details.h"

#include <charconv>

namespace gf::xplane {

namespace {

template <class T>
void number(std::string_view text, T& out) {
  T value{};
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{} &&
      value >= 0)
    out = value;
}

void triple(std::string_view text, std::int32_t (&out)[3]) {
  for (auto& value : out) {
    const auto comma = text.find(',');
    number(text.substr(0, comma), value);
    if (comma == text.npos) return;
    text.remove_prefix(comma + 1);
  }
}

CopyKind direction(std::string_view source, std::string_view destination) {
  if (source.empty() || destination.empty()) return CopyKind::unknown;
  const bool from_device = source == "device" || source == "array",
             to_device = destination == "device" || destination == "array";
  const bool from_host = source == "pageable" || source == "pinned" || source == "host",
             to_host =
                 destination == "pageable" || destination == "pinned" || destination == "host";
  if (from_host && to_device) return CopyKind::host_to_device;
  if (from_device && to_host) return CopyKind::device_to_host;
  if (from_device && to_device) return CopyKind::device_to_device;
  if (from_host && to_host) return CopyKind::host_to_host;
  return CopyKind::unknown;
}

}  // namespace

bool looks_like_details(std::string_view text) {
  for (std::string_view key : {"grid:", "num_bytes:", "size:"})
    if (text.find(key) != text.npos) return true;
  return false;
}

Details parse_details(std::string_view text) {
  Details details;
  std::int64_t fixed = -1, dynamic = -1;
  std::string_view source, destination;
  while (!text.empty()) {
    const auto blank = text.find(' ');
    const auto pair = text.substr(0, blank);
    text.remove_prefix(blank == text.npos ? text.size() : blank + 1);
    const auto colon = pair.find(':');
    if (colon == pair.npos) continue;
    const auto key = pair.substr(0, colon), value = pair.substr(colon + 1);
    if (key == "regs")
      number(value, details.registers);
    else if (key == "static_shared")
      number(value, fixed);
    else if (key == "dynamic_shared")
      number(value, dynamic);
    else if (key == "group_mem")
      number(value, fixed);
    else if (key == "grid")
      triple(value, details.grid);
    else if (key == "block")
      triple(value, details.block);
    else if (key == "occ_pct")
      number(value, details.occupancy);
    else if (key == "num_bytes" || key == "size")
      number(value, details.bytes);
    else if (key == "kind_src")
      source = value;
    else if (key == "kind_dst")
      destination = value;
  }
  if (fixed >= 0 || dynamic >= 0) {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(fixed < 0 ? 0 : fixed, dynamic < 0 ? 0 : dynamic, &sum))
      details.shared_bytes = sum;
  }
  // Tracers that cannot compute the occupancy write 0 (AMD does for every kernel); a kernel that
  // ran had some.
  if (details.occupancy > 0) {
    details.occupancy = details.occupancy / 100;
  } else {
    details.occupancy = NAN;
  }
  details.copy = direction(source, destination);
  return details;
}

CopyKind copy_from_name(std::string_view name) {
  struct Row {
    std::string_view part;
    CopyKind kind;
  };
  static constexpr Row rows[] = {
      {"H2D", CopyKind::host_to_device},
      {"HToD", CopyKind::host_to_device},
      {"HtoD", CopyKind::host_to_device},
      {"D2H", CopyKind::device_to_host},
      {"DToH", CopyKind::device_to_host},
      {"DtoH", CopyKind::device_to_host},
      {"D2D", CopyKind::device_to_device},
      {"DToD", CopyKind::device_to_device},
      {"DtoD", CopyKind::device_to_device},
      {"H2H", CopyKind::host_to_host},
      {"HToH", CopyKind::host_to_host},
      {"P2P", CopyKind::peer},
      {"PToP", CopyKind::peer},
  };
  for (const auto& row : rows)
    if (name.find(row.part) != name.npos) return row.kind;
  return CopyKind::unknown;
}

}  // namespace gf::xplane
