// Loops of a program whose rounds run one by one though they could be one batch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/findings/around.h"
#include "analyze/findings/facts.h"
#include "analyze/findings/framework_terms.h"
#include "analyze/findings/rules.h"
#include "analyze/idle/idle_rules.h"

namespace gf::trace_rules {
namespace {

/// The traits that an operation's name gives its round. What operations of others read
/// and write is not known: what follows may depend on it.
NameWord of_round(NameWord is) { return is & host_is::aten ? is : is | host_is::carries; }

constexpr std::size_t kFewestRounds = 8, kLongestRound = 4096;  // rounds; operations of one

/// Tensors in the list that an operation takes: "[[[8,64],[8,64]],[]]" has two. Long lists are not
/// written down.
std::size_t listed(std::string_view shapes) {
  if (!shapes.starts_with("[[[")) return 0;
  std::size_t count = 0;
  int depth = 0;
  for (const char c : shapes) {
    if (c == '[') count += ++depth == 3;
    if (c == ']' && --depth == 1) break;
  }
  return count;
}

/// Operations that follow each other inside the same one: so many times the same names, and one
/// that puts the result of each round together, or in each round one that waits for the device.
struct Loop {
  std::uint32_t gather = kNoRow;  // none: the host waits in each round
  Nanos end = 0;                  // when the host is done with the last round
  std::size_t rounds = 0;
  std::vector<std::uint32_t> ops;  // of all rounds, rows of host_ops
  std::vector<bool> works;         // by operation: it starts work of a device
  std::vector<bool> two_tensors;   // likewise, of more than one tensor
  bool computes = false;           // a round runs kernels
  bool reads = false;              // the host gets a value of the device in one
  bool fetches = false;            // or so much that it works on that
  bool brings = false;             // or gives something to it
  // Activities of each round; those that autograd computes for it.
  std::vector<std::vector<std::uint32_t>> forward, backward;

  std::size_t length() const { return ops.size() / rounds; }
  /// As they are known: all operations of the rounds.
  void take(std::vector<std::uint32_t> all, std::size_t count) {
    ops = std::move(all);
    rounds = count;
    works.resize(ops.size());
    two_tensors.resize(ops.size());
    forward.resize(rounds);
    backward.resize(rounds);
  }
};

class Loops {
 public:
  explicit Loops(const Facts& facts) : facts_(facts), ops_(facts.capture().host_ops) {
    for (const auto& [gather, pieces] : gathers()) add_loop(gather, pieces);
    keep_independent(0);
    const std::size_t known = loops_.size();
    add_waiting_loops();
    keep_independent(known);
  }
  const std::vector<Loop>& all() const { return loops_; }

 private:
  NameWord traits(std::uint32_t op) const { return of_round(word_of_op(facts_, op)); }

  /// The number of tensors that each gathering operation joins, where that is known and enough.
  std::map<std::uint32_t, std::size_t> gathers() {
    std::map<std::uint32_t, std::size_t> pieces;
    if (!any_host_name(facts_, host_is::gathers)) return pieces;
    const auto& parent = facts_.context.attribution.op_parent;
    Around around(facts_, [&](std::uint32_t row) {
      return (traits(row) & host_is::gathers) &&
             (parent[row] == kNoRow || !(traits(parent[row]) & host_is::gathers));
    });
    std::map<std::uint32_t, std::size_t> expanded, kernels;
    const Text unsqueeze = facts_.texts().find("aten::unsqueeze");
    for (std::uint32_t row = 0; row < ops_.size(); ++row) {
      if (around.of_op(row) == row) pieces[row] = listed(facts_.capture().text(ops_.shapes[row]));
      if (unsqueeze != Text::none && ops_.name[row] == unsqueeze && around.of_op(row) != kNoRow)
        ++expanded[around.of_op(row)];
    }
    for (const auto [kernel, group] : facts_.kernels_of(kernel_is::gathers))
      if (around.of(kernel) != kNoRow)
        kernels[around.of(kernel)] += static_cast<std::size_t>(std::max(0, group.grid_y));
    for (auto& [row, count] : pieces)
      if (count == 0) count = expanded.contains(row) ? expanded[row] : kernels[row];
    std::erase_if(pieces, [](const auto& one) { return one.second < kFewestRounds; });
    return pieces;
  }

  /// The rounds are the shortest sequence of names that stands so often right before, or as many of
  /// them as make up all that repeats.
  void add_loop(std::uint32_t gather, std::size_t rounds) {
    const auto& before = facts_.siblings().before;
    std::vector<std::uint32_t> back;  // from the last to the first
    // A round gathers nothing itself, so that all gathers together look at each operation once.
    for (auto row = before[gather];
         row != kNoRow && back.size() < rounds * kLongestRound && !(traits(row) & host_is::gathers);
         row = before[row])
      back.push_back(row);
    std::vector<std::size_t> like(back.size());  // so many names from i on are the first ones
    std::size_t length = 0;
    for (std::size_t i = 1, from = 0, to = 0; i < back.size() && length == 0; ++i) {
      auto same = i < to ? std::min(to - i, like[i - from]) : 0;
      while (i + same < back.size() && ops_.name[back[same]] == ops_.name[back[i + same]]) ++same;
      like[i] = same;
      if (i + same > to) {
        from = i;
        to = i + same;
      }
      if (same >= (rounds - 1) * i) length = i * ((i + same) / (i * rounds));
    }
    if (length == 0) return;
    loops_.emplace_back();
    Loop& loop = loops_.back();
    loop.gather = gather;
    loop.end = ops_.start_ns[gather];
    loop.take({back.rend() - static_cast<std::ptrdiff_t>(rounds * length), back.rend()}, rounds);
  }

  /// The outermost operations in which the host waits, by thread and start.
  std::vector<std::uint32_t> outermost_waits() {
    const auto& calls = facts_.capture().api_calls;
    const auto& parent = facts_.context.attribution.op_parent;
    std::vector<std::uint32_t> found;
    if (std::ranges::count(calls.kind, ApiKind::sync) < std::ptrdiff_t{kFewestRounds}) return found;
    waits_.resize(ops_.size());
    for (std::uint32_t thread = 0; thread < facts_.context.host.threads(); ++thread)
      for (const auto call : facts_.context.host.calls(thread)) {
        if (calls.kind[call] != ApiKind::sync) continue;
        auto op = facts_.tree().op_of_call[call];
        if (op == kNoRow) continue;
        while (parent[op] != kNoRow && ops_.kind[parent[op]] == HostKind::op) op = parent[op];
        if (ops_.kind[op] != HostKind::op || waits_[op]) continue;
        waits_[op] = true;
        found.push_back(op);
      }
    return found;
  }

  /// The operations after `from` to `to`, which are inside the same one; empty where they are not,
  /// or too many.
  std::vector<std::uint32_t> stretch(std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t> back;
    const auto& before = facts_.siblings().before;
    auto row = to;
    for (; row != kNoRow && row != from && back.size() < kLongestRound; row = before[row])
      back.push_back(row);
    if (row != from) return {};
    return {back.rbegin(), back.rend()};
  }

  /// True if a loop that gathers is in these, or these in its rounds.
  bool overlaps_known(const std::vector<std::uint32_t>& ops) const {
    return std::ranges::any_of(loops_, [&](const Loop& loop) {
      return loop.gather != kNoRow && ops_.thread[loop.gather] == ops_.thread[ops.front()] &&
             ops_.start_ns[loop.ops.front()] <= ops_.start_ns[ops.back()] &&
             ops_.start_ns[ops.front()] <= loop.end;
    });
  }

  /// A round that puts its results somewhere ends with that, wherever it waits.
  void begin_after_put(std::vector<std::uint32_t>& ops, std::size_t& rounds) {
    const auto length = static_cast<std::ptrdiff_t>(ops.size() / rounds);
    std::ptrdiff_t begin = length;
    while (begin > 0 && !(traits(ops[static_cast<std::size_t>(begin - 1)]) & host_is::puts))
      --begin;
    if (begin == 0 || begin == length) return;
    ops.erase(ops.end() - (length - begin), ops.end());
    ops.erase(ops.begin(), ops.begin() + begin);
    --rounds;
  }

  /// Operations from one wait to the next.
  struct Stretch {
    std::vector<std::uint32_t> ops;
    std::uint64_t names = 0;  // a digest; 0: does not follow the wait before
  };

  /// The round that ends with `last`, before that of these stretches; empty where it is another.
  std::vector<std::uint32_t> round_before(std::uint32_t last, const std::vector<Stretch>& all,
                                          std::size_t first, std::size_t end) {
    std::vector<std::uint32_t> back;
    auto row = last;
    for (std::size_t at = end; at > first; --at)
      for (const auto op : std::views::reverse(all[at - 1].ops)) {
        if (row == kNoRow || ops_.name[row] != ops_.name[op]) return {};
        back.push_back(row);
        row = facts_.siblings().before[row];
      }
    return {back.rbegin(), back.rend()};
  }

  /// Rounds of the same names between waits, of up to so many waits in each.
  void add_waiting_loops() {
    constexpr std::size_t kMostWaits = 8;
    const auto waits = outermost_waits();
    if (waits.size() < kFewestRounds) return;
    std::vector<Stretch> all(waits.size());
    for (std::size_t i = 1; i < waits.size(); ++i) {
      all[i].ops = stretch(waits[i - 1], waits[i]);
      for (const auto op : all[i].ops)
        all[i].names =
            (all[i].names ^ (static_cast<std::uint64_t>(ops_.name[op]) + 1)) * 1099511628211U;
    }
    for (std::size_t i = 1; i < all.size();) {
      std::size_t rounds = 0, waits_of_round = 1;
      std::vector<std::uint32_t> ops;
      for (; waits_of_round <= kMostWaits && rounds < kFewestRounds; ++waits_of_round) {
        std::size_t alike = 0;
        while (i + alike + waits_of_round < all.size() && all[i + alike].names != 0 &&
               all[i + alike].names == all[i + alike + waits_of_round].names)
          ++alike;
        rounds = alike / waits_of_round + 1;
        if (rounds + 1 < kFewestRounds) continue;
        const std::size_t end = i + rounds * waits_of_round;
        ops = round_before(waits[i - 1], all, i, i + waits_of_round);
        rounds += !ops.empty();
        for (std::size_t at = i; at < end; ++at)
          ops.insert(ops.end(), all[at].ops.begin(), all[at].ops.end());
        if (rounds >= kFewestRounds) i = end;
      }
      if (rounds < kFewestRounds) {
        ++i;
        continue;
      }
      if (overlaps_known(ops)) continue;
      begin_after_put(ops, rounds);
      loops_.emplace_back();
      loops_.back().end = ops_.start_ns[ops.back()] + ops_.duration_ns[ops.back()];
      loops_.back().take(std::move(ops), rounds);
    }
  }

  /// Keeps the independent ones of the loops from `first` on.
  void keep_independent(std::size_t first) {
    if (first == loops_.size()) return;
    add_activities(first);
    loops_.erase(
        std::remove_if(loops_.begin() + static_cast<std::ptrdiff_t>(first), loops_.end(),
                       [&](const Loop& loop) { return !independent(loop) || in_many_steps(loop); }),
        loops_.end());
  }

  void add_activities(std::size_t first) {
    struct Place {
      std::size_t loop, op;
    };
    std::unordered_map<std::uint32_t, Place> places;  // by row of host_ops
    for (std::size_t loop = first; loop < loops_.size(); ++loop)
      for (std::size_t op = 0; op < loops_[loop].ops.size(); ++op)
        places[loops_[loop].ops[op]] = {loop, op};
    Around around(facts_, [&](std::uint32_t row) { return places.contains(row); });
    const auto& activities = facts_.capture().activities;
    for (const auto& line : facts_.context.devices)
      for (const auto row : line.rows) {
        auto op = around.of_activity(row);
        const bool forward = op != kNoRow;
        if (!forward) op = around.of_op(facts_.context.attribution.forward_op[row]);
        if (op == kNoRow) continue;
        const auto [loop_number, place] = places.at(op);
        Loop& loop = loops_[loop_number];
        (forward ? loop.forward : loop.backward)[place / loop.length()].push_back(row);
        if (!forward) continue;
        loop.works[place] = true;
        if (activities.kind[row] == ActivityKind::kernel &&
            !(facts_.context.names.kernel(activities.name[row]) & kernel_is::of_one_tensor))
          loop.two_tensors[place] = true;
        loop.computes = loop.computes || activities.kind[row] == ActivityKind::kernel;
        loop.reads = loop.reads || activities.copy[row] == CopyKind::device_to_host;
        loop.fetches = loop.fetches || (activities.copy[row] == CopyKind::device_to_host &&
                                        activities.bytes[row] >= kInputBytes);
        loop.brings = loop.brings || activities.copy[row] == CopyKind::host_to_device;
      }
  }

  /// True if what the trace shows of a round leaves no place for the result of the one before: it
  /// takes a piece of its own, and merges it with nothing that may be older. A sum may be one of
  /// two values of the round (a residual) where the round is a network that ends in another way.
  bool independent(const Loop& loop) {
    const bool gathers = loop.gather != kNoRow;
    if (!loop.computes ||
        (gathers ? loop.reads || waits(loop)
                 : loop.brings || loop.fetches || !begins_alike(loop)) ||
        !std::ranges::all_of(loop.forward, [](const auto& all) { return !all.empty(); }))
      return false;
    bool pieces = loop.brings || splits_before(loop), sums = false, gates = false;
    bool takes = false, chosen = false;  // a piece; among what a round has computed
    int products = 0, of_two = 0, others = 0, working = 0, fills = 0, scatters = 0, in_a_row = 0;
    NameWord last = 0;
    bool finds = false;     // its own elements: whatever it merges then is of these
    bool worked = false;    // since the host last waited
    bool computed = false;  // anything but what the host reads
    int answers = 0;  // waits for what was computed: after the first the host knows what is next
    for (std::size_t place = 0; place < loop.length(); ++place) {
      const auto is = traits(loop.ops[place]);
      // Where the host waits, what is chosen may go to the host alone: nothing is computed from it.
      const bool reads = !gathers && waits_[loop.ops[place]];
      if (is & host_is::carries) {
        if (gathers) return false;
        chosen = chosen || !reads;
      }
      finds = finds || (reads && is & host_is::finds);
      if (reads) {
        answers += std::exchange(worked, false);
        takes = takes && computed;  // else the piece was of the round before, for the host to read
      }
      worked = worked || (loop.works[place] && !reads);
      computed = computed || worked;
      pieces = pieces || (finds && is & host_is::puts);
      // A piece of a result is none of what the round begins with.
      takes = takes || ((is & host_is::view) && (gathers || !computed));
      fills += (is & host_is::fills) != 0;
      if (!loop.works[place] || (reads && is & host_is::carries)) continue;
      if (chosen && !(is & host_is::carries)) return false;
      const bool merges = (is & host_is::merges) && loop.two_tensors[place] && !finds;
      // The sum of two products is what a recurrent cell begins with.
      if (merges && (!(is & host_is::adds) || in_a_row >= 2)) return false;
      sums = sums || merges;
      gates = gates || (is & host_is::gate);
      scatters += (is & host_is::scatters) != 0 && !finds;
      in_a_row = is & host_is::product ? in_a_row + 1 : 0;
      products += (is & host_is::product) != 0;
      of_two += (is & host_is::of_two) != 0;
      others += !(is & (host_is::product | host_is::elementwise | host_is::fills));
      ++working;
      last = is;
    }
    constexpr int kNetwork = 8;
    if (sums && (gates || working < kNetwork || (last & (host_is::elementwise | host_is::fills))))
      return false;
    // One product with a matrix of its own may be that of all products so far.
    if (products == 1 && of_two == 1 && others == 0) return false;
    // The next round may begin with the chosen tensor, if that takes no piece of its own.
    return (takes || (pieces && !chosen)) && (finds || answers <= 1) && scatters <= fills;
  }

  /// True if all rounds begin with tensors of the same sizes: else they may be what others left.
  bool begins_alike(const Loop& loop) const {
    for (std::size_t first = 0; first < loop.ops.size(); first += loop.length())
      if (ops_.shapes[loop.ops[first]] != ops_.shapes[loop.ops.front()]) return false;
    return true;
  }

  /// True if the pieces of the rounds were taken right before the loop.
  bool splits_before(const Loop& loop) {
    constexpr int kNear = 4;
    const auto& before = facts_.siblings().before;
    auto row = before[loop.ops.front()];
    for (int i = 0; i < kNear && row != kNoRow; ++i, row = before[row])
      if (traits(row) & host_is::splits) return true;
    return false;
  }

  /// True if the program itself waits for the device between the operations of a loop that gathers.
  bool waits(const Loop& loop) const {
    const auto& calls = facts_.capture().api_calls;
    const auto all = facts_.context.host.calls(ops_.thread[loop.gather]);
    const auto start = [&](std::uint32_t call) { return calls.start_ns[call]; };
    const auto first = std::ranges::lower_bound(all, ops_.start_ns[loop.ops.front()], {}, start);
    const auto last = std::ranges::lower_bound(all, ops_.start_ns[loop.gather], {}, start);
    return std::any_of(first, last, [&](std::uint32_t call) {
      const auto op = facts_.tree().op_of_call[call];
      return calls.kind[call] == ApiKind::sync &&
             (op == kNoRow || ops_.start_ns[op] < ops_.start_ns[loop.ops.front()]);
    });
  }

  /// Rounds that are steps have a batch each. Steps that were found begin with device work, marked
  /// ones on the host.
  bool in_many_steps(const Loop& loop) const {
    const auto& steps = facts_.context.window.all_steps;
    const auto& starts = facts_.capture().activities.start_ns;
    Interval span{ops_.start_ns[loop.ops.front()], loop.end};
    if (!facts_.context.window.step_source.starts_with("marks"))
      span = {starts[loop.forward.front().front()], starts[loop.forward.back().front()]};
    const auto next = std::ranges::upper_bound(steps, span.start, {}, &StepInfo::start_ns);
    return next != steps.end() && next->start_ns < span.end;
  }

  const Facts& facts_;
  const host_ops_table& ops_;
  std::vector<Loop> loops_;
  std::vector<bool> waits_;  // by row of host_ops: an outermost one in which the host waits
};

/// About what one kernel or copy takes for all rounds: the launch takes its first microseconds
/// once, and the grids of all fill the device before they take longer. `of_rounds`: the same one of
/// each round.
MendedTime as_one(const Facts& facts, const std::vector<std::uint32_t>& of_rounds) {
  constexpr double kFixed = 2e3, kBlocksBesides = 4;  // of other kernels on an SM
  const auto& activities = facts.capture().activities;
  double time = 0, longest = 1, share = 0;
  for (const auto row : of_rounds) {
    const auto own = static_cast<double>(activities.duration_ns[row]);
    const double blocks = blocks_per_sm(facts.capture(), row);
    time += own;
    longest = std::max(longest, own);
    share += std::isnan(blocks) ? 1 : blocks;
  }
  const double own = std::max(1.0, static_cast<double>(activities.duration_ns[of_rounds.front()]));
  const double fixed = std::min(longest, kFixed);
  auto filled = [&](double waves) {
    return std::min(time, fixed + (longest - fixed) * std::max(1.0, waves)) / own;
  };
  return {filled(share / kBlocksBesides), filled(share), time / own};
}

/// The time of loops, and of one round that does the work of all.
struct LoopTimes {
  Intervals device;                   // from the first to the last activity of each
  Intervals host;                     // in all rounds but the first
  std::vector<std::uint32_t> merged;  // activities of these
  std::vector<std::pair<std::uint32_t, MendedTime>> left;
  Nanos kernels = 0;
  double batched = 0, least = 0;  // of `left`, about and at best
};

void add_rounds(const Facts& facts, const std::vector<std::vector<std::uint32_t>>& rounds,
                LoopTimes& times) {
  const auto& activities = facts.capture().activities;
  const auto& first = rounds.front();
  // The first launches of all rounds belong together, and so do the second ones.
  const bool alike =
      std::ranges::all_of(rounds, [&](const auto& one) { return one.size() == first.size(); });
  Interval whole{INT64_MAX, INT64_MIN};
  for (const auto& round : rounds)
    for (const auto row : round) {
      const Nanos start = activities.start_ns[row], length = activities.duration_ns[row];
      whole = {std::min(whole.start, start), std::max(whole.end, start + length)};
      times.kernels += length;
      if (&round != &first) times.merged.push_back(row);
    }
  if (whole.start < whole.end) times.device.push_back(whole);
  for (std::size_t at = 0; at < first.size(); ++at) {
    std::vector<std::uint32_t> same(rounds.size(), first[at]);
    for (std::size_t round = 0; alike && round < rounds.size(); ++round)
      same[round] = rounds[round][at];
    const MendedTime time = as_one(facts, same);
    times.left.emplace_back(first[at], time);
    const auto own = static_cast<double>(activities.duration_ns[first[at]]);
    times.batched += own * time.about;
    times.least += own * time.best;
  }
}

/// When the host launches the backward pass of all rounds but the first, which comes last.
void add_backward_host(const Facts& facts, const Loop& loop, Intervals& host) {
  const auto& calls = facts.capture().api_calls;
  auto span_of = [&](std::size_t from, std::size_t to) {
    Interval span{INT64_MAX, INT64_MIN};
    for (std::size_t round = from; round < to; ++round)
      for (const auto row : loop.backward[round])
        if (const auto call = facts.context.launches[row]; call != kNoRow)
          span = {std::min(span.start, calls.start_ns[call]),
                  std::max(span.end, calls.start_ns[call] + calls.duration_ns[call])};
    return span;
  };
  const Interval others = span_of(1, loop.rounds), first = span_of(0, 1);
  if (others.start < others.end && (first.start >= others.end || first.end <= others.start))
    host.push_back(others);
}

/// "aten::matmul, aten::softmax": what works in a round, each once.
std::string work_of(const Facts& facts, const Loop& loop) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string_view> names;
  for (std::size_t place = 0; place < loop.length(); ++place) {
    const auto name = facts.capture().text(facts.capture().host_ops.name[loop.ops[place]]);
    if (loop.works[place] && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, names.size()); ++i)
    text += fmt::format("{}{}", i > 0 ? ", " : "", names[i]);
  return names.size() > kMost ? text + " and others" : text;
}

}  // namespace

std::optional<Said> unbatched_loop(const Facts& facts) {
  const Loops loops(facts);
  if (loops.all().empty()) return {};
  const auto& ops = facts.capture().host_ops;
  LoopTimes times;
  std::size_t launched = 0, rounds = 0;
  const Loop* longest = &loops.all().front();
  for (const auto& loop : loops.all()) {
    add_rounds(facts, loop.forward, times);
    add_rounds(facts, loop.backward, times);
    times.host.push_back({ops.start_ns[loop.ops[loop.length()]], loop.end});
    add_backward_host(facts, loop, times.host);
    if (loop.rounds > longest->rounds) longest = &loop;
    rounds += loop.rounds;
    for (const auto& round : loop.forward) launched += round.size();
  }
  times.device = normalised(std::move(times.device));
  Nanos idle = facts.idle_in(times.device);
  const Nanos saved = times.kernels - std::llround(times.least);
  // A batch is worth it where it takes half the time at most.
  if (facts.of_window(idle + saved) < 0.05 ||
      times.batched * 2 > static_cast<double>(total(times.device)))
    return {};
  idle = facts.claim_idle(times.device, Facts::Goes::alone);
  facts.also_gone(std::move(times.host));
  for (const auto row : times.merged) facts.also_merged(row);
  for (const auto& [row, time] : times.left) facts.also_takes(row, time);
  const bool waits = longest->gather == kNoRow;
  return Said{
      fmt::format("A loop runs {} iterations one by one, each on its own slice, and {}: {} of the "
                  "time. If no iteration needs the previous result, run them as one batch{}{}.",
                  longest->rounds,
                  waits ? "waits for the GPU in each"
                        : fmt::format("joins their results with {}",
                                      facts.capture().text(ops.name[longest->gather])),
                  say_share(facts.of_window(idle + saved)),
                  terms_of_framework(facts.capture().framework).one_batch,
                  waits ? " and read its results once" : ""),
      fmt::format(
          "{}, {}, {:.3g} kernels and copies in each ({}); idle {} in them, {} of work that "
          "takes about {} as one batch",
          plural(loops.all().size(), "loop"), plural(rounds, "iteration"),
          static_cast<double>(launched) / static_cast<double>(rounds), work_of(facts, *longest),
          say_time(idle), say_time(times.kernels), say_time(std::llround(times.batched))),
      idle + saved};
}

}  // namespace gf::trace_rules
