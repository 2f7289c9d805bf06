// The events of a window as the page's timeline shows them, as columns: one by one as far as a
// browser can hold them, the others in sums that keep every nanosecond. Times count from the
// timeline's start.
// Rows for spans that are drawn: those that overlap come to stand one above the other, none is
// dropped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/context.h"
#include "core/describe.h"
#include "core/intervals.h"
#include "core/time.h"
#include "report/events/packed_column.h"

namespace gf {

/// One band of the timeline. The columns run in parallel, in order of start; a column that does not
/// apply is empty, or says nothing. Texts are numbers into TimelineData::texts, where 0 is the
/// empty text.
struct TimelineLane {
  std::string kind;   // steps, idle, band, stream, queue, host, api, python
  std::string title;  // for people
  std::string group;  // lanes of one device or one thread belong together
  std::int64_t device = -1;
  bool merged = false;  // sums of events that the lane before does not hold: `start` and `duration`
                        // are those of a cell of time in which they start
  using Column = PackedColumn;
  Column start{Coding::rising}, duration;
  Column name;                     // text; of a stream the number of its thing
  Column site;                     // of a stream: number of its site
  Column call{Coding::change, 0};  // of a stream: number of its launch call + 1, counted through
                                   // all api lanes in order; 0 when there is no record of it
  Column correlation{Coding::change, -1};  // of streams and calls; -1 when not known
  Column sm{Coding::number, 0}, issue{Coding::number, 0},
      tensor{Coding::number, 0};     // thousandths + 1; 0 without counters
  Column bytes{Coding::number, 0};   // of copies and sets; 0 when not known
  Column shapes{Coding::number, 0};  // of host operations: text
  Column low, depth;                 // of a queue: smallest and largest depth in the span
  Column row, events, filled;        // of a merged lane: depth, number, and time of the events
};

/// Kernels of one name and launch configuration, or a copy.
struct TimelineThing {
  std::string name, full_name, kind, grid, block;
  std::int64_t registers = -1, shared_bytes = -1;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("name", &TimelineThing::name, "short name");
    visit("full_name", &TimelineThing::full_name, "name as recorded");
    visit("kind", &TimelineThing::kind, "kernel, memcpy or memset");
    visit("grid", &TimelineThing::grid, "thread blocks");
    visit("block", &TimelineThing::block, "threads a block");
    visit("registers", &TimelineThing::registers, "registers a thread, -1: not known");
    visit("shared_bytes", &TimelineThing::shared_bytes, "shared memory a block, -1: not known");
  }
};

/// The origin of an event: operation, module, and its row in the table of layers.
struct TimelineSite {
  std::string op, module, type, phase, layer;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("op", &TimelineSite::op, "framework operation");
    visit("module", &TimelineSite::module, "module");
    visit("type", &TimelineSite::type, "layer type");
    visit("phase", &TimelineSite::phase, "phase of its row in the table of layers");
    visit("layer", &TimelineSite::layer, "name of its row in the table of layers");
  }
};

struct TimelineData {
  Nanos start_ns = 0, duration_ns = 0;
  Nanos origin_ns = 0;  // what START:END of --window counts from
  Intervals whole;      // where the lanes hold every event; empty when they do everywhere
  std::vector<std::string> texts{""};
  std::vector<TimelineThing> things;
  std::vector<TimelineSite> sites;
  std::vector<TimelineLane> lanes;    // from top to bottom
  std::int64_t shown = 0, total = 0;  // events of streams and host threads
};

/// The part of an event inside the window. False for one outside; an event without length belongs
/// to the window when it lies in it or at its end.
inline bool clipped(Interval window, Nanos start, Nanos duration, Interval& span) {
  span = {std::max(start, window.start), std::min(start + duration, window.end)};
  return span.end > span.start || (duration == 0 && start >= window.start && start <= window.end);
}

/// The events that are held one by one, and the cells of time in which the others are summed up.
struct TimelineDetail {
  Nanos longer_than = -1;    // longer ones are held wherever they are
  Intervals whole;           // all events that reach into these are held
  std::vector<Nanos> cells;  // starts, in order; none reaches into a whole span
  bool holds(Interval span) const;
  std::uint32_t cell(Nanos start) const;
};

/// Everything where there is room for it. Else an eighth of the budget is for the largest events
/// and pieces of idle time, half for the middle step and what is around it, the longest step and
/// the longest gaps.
TimelineDetail timeline_detail(const Context& context, Interval window, std::size_t budget);

/// Events of a row of a lane that start in one cell and have one name and site.
struct MergedEvents {
  std::uint32_t cell = 0, row = 0;
  std::int64_t name = 0, site = 0, events = 0, filled = 0;
};

/// The events of a lane that are not held one by one.
class EventSums {
 public:
  void add(const MergedEvents& events);
  /// One item for each cell, row, name and site, in this order.
  std::vector<MergedEvents>& joined();

 private:
  std::vector<MergedEvents> items_;
  std::size_t join_at_ = std::size_t{1} << 16;
};

/// Joins cells until all lanes together have at most `most` items, or no two cells are left to
/// join.
void join_cells(TimelineDetail& detail, std::span<EventSums* const> lanes, std::size_t most);

/// The most events that a browser moves at 30 frames a second.
inline constexpr std::size_t kPageEvents = 2'000'000;

/// Every event of the context's window: one by one, or, of more than `budget`, as timeline_detail
/// says, with a quarter of the budget for the sums of the others.
TimelineData timeline_data(const Context& context, std::size_t budget = kPageEvents);

/// The same as bytes, in parts: the length of a JSON text (32 bits, little end first) with that
/// text, and the columns that it lists, whose bytes are those of `data`.
struct PackedTimeline {
  std::string head;
  std::vector<std::string_view> columns;
};
PackedTimeline packed_timeline(const TimelineData& data);

/// The row of every span, 0 upwards: the lowest row that is free when it starts. `spans` are
/// ordered by start. Spans that never overlap all get row 0; the number of rows is the largest
/// number of spans that hold at once.
std::vector<std::uint32_t> free_rows(std::span<const Interval> spans);

}  // namespace gf
