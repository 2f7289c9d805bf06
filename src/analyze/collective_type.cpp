#include "analyze/collective_type.h"

#include <array>
#include <string>
#include <utility>

namespace gf {

namespace {

using Word = std::pair<std::string_view, CollectiveType>;

// Without underscores, in lower case; a longer word stands before one that it contains.
constexpr std::array kCollectives{
    Word{"allreduce", CollectiveType::all_reduce},
    Word{"crossdevicereduce", CollectiveType::all_reduce},
    Word{"reducescatter", CollectiveType::reduce_scatter},
    Word{"allgather", CollectiveType::all_gather},
    Word{"alltoall", CollectiveType::all_to_all},
    Word{"broadcast", CollectiveType::broadcast},
    Word{"barrier", CollectiveType::barrier},
    Word{"sendrecv", CollectiveType::send_receive},
    // Of experts' tokens, to all ranks ("a2a_dispatch_send_kernel"): not from one to another.
    Word{"dispatch", CollectiveType::other},
    Word{"combine", CollectiveType::other},
    Word{"reduce", CollectiveType::reduce},
    Word{"gather", CollectiveType::gather},
    Word{"scatter", CollectiveType::scatter},
    Word{"send", CollectiveType::send},
    Word{"recv", CollectiveType::receive},
    Word{"receive", CollectiveType::receive},
};

/// The part of a kernel's name that says what it does: its arguments hold words of their own.
std::string plain(std::string_view name) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)";
  std::size_t end = name.find_first_of("(<");
  while (end < name.size() && name.substr(end).starts_with(kUnnamed))
    end = name.find_first_of("(<", end + kUnnamed.size());
  std::string text;
  for (const char letter : name.substr(0, end)) {
    if (letter == '_') continue;
    const bool upper = letter >= 'A' && letter <= 'Z';
    text += upper ? static_cast<char>(letter + ('a' - 'A')) : letter;
  }
  return text;
}

}  // namespace

CollectiveType collective_type(std::string_view name) {
  const std::string text = plain(name);
  for (const auto& [word, type] : kCollectives)
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

}  // namespace gf
