// Ranks of a job that do the same work, and what is usual among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyze/ranks/answer.h"

namespace gf {

/// The peers of each rank: others of its stage whose captures cover as much, within a tenth of its
/// own; one of another length may be cut.
class StagePeers {
 public:
  explicit StagePeers(const Job& job);

  bool any(std::uint32_t part) const { return of_[part].to - of_[part].from > 1; }

 private:
  friend class UsualOfPeers;
  struct Range {  // of the stage's members, the rank itself among them
    std::uint32_t stage = 0;
    std::size_t from = 0, to = 0;
  };
  std::vector<std::vector<std::uint32_t>>
      members_;            // parts by stage, by the length of their capture
  std::vector<Range> of_;  // by part
};

/// The median of what a rank's peers have of one thing. What a whole stage has is sorted once, so
/// that asking for all ranks takes O(n log n).
class UsualOfPeers {
 public:
  /// `values` by part; the parts that are not among them have 0. Both live longer than this.
  UsualOfPeers(const StagePeers& peers, const std::map<std::uint32_t, double>& values)
      : peers_(peers), values_(values) {}
  /// The value of one of these parts; nothing without peers.
  std::optional<double> of(std::uint32_t part);

 private:
  double value(std::uint32_t part) const {
    const auto found = values_.find(part);
    return found == values_.end() ? 0 : found->second;
  }
  std::vector<double>& sorted(std::uint32_t stage);

  const StagePeers& peers_;
  const std::map<std::uint32_t, double>& values_;
  std::map<std::uint32_t, std::vector<double>> sorted_;  // by stage, of the parts that have one
};

}  // namespace gf
