// Streams: one runs one kernel at a time, once, and no kernel takes no time.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/column.h"
#include "core/format.h"
#include "core/order.h"
#include "core/strings.h"
#include "model/formats.h"
#include "model/host_copies.h"
#include "model/ledger/laws.h"
#include "model/ledger/ledger.h"

namespace gf {

namespace {

// Programmatic dependent launch lets a kernel begin while the one before it ends: at most 0.7 % of
// the time of all kernels, and never three at once, in the captures of docs/evidence.md.
constexpr std::int64_t kUsualOverlap = 100;  // one in so many
// An overlap may be a 200th of the time from the first to the last, busy or idle: the law's 50th of
// a fourth.
constexpr std::int64_t kOfAll = 4;
// The lead of a kernel launched that way (CUB's merge sort, cuBLAS): up to 17 us.
constexpr Nanos kLaunchedAhead = 20'000;
/// No kernel of an unmodified capture is shorter; in whole microseconds, many are written as 0.
constexpr Nanos kShortest = 400;
constexpr std::int64_t kRounded = 2;  // one in so many
/// Clocks of GPUs tick in 32 ns.
constexpr Nanos kRounding = 15;
/// Least lengths that different kernels share are suspicious from here on.
constexpr Nanos kLongLeast = 5 * kNsPerUs;
constexpr std::size_t kDifferent = 3;  // names

class StreamLedger {
 public:
  StreamLedger(const Capture& capture, Capture& notes)
      : capture_(capture), notes_(notes), rows_(capture.activities) {}

  void run() {
    auto all = streams();
    tell_mixed(all);
    walk_all(all);
    if (doubted() && find_launched_ahead()) walk_all(all);
    tell_repeated();
    tell_overlaps();
    tell_lengths();
  }

 private:
  /// Rows by device, process, context and stream.
  using Key = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::int64_t>;
  using Streams = std::map<Key, Column<std::uint32_t>>;  // which grow without a copy

  /// Work on a device of another number than the rest of its context's.
  void tell_mixed(const Streams& all) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::set<std::uint32_t>> devices;
    std::int64_t mixed = 0, of = 0;
    for (const auto& [key, stream] : all) {
      const auto& [device, process, context, number] = key;
      if (context <= 0) continue;
      auto& of_context = devices[{process, context}];
      const auto records = static_cast<std::int64_t>(stream.size());
      of += records;
      if (of_context.insert(device); of_context.size() > 1) mixed += records;
    }
    if (mixed > 0)
      tell(notes_, Law::context_has_device, {.count = mixed, .of = of},
           fmt::format("{} of {} kernels and copies are on another device than others of their "
                       "context, which has one: numbers of devices are wrong",
                       format_count(mixed), format_count(of)));
  }

  void walk_all(Streams& all) {
    count_ = repeated_ = overlapping_ = deep_ = odd_ = 0;
    time_ = overrun_ = repeated_time_ = 0;
    for (auto& [key, stream] : all) {
      sort_nearly_ordered(stream.begin(), stream.end(), [&](auto left, auto right) {
        const Nanos start = rows_.start_ns[left], other = rows_.start_ns[right];
        return start != other ? start < other : rank(left) < rank(right);
      });
      walk(stream.span());
    }
  }

  bool doubted() const {
    return deep_ > 0 || (odd_ > 0 && overrun_ > (time_ - overrun_) / kUsualOverlap);
  }

  /// Kernels that calls with attributes launched, which may let them begin before the last one ends
  /// (cudaLaunchKernelExC, cuLaunchKernelEx): whether there are any.
  bool find_launched_ahead() {
    const auto& calls = capture_.api_calls;
    OncePerText with_attributes(capture_.strings, [](std::string_view name) {
      return name.find("LaunchKernelEx") != std::string_view::npos;
    });
    for (std::size_t row = 0; row < calls.size(); ++row)
      if (calls.correlation[row] >= 0 && with_attributes(calls.name[row]))
        launched_ahead_.insert(calls.correlation[row]);
    return !launched_ahead_.empty();
  }

  bool launched_ahead(std::uint32_t row) const {
    return !launched_ahead_.empty() && launched_ahead_.contains(rows_.correlation[row]);
  }

  Streams streams() const {
    Streams out;
    Column<std::uint32_t>* last = nullptr;
    Key last_key;
    for (std::uint32_t row = 0; row < rows_.size(); ++row) {
      if (rows_.stream[row] < 0) continue;
      const Key key{rows_.device[row], rows_.pid[row], rows_.context[row], rows_.stream[row]};
      if (!last || key != last_key) {
        last = &out[key];
        last_key = key;
      }
      last->push_back(row);
    }
    // The host copies from host to host itself, beside what the stream does.
    if (copies_on_the_host(capture_))
      for (auto& [key, stream] : out) {
        const auto kept = std::remove_if(stream.begin(), stream.end(), [&](std::uint32_t row) {
          return rows_.copy[row] == CopyKind::host_to_host;
        });
        stream.resize(static_cast<std::size_t>(kept - stream.begin()));
      }
    return out;
  }

  /// The order of those that start at once.
  std::tuple<Nanos, Text, std::int64_t, std::int64_t, std::uint32_t> rank(std::uint32_t row) const {
    return {rows_.duration_ns[row], rows_.name[row], rows_.correlation[row], rows_.graph_node[row],
            row};
  }

  /// A record and its copy, which a merge may have moved by a rounding.
  bool same(std::uint32_t left, std::uint32_t right) const {
    return rows_.start_ns[right] - rows_.start_ns[left] <= kRounding &&
           rows_.duration_ns[left] == rows_.duration_ns[right] &&
           rows_.name[left] == rows_.name[right] &&
           rows_.correlation[left] == rows_.correlation[right] &&
           rows_.graph_node[left] == rows_.graph_node[right] && rows_.duration_ns[left] > 0;
  }

  /// Nodes of one launch of a graph may run beside each other and yet be told as of one stream.
  bool of_one_graph(std::uint32_t left, std::uint32_t right) const {
    return rows_.correlation[left] >= 0 && rows_.correlation[left] == rows_.correlation[right];
  }

  void walk(std::span<const std::uint32_t> stream) {
    // The activity that ends last so far, and the second of them.
    struct Seen {
      std::uint32_t row = kNoRow;
      Nanos end = std::numeric_limits<Nanos>::lowest();
    };
    Seen last, second;
    Nanos told = std::numeric_limits<Nanos>::min();  // up to here overruns are counted
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const auto row = stream[i];
      if (i > 0 && same(stream[i - 1], row)) {
        ++repeated_;
        if (rows_.kind[row] == ActivityKind::kernel) repeated_time_ += rows_.duration_ns[row];
        continue;
      }
      ++count_;
      const Nanos start = rows_.start_ns[row], length = rows_.duration_ns[row];
      const Seen own{row, start + length};
      begin_ = std::min(begin_, start);
      end_ = std::max(end_, own.end);
      time_ += length;
      if (start < last.end && !of_one_graph(last.row, row) && !launched_ahead(row)) {
        ++overlapping_;
        // From its first successor on, the last one cannot have run: counted once.
        const Nanos from = std::max(start, told);
        if (from < last.end) overrun_ += last.end - from;
        told = std::max(told, last.end);
        if (own.end < last.end || last.end - start > kLaunchedAhead) ++odd_;
        if (start < second.end && !of_one_graph(second.row, row)) ++deep_;
      }
      if (last.row == kNoRow || own.end > last.end) {
        second = last;
        last = own;
      } else if (second.row == kNoRow || own.end > second.end) {
        second = own;
      }
    }
  }

  void tell_repeated() {
    if (repeated_ == 0) return;
    tell(notes_, Law::kernel_has_one_launch,
         {.count = repeated_, .of = count_, .time = repeated_time_},
         fmt::format("{} kernels and copies are in the capture twice: the same times, stream, name "
                     "and launch",
                     format_count(repeated_)));
  }

  /// It is unknown which of two overlapping records is wrong: the time of kernels lies between what
  /// is recorded and what is left when each ends where the next one of its stream begins.
  void tell_overlaps() {
    if (!doubted() || says(capture_.format, kQueuesOverlap)) return;
    const Nanos clipped = time_ - overrun_;
    tell(notes_, Law::stream_is_in_order,
         {.count = overlapping_,
          .time = overrun_,
          .of_time = std::max(clipped, (end_ - begin_) / kOfAll)},
         fmt::format("{} of {} kernels and copies overlap with another one of their stream, which "
                     "runs one at a time: {} as recorded, {} if each ended where the next begins",
                     format_count(overlapping_), format_count(count_), say_time(time_),
                     say_time(clipped)));
  }

  bool in_whole_microseconds() const {
    for (std::uint32_t row = 0; row < rows_.size(); ++row)  // reading by row leaves columns narrow
      if (rows_.duration_ns[row] % kNsPerUs != 0) return false;
    return true;
  }

  /// A length and the kernels of just that one.
  struct Pile {
    Nanos length = 0;
    std::int64_t count = 0;
    void take(Nanos other) {
      count = (other == length ? count : 0) + 1;
      length = other;
    }
  };

  void tell_lengths() {
    std::int64_t kernels = 0, shorter = 0;
    Pile least{std::numeric_limits<Nanos>::max()}, greatest{-1};
    for (std::uint32_t row = 0; row < rows_.size(); ++row) {
      if (rows_.kind[row] != ActivityKind::kernel) continue;
      const Nanos length = rows_.duration_ns[row];
      ++kernels;
      shorter += length < kShortest;
      if (length <= least.length) least.take(length);
      if (length >= greatest.length) greatest.take(length);
    }
    if (kernels == 0) return;
    const bool whole = in_whole_microseconds();
    if (shorter > 0 && !(shorter <= kernels / kRounded && whole))
      tell(notes_, Law::kernel_takes_time, {.count = shorter, .of = kernels},
           fmt::format("{} of {} kernels take less than {}, which no kernel does: their times are "
                       "wrong or missing",
                       format_count(shorter), format_count(kernels), say_time(kShortest)));
    tell_pile(Law::least_lengths_differ, least, kernels, "less: shorter ones");
    // Rounded lengths meet by chance.
    if (!whole && greatest.length > least.length)
      tell_pile(Law::greatest_lengths_differ, greatest, kernels, "more: longer ones");
  }

  /// Lengths that were clamped: kernels of different names all at the end of the range.
  void tell_pile(Law law, const Pile& pile, std::int64_t kernels, std::string_view others) {
    if (pile.length <= kLongLeast) return;
    std::set<Text> names;
    for (std::uint32_t row = 0; row < rows_.size() && names.size() < kDifferent; ++row)
      if (rows_.kind[row] == ActivityKind::kernel && rows_.duration_ns[row] == pile.length)
        names.insert(rows_.name[row]);
    const Breach breach{.count = pile.count, .of = kernels};
    if (names.size() == kDifferent && beyond_bound(law, breach))
      tell(notes_, law, breach,
           fmt::format("{} of {} kernels of different names take {}, and none {} may have been set "
                       "to that",
                       format_count(pile.count), format_count(kernels), say_time(pile.length),
                       others));
  }

  const Capture& capture_;
  Capture& notes_;
  const activities_table& rows_;
  std::unordered_set<std::int64_t> launched_ahead_;  // correlations
  std::int64_t count_ = 0, repeated_ = 0, overlapping_ = 0, deep_ = 0;
  std::int64_t odd_ = 0;  // overlaps that no launch ahead of the end explains
  Nanos time_ = 0, overrun_ = 0, repeated_time_ = 0;
  Nanos begin_ = std::numeric_limits<Nanos>::max(), end_ = std::numeric_limits<Nanos>::min();
};

}  // namespace

void check_streams(const Capture& capture, Capture& notes) { StreamLedger(capture, notes).run(); }

}  // namespace gf
