#include "analyze/replay/graph.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <utility>

#include "core/base64.h"
#include "core/order.h"

namespace gf {

std::vector<Nanos> replay(const ReplayGraph& graph, const std::vector<Nanos>& duration,
                          const std::vector<Nanos>& lag) {
  std::vector<Nanos> end(graph.size());
  for (std::size_t node = 0; node < graph.size(); ++node) {
    Nanos start = graph.start_ns[node];
    const auto first = graph.first_edge[node], last = graph.first_edge[node + 1];
    if (first < last) start = INT64_MIN;
    for (auto i = first; i < last; ++i) start = std::max(start, end[graph.edges[i].from] + lag[i]);
    end[node] = start + duration[node];
  }
  return end;
}

EndPlaces::EndPlaces(const ReplayGraph& graph) {
  std::vector<std::uint32_t> last(graph.size());  // that waits for a node: at least itself
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    last[node] = node;
    for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i)
      last[graph.edges[i].from] = node;
  }
  std::vector<std::uint32_t> free;
  of_node.reserve(graph.size());
  of_edge.reserve(graph.edges.size());
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
      const auto from = graph.edges[i].from;
      of_edge.push_back(of_node[from]);
      if (last[from] != node) continue;
      free.push_back(of_node[from]);
      last[from] = from;  // once, however many edges come from it
    }
    if (free.empty()) free.push_back(count++);
    of_node.push_back(free.back());
    if (last[node] != node) free.pop_back();
  }
}

ReplayBase::ReplayBase(const ReplayGraph& graph, std::vector<Nanos> lag)
    : graph_(graph), lag_(std::move(lag)), end_(replay(graph, graph.duration_ns, lag_)) {
  first_out_.assign(graph.size() + 1, 0);
  for (const auto& edge : graph.edges) ++first_out_[edge.from + 1];
  std::partial_sum(first_out_.begin(), first_out_.end(), first_out_.begin());
  out_.resize(graph.edges.size());
  auto next = first_out_;
  for (std::uint32_t node = 0; node < graph.size(); ++node)
    for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i)
      out_[next[graph.edges[i].from]++] = node;
  latest_.resize(graph.size());
  std::iota(latest_.begin(), latest_.end(), 0U);
  std::ranges::stable_sort(latest_, std::greater<>(), [&](auto node) { return end_[node]; });
  if (!latest_.empty()) first_start_ = *std::ranges::min_element(graph.start_ns);
}

void Rerun::Changed::set(const Values& values) {
  values_.assign(values.begin(), values.end());
  std::ranges::stable_sort(values_, {}, &Values::value_type::first);
  for (const auto& [number, value] : values_) has_[number / 64] |= std::uint64_t{1} << number % 64;
}

void Rerun::Changed::clear() {
  for (const auto& [number, value] : values_) has_[number / 64] = 0;
  values_.clear();
}

Nanos Rerun::Changed::value(std::uint32_t number) const {
  const auto after = std::ranges::upper_bound(values_, number, {}, &Values::value_type::first);
  return std::prev(after)->second;
}

Rerun::Rerun(const ReplayBase& base)
    : base_(base),
      durations_(base.graph_.size()),
      lags_(base.lag_.size()),
      end_(base.end_),
      asked_(base.graph_.size() / 64 + 1, 0),
      words_(base.graph_.size() / 4096 + 1, 0) {}

void Rerun::run(std::uint32_t node) {
  const ReplayGraph& graph = base_.graph_;
  const auto first = graph.first_edge[node], last = graph.first_edge[node + 1];
  Nanos start = first < last ? INT64_MIN : graph.start_ns[node];
  for (auto i = first; i < last; ++i)
    start = std::max(start, end_[graph.edges[i].from] + lags_.of(i, base_.lag_[i]));
  const Nanos end = start + durations_.of(node, graph.duration_ns[node]);
  if (end == end_[node]) return;
  end_[node] = end;
  moved_.push_back(node);
  for (auto i = base_.first_out_[node]; i < base_.first_out_[node + 1]; ++i) ask(base_.out_[i]);
}

Nanos Rerun::span(const Values& durations, const Values& lags) {
  const ReplayGraph& graph = base_.graph_;
  if (graph.size() == 0) return 0;
  durations_.set(durations);
  lags_.set(lags);
  for (const auto& [node, duration] : durations) ask(node);
  for (const auto& [edge, lag] : lags) {
    const auto after = std::ranges::upper_bound(graph.first_edge, edge);
    ask(static_cast<std::uint32_t>(after - graph.first_edge.begin() - 1));
  }
  // Edges come from earlier nodes: what a node asks for lies ahead.
  for (std::size_t words = 0; words < words_.size(); ++words)
    while (words_[words] != 0) {
      const auto word = words * 64 + static_cast<unsigned>(std::countr_zero(words_[words]));
      if (asked_[word] == 0) {
        words_[words] &= words_[words] - 1;
        continue;
      }
      const auto bit = static_cast<unsigned>(std::countr_zero(asked_[word]));
      asked_[word] &= asked_[word] - 1;
      run(static_cast<std::uint32_t>(word * 64 + bit));
    }
  Nanos last = INT64_MIN;
  for (const auto node : moved_) last = std::max(last, end_[node]);
  for (const auto node : base_.latest_)
    if (end_[node] == base_.end_[node]) {
      last = std::max(last, end_[node]);
      break;
    }
  for (const auto node : std::exchange(moved_, {})) end_[node] = base_.end_[node];
  durations_.clear();
  lags_.clear();
  return last - base_.first_start_;
}

// A graph as text: numbers of variable length, zstd, base64. An edge's lag is kept as what the node
// began later than the edge asks for, which is nothing for the one that it waited for.

namespace {

constexpr unsigned kWhyBits = 3;
constexpr Nanos kLongest = Nanos{1} << 61;

class Packer {
 public:
  void put(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) bytes_ += static_cast<char>(number | 0x80);
    bytes_ += static_cast<char>(number);
  }
  void put_signed(std::int64_t number) {
    put((static_cast<std::uint64_t>(number) << 1U) ^ static_cast<std::uint64_t>(number >> 63));
  }

  std::string text() const {
    constexpr int kEffort = 3;
    std::string packed(ZSTD_compressBound(bytes_.size()), '\0');
    const std::size_t size =
        ZSTD_compress(packed.data(), packed.size(), bytes_.data(), bytes_.size(), kEffort);
    if (ZSTD_isError(size)) return {};
    packed.resize(size);
    return base64(packed);
  }

 private:
  std::string bytes_;
};

/// Empty where the text is damaged.
std::string unpacked(std::string_view text) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
  const auto packed = from_base64(text);
  if (!packed) return {};
  const auto size = ZSTD_getFrameContentSize(packed->data(), packed->size());
  if (size > kMost) return {};  // as the values that stand for errors are
  std::string bytes(size, '\0');
  const auto read = ZSTD_decompress(bytes.data(), bytes.size(), packed->data(), packed->size());
  if (ZSTD_isError(read) || read != size) return {};
  return bytes;
}

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
  bool sound() const { return sound_; }
  bool at_end() const { return at_ == bytes_.size(); }

  std::uint64_t get() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; at_ < bytes_.size() && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
    sound_ = false;
    return 0;
  }
  std::int64_t get_signed() {
    const std::uint64_t number = get();
    return static_cast<std::int64_t>(number >> 1U) ^ -static_cast<std::int64_t>(number & 1U);
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool sound_ = true;
};

/// Reads node after node, and keeps what is added up below what overflows.
class Reader {
 public:
  Reader(Unpacker& in, ReplayGraph& graph) : in_(in), graph_(graph) {}

  /// False when the node contradicts itself.
  bool node() {
    const auto number = static_cast<std::uint32_t>(graph_.size());
    const Nanos step = in_.get_signed();
    if (!credible(step)) return false;
    clock_ += step;
    graph_.start_ns.push_back(clock_);
    graph_.duration_ns.push_back(length());
    graph_.name.push_back(static_cast<std::uint32_t>(in_.get()));
    graph_.collective.push_back(static_cast<std::int64_t>(in_.get()) - 1);
    graph_.input_ns.push_back(length());
    graph_.profiler_ns.push_back(length());
    for (std::uint64_t count = in_.get(); count > 0; --count)
      if (!edge(number)) return false;
    graph_.first_edge.push_back(static_cast<std::uint32_t>(graph_.edges.size()));
    return in_.sound() && credible(clock_) && sum_ <= kLongest &&
           graph_.name.back() < graph_.names.size() && graph_.collective.back() >= -1;
  }

 private:
  static bool credible(Nanos time) { return time >= -kLongest && time <= kLongest; }

  Nanos length() {
    const std::uint64_t time = in_.get();
    if (time > static_cast<std::uint64_t>(kLongest - sum_)) sum_ = kLongest + 1;
    if (sum_ > kLongest) return 0;
    sum_ += static_cast<Nanos>(time);
    return static_cast<Nanos>(time);
  }

  bool edge(std::uint32_t number) {
    const std::uint64_t both = in_.get();
    const std::uint64_t back = both >> kWhyBits, why = both % (1U << kWhyBits);
    const Nanos later = in_.get_signed();
    if (!in_.sound() || back == 0 || back > number ||
        why >= static_cast<std::uint64_t>(WaitsFor::ranks) || !credible(later) || sum_ > kLongest)
      return false;
    const auto from = number - static_cast<std::uint32_t>(back);
    const Nanos lag = clock_ - graph_.start_ns[from] - graph_.duration_ns[from] - later;
    if (!credible(lag)) return false;
    sum_ += std::min(lag < 0 ? -lag : lag, kLongest + 1 - sum_);
    graph_.edges.push_back({from, static_cast<WaitsFor>(why), lag});
    return true;
  }

  Unpacker& in_;
  ReplayGraph& graph_;
  Nanos clock_ = 0, sum_ = 0;
};

}  // namespace

std::string pack(const ReplayGraph& graph) {
  Packer out;
  out.put(graph.size());
  Nanos clock = 0;
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    out.put_signed(graph.start_ns[node] - clock);
    clock = graph.start_ns[node];
    out.put(static_cast<std::uint64_t>(graph.duration_ns[node]));
    out.put(graph.name[node]);
    out.put(static_cast<std::uint64_t>(graph.collective[node] + 1));
    out.put(static_cast<std::uint64_t>(graph.input_ns[node]));
    out.put(static_cast<std::uint64_t>(graph.profiler_ns[node]));
    out.put(graph.first_edge[node + 1] - graph.first_edge[node]);
    for (auto i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
      const ReplayEdge& edge = graph.edges[i];
      out.put(std::uint64_t{node - edge.from} << kWhyBits | static_cast<std::uint64_t>(edge.why));
      out.put_signed(clock - graph.start_ns[edge.from] - graph.duration_ns[edge.from] - edge.lag);
    }
  }
  return out.text();
}

Result<ReplayGraph> unpack(std::string_view text, std::vector<std::string> names) {
  ReplayGraph graph;
  graph.names = std::move(names);
  const std::string bytes = unpacked(text);
  Unpacker in(bytes);
  Reader reader(in, graph);
  for (std::uint64_t count = in.get(); count > 0 && in.sound(); --count)
    if (!reader.node()) return fail("the graph of a rank is damaged");
  if (!in.sound() || !in.at_end()) return fail("the graph of a rank is damaged");
  return graph;
}

std::uint32_t GraphDraft::name(const std::string& text) {
  const auto [at, added] = numbers_.try_emplace(text, static_cast<std::uint32_t>(names_.size()));
  if (added) names_.push_back(text);
  return at->second;
}

std::vector<std::uint32_t> GraphDraft::by_start() const {
  std::vector<std::uint32_t> order(start_.size());
  std::iota(order.begin(), order.end(), 0U);
  // Nodes of one line, or of the device, were added one after the other.
  sort_nearly_ordered(order.begin(), order.end(), [&](std::uint32_t left, std::uint32_t right) {
    const Nanos start = start_[left], other = start_[right];
    return start != other ? start < other : left < right;
  });
  return order;
}

ReplayGraph GraphDraft::finish(const std::vector<std::uint32_t>& order) && {
  ReplayGraph graph;
  graph.names = std::move(names_);
  // One after the other, so that no two copies of all are there at once.
  const auto ordered = [&](auto& column, auto& into) {
    const auto from = std::exchange(column, {});
    into.reserve(order.size());
    for (const auto node : order) into.push_back(from[node]);
  };
  ordered(start_, graph.start_ns);
  ordered(duration_, graph.duration_ns);
  ordered(name_, graph.name);
  ordered(collective_, graph.collective);
  ordered(input_, graph.input_ns);
  ordered(profiler_, graph.profiler_ns);
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  const auto each_forward = [&](auto&& take) {
    for (const auto& [to, edge] : std::as_const(waits_))
      if (place[edge.from] < place[to]) take(place[to], edge);
  };
  graph.first_edge.assign(order.size() + 1, 0);
  each_forward([&](std::uint32_t to, const ReplayEdge&) { ++graph.first_edge[to + 1]; });
  std::partial_sum(graph.first_edge.begin(), graph.first_edge.end(), graph.first_edge.begin());
  graph.edges.resize(graph.first_edge.back());
  auto next = graph.first_edge;
  each_forward([&](std::uint32_t to, const ReplayEdge& edge) {
    graph.edges[next[to]++] = {place[edge.from], edge.why, edge.lag};
  });
  return graph;
}

}  // namespace gf
