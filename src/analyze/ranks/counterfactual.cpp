#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyze/collective_type.h"
#include "analyze/ranks/answer.h"
#include "analyze/ranks/job_graph.h"
#include "analyze/ranks/stage_peers.h"
#include "core/parallel.h"
#include "core/statistics.h"

namespace gf {

namespace {

/// Nodes' durations and edges' lags that are other than captured.
struct Change {
  Rerun::Values durations, lags;
  Nanos sum = 0;  // of what is taken away

  void add(const Change& other) {
    durations.insert(durations.end(), other.durations.begin(), other.durations.end());
    lags.insert(lags.end(), other.lags.begin(), other.lags.end());
    sum += other.sum;
  }
  Nanos span(Rerun& rerun) const { return rerun.span(durations, lags); }
  void set(std::uint32_t node, Nanos from, Nanos to) {
    if (to == from) return;
    durations.push_back({node, to});
    sum += std::max<Nanos>(from - to, 0);
  }
  void set_lag(std::uint32_t edge, Nanos from, Nanos to) {
    if (to == from) return;
    lags.push_back({edge, to});
    sum += std::max<Nanos>(from - to, 0);
  }
};

/// By edge: the program's own time, without what recording took.
std::vector<Nanos> own_lags(const ReplayGraph& graph) {
  std::vector<Nanos> lags;
  for (std::uint32_t node = 0; node < graph.size(); ++node)
    for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
      const ReplayEdge& edge = graph.edges[i];
      lags.push_back(edge.lag - (edge.why == WaitsFor::host ? graph.profiler_ns[node] : 0));
    }
  return lags;
}

class Counterfactual {
 public:
  Counterfactual(const Job& job, const JobGraph& joined)
      : job_(job),
        joined_(joined),
        graph_(joined.graph),
        base_(joined.graph, own_lags(joined.graph)),
        peers_(job),
        kernels_(kernel_times()),
        hosts_(host_times()) {
    count_excess();
    nodes_of_part_.resize(job.parts.size());
    for (std::uint32_t node = 0; node < graph_.size(); ++node)
      if (joined.part[node] != JobGraph::kNone) nodes_of_part_[joined.part[node]].push_back(node);
  }

  JobGains run(unsigned workers) const {
    JobGains gains;
    gains.span = base_.span();
    gains.ranks.resize(job_.parts.size());
    const std::size_t shares = std::clamp<std::size_t>(workers, 1, job_.parts.size());
    for_each_parallel(shares, workers, [&](std::size_t share) {
      Rerun rerun(base_);
      for (std::size_t part = share; part < job_.parts.size(); part += shares)
        gains.ranks[part] = gains_of_rank(static_cast<std::uint32_t>(part), gains.span, rerun);
    });
    compare_kernels(gains);
    add_joint(gains);
    gains.links = slow_links(gains.span);
    gains.missing = missing_gain(gains.span);
    return gains;
  }

 private:
  bool is_kernel(std::uint32_t node) const {
    return joined_.part[node] != JobGraph::kNone && graph_.collective[node] < 0 &&
           !graph_.is_host(node) && graph_.duration_ns[node] > 0;
  }

  /// The edge along which a host's point waits for its thread.
  std::uint32_t host_edge(std::uint32_t node) const {
    for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i)
      if (graph_.edges[i].why == WaitsFor::host) return i;
    return JobGraph::kNone;
  }

  /// The program's own time on the way to a host's point, waiting for input left out.
  Nanos own_host(std::uint32_t node, std::uint32_t edge) const {
    return graph_.edges[edge].lag - graph_.input_ns[node] - graph_.profiler_ns[node];
  }

  Peers kernel_times() const {
    std::vector<Peers::Value> values;
    for (std::uint32_t node = 0; node < graph_.size(); ++node)
      if (is_kernel(node))
        values.push_back({graph_.name[node], joined_.part[node], graph_.duration_ns[node], node});
    return {std::move(values), graph_.size()};
  }

  Peers host_times() const {
    std::vector<Peers::Value> values;
    for (std::uint32_t node = 0; node < graph_.size(); ++node) {
      if (joined_.part[node] == JobGraph::kNone) continue;
      if (const auto edge = host_edge(node); edge != JobGraph::kNone)
        values.push_back({graph_.name[node], joined_.part[node], own_host(node, edge), node});
    }
    return {std::move(values), graph_.size()};
  }

  double steps_of(std::uint32_t part) const {
    return static_cast<double>(std::max<std::size_t>(1, job_.parts[part].steps.size()));
  }

  using Shares = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;  // by name and part
  using Counts = std::map<std::uint32_t, std::map<std::uint32_t, double>>;   // by name, by part

  /// Its peers' count in a step over its own, where that is clearly less.
  Shares less_of(const Counts& counts) const {
    constexpr double kMore = 1.2, kRounding = 0.5;
    Shares less;
    for (const auto& [name, own] : counts) {
      UsualOfPeers of_peers(peers_, own);
      for (const auto& [part, times] : own) {
        const auto usual = of_peers.of(part);
        if (usual && times > kMore * *usual + kRounding) less[{name, part}] = *usual / times;
      }
    }
    return less;
  }

  /// Kernels that a rank runs, and calls in which it waits, more often in a step than its stage.
  void count_excess() {
    Counts kernels, waits;
    std::map<std::string_view, std::uint32_t> calls;
    waits_at_.assign(graph_.names.size(), 0);
    for (std::uint32_t name = 0; name < graph_.names.size(); ++name) {
      const std::string_view text = graph_.names[name];
      const auto call = text.substr(text.find(' ') + 1);
      waits_at_[name] =
          calls.try_emplace(call, static_cast<std::uint32_t>(calls.size())).first->second;
    }
    for (std::uint32_t node = 0; node < graph_.size(); ++node) {
      const auto part = joined_.part[node];
      if (part == JobGraph::kNone) continue;
      if (is_kernel(node)) kernels[graph_.name[node]][part] += 1 / steps_of(part);
      if (waits_for_device(node)) waits[waits_at_[graph_.name[node]]][part] += 1 / steps_of(part);
    }
    fewer_kernels_ = less_of(kernels);
    fewer_waits_ = less_of(waits);
    scale_unmatched();
  }

  bool waits_for_device(std::uint32_t node) const {
    for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i)
      if (graph_.edges[i].why == WaitsFor::device) return true;
    return false;
  }

  /// Host time of a rank that no other has by name, in a step, against that of its stage.
  void scale_unmatched() {
    std::map<std::uint32_t, double> unmatched;  // by part
    for (std::uint32_t node = 0; node < graph_.size(); ++node) {
      const auto part = joined_.part[node];
      if (part == JobGraph::kNone) continue;
      const auto edge = host_edge(node);
      if (edge != JobGraph::kNone && !hosts_.known(node))
        unmatched[part] += static_cast<double>(own_host(node, edge)) / steps_of(part);
    }
    unmatched_share_.assign(job_.parts.size(), 1);
    UsualOfPeers of_peers(peers_, unmatched);
    for (const auto& [part, own] : unmatched)
      if (const auto usual = of_peers.of(part); usual && own > 0)
        unmatched_share_[part] = std::min(1.0, *usual / own);
  }

  /// The thread takes `own` on the way to a host's point, waiting for input left as it is or gone.
  void set_host(std::uint32_t node, std::uint32_t edge, Nanos own, bool without_input,
                Change& change) const {
    const Nanos input = graph_.input_ns[node];
    change.set_lag(edge, own_host(node, edge) + input, own + (without_input ? 0 : input));
  }

  void add_kernels(std::uint32_t part, Change& change) const {
    constexpr double kOtherStage = 1.1;
    for (const auto node : nodes_of_part_[part]) {
      if (!is_kernel(node)) continue;
      const Nanos own = graph_.duration_ns[node];
      Nanos usual = kernels_.known(node) ? kernels_.of(node) : own;
      // Another stage's kernels of this name work beside other transfers.
      if (!peers_.any(part) && static_cast<double>(own) < kOtherStage * static_cast<double>(usual))
        usual = own;
      if (const auto less = fewer_kernels_.find({graph_.name[node], part});
          less != fewer_kernels_.end()) {
        usual = static_cast<Nanos>(static_cast<double>(usual) * less->second);
        launch_fewer(node, less->second, change);
      }
      change.set(node, own, usual);
    }
  }

  /// A kernel that is not run is not launched.
  void launch_fewer(std::uint32_t node, double share, Change& change) const {
    for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i) {
      if (graph_.edges[i].why != WaitsFor::launch) continue;
      const auto point = graph_.edges[i].from;
      const auto edge = host_edge(point);
      if (edge == JobGraph::kNone) continue;
      const auto own = static_cast<double>(own_host(point, edge));
      set_host(point, edge, static_cast<Nanos>(share * own), false, change);
    }
  }

  /// A rank's host pieces as its peers', its waiting for input gone, or both.
  void add_host(std::uint32_t part, bool as_peers, bool without_input, Change& change) const {
    for (const auto node : nodes_of_part_[part]) {
      if (!graph_.is_host(node)) continue;
      if (as_peers) drop_waits(part, node, change);
      const auto edge = host_edge(node);
      if (edge == JobGraph::kNone) continue;
      const Nanos own = own_host(node, edge);
      const Nanos usual = as_peers ? usual_host(part, node, own) : own;
      set_host(node, edge, usual, without_input, change);
    }
  }

  Nanos usual_host(std::uint32_t part, std::uint32_t node, Nanos own) const {
    if (hosts_.known(node)) return hosts_.of(node);
    return static_cast<Nanos>(static_cast<double>(own) * unmatched_share_[part]);
  }

  /// Calls in which none of its peers waits for the device.
  void drop_waits(std::uint32_t part, std::uint32_t node, Change& change) const {
    const auto less = fewer_waits_.find({waits_at_[graph_.name[node]], part});
    if (less == fewer_waits_.end() || less->second > 0) return;
    for (auto i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i)
      if (graph_.edges[i].why == WaitsFor::device) change.lags.push_back({i, kNoWait});
  }

  /// The overhead of recording in a stretch beyond that of its peers: a part of it, and no more
  /// than its events can. A host that sleeps has none.
  Nanos recording_apart(std::uint32_t node, Nanos own) const {
    constexpr Nanos kDearest = 8;  // times what an event usually takes
    return std::min(static_cast<Nanos>(kRecordingApart * static_cast<double>(own)),
                    kDearest * graph_.profiler_ns[node]);
  }

  /// Its host faster by that; or (`beyond`) as its peers', but for that.
  void add_recording(std::uint32_t part, bool beyond, Change& change) const {
    for (const auto node : nodes_of_part_[part]) {
      const auto edge = graph_.is_host(node) ? host_edge(node) : JobGraph::kNone;
      if (edge == JobGraph::kNone) continue;
      const Nanos own = own_host(node, edge), doubt = recording_apart(node, own);
      const Nanos more = beyond ? own - usual_host(part, node, own) - doubt : doubt;
      if (more > 0) set_host(node, edge, own - more, false, change);
    }
  }

  /// What a rank's kernels lose to the quickest of their like, against what its peers' lose.
  void compare_kernels(JobGains& gains) const {
    std::map<std::uint32_t, double> slower;  // by part
    for (std::uint32_t part = 0; part < job_.parts.size(); ++part)
      if (const auto own = against_usual(part)) slower[part] = *own;
    UsualOfPeers of_peers(peers_, slower);
    for (const auto& [part, own] : slower)
      if (const auto usual = of_peers.of(part); usual && *usual > 0)
        gains.ranks[part].same_kernels = own / *usual;
  }

  /// The time of kernels that its peers run too, as often, over what is usual of them; nothing
  /// where these are less than half of its kernels' time.
  std::optional<double> against_usual(std::uint32_t part) const {
    double all = 0, own = 0, usual = 0;
    for (const auto node : nodes_of_part_[part]) {
      if (!is_kernel(node)) continue;
      all += static_cast<double>(graph_.duration_ns[node]);
      if (!kernels_.known(node) || fewer_kernels_.contains({graph_.name[node], part})) continue;
      own += static_cast<double>(graph_.duration_ns[node]);
      usual += static_cast<double>(kernels_.of(node));
    }
    if (2 * own < all || usual <= 0) return std::nullopt;
    return own / usual;
  }

  RankGains gains_of_rank(std::uint32_t part, Nanos span, Rerun& rerun) const {
    constexpr Nanos kOneIn = 500;
    Change kernels, host, input;
    add_kernels(part, kernels);
    add_host(part, true, false, host);
    add_host(part, false, true, input);
    RankGains gains;
    if ((kernels.sum + host.sum + input.sum) * kOneIn < span) return gains;
    auto gain = [&](const Change& change) {
      if (change.sum * kOneIn < span) return Nanos{0};
      const Nanos gained = span - change.span(rerun);
      return gained * kOneIn < span ? 0 : gained;
    };
    gains.kernels = gain(kernels);
    gains.input = gain(input);
    // Kernels that only this rank runs come first, with the host's time for them.
    auto beside_kernels = [&](Change both) {
      if (both.sum * kOneIn < span) return Nanos{0};
      both.add(kernels);  // the last counts of what both change
      const Nanos gained = gain(both) - gains.kernels;
      return gained * kOneIn < span ? 0 : gained;
    };
    gains.host = beside_kernels(host);
    if (gains.host > 0) {
      Change dearer, beyond;
      add_recording(part, false, dearer);
      add_recording(part, true, beyond);
      if (gains.host <= beside_kernels(dearer) && 2 * beside_kernels(beyond) < gains.host)
        gains.host_in_doubt = std::exchange(gains.host, 0);
    }
    gains.all = gain(change_of(part, gains));
    return gains;
  }

  /// All of it that the rank is blamed for.
  Change change_of(std::uint32_t part, const RankGains& gains) const {
    Change all;
    add_kernels(part, all);
    add_host(part, gains.host_in_doubt == 0, true, all);
    return all;
  }

  /// Two ranks that are late alike hide each other: neither alone gains much. The fewest, by what
  /// they have more than their peers, that together gain nearly all that can be gained.
  void add_joint(JobGains& gains) const {
    constexpr Nanos kOneIn = 20;
    constexpr double kNearly = 0.9;
    std::vector<std::pair<std::uint32_t, Change>> most;  // by part
    for (std::uint32_t part = 0; part < job_.parts.size(); ++part)
      if (Change own = change_of(part, gains.ranks[part]); own.sum * kOneIn >= gains.span)
        most.push_back({part, std::move(own)});
    if (most.empty()) return;
    std::ranges::stable_sort(most, std::greater<>(),
                             [](const auto& one) { return one.second.sum; });
    Rerun rerun(base_);
    auto together = [&](std::size_t count) {
      Change joint;
      for (std::size_t i = 0; i < count; ++i) joint.add(most[i].second);
      return std::max<Nanos>(0, gains.span - joint.span(rerun));
    };
    const auto all = static_cast<double>(together(most.size()));
    std::size_t low = 0, high = most.size();  // the gain grows with the ranks: by halves
    while (high - low > 1) {
      const std::size_t middle = (low + high) / 2;
      (static_cast<double>(together(middle)) < kNearly * all ? low : high) = middle;
    }
    gains.joint_gain = together(high);
    for (std::size_t i = 0; i < high; ++i) gains.joint.push_back(most[i].first);
  }

  /// Collectives that move as much between as many ranks are of one kind.
  using Kind = std::tuple<CollectiveType, std::int64_t, std::size_t>;
  using Transfers = std::map<Kind, std::map<std::uint32_t, std::vector<std::uint32_t>>>;
  Transfers transfers() const {
    Transfers by_kind;  // shared collectives by group
    for (std::uint32_t shared = 0; shared < job_.shared.size(); ++shared) {
      const SharedCollective& one = job_.shared[shared];
      const auto bytes = job_.bytes_of(one);
      if (joined_.end[shared] == JobGraph::kNone || bytes < 0) continue;
      auto type = job_.type_of(one);
      if (point_to_point(type)) type = CollectiveType::send_receive;
      by_kind[{type, bytes, one.arrivals.size()}][one.group].push_back(shared);
    }
    return by_kind;
  }

  void limit_transfer(std::uint32_t shared, Nanos most, Change& change) const {
    const auto end = joined_.end[shared];
    for (auto i = graph_.first_edge[end]; i < graph_.first_edge[end + 1]; ++i)
      change.set_lag(i, graph_.edges[i].lag, std::min(graph_.edges[i].lag, most));
  }

  Nanos usual_transfer(const std::vector<std::uint32_t>& shared) const {
    std::vector<Nanos> times;
    for (const auto one : shared) times.push_back(joined_.transfer[one]);
    return median_of(std::move(times));
  }

  std::vector<LinkGain> slow_links(Nanos span) const {
    constexpr double kSlower = 1.5;
    constexpr Nanos kOneIn = 200;
    std::map<std::uint32_t, LinkGain> links;  // by group
    std::map<std::uint32_t, Change> changes;
    for (const auto& [kind, groups] : transfers()) {
      if (groups.size() < 2) continue;
      for (const auto& [group, shared] : groups) {
        std::vector<Nanos> others;
        for (const auto& [other, theirs] : groups)
          if (other != group) others.push_back(usual_transfer(theirs));
        const Nanos usual = median_of(std::move(others)), own = usual_transfer(shared);
        if (static_cast<double>(own) < kSlower * static_cast<double>(usual)) continue;
        LinkGain& link = links[group];
        if (own > link.transfer) link = {group, shared.front(), link.collectives, own, usual, 0};
        link.collectives += static_cast<std::int64_t>(shared.size());
        for (const auto one : shared) limit_transfer(one, usual, changes[group]);
      }
    }
    std::vector<LinkGain> slow;
    if (links.empty()) return slow;
    Rerun rerun(base_);
    for (auto& [group, link] : links) {
      if (changes[group].sum * kOneIn < span) continue;
      link.gain = span - changes[group].span(rerun);
      if (link.gain * kOneIn > span) slow.push_back(link);
    }
    std::ranges::stable_sort(slow, std::greater<>(), &LinkGain::gain);
    return slow;
  }

  /// In a group with missing ranks nobody knows what was waiting: all above the fastest tenth may
  /// have been.
  static Nanos fastest(std::vector<double> times) {
    constexpr double kFast = 0.1;
    return static_cast<Nanos>(quantile(std::move(times), kFast));
  }

  Nanos missing_gain(Nanos span) const {
    Change change;
    for (const auto& [kind, groups] : transfers())
      for (const auto& [group, shared] : groups) {
        const auto size = job_.groups[group].size;
        if (size < 0 || static_cast<std::size_t>(size) <= job_.groups[group].members.size())
          continue;
        std::vector<double> times;
        for (const auto one : shared) times.push_back(static_cast<double>(joined_.transfer[one]));
        const Nanos fast = fastest(std::move(times));
        for (const auto one : shared) limit_transfer(one, fast, change);
      }
    limit_alone(change);
    if (change.sum == 0) return 0;
    Rerun rerun(base_);
    return std::max<Nanos>(0, span - change.span(rerun));
  }

  /// The same of collectives that no other file shows.
  void limit_alone(Change& change) const {
    if (job_.missing_ranks().empty()) return;
    std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t>, std::vector<std::uint32_t>>
        like;
    for (std::uint32_t node = 0; node < graph_.size(); ++node) {
      const auto row = graph_.collective[node];
      if (row < 0 || graph_.duration_ns[node] == 0) continue;  // one that is shared has none
      const RankPart& part = job_.parts[joined_.part[node]];
      const auto at = static_cast<std::size_t>(row);
      if (at < part.collectives.bytes.size())
        like[{joined_.part[node], part.collectives.group[at], part.collectives.bytes[at]}]
            .push_back(node);
    }
    for (const auto& [kind, nodes] : like) {
      std::vector<double> times;
      for (const auto node : nodes) times.push_back(static_cast<double>(graph_.duration_ns[node]));
      const Nanos fast = fastest(std::move(times));
      for (const auto node : nodes)
        change.set(node, graph_.duration_ns[node], std::min(graph_.duration_ns[node], fast));
    }
  }

  const Job& job_;
  const JobGraph& joined_;
  const ReplayGraph& graph_;
  ReplayBase base_;
  StagePeers peers_;
  Peers kernels_, hosts_;
  Shares fewer_kernels_, fewer_waits_;   // of those with more than their peers: what these have
  std::vector<std::uint32_t> waits_at_;  // by name: number of the call that a point stands for
  std::vector<double> unmatched_share_;  // by part
  std::vector<std::vector<std::uint32_t>> nodes_of_part_;
};

}  // namespace

JobGains gains_of(const Job& job, const JobGraph& graph, unsigned workers) {
  return Counterfactual(job, graph).run(workers);
}

}  // namespace gf
