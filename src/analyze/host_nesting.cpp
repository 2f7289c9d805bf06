#include "analyze/host_nesting.h"

#include <algorithm>
#include <array>

namespace gf {

HostNesting::HostNesting(const Capture& capture, const HostThreads& host, const NameRoles& roles)
    : capture_(capture),
      roles_(roles),
      around_(capture.host_ops.size(), kNoRow),
      is_own_(capture.strings, is_line_of_program) {
  const auto& ops = capture.host_ops;
  std::vector<std::uint32_t> open;
  for (std::uint32_t thread = 0; thread < host.threads(); ++thread) {
    open.clear();
    for (const auto row : host.ops(thread)) {
      const auto ended = [&](std::uint32_t outer) {
        return ops.start_ns[outer] + ops.duration_ns[outer] <= ops.start_ns[row];
      };
      while (!open.empty() && ended(open.back())) open.pop_back();
      if (!open.empty()) around_[row] = open.back();
      open.push_back(row);
    }
  }
}

std::vector<std::uint32_t> HostNesting::path_to(std::uint32_t row) const {
  constexpr std::size_t kDeepest = 200;
  std::vector<std::uint32_t> path;
  for (; row != kNoRow; row = around_[row])
    if (!(roles_.host(capture_.host_ops.name[row]) & kStep)) path.push_back(row);
  std::ranges::reverse(path);
  if (path.size() > kDeepest) path.resize(kDeepest);
  return path;
}

std::uint32_t HostNesting::line_of_program(std::uint32_t row) {
  for (; row != kNoRow; row = around_[row])
    if (capture_.host_ops.kind[row] == HostKind::python && is_own_(capture_.host_ops.name[row]))
      return row;
  return kNoRow;
}

bool is_line_of_program(std::string_view frame) {
  constexpr auto kLibraries = std::to_array<std::string_view>(
      {"site-packages/", "dist-packages/", "lib/python", "<frozen", "<string>"});
  constexpr auto kFirst = std::to_array<std::string_view>(
      {"torch/", "jax/", "jaxlib/", "tensorflow/", "triton/", "numpy/", "threading.py",
       "contextlib.py", "runpy.py", "multiprocessing/"});
  if (frame.find(".py(") == frame.npos) return false;
  return std::ranges::none_of(kLibraries,
                              [&](auto part) { return frame.find(part) != frame.npos; }) &&
         std::ranges::none_of(kFirst, [&](auto first) { return frame.starts_with(first); });
}

}  // namespace gf
