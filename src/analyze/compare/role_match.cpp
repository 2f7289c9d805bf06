#include "analyze/compare/role_match.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>
#include <string_view>
#include <tuple>

#include "core/apportion.h"

namespace gf {

namespace {

constexpr std::string_view kPasses = "passes";  // until they are named after what is in them
constexpr std::string_view kBatched = "MatMul (batched)";

/// Families that pass over tensors, which compilers fuse into each other's kernels.
bool is_pass(std::string_view family) {
  static constexpr LayerType kKept[] = {LayerType::convolution, LayerType::matmul,
                                        LayerType::attention,   LayerType::recurrent,
                                        LayerType::optimiser,   LayerType::communication};
  return family != kBatched &&
         std::ranges::none_of(kKept, [&](LayerType type) { return name_of(type) == family; });
}

/// "triton_poi_fused_add_3": the number is the compiler's count.
std::string_view without_number(std::string_view name) {
  while (!name.empty() &&
         ((name.back() >= '0' && name.back() <= '9') || name.back() == '_' || name.back() == '.'))
    name.remove_suffix(1);
  return name;
}

std::map<std::string_view, double> fused_time(const RunRoles& run) {
  std::map<std::string_view, double> time;
  for (const auto& call : run.calls)
    if (call.fused && is_pass(call.family)) time[without_number(call.kernel)] += call.ns;
  return time;
}

double time_of(const RunRoles& run, const std::function<bool(const RoleCall&)>& wanted) {
  double sum = 0;
  for (const auto& call : run.calls)
    if (call.is_kernel && wanted(call)) sum += call.ns;
  return sum;
}

/// True when a part of the fused kernels of one run are not in the other.
bool fuses_more(const RunRoles& run, const RunRoles& other) {
  constexpr double kWorthJoining = 0.1;
  const auto theirs = fused_time(other);
  double own = 0;
  for (const auto& [name, ns] : fused_time(run))
    if (!theirs.contains(name)) own += ns;
  return own >
         kWorthJoining * time_of(run, [](const RoleCall& call) { return is_pass(call.family); });
}

bool is_of(const RoleCall& call, LayerType type) { return call.family == name_of(type); }

/// True when one run has attention as one kernel where the other has products and a softmax.
bool fuses_attention(const RunRoles& run, const RunRoles& other) {
  const auto attention = [](const RoleCall& call) { return is_of(call, LayerType::attention); };
  return time_of(run, attention) > 0 && time_of(other, attention) <= 0 &&
         time_of(other, [](const RoleCall& call) {
           return call.family == kBatched || is_of(call, LayerType::softmax);
         }) > 0;
}

bool tells_phases(const RunRoles& run) {
  constexpr double kLeast = 0.1;
  const auto told = time_of(run, [](const RoleCall& call) {
    return call.phase == TrainingPhase::forward || call.phase == TrainingPhase::backward;
  });
  return told > kLeast * time_of(run, [](const RoleCall&) { return true; });
}

}  // namespace

std::int64_t parts_of(const Comparison& comparison, std::size_t run) {
  return comparison.per == "step" ? std::max<std::int64_t>(comparison.runs[run].steps, 1) : 1;
}

Nanos largest(const std::vector<Nanos>& values) {
  Nanos most = 0;
  for (const Nanos value : values) most = std::max<Nanos>(most, std::abs(value));
  return most;
}

std::vector<Nanos> changes_of(const std::vector<Nanos>& values) {
  std::vector<Nanos> changes;
  for (const Nanos value : values) changes.push_back(value - values.front());
  return changes;
}

std::optional<std::vector<std::pair<std::size_t, std::size_t>>> align(
    std::span<const std::uint32_t> left, std::span<const std::uint32_t> right, std::size_t most) {
  const auto n = std::ssize(left), m = std::ssize(right);
  const auto limit = std::min<std::ptrdiff_t>(n + m, static_cast<std::ptrdiff_t>(most));
  // Diagonal k is x - y. ends[d][k + d]: how far along the left one d edits lead on it.
  std::vector<std::vector<std::ptrdiff_t>> ends;
  const auto reached = [&](std::ptrdiff_t d, std::ptrdiff_t k) {
    return k < -d || k > d ? std::ptrdiff_t{-1}
                           : ends[static_cast<std::size_t>(d)][static_cast<std::size_t>(k + d)];
  };
  const auto inserts = [&](std::ptrdiff_t d, std::ptrdiff_t k) {
    return k == -d || (k != d && reached(d - 1, k - 1) < reached(d - 1, k + 1));
  };
  std::ptrdiff_t edits = -1;
  for (std::ptrdiff_t d = 0; d <= limit && edits < 0; ++d) {
    auto& now = ends.emplace_back(static_cast<std::size_t>(2 * d + 1), -1);
    for (std::ptrdiff_t k = -d; k <= d; k += 2) {
      std::ptrdiff_t x = 0;
      if (d > 0) x = inserts(d, k) ? reached(d - 1, k + 1) : reached(d - 1, k - 1) + 1;
      while (x < n && x - k < m && x - k >= 0 &&
             left[static_cast<std::size_t>(x)] == right[static_cast<std::size_t>(x - k)])
        ++x;
      now[static_cast<std::size_t>(k + d)] = x;
      if (x >= n && x - k >= m) {
        edits = d;
        break;
      }
    }
  }
  if (edits < 0) return std::nullopt;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::ptrdiff_t x = n, y = m;
  for (std::ptrdiff_t d = edits; d >= 0; --d) {
    const auto k = x - y;
    const bool insert = d > 0 && inserts(d, k);
    const auto from = d == 0 ? 0 : insert ? reached(d - 1, k + 1) : reached(d - 1, k - 1) + 1;
    for (; x > from && y > 0; --x, --y)
      pairs.emplace_back(static_cast<std::size_t>(x - 1), static_cast<std::size_t>(y - 1));
    if (d == 0) break;
    if (insert)
      --y;
    else
      --x;
  }
  std::ranges::reverse(pairs);
  return pairs;
}

RoleMatch::RoleMatch(const Comparison& comparison, const std::vector<RunDetails>& details)
    : details_(details) {
  choose_names(details);
  role_of_.resize(details.size());
  for (std::size_t run = 0; run < details.size(); ++run) {
    steps_.push_back(static_cast<double>(parts_of(comparison, run)));
    for (const auto& call : details[run].roles.calls) role_of_[run].push_back(role_number(call));
  }
  sums_.assign(details.size(), std::vector<Sum>(roles_.size()));
  for (std::size_t run = 0; run < details.size(); ++run) {
    const auto& calls = details[run].roles.calls;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      Sum& sum = sums_[run][role_of_[run][i]];
      sum.ns += calls[i].ns / steps_[run];
      sum.calls += calls[i].calls / steps_[run];
      sum.host_ns += calls[i].host_ns / steps_[run];
    }
  }
  name_joined(details);
}

void RoleMatch::choose_names(const std::vector<RunDetails>& details) {
  const auto& first = details.front().roles;
  for (const auto& run : details) {
    const auto& other = run.roles;
    joins_passes_ = joins_passes_ || fuses_more(first, other) || fuses_more(other, first);
    joins_attention_ =
        joins_attention_ || fuses_attention(first, other) || fuses_attention(other, first);
    joins_phases_ = joins_phases_ || tells_phases(first) != tells_phases(other);
  }
}

std::string RoleMatch::family_of(const RoleCall& call) const {
  if (!call.is_kernel) return call.family;
  if (joins_attention_ && (call.family == kBatched || is_of(call, LayerType::softmax)))
    return std::string(name_of(LayerType::attention));
  return joins_passes_ && is_pass(call.family) ? std::string(kPasses) : call.family;
}

/// A copy is the same wherever the phases of its step begin, and a compiler moves what it fuses
/// from one phase to the other.
TrainingPhase RoleMatch::phase_of(const RoleCall& call, std::string_view family) const {
  return joins_phases_ || !call.is_kernel || family == kPasses ? TrainingPhase::all : call.phase;
}

std::size_t RoleMatch::role_number(const RoleCall& call) {
  const auto family = family_of(call);
  const auto phase = phase_of(call, family);
  const auto [known, fresh] =
      number_.try_emplace(std::tuple(family, phase, call.is_kernel), roles_.size());
  if (fresh) roles_.push_back({family, phase, call.is_kernel});
  return known->second;
}

/// After the families with most time in any of the runs.
void RoleMatch::name_joined(const std::vector<RunDetails>& details) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::map<std::string, double>> parts(roles_.size());
  for (std::size_t run = 0; run < details.size(); ++run) {
    const auto& calls = details[run].roles.calls;
    for (std::size_t i = 0; i < calls.size(); ++i)
      parts[role_of_[run][i]][calls[i].family] += calls[i].ns / steps_[run];
  }
  for (std::size_t role = 0; role < roles_.size(); ++role) {
    if (roles_[role].name != kPasses) continue;
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [family, ns] : parts[role]) order.emplace_back(-ns, family);
    std::ranges::sort(order);
    std::string name;
    for (std::size_t i = 0; i < std::min(kNamed, order.size()); ++i)
      name += (i > 0 ? ", " : "") + order[i].second;
    roles_[role].name = name;
  }
}

StepTimes RoleMatch::by_step(const RoleSteps& steps, std::size_t role) const {
  StepTimes sums(steps.ns.size());
  for (const auto& [key, series] : steps.kernels) {
    RoleCall call;
    call.family = key.first;
    call.phase = key.second;
    const auto family = family_of(call);
    const auto known = number_.find(std::tuple(family, phase_of(call, family), call.is_kernel));
    if (known == number_.end() || known->second != role) continue;
    for (std::size_t i = 0; i < series.size(); ++i) sums[i] += static_cast<double>(series[i]);
  }
  return sums;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> RoleMatch::paired(std::size_t run) const {
  constexpr std::size_t kMostEdits = 2000;
  const auto roles_in = [&](std::size_t of) {
    std::vector<std::uint32_t> roles;
    for (const auto call : details_[of].roles.sequence)
      roles.push_back(static_cast<std::uint32_t>(role_of_[of][call]));
    return roles;
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> calls;
  const auto pairs = align(roles_in(0), roles_in(run), kMostEdits);
  if (!pairs) return calls;
  for (const auto& [left, right] : *pairs)
    calls.emplace_back(details_[0].roles.sequence[left], details_[run].roles.sequence[right]);
  return calls;
}

double RoleMatch::alike(std::size_t run) const {
  const auto all = details_[0].roles.sequence.size() + details_[run].roles.sequence.size();
  return all == 0 ? 1 : 2 * static_cast<double>(paired(run).size()) / static_cast<double>(all);
}

std::vector<ComparedRole> RoleMatch::table(const Comparison& comparison) const {
  const auto runs = details_.size();
  std::vector<ComparedRole> rows;
  std::vector<std::size_t> place(roles_.size(), SIZE_MAX);
  for (std::size_t role = 0; role < roles_.size(); ++role) {
    if (!roles_[role].is_kernel) continue;
    place[role] = rows.size();
    auto& row = rows.emplace_back();
    row.role = roles_[role].name;
    row.phase = roles_[role].phase;
    row.ns.resize(runs);
    row.calls.resize(runs);
    row.kernels.resize(runs);
    for (std::size_t run = 0; run < runs; ++run) row.calls[run] = sums_[run][role].calls;
  }
  for (std::size_t run = 0; run < runs; ++run) {
    std::vector<double> weights(rows.size());
    std::vector<std::map<std::string, double>> kernels(rows.size());
    const auto& calls = details_[run].roles.calls;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const auto at = place[role_of_[run][i]];
      if (at == SIZE_MAX) continue;
      weights[at] += calls[i].ns;
      kernels[at][calls[i].kernel] += calls[i].ns;
    }
    const auto whole = apportion(comparison.runs[run].kernel_ns, weights);
    for (std::size_t at = 0; at < rows.size(); ++at) {
      if (!details_[run].roles.calls.empty()) rows[at].ns[run] = whole[at];
      const auto most = std::ranges::max_element(kernels[at], {},
                                                 [](const auto& kernel) { return kernel.second; });
      if (most != kernels[at].end()) rows[at].kernels[run] = most->first;
    }
  }
  for (auto& row : rows) row.change_ns = changes_of(row.ns);
  std::ranges::stable_sort(rows, std::greater{}, [](const ComparedRole& row) {
    return std::pair(largest(row.change_ns), largest(row.ns));
  });
  return rows;
}

}  // namespace gf
