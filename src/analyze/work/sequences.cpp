// Kernels that follow each other and could be one: sequences that repeat, and what one kernel in
// their place would gain at most.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyze/work/sections.h"
#include "core/strings.h"
#include "model/kernel_name.h"

namespace gf::work {
namespace {

/// Types whose kernels pass over tensors: a compiler, or one kernel over many tensors, joins them.
bool passes_over_tensors(LayerType type) {
  switch (type) {
    case LayerType::elementwise:
    case LayerType::activation:
    case LayerType::random:
    case LayerType::normalisation:
    case LayerType::softmax:
    case LayerType::reduction:
    case LayerType::copy:
    case LayerType::data_movement:
    case LayerType::loss:
    case LayerType::optimiser:
      return true;
    default:
      return false;
  }
}

class Sequences {
 public:
  Sequences(const Context& context, const KernelWorks& works, const Roof& roof)
      : context_(context),
        works_(works),
        roof_(roof),
        short_name_(context.capture.strings, short_kernel_name) {}

  std::vector<KernelSequence> rows() {
    std::size_t first = 0;
    for (const auto& line : context_.devices) first = walk_device(line, first);
    std::vector<KernelSequence> all;
    for (auto& [key, row] : rows_)
      if (row.times > 1) all.push_back(std::move(row));
    std::ranges::stable_sort(all, std::greater{}, &KernelSequence::gain_ns);
    return all;
  }

 private:
  struct Member {
    std::size_t kernel;  // of context.kernels
    Interval span;
    std::uint32_t name;  // Text
  };
  using Run = std::vector<Member>;

  /// Kernels of a device are ordered as its rows; returns where those of the next begin.
  std::size_t walk_device(const DeviceTimeline& line, std::size_t kernel) {
    const auto& activities = context_.capture.activities;
    std::map<std::int64_t, Run> open;  // by stream
    for (std::size_t i = 0; i < line.rows.size(); ++i) {
      const auto row = line.rows[i];
      const bool is_kernel = activities.kind[row] == ActivityKind::kernel;
      const std::size_t at = kernel;
      kernel += is_kernel;
      Run& run = open[activities.stream[row]];
      if (!is_kernel || !passes_over_tensors(context_.attribution.layer[row])) {
        close(run);
        continue;
      }
      if (!run.empty() && !follows(run.back(), at, line.spans[i])) close(run);
      run.push_back({at, line.spans[i], static_cast<std::uint32_t>(activities.name[row])});
    }
    for (auto& [stream, run] : open) close(run);
    return kernel;
  }

  TrainingPhase phase_of(std::size_t kernel) const {
    return static_cast<TrainingPhase>(
        context_.attribution.phase[context_.kernels[kernel].activity]);
  }

  /// Soon after, in the same pass.
  bool follows(const Member& last, std::size_t next, Interval span) const {
    constexpr Nanos kLongestGap = 100'000;
    return phase_of(last.kernel) == phase_of(next) && span.start - last.span.end < kLongestGap;
  }

  /// Length of the shortest part of which a run is two or more in a row; its own length without.
  static std::size_t period_of(const Run& run) {
    constexpr std::size_t kLongest = 16;
    for (std::size_t length = 1; length <= std::min(kLongest, run.size() / 2); ++length) {
      if (run.size() % length != 0) continue;
      bool same = true;
      for (std::size_t i = length; same && i < run.size(); ++i)
        same = run[i].name == run[i - length].name;
      if (same) return length;
    }
    return run.size();
  }

  void close(Run& run) {
    if (run.size() > 1) {
      const std::size_t period = period_of(run);
      if (period == 1)
        add(run, 1);  // one kernel over and over: all of them together
      else
        for (std::size_t at = 0; at < run.size(); at += period)
          add(std::span(run).subspan(at, period), period);
    }
    run.clear();
  }

  void add(std::span<const Member> run, std::size_t named) {
    auto& [phase, names] = key_;
    phase = phase_of(run.front().kernel);
    names.clear();
    for (const auto& member : run.first(named)) names.push_back(member.name);
    KernelSequence& row = rows_[key_];
    if (row.times++ == 0) describe(run.first(named), row);
    Nanos time = 0, gaps = 0;
    for (std::size_t i = 0; i < run.size(); ++i) {
      time += context_.kernels[run[i].kernel].exclusive_ns;
      if (i > 0) gaps += std::max<Nanos>(0, run[i].span.start - run[i - 1].span.end);
    }
    row.kernels += static_cast<std::int64_t>(run.size());
    row.ns += time;
    row.gap_ns += gaps;
    row.gain_ns += std::max<Nanos>(0, time + gaps - (named > 1 ? least_time(run) : 0));
  }

  void describe(std::span<const Member> run, KernelSequence& row) {
    const auto& ops = context_.capture.host_ops;
    row.phase = phase_of(run.front().kernel);
    row.module =
        context_.attribution.modules[context_.attribution.module[activity_of(run.front())]];
    for (const auto& member : run) {
      row.names.push_back(short_name_(Text{member.name}));
      const auto op = context_.attribution.op[activity_of(member)];
      if (op == kNoRow) continue;
      std::string name(context_.capture.text(ops.name[op]));
      if (row.operators.empty() || row.operators.back() != name)
        row.operators.push_back(std::move(name));
    }
  }

  std::uint32_t activity_of(const Member& member) const {
    return context_.kernels[member.kernel].activity;
  }
  std::uint32_t call_at(std::size_t kernel) const {
    return kernel < works_.call.size() ? works_.call[kernel] : kNoCall;
  }

  /// The least time of one kernel instead: the first operation's inputs come from outside and the
  /// last one's result goes there; what L2 may hold of either costs nothing.
  Nanos least_time(std::span<const Member> run) const {
    const auto first = run.front().kernel, last = run.back().kernel;
    const auto from = call_at(first), to = call_at(last);
    double bytes = -2 * roof_.l2_bytes;
    if (from != kNoCall && (first == 0 || call_at(first - 1) != from))
      bytes += input_bytes(works_.calls[from].of->call);
    if (to != kNoCall && call_at(last + 1) != to) {
      const auto& call = *works_.calls[to].of;
      bytes += std::max(0.0, call.work.bytes - input_bytes(call.call));
    }
    if (!(bytes > 0) || roof_.stated_memory <= 0 || roof_.l2_bytes <= 0) return 0;
    return static_cast<Nanos>(std::min(bytes / roof_.stated_memory * 1e9, 1e15));
  }

  const Context& context_;
  const KernelWorks& works_;
  const Roof& roof_;
  OncePerText<std::string (*)(std::string_view)> short_name_;
  using Key = std::pair<TrainingPhase, std::vector<std::uint32_t>>;
  Key key_;  // of the run at hand
  std::map<Key, KernelSequence> rows_;
};

}  // namespace

std::vector<KernelSequence> kernel_sequences(const Context& context, const KernelWorks& works,
                                             const Roof& roof) {
  return Sequences(context, works, roof).rows();
}

}  // namespace gf::work
