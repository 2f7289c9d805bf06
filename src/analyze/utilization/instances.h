// The window over all devices, and groups of what lies in it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyze/context.h"

namespace gf {

/// Time of the window summed over devices.
inline Nanos device_window(const Context& context) {
  Nanos sum = 0;
  for (const auto& line : context.devices) sum += line.window.length();
  return sum;
}

/// Members of each group, one group after the other: members(g) are positions in the array that was
/// grouped.
class Groups {
 public:
  /// `group_of[i]` in 0..groups-1.
  Groups(const std::vector<std::uint32_t>& group_of, std::size_t groups)
      : begin_(groups + 1, 0), members_(group_of.size()) {
    for (const auto group : group_of) ++begin_[group + 1];
    for (std::size_t group = 0; group < groups; ++group) begin_[group + 1] += begin_[group];
    std::vector<std::size_t> at(begin_.begin(), begin_.end() - 1);
    for (std::size_t i = 0; i < group_of.size(); ++i)
      members_[at[group_of[i]]++] = static_cast<std::uint32_t>(i);
  }
  std::size_t size() const { return begin_.size() - 1; }
  std::span<const std::uint32_t> members(std::size_t group) const {
    return {members_.data() + begin_[group], begin_[group + 1] - begin_[group]};
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> members_;
};

}  // namespace gf
