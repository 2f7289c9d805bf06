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
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("kind", &TimelineLane::kind, "steps, idle, stream, queue, host or api");
    visit("title", &TimelineLane::title, "text for people");
    visit("device", &TimelineLane::device, "device number, -1 for the host");
    visit("rows", &TimelineLane::rows, "rows it needs");
    visit("start", &TimelineLane::start, "start");
    visit("duration", &TimelineLane::duration, "duration in ns");
    visit("row", &TimelineLane::row, "row");
    visit("name", &TimelineLane::name, "name, or idle cause");
    visit("op", &TimelineLane::op, "framework operation");
    visit("module", &TimelineLane::module, "module");
    visit("type", &TimelineLane::type, "layer type");
    visit("tensor", &TimelineLane::tensor, "tensor-issue utilisation in thousandths, -1: no data");
    visit("launch", &TimelineLane::launch, "start of the launch call, -1: not shown");
    visit("launch_lane", &TimelineLane::launch_lane, "lane of the launch call, -1: not shown");
    visit("low", &TimelineLane::low, "smallest depth of a queue");
    visit("depth", &TimelineLane::depth, "largest depth of a queue");
  }
};

struct TimelineData {
  Nanos start_ns = 0, duration_ns = 0;
  std::vector<std::string> texts{""};
  std::vector<TimelineLane> lanes;
  std::int64_t shown = 0, total = 0;
  std::string note;  // what was left out
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("start_ns", &TimelineData::start_ns, "start on the capture's clock");
    visit("duration_ns", &TimelineData::duration_ns, "length");
    visit("texts", &TimelineData::texts, "texts that columns name by number");
    visit("lanes", &TimelineData::lanes, "bands from top to bottom");
    visit("shown", &TimelineData::shown, "events in the lanes");
    visit("total", &TimelineData::total, "events that there are");
    visit("note", &TimelineData::note, "what was left out when shown is less than total");
  }
};

/// Events of the context's window, at most `budget` of them: the device side first, then host
/// operations and calls; of each side the longest are kept. Between the two stand the queues, with
/// every change of depth as far as there are not too many.
TimelineData timeline_data(const Context& context, std::size_t budget = 20'000);

}  // namespace gf
