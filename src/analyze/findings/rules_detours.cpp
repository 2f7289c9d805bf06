// Causes that lead over the host: operators on the CPU, copies there and back, many small copies,
// masks whose size the host must know.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <unordered_set>

#include "analyze/findings/around.h"
#include "analyze/findings/facts.h"
#include "analyze/findings/rules.h"
#include "analyze/idle/idle_rules.h"
#include "analyze/traits.h"
#include "core/text.h"

namespace gf::trace_rules {
namespace {

constexpr Nanos kWorks = 100'000;

/// The name begins as those of PyTorch's operators and of libraries made for it: torchvision::nms.
bool is_of_library(std::string_view name) {
  const auto colons = name.find("::");
  if (colons == std::string_view::npos || colons == 0) return false;
  const auto library = name.substr(0, colons);
  return std::ranges::all_of(
      library, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

/// Outermost operators of a library that have nothing to do with a device, long enough to work.
/// Operators of a data loader do not count.
std::vector<std::uint32_t> operators_of_cpu(const Facts& facts, Nanos least = kWorks) {
  const auto& ops = facts.capture().host_ops;
  const auto& parent = facts.context.attribution.op_parent;
  const auto& tree = facts.tree();
  // Iterating over a tensor of the device takes the host time, but no data of it.
  constexpr NameWord kNoData = host_is::makes_empty | host_is::only_view;
  constexpr NameWord kHandsOn = host_is::engine | host_is::communication;
  OncePerText of_library(facts.texts(), [](std::string_view name) {
    return is_of_library(name) && name != "aten::pin_memory";
  });
  Around loads(facts, [&](std::uint32_t row) {
    return (facts.context.names.host(ops.name[row]) & host_is::input) != 0;
  });
  std::vector<std::uint32_t> rows;
  auto works = [&](std::uint32_t row) {
    return ops.kind[row] == HostKind::op && !tree.device[row] && of_library(ops.name[row]) &&
           !(word_of_op(facts, row) & (kNoData | kHandsOn));
  };
  for (std::uint32_t row = 0; row < ops.size(); ++row) {
    if (ops.duration_ns[row] < least || !works(row) || !tree.launches[ops.thread[row]]) continue;
    if (parent[row] != kNoRow && works(parent[row])) continue;
    if (loads.of_op(row) == kNoRow) rows.push_back(row);
  }
  return rows;
}

/// Idle time in which the host may work for the device; `input` is so called since a copy follows.
bool host_works(const IdlePiece& piece) {
  return piece.reason == IdleReason::launch_bound || piece.reason == IdleReason::host_other ||
         piece.reason == IdleReason::input || piece.reason == IdleReason::allocation;
}

bool is_copy(const Facts& facts, std::uint32_t activity, CopyKind kind) {
  const auto& activities = facts.capture().activities;
  return activity != kNoRow && activities.kind[activity] == ActivityKind::memcpy &&
         activities.copy[activity] == kind;
}

}  // namespace

namespace {

/// Gaps of the device in which the host works on what was copied down, or on what is copied up.
class Detours {
 public:
  explicit Detours(const Facts& facts) : facts_(facts) {
    const auto& ops = facts.capture().host_ops;
    Intervals works;
    for (const auto row : operators_of_cpu(facts)) {
      const Interval span = span_of(ops, row);
      operators_.emplace(span.start, row);
      works.push_back(span);
    }
    works_ = normalised(std::move(works));
    for (const auto& line : facts.context.devices) look_at(line);
    spans = normalised(std::move(spans));
  }

  Intervals spans;  // of the host: its work, and the calls that copy
  Nanos work = 0, without_operator = 0, after_copy = 0, before_copy = 0, copying = 0;
  std::map<std::string_view, Nanos> names;
  std::vector<std::uint32_t> copies;
  // All round trips to the host, long or short: the gap, and the copies on either side.
  Intervals both_ways;
  Intervals around;  // gaps of which it is a third: the rest, such as freeing memory, goes with it
  std::vector<std::uint32_t> rows_of_copies;

 private:
  void look_at(const DeviceTimeline& line) {
    std::uint32_t before = kNoRow;
    std::size_t row = 0, piece = 0, work_at = 0;
    line.each_gap([&](Interval gap) {
      for (; row < line.rows.size() && line.spans[row].start < gap.end; ++row)
        if (line.spans[row].end <= gap.start) before = line.rows[row];
      const auto next = row < line.rows.size() ? line.rows[row] : kNoRow;
      const bool down = is_large(before, CopyKind::device_to_host);
      while (work_at < works_.size() && works_[work_at].end <= gap.start) ++work_at;
      const bool works = work_at < works_.size() && works_[work_at].start < gap.end;
      if (!works && !down) return;
      const bool up = is_large(next, CopyKind::host_to_device);
      Nanos worked = 0;
      while (piece < line.idle_pieces.size() && line.idle_pieces[piece].span().end <= gap.start)
        ++piece;
      for (; piece < line.idle_pieces.size() && line.idle_pieces[piece].start < gap.end; ++piece)
        worked += work_in(line.idle_pieces[piece],
                          down && is_copy(facts_, next, CopyKind::host_to_device));
      if (down && up) take_both_ways(line, row, gap);
      if (worked * 3 >= gap.length() && (down || up)) around.push_back(gap);
      if (worked * 2 < gap.length()) return;
      if (down) {
        take_copy(line, before);
        after_copy += worked;
      }
      if (up) {
        take_copy(line, next);
        before_copy += worked;
      }
    });
  }

  void take_both_ways(const DeviceTimeline& line, std::size_t up, const Interval& gap) {
    both_ways.push_back(gap);
    for (auto row = up; row > 0 && is_copy(facts_, line.rows[row - 1], CopyKind::device_to_host);)
      rows_of_copies.push_back(line.rows[--row]);
    for (auto row = up;
         row < line.rows.size() && is_copy(facts_, line.rows[row], CopyKind::host_to_device); ++row)
      rows_of_copies.push_back(line.rows[row]);
  }

  bool is_large(std::uint32_t activity, CopyKind kind) const {
    constexpr std::int64_t kLarge = 4096;
    return is_copy(facts_, activity, kind) && facts_.capture().activities.bytes[activity] >= kLarge;
  }

  /// The time of a piece in which the host runs operators; or, between a copy down and one up,
  /// anything for a millisecond and more.
  Nanos work_in(const IdlePiece& piece, bool between) {
    constexpr Nanos kLong = kNsPerMs;
    if (!host_works(piece)) return 0;
    const auto& ops = facts_.capture().host_ops;
    if (between && piece.reason == IdleReason::host_other && piece.span().length() >= kLong) {
      spans.push_back(piece.span());
      work += piece.span().length();
      without_operator += piece.span().length();
      if (piece.op != kNoRow)
        names[facts_.capture().text(ops.name[piece.op])] += piece.span().length();
      return piece.span().length();
    }
    Nanos time = 0;
    each_in(works_, piece.span(), [&](const Interval& span) {
      spans.push_back(span);
      time += span.length();
      const auto at = operators_.upper_bound(span.start);
      if (at != operators_.begin())
        names[facts_.capture().text(ops.name[std::prev(at)->second])] += span.length();
    });
    work += time;
    return time;
  }

  /// A copy belongs to the detour, with the call that waits for it.
  void take_copy(const DeviceTimeline& line, std::uint32_t copy) {
    const auto& activities = facts_.capture().activities;
    const auto& calls = facts_.capture().api_calls;
    if (!copies.empty() && copies.back() == copy) return;
    copies.push_back(copy);
    const Interval span = span_of(activities, copy);
    copying += covered(line.copying, span);
    if (const auto call = facts_.context.launches[copy]; call != kNoRow)
      spans.push_back(span_of(calls, call));
  }

  const Facts& facts_;
  std::map<Nanos, std::uint32_t> operators_;  // by start
  Intervals works_;
};

}  // namespace

std::optional<Said> cpu_operators(const Facts& facts) {
  if (facts.capture().api_calls.size() == 0) return {};
  const Detours detours(facts);
  constexpr std::int64_t kHandful = 8;  // kernels: with fewer, what else the program does is all
  const bool one_pass = facts.kernel_count > kHandful &&
                        facts.much_of_one_pass(detours.work - detours.without_operator);
  if (facts.of_window(detours.work) < 0.05 || (!facts.repeats(detours.spans, 0.02) && !one_pass))
    return {};
  // Where copies take nearly all of it, blocking_copies reports them.
  if (detours.work * 3 < detours.copying) return {};
  const Nanos gain = facts.claim_idle(detours.spans) + detours.copying;
  // Where some work on the CPU, shorter ones do as well.
  constexpr Nanos kShort = kWorks / 10;
  Intervals shorter;
  const auto& ops = facts.capture().host_ops;
  for (const auto row : operators_of_cpu(facts, kShort)) shorter.push_back(span_of(ops, row));
  facts.also_gone(std::move(shorter));
  facts.also_gone(detours.both_ways);
  facts.also_gone(detours.around);
  for (const auto copy : detours.rows_of_copies) facts.also_gone(copy);
  for (const auto copy : detours.copies) facts.claim_activity(copy);
  const bool down = detours.after_copy * 2 > detours.work;
  const bool up = detours.before_copy * 2 > detours.work;
  std::string what = "while the GPU waits";
  std::string cure = "Keep this data on the GPU, or do this work ahead of time.";
  if (down) {
    what = "on data just copied from the GPU, which waits";
    cure =
        "Leave the data on the GPU and do this work there, or do it less often and in "
        "another thread.";
  } else if (up) {
    what = "to create data that is then copied to the GPU, which waits";
    cure =
        "Create it on the GPU, create constants once, or prepare the next batch in other "
        "processes.";
  }
  const auto names = largest_of(detours.names);
  std::string_view who = "Operators run on the CPU";
  if (detours.without_operator * 2 > detours.work) {
    who = facts.capture().framework.empty() ? "The host works"
                                            : "The host works without an operator (NumPy, Python)";
  }
  return Said{
      fmt::format("{} {} of the time {}{}. {}", who, say_share(facts.of_window(detours.work)), what,
                  names.empty() ? std::string() : ": " + say_names(names), cure),
      fmt::format("idle {} of {}; {} of it after a copy from the GPU, {} before one to it; {} of "
                  "such copies",
                  say_time(detours.work), say_time(facts.window), say_time(detours.after_copy),
                  say_time(detours.before_copy), say_time(detours.copying)),
      gain};
}

namespace {

/// Small copies in a row, one after the other, to the device or from it.
class RowsOfCopies {
 public:
  explicit RowsOfCopies(const Facts& facts)
      : facts_(facts), jax_(facts.capture().framework == "jax") {
    for (const auto& line : facts.context.devices) look_at(line);
    spans = normalised(std::move(spans));
  }
  /// Values that PyTorch fetches are awaited by calls, of which sync_in_step tells; JAX has none.
  bool is_small(std::uint32_t row) const {
    constexpr std::int64_t kSmall = 256 << 10;
    const auto& activities = facts_.capture().activities;
    if (row == kNoRow || activities.kind[row] != ActivityKind::memcpy || activities.bytes[row] < 0)
      return false;
    return activities.copy[row] == CopyKind::device_to_host
               ? jax_ && activities.bytes[row] < kInputBytes
               : activities.copy[row] == CopyKind::host_to_device && activities.bytes[row] < kSmall;
  }
  Intervals spans, launching;
  std::int64_t count = 0, bytes = 0, rows = 0, fetched = 0;

 private:
  struct Run {
    Interval device, host;
    std::size_t copies = 0;
    std::int64_t bytes = 0;
    CopyKind way = CopyKind::host_to_device;
  };

  void look_at(const DeviceTimeline& line) {
    constexpr std::size_t kBetween = 1;  // kernels between two, such as a fill
    const auto& activities = facts_.capture().activities;
    const auto& calls = facts_.capture().api_calls;
    Run run;
    std::size_t between = 0;
    for (std::size_t i = 0; i < line.rows.size(); ++i) {
      const auto row = line.rows[i];
      if (!is_small(row)) {
        if (run.copies > 0 && ++between > kBetween) end(run);
        continue;
      }
      if (activities.copy[row] != run.way) end(run);
      const auto call = facts_.context.launches[row];
      const Nanos called = call == kNoRow ? line.spans[i].start : calls.start_ns[call];
      if (run.copies == 0) run.device.start = line.spans[i].start;
      if (run.copies == 0) run.host.start = called;
      run.way = activities.copy[row];
      run.device.end = line.spans[i].end;
      run.host.end = std::max(called, run.host.start);
      ++run.copies;
      run.bytes += activities.bytes[row];
      between = 0;
    }
    end(run);
  }
  void end(Run& run) {
    constexpr std::size_t kMany = 8;
    if (run.copies >= kMany) {
      spans.push_back(run.device);
      launching.push_back(run.host);
      count += static_cast<std::int64_t>(run.copies);
      bytes += run.bytes;
      if (run.way == CopyKind::device_to_host) fetched += static_cast<std::int64_t>(run.copies);
      ++rows;
    }
    run = {};
  }

  const Facts& facts_;
  bool jax_;
};

}  // namespace

std::optional<Said> small_copies(const Facts& facts) {
  RowsOfCopies found(facts);
  // A few copies of a program that makes one short pass are no habit.
  if (found.count == 0 || (facts.analysis.window.steps.empty() && facts.window < 10 * kNsPerMs))
    return {};
  // Between two copies the device may also wait for a kernel.
  Intervals before;
  Nanos idle = 0, copying = 0;
  for (const auto& line : facts.context.devices) {
    for (const auto& piece : line.idle_pieces)
      if (found.is_small(piece.next) &&
          covered(found.spans, piece.span()) == piece.span().length()) {
        before.push_back(piece.span());
        idle += piece.span().length();
      }
    copying += shared_length(found.spans, line.copying);
  }
  if (facts.of_window(idle + copying) < 0.03 || !facts.repeats(found.spans, 0.01)) return {};
  const Nanos gain = facts.claim_idle(normalised(std::move(before))) + copying;
  facts.also_gone(std::move(found.launching));
  return Said{
      found.fetched * 2 > found.count
          ? fmt::format("The host fetches small values from the GPU one at a time, {} of the time. "
                        "Combine them on the GPU and fetch them once, or less often.",
                        say_share(facts.of_window(gain)))
          : fmt::format("Small tensors are copied to the GPU one at a time, {} of the time. Pack "
                        "them into one pinned tensor on the host, and copy that.",
                        say_share(facts.of_window(gain))),
      fmt::format("{} copies in {}, {} each on average; {} idle between them, {} of copies",
                  found.count, plural(found.rows, "row"), say_bytes(found.bytes / found.count),
                  say_time(idle), say_time(copying)),
      gain};
}

namespace {

/// Large copies from a GPU that come back to it in the same size, and the idle time for them.
struct ThereAndBack {
  std::vector<std::uint32_t> rows;  // of activities
  std::int64_t bytes = 0, bytes_back = 0;
  std::size_t backs = 0;
  Nanos copying = 0, alone = 0;  // alone: while no kernel runs
  Intervals waits;

  Nanos cost(const Facts& facts) const {
    return std::min(facts.idle_in(waits) + alone, facts.window);
  }
  Nanos claim(const Facts& facts) const {
    for (const auto row : rows) facts.claim_activity(row);
    return std::min(facts.claim_idle(waits) + alone, facts.window);
  }
};

/// `leaves`, `comes`: of copies; `stay`: also those that leave and do not come back.
template <class Leaves, class Comes>
ThereAndBack there_and_back(const Facts& facts, bool stay, Leaves&& leaves, Comes&& comes) {
  constexpr std::int64_t kLarge = 256 << 10;
  const auto& activities = facts.capture().activities;
  ThereAndBack found;
  std::unordered_set<std::uint32_t> known;
  for (const auto& line : facts.context.devices) {
    std::map<std::int64_t, std::vector<std::size_t>> down;  // by size
    std::vector<bool> taken(line.rows.size());
    for (std::size_t i = 0; i < line.rows.size(); ++i) {
      const auto row = line.rows[i];
      const auto bytes = activities.bytes[row];
      if (activities.kind[row] != ActivityKind::memcpy || bytes < kLarge) continue;
      auto& same = down[bytes];
      if (leaves(row)) {
        same.push_back(i);
        found.bytes += bytes;
        taken[i] = stay;
      } else if (!same.empty() && comes(row)) {
        taken[i] = taken[same.back()] = true;
        same.pop_back();
        found.bytes_back += bytes;
        ++found.backs;
      }
    }
    for (std::size_t i = 0; i < line.rows.size(); ++i) {
      if (!taken[i]) continue;
      found.rows.push_back(line.rows[i]);
      found.copying += line.spans[i].length();
      found.alone += covered(line.copying, line.spans[i]);
    }
  }
  known.insert(found.rows.begin(), found.rows.end());
  for (const auto& line : facts.context.devices)
    for (const auto& piece : line.idle_pieces)
      if (piece.reason == IdleReason::memcpy || known.contains(piece.next))
        found.waits.push_back(piece.span());
  found.waits = normalised(std::move(found.waits));
  return found;
}

}  // namespace

std::optional<Said> activation_offload(const Facts& facts) {
  constexpr std::size_t kFew = 3;
  const auto phase = [&](std::uint32_t row) {
    return static_cast<TrainingPhase>(facts.context.attribution.phase[row]);
  };
  const auto found = there_and_back(
      facts, true,
      [&](std::uint32_t row) {
        return is_copy(facts, row, CopyKind::device_to_host) &&
               phase(row) == TrainingPhase::forward;
      },
      [&](std::uint32_t row) {
        return is_copy(facts, row, CopyKind::host_to_device) &&
               (phase(row) == TrainingPhase::backward || phase(row) == TrainingPhase::recompute);
      });
  if (found.backs < kFew || found.bytes_back * 2 < found.bytes ||
      facts.of_window(found.cost(facts)) < 0.03)
    return {};
  const Nanos cost = found.claim(facts);
  return Said{
      fmt::format("Activations are copied to the host in the forward pass and back in the backward "
                  "pass, {} of the time. Keep what fits on the GPU, overlap the copies with "
                  "kernels, or recompute cheap layers instead.",
                  say_share(facts.of_window(cost))),
      fmt::format(
          "{} to the host and {} back, {} of copies, {} of it not overlapped by kernels; {} "
          "idle for them",
          say_bytes(found.bytes), say_bytes(found.bytes_back), say_time(found.copying),
          say_time(found.alone), say_time(cost - found.alone)),
      cost};
}

std::optional<Said> cache_swaps(const Facts& facts) {
  constexpr std::size_t kFew = 3;
  if (!facts.analysis.serving) return {};
  const auto found = there_and_back(
      facts, false,
      [&](std::uint32_t row) { return is_copy(facts, row, CopyKind::device_to_host); },
      [&](std::uint32_t row) { return is_copy(facts, row, CopyKind::host_to_device); });
  if (found.backs < kFew || facts.of_window(found.cost(facts)) < 0.02) return {};
  const Nanos cost = found.claim(facts);
  return Said{
      fmt::format("Requests are preempted: {} are copied to the host and back, {} of the time. "
                  "Run fewer requests at once, give the cache more memory, or compute the cache "
                  "of a preempted request again.",
                  say_bytes(found.bytes_back), say_share(facts.of_window(cost))),
      fmt::format("{} back in {}; {} not overlapped by kernels, {} idle for them",
                  say_bytes(found.bytes_back), plural(found.rows.size(), "copy operation"),
                  say_time(found.alone), say_time(cost - found.alone)),
      cost};
}

std::optional<Said> data_dependent_sizes(const Facts& facts) {
  if (!any_host_name(facts, host_is::selects)) return {};
  AroundNamed nonzero(facts, host_is::selects);
  const auto& ops = facts.capture().host_ops;
  const auto& tree = facts.tree();
  std::map<std::string_view, std::int64_t> asked;
  std::int64_t count = 0;
  Intervals asking;
  std::map<std::string_view, std::int64_t> sizes;  // how often each shape is asked
  for (std::uint32_t row = 0; row < ops.size(); ++row)
    if (ops.kind[row] == HostKind::op && word_of_op(facts, row) & host_is::selects &&
        tree.device[row]) {
      ++count;
      asking.push_back(span_of(ops, row));
      ++asked[facts.capture().text(ops.name[row])];
      if (const auto shapes = facts.capture().text(ops.shapes[row]); !shapes.empty())
        ++sizes[shapes];
    }
  if (count < 2) return {};
  const auto cost = cost_of(facts, nonzero, [](ApiKind kind) {
    return kind == ApiKind::sync || kind == ApiKind::memcpy;
  });
  if (facts.of_window(cost.all(facts)) < 0.03) return {};
  const Nanos gain = cost.claim(facts, std::move(asking));
  std::int64_t most = 0;
  for (const auto& [shapes, times] : sizes) most = std::max(most, times);
  return Said{
      fmt::format(
          "Sizes that depend on data cost {} of the time: the host waits for the number of "
          "elements of a boolean mask or of unique values, each time ({}). Multiply by the "
          "mask or use torch.where, compute the indices once for each mask, or use fixed sizes.",
          say_share(facts.of_window(gain)), say_counts(asked)),
      fmt::format("{}{}; {} of kernels, {} idle for them, {} blocked", plural(count, "call"),
                  most > 1 ? fmt::format(", {} of one shape", most) : std::string(),
                  say_time(cost.of_kernels), say_time(cost.idle), say_time(cost.blocked)),
      gain};
}

}  // namespace gf::trace_rules
