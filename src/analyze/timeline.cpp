#include "analyze/timeline.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "analyze/vocabulary.h"
#include "core/order.h"
#include "model/host_copies.h"

namespace gf {

namespace {

Interval span_of(const Capture& capture, std::uint32_t row) {
  const auto& activities = capture.activities;
  return span_of(activities, row);
}

/// Sorts rows of activities into the order that DeviceTimeline promises.
void order_by_start(const Capture& capture, std::vector<std::uint32_t>& rows) {
  const auto& activities = capture.activities;
  sort_nearly_ordered(rows.begin(), rows.end(), [&](std::uint32_t left, std::uint32_t right) {
    if (activities.start_ns[left] != activities.start_ns[right])
      return activities.start_ns[left] < activities.start_ns[right];
    if (activities.duration_ns[left] != activities.duration_ns[right])
      return activities.duration_ns[left] > activities.duration_ns[right];
    return left < right;
  });
}

void leave_host_copies(const Capture& capture, std::vector<std::uint32_t>& rows) {
  std::erase_if(rows, [&](std::uint32_t row) {
    return capture.activities.copy[row] == CopyKind::host_to_host;
  });
}

/// Rows of activities by device, each in order.
std::vector<std::vector<std::uint32_t>> rows_by_device(const Capture& capture) {
  const auto& activities = capture.activities;
  std::vector<std::size_t> count(capture.devices.size(), 0);
  for (std::uint32_t i = 0; i < activities.size(); ++i)
    if (const auto device = activities.device[i]; device < count.size()) ++count[device];
  std::vector<std::vector<std::uint32_t>> rows(count.size());
  for (std::size_t device = 0; device < count.size(); ++device) rows[device].reserve(count[device]);
  std::vector<Nanos> last(rows.size(), INT64_MIN);  // start of each device's last row
  std::vector<bool> mixed(rows.size(), false);      // rows may be out of order
  for (std::uint32_t i = 0; i < activities.size(); ++i) {
    const auto device = activities.device[i];
    if (device >= rows.size()) continue;
    rows[device].push_back(i);
    const Nanos start = activities.start_ns[i];
    if (start <= last[device]) mixed[device] = true;
    last[device] = start;
  }
  const bool on_the_host = copies_on_the_host(capture);
  for (std::size_t device = 0; device < rows.size(); ++device) {
    if (on_the_host) leave_host_copies(capture, rows[device]);
    if (mixed[device]) order_by_start(capture, rows[device]);
  }
  return rows;
}

void fill(const Capture& capture, DeviceTimeline& line) {
  const auto& activities = capture.activities;
  const auto is_kernel = [&](std::size_t i) {
    return activities.kind[line.rows[i]] == ActivityKind::kernel;
  };
  line.spans.resize(line.rows.size());
  line.busy.reserve(line.rows.size());  // room that stays untouched costs nothing
  std::size_t kernels = 0;
  for (std::size_t i = 0; i < line.rows.size(); ++i) {  // by start: unions grow at their ends
    Interval span = span_of(capture, line.rows[i]);
    span = {std::clamp(span.start, line.window.start, line.window.end),
            std::clamp(span.end, line.window.start, line.window.end)};
    line.spans[i] = span;
    extend(line.busy, span);
    kernels += is_kernel(i);
  }
  if (kernels == line.rows.size()) {
    line.exclusive_ns = exclusive_times(line.spans);
    return;
  }
  std::vector<Interval> spans;
  spans.reserve(kernels);
  Intervals kernel_busy, copies;
  for (std::size_t i = 0; i < line.rows.size(); ++i) {
    extend(is_kernel(i) ? kernel_busy : copies, line.spans[i]);
    if (is_kernel(i)) spans.push_back(line.spans[i]);
  }
  line.copying = subtract(copies, kernel_busy);
  const auto shares = exclusive_times(spans);
  line.exclusive_ns.assign(line.rows.size(), 0);
  for (std::size_t i = 0, row = 0; i < line.rows.size(); ++i)
    if (is_kernel(i)) line.exclusive_ns[i] = shares[row++];
}

}  // namespace

Nanos DeviceTimeline::idle_in(Interval span) const {
  const Nanos inside = std::min(window.end, span.end) - std::max(window.start, span.start);
  return inside > 0 ? inside - covered(busy, span) : 0;
}

Nanos DeviceTimeline::idle_in(const Intervals& set) const {
  Nanos sum = 0;
  each_in(set, window, [&](Interval span) { sum += span.length(); });
  return sum - shared_length(set, busy);
}

Intervals busy_spans(const Capture& capture, std::uint32_t device) {
  const auto& activities = capture.activities;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < activities.size(); ++row)
    if (activities.device[row] == device) rows.push_back(row);
  if (copies_on_the_host(capture)) leave_host_copies(capture, rows);
  order_by_start(capture, rows);
  Intervals busy;
  for (const auto row : rows) extend(busy, span_of(capture, row));
  return busy;
}

std::vector<DeviceTimeline> build_timelines(const Capture& capture, const WindowInfo& window) {
  std::vector<DeviceTimeline> timelines;
  const bool whole = window.kind == WindowKind::all;
  auto by_device = rows_by_device(capture);
  for (std::uint32_t device = 0; device < by_device.size(); ++device) {
    auto& rows = by_device[device];
    if (rows.empty()) continue;
    DeviceTimeline line;
    line.device = device;
    line.window = {window.start_ns, window.end_ns};
    if (whole) {
      line.window = {span_of(capture, rows.front()).start, INT64_MIN};
      for (auto row : rows) line.window.end = std::max(line.window.end, span_of(capture, row).end);
    } else {
      std::erase_if(rows, [&](std::uint32_t row) {
        const Interval span = span_of(capture, row);
        bool inside = span.length() > 0
                          ? span.start < line.window.end && span.end > line.window.start
                          : span.start >= line.window.start && span.start < line.window.end;
        return !inside;
      });
    }
    line.rows = std::move(rows);
    fill(capture, line);
    timelines.push_back(std::move(line));
  }
  return timelines;
}

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

/// The spans that cover the present instant, in the order in which they began. A doubly linked list
/// through indices: both ends and any member are reached in constant time, so that hundreds of
/// overlapping streams stay O(n log n).
class Covering {
 public:
  explicit Covering(std::size_t count) : next_(count, kNone), previous_(count, kNone) {}
  std::uint32_t first() const { return first_; }
  Nanos count() const { return count_; }
  void add(std::uint32_t index) {
    previous_[index] = last_;
    next_[index] = kNone;
    (last_ == kNone ? first_ : next_[last_]) = index;
    last_ = index;
    ++count_;
  }
  void remove(std::uint32_t index) {
    (previous_[index] == kNone ? first_ : next_[previous_[index]]) = next_[index];
    (next_[index] == kNone ? last_ : previous_[next_[index]]) = previous_[index];
    --count_;
  }

 private:
  std::vector<std::uint32_t> next_, previous_;
  std::uint32_t first_ = kNone, last_ = kNone;
  Nanos count_ = 0;
};

/// One run of spans [from, to) that overlap each other, directly or through others.
void split_run(std::span<const Interval> spans, std::size_t from, std::size_t to,
               std::vector<Nanos>& share) {
  using End = std::pair<Nanos, std::uint32_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  Covering covering(to - from);
  Nanos now = spans[from].start;
  Nanos each = 0;  // what a span that covered everything so far would have got
  auto advance = [&](Nanos until) {
    if (covering.count() > 0 && until > now) {
      each += (until - now) / covering.count();
      share[from + covering.first()] += (until - now) % covering.count();
    }
    now = until;
  };
  auto finish_until = [&](Nanos until) {
    for (; !ends.empty() && ends.top().first <= until; ends.pop()) {
      const auto [end, row] = ends.top();
      advance(end);
      share[from + row] += each;
      covering.remove(row);
    }
  };
  for (std::size_t i = from; i < to; ++i) {
    if (spans[i].length() <= 0) continue;
    finish_until(spans[i].start);
    advance(spans[i].start);
    const auto at = static_cast<std::uint32_t>(i - from);
    share[i] -= each;
    covering.add(at);
    ends.push({spans[i].end, at});
  }
  finish_until(INT64_MAX);
}

}  // namespace

std::vector<Nanos> exclusive_times(std::span<const Interval> spans) {
  std::vector<Nanos> share(spans.size(), 0);
  for (std::size_t from = 0; from < spans.size();) {
    // Nearly all kernels overlap nothing: a run of one span takes it all.
    Nanos end = spans[from].end;
    std::size_t to = from + 1;
    for (; to < spans.size() && spans[to].start < end; ++to) end = std::max(end, spans[to].end);
    if (to == from + 1)
      share[from] = spans[from].length();
    else
      split_run(spans, from, to, share);
    from = to;
  }
  return share;
}

std::vector<std::uint32_t> collective_rows(const Context& context, const DeviceTimeline& line) {
  const auto& activities = context.capture.activities;
  std::vector<std::uint32_t> rows;
  for (const auto row : line.rows)
    if (activities.kind[row] == ActivityKind::kernel &&
        communicates(context.names.kernel(activities.name[row])))
      rows.push_back(row);
  return rows;
}

}  // namespace gf
