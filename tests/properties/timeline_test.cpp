// Unions and exclusive times against the definition, nanosecond by nanosecond, on small random
// captures.
#include "analyze/timeline.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "analyze/analyze.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

struct Piece {
  Nanos start, length;
  std::int64_t stream;
  std::int32_t device;
  bool kernel;
};

std::vector<Piece> pieces() {
  return *rc::gen::container<std::vector<Piece>>(rc::gen::map(
      rc::gen::tuple(rc::gen::inRange<Nanos>(-40, 120), rc::gen::inRange<Nanos>(0, 30),
                     rc::gen::inRange(1, 4), rc::gen::inRange(0, 2), rc::gen::arbitrary<bool>()),
      [](const auto& t) {
        return Piece{std::get<0>(t), std::get<1>(t), std::get<2>(t), std::get<3>(t),
                     std::get<4>(t)};
      }));
}

Capture capture_of(const std::vector<Piece>& pieces, Nanos shift = 0) {
  test::CaptureBuilder b;
  for (const auto& p : pieces)
    b.activity(p.kernel ? ActivityKind::kernel : ActivityKind::memcpy, p.kernel ? "k" : "c",
               p.start + shift, p.start + p.length + shift, -1, p.stream, p.device);
  return std::move(b.capture);
}

RC_GTEST_PROP(Timeline, EveryNanosecondCountsOnce, ()) {
  const auto some = pieces();
  RC_PRE(!some.empty());
  const Capture capture = capture_of(some);
  WindowInfo window;
  window.kind = *rc::gen::element(WindowKind::all, WindowKind::range);
  window.start_ns = *rc::gen::inRange<Nanos>(-50, 60);
  window.end_ns = window.start_ns + *rc::gen::inRange<Nanos>(1, 100);
  for (const auto& line : build_timelines(capture, window)) {
    const auto& a = capture.activities;
    Interval w{window.start_ns, window.end_ns};
    if (window.kind == WindowKind::all) {
      w = {INT64_MAX, INT64_MIN};
      for (std::uint32_t i = 0; i < a.size(); ++i)
        if (a.device[i] == line.device)
          w = {std::min(w.start, a.start_ns[i]), std::max(w.end, a.start_ns[i] + a.duration_ns[i])};
    }
    RC_ASSERT(line.window == w);
    Nanos busy = 0, kernel_busy = 0, kernel_busy_inside = 0, idle_inside = 0;
    const Nanos from = *rc::gen::inRange<Nanos>(-60, 80);
    const Interval some_span{from, from + *rc::gen::inRange<Nanos>(0, 80)};
    std::map<std::uint32_t, double> fair;  // the exact share of each row
    for (Nanos t = w.start; t < w.end; ++t) {
      std::vector<std::uint32_t> kernels;
      bool any = false;
      for (std::uint32_t i = 0; i < a.size(); ++i) {
        if (a.device[i] != line.device || t < a.start_ns[i] ||
            t >= a.start_ns[i] + a.duration_ns[i])
          continue;
        any = true;
        if (a.kind[i] == ActivityKind::kernel) kernels.push_back(i);
      }
      busy += any;
      kernel_busy += !kernels.empty();
      if (some_span.start <= t && t < some_span.end) {
        kernel_busy_inside += !kernels.empty();
        idle_inside += !any;
      }
      for (auto k : kernels) fair[k] += 1.0 / static_cast<double>(kernels.size());
    }
    RC_ASSERT(total(line.busy) == busy);
    RC_ASSERT(line.kernel_busy_ns() == kernel_busy);
    RC_ASSERT(line.kernel_busy_in(some_span) == kernel_busy_inside);
    RC_ASSERT(line.idle_ns() == w.length() - busy);
    RC_ASSERT(line.idle_in(some_span) == idle_inside);
    RC_ASSERT(line.idle_in(normalised({some_span})) == idle_inside);
    Intervals gaps;
    line.each_gap([&](Interval gap) { gaps.push_back(gap); });
    RC_ASSERT(unite(line.busy, gaps) == normalised({w}));
    RC_ASSERT(shared_length(line.busy, gaps) == 0);
    RC_ASSERT(total(line.copying) == busy - kernel_busy);
    RC_ASSERT(total(subtract(line.copying, line.busy)) == 0);
    RC_ASSERT(std::accumulate(line.exclusive_ns.begin(), line.exclusive_ns.end(), Nanos{0}) ==
              kernel_busy);
    const double slack =
        2.0 * static_cast<double>(line.rows.size()) * static_cast<double>(line.rows.size());
    for (std::size_t i = 0; i < line.rows.size(); ++i) {
      RC_ASSERT(line.exclusive_ns[i] >= 0 && line.exclusive_ns[i] <= line.spans[i].length());
      RC_ASSERT(std::abs(static_cast<double>(line.exclusive_ns[i]) - fair[line.rows[i]]) <= slack);
      if (i > 0) RC_ASSERT(a.start_ns[line.rows[i - 1]] <= a.start_ns[line.rows[i]]);
    }
  }
}

RC_GTEST_PROP(Timeline, SharesAreFairWhenLengthsDivide, ()) {
  // With all times multiples of 27720 (divisible by 1..12) every stretch divides evenly among up to
  // 12 spans: shares are exact.
  constexpr Nanos kUnit = 27720;
  auto spans = *rc::gen::resize(
      10, rc::gen::container<std::vector<Interval>>(rc::gen::map(
              rc::gen::pair(rc::gen::inRange<Nanos>(0, 20), rc::gen::inRange<Nanos>(0, 12)),
              [](auto p) { return Interval{p.first, p.first + p.second}; })));
  std::sort(spans.begin(), spans.end(),
            [](auto a, auto b) { return a.start != b.start ? a.start < b.start : a.end > b.end; });
  std::vector<Nanos> expected(spans.size(), 0);
  for (Nanos t = 0; t < 40; ++t) {
    const auto covers = [t](const Interval& s) { return s.start <= t && t < s.end; };
    const auto n = std::count_if(spans.begin(), spans.end(), covers);
    for (std::size_t i = 0; i < spans.size(); ++i)
      if (covers(spans[i])) expected[i] += kUnit / n;
  }
  for (auto& s : spans) s = {s.start * kUnit, s.end * kUnit};
  RC_ASSERT(exclusive_times(spans) == expected);
}

RC_GTEST_PROP(Timeline, TimeShiftsRowOrderAndStreamsDoNotMatter, ()) {
  const auto some = pieces();
  RC_PRE(!some.empty());
  const Nanos shift = *rc::gen::inRange<Nanos>(-1'000'000'000'000, 1'000'000'000'000);
  auto changed = *rc::gen::exec([&] {
    auto copy = some;
    for (std::size_t i = copy.size(); i > 1; --i)
      std::swap(copy[i - 1], copy[*rc::gen::inRange<std::size_t>(0, i)]);
    return copy;
  });
  for (auto& p : changed) p.stream = p.stream * 10 + p.start % 3;
  const auto before = analyze(capture_of(some), {}),
             after = analyze(capture_of(changed, shift), {});
  RC_ASSERT(before.has_value() && after.has_value());
  auto by_id = [](const Analysis& a) {
    std::map<std::int64_t, std::vector<Nanos>> m;
    for (const auto& d : a.devices)
      m[d.id] = {d.span_ns,      d.busy_ns, d.kernel_busy_ns, d.kernel_time_sum_ns,
                 d.copy_only_ns, d.idle_ns, d.gpu_events,     d.kernels};
    return m;
  };
  RC_ASSERT(by_id(*before) == by_id(*after));
}

}  // namespace
}  // namespace gf
