#include "analyze/idle/idle_sums.h"

#include <algorithm>

namespace gf {

IdleSums::IdleSums(const Context& context) : context_(context) {
  last_end_.fill(INT64_MIN);
  operators_.line_of.assign(context.capture.strings.size(), 0);
  modules_.line_of.assign(context.attribution.modules.size(), 0);
}

void IdleSums::clear() {
  ns_ = {};
  gaps_ = {};
  last_end_.fill(INT64_MIN);
  operators_.clear();
  modules_.clear();
}

void IdleSums::add(Interval span, IdleReason reason, std::uint32_t op, std::uint32_t next) {
  const auto at = static_cast<std::size_t>(reason);
  ns_[at] += span.length();
  if (span.start != last_end_[at])
    ++gaps_[at];  // stretches of different operators that touch are one
  last_end_[at] = span.end;
  if (op != kNoRow)
    operators_.add(static_cast<std::uint32_t>(context_.capture.host_ops.name[op]), at,
                   span.length());
  const auto& module_of = context_.attribution.module;
  if (next < module_of.size() && module_of[next] != 0)
    modules_.add(module_of[next], at, span.length());
}

template <class NameOf>
std::vector<NamedTime> IdleSums::largest(const Table& table, std::size_t reason,
                                         NameOf&& name_of_id) const {
  std::vector<std::uint32_t> lines;
  for (std::uint32_t i = 1; i < table.id.size(); ++i)
    if (table.ns[i][reason] > 0) lines.push_back(i);
  // Equal times by name, so that the order is fixed.
  std::sort(lines.begin(), lines.end(), [&](auto left, auto right) {
    if (table.ns[left][reason] != table.ns[right][reason])
      return table.ns[left][reason] > table.ns[right][reason];
    return name_of_id(table.id[left]) < name_of_id(table.id[right]);
  });
  std::vector<NamedTime> out;
  for (const auto line : lines)
    out.push_back({std::string(name_of_id(table.id[line])), table.ns[line][reason]});
  return out;
}

std::vector<IdleCause> IdleSums::causes() const {
  std::vector<IdleCause> causes;
  for (std::size_t reason = 0; reason < kReasons; ++reason) {
    if (ns_[reason] == 0) continue;
    IdleCause cause;
    cause.cause = static_cast<IdleReason>(reason);
    cause.ns = ns_[reason];
    cause.gaps = gaps_[reason];
    cause.operators = largest(operators_, reason,
                              [&](std::uint32_t id) { return context_.capture.text(Text{id}); });
    cause.modules = largest(modules_, reason, [&](std::uint32_t id) {
      return std::string_view(context_.attribution.modules[id]);
    });
    causes.push_back(std::move(cause));
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const auto& left, const auto& right) { return left.ns > right.ns; });
  return causes;
}

}  // namespace gf
