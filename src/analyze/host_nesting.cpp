#include "analyze/host_nesting.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "analyze/traits.h"

namespace gf {
namespace {

/// Reports show the outer part of very deep paths.
constexpr std::uint32_t kDeepestTold = 200;

}  // namespace

HostNesting::HostNesting(const Capture& capture, const HostThreads& host, const Names& names)
    : capture_(capture), names_(names), around_(capture.host_ops.size(), kNoRow) {
  const auto& ops = capture.host_ops;
  struct Open {
    Nanos end;
    std::uint32_t row, depth;
  };
  std::vector<Open> open;
  for (std::uint32_t thread = 0; thread < host.threads(); ++thread) {
    open.clear();
    for (const auto row : host.ops(thread)) {
      const Nanos start = ops.start_ns[row];
      while (!open.empty() && open.back().end <= start) open.pop_back();
      if (!open.empty()) around_[row] = open.back().row;
      const auto outer = open.empty() ? 0 : open.back().depth;
      if (outer >= kDeepestTold) tell_further_out(row);
      open.push_back({start + ops.duration_ns[row], row, outer + !is_step(row)});
    }
  }
}

void HostNesting::tell_further_out(std::uint32_t row) {
  if (told_.empty()) {
    told_.resize(around_.size());
    std::iota(told_.begin(), told_.end(), 0u);
  }
  told_[row] = told_[around_[row]];
}

bool HostNesting::is_step(std::uint32_t row) const {
  return names_.host(capture_.host_ops.name[row]) & host_is::step;
}

std::vector<std::uint32_t> HostNesting::path_to(std::uint32_t row) const {
  std::vector<std::uint32_t> path;
  for (row = told(row); row != kNoRow; row = around_[row])
    if (!is_step(row)) path.push_back(row);
  std::ranges::reverse(path);
  return path;
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
