#include "analyze/ranks/bound_gain.h"

#include <algorithm>

namespace gf {

namespace {

/// The other ranks as they go through the collectives without one rank's delay.
class Replay {
 public:
  Replay(const JobView& view, std::uint32_t late)
      : view_(view), late_(late), gained_(view.job.parts.size()), lost_(view.job.parts.size()) {}

  void pass(std::uint32_t number, Nanos gain) {
    const auto& arrivals = view_.job.shared[number].arrivals;
    const WaitSplit& split = view_.splits[number];
    Nanos lost = 0;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      if (arrivals[i].part == late_) continue;
      hold_at_launches(arrivals[i]);
      lost = std::max(lost, lost_[arrivals[i].part] - spare(split, i, gain));
    }
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      const auto part = arrivals[i].part;
      if (part == late_) continue;
      // All leave together; what a rank computes beside its waiting does not come earlier by it.
      lost_[part] = std::max(lost, lost_[part] - split.ranks[i].exposed_wait());
      if (i != split.last) gained_[part] += gain;
    }
  }

  Nanos most() const {
    Nanos most = 0;
    for (std::size_t part = 0; part < gained_.size(); ++part)
      most = std::max(most, gained_[part] - lost_[part]);
    return most;
  }

 private:
  /// A device cannot begin what its host, however little it had waited, would not have launched.
  void hold_at_launches(const Arrival& arrival) {
    const auto part = arrival.part;
    const Nanos queued = view_.job.parts[part].collectives.ahead_ns[arrival.row];
    if (queued >= 0) lost_[part] = std::max(lost_[part], gained_[part] - queued);
  }

  /// How much later a rank may come before the others notice.
  static Nanos spare(const WaitSplit& split, std::size_t i, Nanos gain) {
    return std::max<Nanos>(split.ranks[split.last].start - split.ranks[i].start - gain, 0);
  }

  const JobView& view_;
  std::uint32_t late_;
  std::vector<Nanos> gained_, lost_;  // by part
};

}  // namespace

Nanos gain_within_launches(const JobView& view, std::uint32_t part,
                           const std::vector<ChargedGain>& gains) {
  Replay replay(view, part);
  auto next = gains.begin();
  for (std::uint32_t number = 0; number < view.job.shared.size(); ++number) {
    Nanos gain = 0;
    for (; next != gains.end() && next->number == number; ++next) gain += next->gain;
    replay.pass(number, gain);
  }
  return replay.most();
}

}  // namespace gf
