// Selects the events that a page shows one by one where there are too many for a browser, and how
// others are summed up.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "analyze/context.h"
#include "core/intervals.h"
#include "report/events/timeline_data.h"

namespace gf {

bool TimelineDetail::holds(Interval span) const {
  if (span.length() > longer_than) return true;
  const auto at = std::partition_point(whole.begin(), whole.end(),
                                       [&](const Interval& one) { return one.end < span.start; });
  return at != whole.end() && at->start <= span.end;
}

std::uint32_t TimelineDetail::cell(Nanos start) const {
  const auto after = std::upper_bound(cells.begin(), cells.end(), start);
  return static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(after - cells.begin() - 1, 0));
}

namespace {

/// Every event of the streams, annotations, calls and host operations of a window.
template <class Use>
void each_event(const Context& context, Interval window, Use&& use) {
  for (const auto& line : context.devices)
    for (const auto& span : line.spans) use(span);
  Interval span;
  const auto& bands = context.capture.device_annotations;
  for (std::uint32_t i = 0; i < bands.size(); ++i)
    if (clipped(window, bands.start_ns[i], bands.duration_ns[i], span)) use(span);
  const auto& calls = context.capture.api_calls;
  for (std::uint32_t i = 0; i < calls.size(); ++i)
    if (calls.thread[i] != kNoRow && clipped(window, calls.start_ns[i], calls.duration_ns[i], span))
      use(span);
  const auto& ops = context.capture.host_ops;
  for (std::uint32_t i = 0; i < ops.size(); ++i)
    if (ops.thread[i] != kNoRow && clipped(window, ops.start_ns[i], ops.duration_ns[i], span))
      use(span);
}

/// No window has more events.
std::size_t most_events(const Context& context) {
  const auto& capture = context.capture;
  std::size_t most =
      capture.device_annotations.size() + capture.api_calls.size() + capture.host_ops.size();
  for (const auto& line : context.devices) most += line.spans.size();
  return most;
}

/// The length that only `most` events and pieces of idle time exceed.
Nanos length_of_the_largest(const Context& context, Interval window, std::size_t most) {
  std::vector<Nanos> lengths;
  each_event(context, window, [&](Interval span) { lengths.push_back(span.length()); });
  for (const auto& line : context.devices)
    for (const auto& piece : line.idle_pieces) lengths.push_back(piece.span().length());
  const auto at = lengths.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(lengths.begin(), at, lengths.end(), std::greater<>());
  return *at;
}

/// Chooses spans, the most telling first, as long as there is room for their events.
class WholeSpans {
 public:
  WholeSpans(std::span<const Nanos> starts, Interval window, std::size_t room)
      : starts_(starts), window_(window), room_(room) {}

  /// All of a span, or nothing when it has more than `most` events.
  void add(Interval span, std::size_t most) {
    span = {std::max(span.start, window_.start), std::min(span.end, window_.end)};
    const std::size_t events = count(span);
    if (events > std::min(most, room_)) return;
    room_ -= events;
    spans_.push_back(span);
  }

  /// A span from its start on, as far as there is room, then what is around it.
  void grow(Interval span) {
    const auto first = std::lower_bound(starts_.begin(), starts_.end(), span.start);
    if (starts_.end() - first > static_cast<std::ptrdiff_t>(room_))
      span.end = std::min(span.end, first[static_cast<std::ptrdiff_t>(room_)]);
    const auto around = [&](Nanos more) {
      return Interval{std::max(span.start - more, window_.start),
                      std::min(span.end + more, window_.end)};
    };
    Nanos fits = 0, beyond = window_.length() + 1;
    while (beyond - fits > 1) {
      const Nanos middle = fits + (beyond - fits) / 2;
      (count(around(middle)) <= room_ ? fits : beyond) = middle;
    }
    spans_.push_back(around(fits));
  }

  Intervals spans() && { return normalised(std::move(spans_)); }

 private:
  std::size_t count(Interval span) const {
    const auto first = std::lower_bound(starts_.begin(), starts_.end(), span.start);
    return static_cast<std::size_t>(std::upper_bound(first, starts_.end(), span.end) - first);
  }

  std::span<const Nanos> starts_;
  Interval window_;
  std::size_t room_;
  Intervals spans_;
};

/// Up to `most` gaps of the devices, the longest.
Intervals longest_gaps(const Context& context, std::size_t most) {
  Intervals gaps;
  for (const auto& line : context.devices)
    line.each_gap([&](Interval gap) { gaps.push_back(gap); });
  const auto end = gaps.begin() + static_cast<std::ptrdiff_t>(std::min(most, gaps.size()));
  std::partial_sort(gaps.begin(), end, gaps.end(), [](const Interval& one, const Interval& other) {
    return std::tuple(-one.length(), one.start) < std::tuple(-other.length(), other.start);
  });
  gaps.erase(end, gaps.end());
  return gaps;
}

/// The longest step, the longest gaps, and the middle step with as much around it as there is room
/// for: the page begins with that one.
Intervals whole_spans(const Context& context, Interval window, std::span<const Nanos> starts,
                      std::size_t room) {
  WholeSpans whole(starts, window, room);
  Intervals steps;
  Interval span;
  for (const auto& step : context.window.all_steps)
    if (clipped(window, step.start_ns, step.duration_ns, span)) steps.push_back(span);
  const auto longest = std::max_element(
      steps.begin(), steps.end(),
      [](const Interval& one, const Interval& other) { return one.length() < other.length(); });
  if (longest != steps.end()) whole.add(*longest, room / 8);
  constexpr std::size_t kGaps = 32;
  for (const auto& gap : longest_gaps(context, kGaps))
    whole.add({gap.start - gap.length(), gap.end + gap.length()}, room / (4 * kGaps));
  const Nanos middle = starts[starts.size() / 2];
  whole.grow(steps.empty() ? Interval{middle, middle} : steps[steps.size() / 2]);
  return std::move(whole).spans();
}

/// Half of the cells are equally long, half have equally many events. None reaches into a span
/// whose events are held.
std::vector<Nanos> cell_starts(Interval window, std::span<const Nanos> starts,
                               const Intervals& whole) {
  constexpr std::size_t kCells = 1024;
  std::vector<Nanos> cells;
  for (std::size_t i = 0; i < kCells; ++i) {
    const double part = static_cast<double>(i) / kCells;
    cells.push_back(window.start + static_cast<Nanos>(part * static_cast<double>(window.length())));
    cells.push_back(starts[i * starts.size() / kCells]);
  }
  for (const auto& span : whole) cells.insert(cells.end(), {span.start, span.end});
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  while (cells.size() > 1 && cells.back() >= window.end) cells.pop_back();
  return cells;
}

auto key_of(const MergedEvents& item) {
  return std::tuple(item.cell, item.row, item.name, item.site);
}

/// Every second cell joins the one before it, but for those that begin or end at a whole span.
bool halve(TimelineDetail& detail, std::span<EventSums* const> lanes) {
  std::vector<Nanos> left;
  std::vector<std::uint32_t> number;
  for (std::size_t i = 0; i < detail.cells.size(); ++i) {
    const bool border = std::ranges::any_of(detail.whole, [&](const Interval& span) {
      return span.start == detail.cells[i] || span.end == detail.cells[i];
    });
    if (i % 2 == 0 || border) left.push_back(detail.cells[i]);
    number.push_back(static_cast<std::uint32_t>(left.size() - 1));
  }
  const bool fewer = left.size() < detail.cells.size();
  detail.cells = std::move(left);
  for (auto* lane : lanes)
    for (auto& item : lane->joined()) item.cell = number[item.cell];
  return fewer;
}

}  // namespace

TimelineDetail timeline_detail(const Context& context, Interval window, std::size_t budget) {
  TimelineDetail detail;
  if (most_events(context) <= budget) return detail;
  std::size_t events = 0;
  each_event(context, window, [&](Interval) { ++events; });
  if (events <= budget) return detail;
  std::vector<Nanos> starts;
  starts.reserve(events);
  each_event(context, window, [&](Interval span) { starts.push_back(span.start); });
  detail.longer_than = length_of_the_largest(context, window, budget / 8);
  std::sort(starts.begin(), starts.end());
  detail.whole = whole_spans(context, window, starts, budget / 2);
  detail.cells = cell_starts(window, starts, detail.whole);
  return detail;
}

void EventSums::add(const MergedEvents& events) {
  // Few items remain of many events: they need not all be kept until the end.
  if (items_.size() >= join_at_) join_at_ += 2 * joined().size();
  items_.push_back(events);
}

std::vector<MergedEvents>& EventSums::joined() {
  std::sort(items_.begin(), items_.end(),
            [](const auto& one, const auto& other) { return key_of(one) < key_of(other); });
  std::size_t last = 0;
  for (std::size_t i = 1; i < items_.size(); ++i) {
    if (key_of(items_[last]) == key_of(items_[i])) {
      items_[last].events += items_[i].events;
      items_[last].filled += items_[i].filled;
    } else {
      items_[++last] = items_[i];
    }
  }
  items_.resize(std::min(items_.size(), last + 1));
  return items_;
}

void join_cells(TimelineDetail& detail, std::span<EventSums* const> lanes, std::size_t most) {
  const auto items = [&] {
    std::size_t sum = 0;
    for (auto* lane : lanes) sum += lane->joined().size();
    return sum;
  };
  while (items() > most && halve(detail, lanes)) {
  }
}

}  // namespace gf
