// The closed lists of the capture model, with the names that files and reports use.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gf {

enum class HostKind : std::uint8_t { op, annotation, python, overhead, other };
enum class ApiKind : std::uint8_t { launch, graph_launch, memcpy, memset, sync, alloc, other };
enum class ActivityKind : std::uint8_t { kernel, memcpy, memset };
enum class CopyKind : std::uint8_t {
  none,
  host_to_device,
  device_to_host,
  device_to_device,
  host_to_host,
  peer,
  unknown
};

/// The value for a source that does not say.
template <class E>
inline constexpr E kUnstated = E{};
template <>
inline constexpr ApiKind kUnstated<ApiKind> = ApiKind::other;

template <class E>
struct EnumNames;
template <>
struct EnumNames<HostKind> {
  static constexpr std::array<std::string_view, 5> names{"op", "annotation", "python", "overhead",
                                                         "other"};
};
template <>
struct EnumNames<ApiKind> {
  static constexpr std::array<std::string_view, 7> names{
      "launch", "graph_launch", "memcpy", "memset", "sync", "alloc", "other"};
};
template <>
struct EnumNames<ActivityKind> {
  static constexpr std::array<std::string_view, 3> names{"kernel", "memcpy", "memset"};
};
template <>
struct EnumNames<CopyKind> {
  static constexpr std::array<std::string_view, 7> names{
      "none",         "host_to_device", "device_to_host", "device_to_device",
      "host_to_host", "peer",           "unknown"};
};

/// True for enums whose values have names.
template <class E>
concept NamedEnum = requires { EnumNames<E>::names; };

template <class E>
constexpr std::string_view name_of(E value) {
  return EnumNames<E>::names[static_cast<std::size_t>(value)];
}
template <class E>
constexpr std::optional<E> enum_from(std::string_view name) {
  for (std::size_t i = 0; i < EnumNames<E>::names.size(); ++i)
    if (EnumNames<E>::names[i] == name) return static_cast<E>(i);
  return std::nullopt;
}

}  // namespace gf
