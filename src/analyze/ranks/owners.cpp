#include "analyze/ranks/owners.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/host_roles.h"

namespace gf {

namespace {

constexpr std::size_t kKept = 4;  // operators kept of one stretch

using Owner = std::tuple<RankTime, std::string_view, std::string_view>;

/// Adds times to the stretches between the starts of collectives.
class Stretches {
 public:
  explicit Stretches(const std::vector<Nanos>& starts) : starts_(starts), owners_(starts.size()) {}

  void add(Interval span, const Owner& owner) {
    auto index = static_cast<std::size_t>(
        std::upper_bound(starts_.begin(), starts_.end(), span.start) - starts_.begin());
    for (Nanos from = span.start; from < span.end && index < starts_.size(); ++index) {
      const Nanos to = std::min(span.end, starts_[index]);
      if (to > from) owners_[index][owner] += to - from;
      from = std::max(from, to);
    }
  }

  void write(RankPart& part, Texts& texts) const {
    for (std::size_t index = 0; index < owners_.size(); ++index) {
      std::vector<std::pair<Owner, Nanos>> largest(owners_[index].begin(), owners_[index].end());
      std::stable_sort(largest.begin(), largest.end(), [](const auto& left, const auto& right) {
        return left.second > right.second;
      });
      if (largest.size() > kKept) largest.resize(kKept);
      for (const auto& [owner, ns] : largest) {
        part.owners.collective.push_back(static_cast<std::int64_t>(index));
        part.owners.part.push_back(static_cast<std::int64_t>(std::get<0>(owner)));
        part.owners.op.push_back(texts.number(std::get<1>(owner)));
        part.owners.module.push_back(texts.number(std::get<2>(owner)));
        part.owners.ns.push_back(ns);
      }
    }
  }

 private:
  const std::vector<Nanos>& starts_;
  std::vector<std::map<Owner, Nanos>> owners_;
};

}  // namespace

std::string_view OwnerNames::op_of_activity(std::uint32_t activity) {
  const Capture& capture = context_.capture;
  const auto named = naming_.of(context_.attribution.op[activity]);
  if (named != kNoRow) return capture.text(capture.host_ops.name[named]);
  return capture.text(capture.activities.name[activity]);
}

std::string_view OwnerNames::op_of_host(std::uint32_t op) const {
  if (op == kNoRow) return {};
  return context_.capture.text(context_.capture.host_ops.name[op]);
}

std::string_view OwnerNames::module_of(std::uint32_t activity) const {
  if (activity == kNoRow) return {};
  const auto& attribution = context_.attribution;
  return attribution.modules[attribution.module[activity]];
}

void fill_owners(const Context& context, const DeviceTimeline& line, OwnerNames& names,
                 RankPart& part, Texts& texts) {
  const Capture& capture = context.capture;
  Stretches stretches(part.collectives.start_ns);
  for (std::size_t i = 0; i < line.rows.size(); ++i) {
    const auto row = line.rows[i];
    const bool kernel = capture.activities.kind[row] == ActivityKind::kernel;
    if (kernel && is_collective_kernel(capture.text(capture.activities.name[row]))) continue;
    stretches.add(line.spans[i], {kernel ? RankTime::kernels : RankTime::copies,
                                  names.op_of_activity(row), names.module_of(row)});
  }
  for (const auto& piece : line.idle_pieces)
    stretches.add(piece.span, {rank_time(piece.reason), names.op_of_host(piece.op),
                               names.module_of(piece.next)});
  stretches.write(part, texts);
}

}  // namespace gf
