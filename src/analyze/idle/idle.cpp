#include "analyze/idle/idle.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analyze/idle/label_gaps.h"

namespace gf {

namespace {

constexpr std::size_t kReasons = EnumNames<IdleReason>::names.size();
constexpr std::size_t kNamesShown = 20;  // operators and modules kept for each reason

/// Time by a small number (a text or module id), as names, largest first; equal times by name, so that the order is fixed.
template <class NameOf>
std::vector<NamedTime> largest(const std::unordered_map<std::uint32_t, Nanos>& times, NameOf&& name_of_id) {
  std::vector<NamedTime> out;
  out.reserve(times.size());
  for (const auto& [id, ns] : times) out.push_back({std::string(name_of_id(id)), ns});
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.ns != b.ns ? a.ns > b.ns : a.name < b.name; });
  if (out.size() > kNamesShown) out.resize(kNamesShown);
  return out;
}

std::vector<IdleCause> summarise(const Context& context, const std::vector<IdlePiece>& pieces) {
  struct Sum {
    Nanos ns = 0;
    std::int64_t gaps = 0;
    Interval last{INT64_MIN, INT64_MIN};
    std::unordered_map<std::uint32_t, Nanos> operators, modules;
  };
  std::array<Sum, kReasons> sums;
  const auto& module_of = context.attribution.module;
  for (const auto& p : pieces) {
    Sum& sum = sums[static_cast<std::size_t>(p.reason)];
    sum.ns += p.span.length();
    if (p.span.start != sum.last.end) ++sum.gaps;  // pieces of different operators that touch are one span
    sum.last = p.span;
    if (p.op != kNoRow) sum.operators[static_cast<std::uint32_t>(context.capture.host_ops.name[p.op])] += p.span.length();
    if (p.next < module_of.size() && module_of[p.next] != 0) sum.modules[module_of[p.next]] += p.span.length();
  }
  std::vector<IdleCause> causes;
  for (std::size_t r = 0; r < kReasons; ++r) {
    if (sums[r].ns == 0) continue;
    IdleCause cause;
    cause.cause = name_of(static_cast<IdleReason>(r));
    cause.ns = sums[r].ns;
    cause.gaps = sums[r].gaps;
    cause.operators = largest(sums[r].operators, [&](auto id) { return context.capture.text(Text{id}); });
    cause.modules = largest(sums[r].modules, [&](auto id) { return std::string_view(context.attribution.modules[id]); });
    causes.push_back(std::move(cause));
  }
  std::stable_sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.ns > b.ns; });
  return causes;
}

}  // namespace

void explain_idle(Context& context, Analysis& analysis) {
  const NameRoles roles(context.capture);
  const LaunchFacts facts = collect_launch_facts(context);
  GapLabeller labeller(context, roles, facts);
  for (std::size_t d = 0; d < context.devices.size(); ++d) {
    context.devices[d].idle_pieces = labeller.label(context.devices[d]);
    analysis.devices[d].idle = summarise(context, context.devices[d].idle_pieces);
  }
}

}  // namespace gf
