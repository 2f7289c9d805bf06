// Single events for the timeline of the page, as columns. Times count from the timeline's start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/context.h"
#include "core/describe.h"

namespace gf {

/// One band of the timeline. The columns run in parallel; a column that does not apply to the kind
/// is empty. Texts are numbers into TimelineData::texts, where 0 is the empty text.
struct TimelineLane {
  std::string kind;  // steps, idle, stream, queue, host, api
  std::string title;
  std::int64_t device = -1;
  std::uint32_t rows = 1;
  std::vector<Nanos> start, duration;
  std::vector<std::uint32_t> row, name, op, module, type;
  std::vector<std::int32_t> tensor;  // tensor-issue utilisation in thousandths, -1 without counters
  std::vector<Nanos> launch;         // start of the launch call, -1 when it is not shown
  std::vector<std::int32_t>
      launch_lane;                       // number of the lane of that call, -1 when it is not shown
  std::vector<std::int64_t> low, depth;  // of a queue: smallest and largest depth in the span; the
                                         // same where no change was left out
  static constexpr auto fields() {
    using L = TimelineLane;
    return std::tuple{
        field("kind", &L::kind, "steps, idle, stream, queue, host or api"),
        field("title", &L::title, "text for people"),
        field("device", &L::device, "device number, -1 for the host"),
        field("rows", &L::rows, "rows it needs"),
        field("start", &L::start, "start"),
        field("duration", &L::duration, "duration in ns"),
        field("row", &L::row, "row"),
        field("name", &L::name, "name, or idle cause"),
        field("op", &L::op, "framework operation"),
        field("module", &L::module, "module"),
        field("type", &L::type, "layer type"),
        field("tensor", &L::tensor, "tensor-issue utilisation in thousandths, -1: no data"),
        field("launch", &L::launch, "start of the launch call, -1: not shown"),
        field("launch_lane", &L::launch_lane, "lane of the launch call, -1: not shown"),
        field("low", &L::low, "smallest depth of a queue"),
        field("depth", &L::depth, "largest depth of a queue")};
  }
};

struct TimelineData {
  Nanos start_ns = 0, duration_ns = 0;
  std::vector<std::string> texts{""};
  std::vector<TimelineLane> lanes;
  std::int64_t shown = 0, total = 0;
  std::string note;  // what was left out
  static constexpr auto fields() {
    using T = TimelineData;
    return std::tuple{field("start_ns", &T::start_ns, "start on the capture's clock"),
                      field("duration_ns", &T::duration_ns, "length"),
                      field("texts", &T::texts, "texts that columns name by number"),
                      field("lanes", &T::lanes, "bands from top to bottom"),
                      field("shown", &T::shown, "events in the lanes"),
                      field("total", &T::total, "events that there are"),
                      field("note", &T::note, "what was left out when shown is less than total")};
  }
};

/// Events of the context's window, at most `budget` of them: the device side first, then host
/// operations and calls; of each side the longest are kept. Between the two stand the queues, with
/// every change of depth as far as there are not too many.
TimelineData timeline_data(const Context& context, std::size_t budget = 20'000);

}  // namespace gf
