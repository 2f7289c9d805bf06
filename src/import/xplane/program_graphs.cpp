// Kernels of a CUDA graph and the operations of the program that the graph is a stretch of. XLA
// names a kernel that it generates after the operation, or after an earlier one that does the same;
// kernels of libraries lie between these in the order of the program.
#include <algorithm>
#include <map>
#include <tuple>

#include "import/xplane/programs.h"

namespace gf::xplane {

namespace {

constexpr std::uint32_t kNoStep = UINT32_MAX;

/// Kernels that end what another kernel of the same call began.
bool finishes(std::string_view name) {
  return name.find("splitKreduce") != name.npos || name.find("splitk_reduce") != name.npos;
}

class Placer {
 public:
  Placer(const Capture& capture, const ProgramOrder& order) : capture_(capture), order_(order) {
    const auto count = static_cast<std::uint32_t>(order.steps.size());
    for (std::uint32_t step = 0; step < count; ++step) {
      if (!order.steps[step].kernel.empty()) named_.emplace(order.steps[step].kernel, step);
      if (order.steps[step].likeness != 0) alike_[order.steps[step].likeness].push_back(step);
    }
  }

  /// The row of program_ops of each kernel, in the order of time; kNoRow where it is not known.
  std::vector<std::uint32_t> rows(const std::vector<std::uint32_t>& kernels) {
    std::vector<std::uint32_t> steps(kernels.size(), kNoStep);
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      steps[i] = generated(name_of(kernels[i]), next);
      if (steps[i] != kNoStep && steps[i] >= next) next = steps[i] + 1;
    }
    std::size_t from = 0;
    for (std::size_t i = 0; i <= kernels.size(); ++i) {
      if (i < kernels.size() && steps[i] == kNoStep) continue;
      if (i > from) between(kernels, steps, from, i);
      from = i + 1;
    }
    std::vector<std::uint32_t> rows(kernels.size(), kNoRow);
    for (std::size_t i = 0; i < kernels.size(); ++i)
      if (steps[i] != kNoStep) rows[i] = order_.steps[steps[i]].row;
    return rows;
  }

 private:
  std::string_view name_of(std::uint32_t activity) const {
    auto name = capture_.text(capture_.activities.name[activity]);
    if (name.ends_with(".kd")) name.remove_suffix(3);
    return name;
  }

  /// The next step that runs this kernel: the one of its name, or one that does the same. Behind
  /// the last one (graphs may reorder), the one of its name.
  std::uint32_t generated(std::string_view name, std::uint32_t next) const {
    const auto known = named_.find(name);
    if (known == named_.end()) return kNoStep;
    const auto alike = alike_.find(order_.steps[known->second].likeness);
    if (alike == alike_.end()) return known->second;
    const auto at = std::lower_bound(alike->second.begin(), alike->second.end(), next);
    return at == alike->second.end() ? known->second : *at;
  }

  /// Kernels of libraries [first, last) between two that are known.
  void between(const std::vector<std::uint32_t>& kernels, std::vector<std::uint32_t>& steps,
               std::size_t first, std::size_t last) const {
    const std::uint32_t begin = first == 0 ? 0 : steps[first - 1] + 1;
    const auto end =
        last < steps.size() ? steps[last] : static_cast<std::uint32_t>(order_.steps.size());
    std::vector<std::uint32_t> calls;
    for (auto step = begin; step < end; ++step)
      if (order_.steps[step].kernel.empty()) calls.push_back(step);
    std::size_t heads = 0;
    for (auto i = first; i < last; ++i) heads += finishes(name_of(kernels[i])) ? 0u : 1u;
    if (calls.empty()) return;
    // At an end of the graph calls of its neighbors may lie there too: the nearest count.
    const bool open_front = first == 0;
    const bool open_back = last == steps.size();
    if (calls.size() > heads && open_front && !open_back)
      calls.erase(calls.begin(), calls.end() - static_cast<std::ptrdiff_t>(heads));
    else if (calls.size() > heads && open_back && !open_front)
      calls.resize(heads);
    if (calls.size() == 1) {
      for (auto i = first; i < last; ++i) steps[i] = calls[0];
      return;
    }
    if (calls.size() != heads) return;
    std::size_t call = 0;
    for (auto i = first; i < last; ++i) {
      if (finishes(name_of(kernels[i])) && call > 0)
        steps[i] = calls[call - 1];
      else if (call < calls.size())
        steps[i] = calls[call++];
    }
  }

  const Capture& capture_;
  const ProgramOrder& order_;
  std::unordered_map<std::string_view, std::uint32_t> named_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> alike_;
};

}  // namespace

void Programs::place(Capture& capture, const std::vector<Unplaced>& kernels) const {
  auto& activities = capture.activities;
  using Launch = std::tuple<std::int64_t, std::uint32_t, std::int64_t, std::uint32_t>;
  std::map<Launch, std::vector<std::uint32_t>> launches;
  for (const auto& kernel : kernels) {
    const auto row = kernel.activity;
    if (activities.kind[row] != ActivityKind::kernel) continue;
    launches[{kernel.program, activities.device[row], activities.correlation[row],
              static_cast<std::uint32_t>(activities.op[row])}]
        .push_back(row);
  }
  std::unordered_map<std::int64_t, Placer> placers;
  for (auto& [launch, members] : launches) {
    const auto order = orders_.find(std::get<0>(launch));
    if (order == orders_.end()) continue;
    auto& placer = placers.try_emplace(order->first, capture, order->second).first->second;
    std::ranges::stable_sort(members, [&](std::uint32_t left, std::uint32_t right) {
      return activities.start_ns[left] < activities.start_ns[right];
    });
    const auto rows = placer.rows(members);
    for (std::size_t i = 0; i < members.size(); ++i) activities.program_op[members[i]] = rows[i];
  }
}

}  // namespace gf::xplane
