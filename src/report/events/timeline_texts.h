// The dictionaries of a timeline: texts, what ran, where it came from; each thing once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "analyze/layers/layers.h"
#include "report/events/timeline_data.h"

namespace gf {

class TimelineTexts {
 public:
  TimelineTexts(const Context& context, TimelineData& data);

  std::int64_t text(std::string_view text);
  std::int64_t text(Text id);
  /// What an activity is: kernels of one name and shape of launch are one thing.
  std::int64_t thing(std::uint32_t activity);
  std::int64_t site(std::uint32_t activity);

 private:
  const Context& context_;
  const Capture& capture_;
  TimelineData& data_;
  std::unordered_map<std::string, std::int64_t> known_;
  std::unordered_map<std::uint32_t, std::int64_t> known_ids_;
  using Shape = std::tuple<std::uint32_t, std::int32_t, std::int32_t, std::int32_t, std::int32_t,
                           std::int32_t, std::int32_t, std::int64_t, std::int64_t>;
  std::map<Shape, std::int64_t> things_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::int64_t> sites_;
  LayerGroups layers_;
  std::unordered_map<std::uint32_t, std::uint32_t> group_of_;  // activity -> group of layers_
};

}  // namespace gf
