#include "model/nvtx_operation.h"

#include <charconv>

namespace gf {

namespace {

/// The value of ", key = value" when the text begins with it, and the text behind it. A list ends
/// with its own bracket, a number at the next comma.
bool take_part(std::string_view& text, std::string_view key, std::string_view& value) {
  if (!text.starts_with(key)) return false;
  const std::string_view rest = text.substr(key.size());
  std::size_t end = 0;
  if (rest.starts_with('[')) {
    int depth = 0;
    do {
      depth += (rest[end] == '[') - (rest[end] == ']');
      ++end;
    } while (depth > 0 && end < rest.size());
    if (depth > 0) return false;
  } else {
    end = rest.find(',');
    if (end == rest.npos) end = rest.size();
  }
  value = rest.substr(0, end);
  text = rest.substr(end);
  return true;
}

bool is_number(std::string_view text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

NvtxOperation cut_nvtx_operation(std::string_view text) {
  const NvtxOperation whole{text};
  const auto first = text.find(", ");
  if (first == text.npos || first == 0) return whole;
  NvtxOperation out{text.substr(0, first)};
  std::string_view rest = text.substr(first), sequence, other;
  std::int64_t number = -1;
  if (take_part(rest, ", seq = ", sequence) || take_part(rest, ", stashed seq = ", sequence)) {
    if (!is_number(sequence, out.sequence)) return whole;
  }
  if (take_part(rest, ", op_id = ", other) && !is_number(other, number)) return whole;
  take_part(rest, ", sizes = ", out.shapes);
  take_part(rest, ", input_op_ids = ", other);
  out.cut = rest.empty();
  if (out.cut) return out;
  return whole;
}

void name_nvtx_range(Capture& capture, std::uint32_t host_op, Text text) {
  auto& host_ops = capture.host_ops;
  const NvtxOperation operation = cut_nvtx_operation(capture.text(text));
  host_ops.kind[host_op] = operation.cut ? HostKind::op : HostKind::annotation;
  host_ops.name[host_op] = operation.cut ? capture.strings.intern(operation.name) : text;
  host_ops.sequence[host_op] = operation.sequence;
  host_ops.shapes[host_op] = capture.strings.intern(operation.shapes);
}

}  // namespace gf
