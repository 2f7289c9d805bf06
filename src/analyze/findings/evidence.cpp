#include "analyze/findings/evidence.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string_view>

#include "analyze/findings/finding_rows.h"

namespace gf {
namespace {

struct Statements {
  std::string_view first, second;
};
constexpr Statements kStatements[] = {
// by Evidence
#define GF_EVIDENCE(id, first, second) {first, second},
#include "analyze/names/evidence.def"
#undef GF_EVIDENCE
};

/// The longest of many, each once.
class Longest {
 public:
  bool would_keep(Nanos duration) const {
    return duration > 0 && (!full() || duration > kept_.back().duration_ns);
  }
  void add(Nanos start, Nanos duration) {
    if (!would_keep(duration)) return;
    const bool known = std::ranges::any_of(kept_, [&](const Moment& one) {
      return one.start_ns == start && one.duration_ns == duration;
    });
    if (known) return;
    if (full()) kept_.pop_back();
    kept_.insert(std::ranges::upper_bound(kept_, duration, std::greater<>(), &Moment::duration_ns),
                 Moment{start, duration});
  }
  bool empty() const { return kept_.empty(); }
  std::vector<Moment> take() && { return std::move(kept_); }

 private:
  static constexpr std::size_t kMost = 3;
  bool full() const { return kept_.size() == kMost; }
  std::vector<Moment> kept_;
};

}  // namespace

std::vector<std::string> queries_of(FindingId id) {
  const auto& [first, second] = kStatements[static_cast<std::size_t>(row_of(id).shown_by)];
  std::vector<std::string> queries;
  for (const auto statement : {first, second})
    if (!statement.empty()) queries.emplace_back(statement);
  return queries;
}

std::vector<Moment> longest_moments(const TraceFacts& facts, const TraceFacts::Spoken& spoken,
                                    const ClaimedTime& claimed) {
  Longest longest;
  const auto& activities = facts.capture().activities;
  for (const auto row : spoken.activities)
    if (longest.would_keep(activities.duration_ns[row]))
      longest.add(activities.start_ns[row], activities.duration_ns[row]);
  if (longest.empty())
    for (const auto& span : claimed.host) longest.add(span.start, span.length());
  if (longest.empty())
    for (std::size_t reason = 0; reason < kReasonsOfIdle; ++reason)
      if ((spoken.reasons >> reason & 1) != 0)
        for (const auto& piece : facts.idle_pieces(static_cast<IdleReason>(reason)))
          longest.add(piece.start, piece.span().length());
  return std::move(longest).take();
}

}  // namespace gf
