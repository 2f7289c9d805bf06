#include "analyze/steps/outer_loop.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyze/traits.h"
#include "core/order.h"
#include "core/strings.h"

namespace gf {

namespace {

std::uint64_t mix(std::uint64_t left, std::uint64_t right) {
  left ^= right + 0x9e3779b97f4a7c15u + (left << 6) + (left >> 2);
  return left * 0xff51afd7ed558ccdu;
}

}  // namespace

KernelOrder kernel_sequence(const Capture& capture) {
  const auto& activities = capture.activities;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::size_t> count;  // by device and stream
  auto last = count.end();  // kernels of one stream follow each other
  for (std::uint32_t i = 0; i < activities.size(); ++i) {
    if (activities.kind[i] != ActivityKind::kernel) continue;
    const std::pair stream{activities.device[i], std::int64_t{activities.stream[i]}};
    if (last == count.end() || last->first != stream) last = count.try_emplace(stream).first;
    ++last->second;
  }
  KernelOrder sequence;
  if (count.empty()) return sequence;
  const auto busiest =
      std::max_element(count.begin(), count.end(), [](const auto& left, const auto& right) {
        return left.second < right.second;
      })->first;
  sequence.device = busiest.first;
  for (std::uint32_t i = 0; i < activities.size(); ++i)
    if (activities.kind[i] == ActivityKind::kernel && activities.device[i] == busiest.first &&
        activities.stream[i] == busiest.second)
      sequence.rows.push_back(i);
  auto before = [&](std::uint32_t left, std::uint32_t right) {
    return std::tuple(activities.start_ns[left], left) <
           std::tuple(activities.start_ns[right], right);
  };
  sort_nearly_ordered(sequence.rows.begin(), sequence.rows.end(), before);
  std::unordered_map<std::uint64_t, std::uint32_t> number;
  sequence.ids.reserve(sequence.rows.size());
  for (auto row : sequence.rows) {
    const std::uint64_t key = mix(mix(mix(static_cast<std::uint32_t>(activities.name[row]),
                                          static_cast<std::uint32_t>(activities.grid_x[row])),
                                      static_cast<std::uint32_t>(activities.grid_y[row])),
                                  static_cast<std::uint32_t>(activities.grid_z[row]));
    sequence.ids.push_back(
        number.try_emplace(key, static_cast<std::uint32_t>(number.size())).first->second);
  }
  sequence.distinct = static_cast<std::uint32_t>(number.size());
  return sequence;
}

TokenPositions::TokenPositions(const KernelOrder& sequence, std::size_t length) : begin_(1, 0) {
  const auto& ids = sequence.ids;
  if (ids.size() < length) return;
  const std::size_t count = ids.size() - length + 1;
  std::vector<std::uint32_t> token(count);
  std::unordered_map<std::uint64_t, std::uint32_t> number;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t key = length;
    for (std::size_t at = 0; at < length; ++at) key = mix(key, ids[i + at]);
    token[i] = number.try_emplace(key, static_cast<std::uint32_t>(number.size())).first->second;
  }
  *this = TokenPositions(token);
}

TokenPositions::TokenPositions(const std::vector<std::uint32_t>& tokens) : begin_(1, 0) {
  for (auto token : tokens)
    if (token != kNoRow) {
      if (token + 2 > begin_.size()) begin_.resize(token + 2, 0);
      ++begin_[token + 1];
    }
  for (std::size_t index = 0; index + 1 < begin_.size(); ++index)
    begin_[index + 1] += begin_[index];
  positions_.resize(begin_.back());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] != kNoRow) positions_[next[tokens[i]]++] = static_cast<std::uint32_t>(i);
}

std::vector<std::uint32_t> graph_begins(const Capture& capture,
                                        const std::vector<std::uint32_t>& launch,
                                        const KernelOrder& sequence) {
  const auto& rows = capture.activities;
  std::vector<std::uint32_t> begins(sequence.rows.size(), kNoRow);
  std::unordered_map<std::int64_t, std::uint32_t> number;
  std::int64_t before = -1;
  for (std::uint32_t position = 0; position < sequence.rows.size(); ++position) {
    const auto row = sequence.rows[position];
    const bool of_graph = row < launch.size() && launch[row] != kNoRow &&
                          capture.api_calls.kind[launch[row]] == ApiKind::graph_launch;
    if ((of_graph || rows.graph_id[row] >= 0) && rows.correlation[row] != before)
      begins[position] =
          number.try_emplace(rows.graph_id[row], static_cast<std::uint32_t>(number.size()))
              .first->second;
    before = rows.correlation[row];
  }
  return begins;
}

bool has_operations(const Capture& capture) {
  return std::ranges::find(capture.host_ops.kind, HostKind::op) != capture.host_ops.kind.end();
}

namespace {

/// One sign in ten may be missing or stand twice: a first batch that was fetched before the
/// profile began, an optimizer that was skipped on overflow.
constexpr double kRegular = 0.9;
/// The least share of an iteration's kernels that runs forward, and as much backward.
constexpr double kEachWay = 0.1;

}  // namespace

namespace {

/// "nn.Module: Block_7" -> "nn.Module: Block".
std::string_view class_of(std::string_view module) {
  const auto end = module.find_last_not_of("0123456789");
  return end == std::string_view::npos || module[end] != '_' ? module : module.substr(0, end);
}

/// Adds a span to those of a thread, which come by start, unless it lies inside the one before.
/// Both the starts and the ends ascend then, as member_at() wants it.
bool add_outermost(Intervals& spans, Interval span) {
  if (!spans.empty() && span.end <= spans.back().end) return false;
  spans.push_back(span);
  return true;
}

/// Counts for each segment but the last, which the end of the capture may cut, meets one of
/// `times`; `begins` are the segments' starts, ascending.
std::vector<std::size_t> count_between(const std::vector<Nanos>& times,
                                       const std::vector<Nanos>& begins) {
  std::vector<std::size_t> counts(begins.size() - 1);
  for (std::size_t i = 0; i + 1 < begins.size(); ++i)
    counts[i] =
        static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), begins[i + 1]) -
                                 std::lower_bound(times.begin(), times.end(), begins[i]));
  return counts;
}

/// Equally often, and at least once, in nine of ten.
bool regular(std::vector<std::size_t> counts) {
  std::sort(counts.begin(), counts.end());
  const std::size_t usual = counts[counts.size() / 2];
  const auto alike = std::equal_range(counts.begin(), counts.end(), usual);
  return usual > 0 && static_cast<double>(alike.second - alike.first) >=
                          kRegular * static_cast<double>(counts.size());
}

}  // namespace

OuterLoop::OuterLoop(const Capture& capture, const std::vector<std::uint32_t>& launch,
                     const HostThreads& host, const Names& names, const KernelOrder& sequence)
    : capture_(capture), launch_(launch), names_(names), sequence_(sequence) {
  see_outermost(host);
  see_host(host);
  see_device();
  see_backward(host);
  for (auto& sign : signs_) std::sort(sign.times.begin(), sign.times.end());
  for (auto& times : called_) std::sort(times.begin(), times.end());
  for (auto& module : modules_) std::sort(module.second.begin(), module.second.end());
  std::sort(optimizer_.begin(), optimizer_.end());
}

/// When the host launched a kernel of the sequence; without launch calls, when it started.
Nanos OuterLoop::launched(std::uint32_t position) const {
  const auto row = sequence_.rows[position];
  if (row < launch_.size() && launch_[row] != kNoRow)
    return capture_.api_calls.start_ns[launch_[row]];
  return capture_.activities.start_ns[row];
}

/// Finds the program's own calls on each thread: not inside anything but marks and plain Python.
void OuterLoop::see_outermost(const HostThreads& host) {
  const auto& ops = capture_.host_ops;
  OncePerText is_mark(capture_.strings, [](std::string_view name) {
    return name.find('#', name.starts_with("##") ? 2 : 0) != name.npos;
  });
  outermost_.resize(host.threads());
  for (std::uint32_t thread = 0; thread < host.threads(); ++thread)
    for (auto row : host.ops(thread)) {
      if (ops.kind[row] == HostKind::python || is_mark(ops.name[row])) continue;
      auto& [spans, names] = outermost_[thread];
      if (add_outermost(spans, span_of(ops, row))) names.push_back(ops.name[row]);
    }
}

/// The name of the outermost operation that made a device activity; none: none did.
Text OuterLoop::made_by(std::uint32_t activity) const {
  if (activity >= launch_.size() || launch_[activity] == kNoRow) return {};
  const auto call = launch_[activity];
  const auto thread = capture_.api_calls.thread[call];
  if (thread >= outermost_.size()) return {};
  const auto& [spans, names] = outermost_[thread];
  const Interval* span = member_at(spans, capture_.api_calls.start_ns[call]);
  if (!span) return {};
  return names[static_cast<std::size_t>(span - spans.data())];
}

void OuterLoop::see_host(const HostThreads& host) {
  const auto& ops = capture_.host_ops;
  Times loader, token;
  std::map<std::string_view, Times> outermost;  // calls of one and the same module
  for (std::uint32_t thread = 0; thread < host.threads(); ++thread) {
    Nanos module_end = INT64_MIN, token_end = INT64_MIN;
    for (auto row : host.ops(thread)) {
      const Nanos start = ops.start_ns[row], end = start + ops.duration_ns[row];
      const NameWord is = names_.host(ops.name[row]);
      if (is & host_is::optimizer_step) {
        optimizer_.push_back(start);
      } else if (is & host_is::loads_batch) {
        loader.push_back(start);
      } else if (is & host_is::chooses_token) {
        if (start < token_end) continue;  // an operation and those that it calls are one
        token.push_back(start);
        token_end = end;
      } else if (is & host_is::module) {
        const auto name = capture_.text(ops.name[row]);
        modules_[class_of(name)].push_back(start);
        if (start < module_end) continue;
        outermost[name].push_back(start);
        module_end = end;
      }
    }
  }
  signs_.push_back({"the data loader", std::move(loader)});
  signs_.push_back({"the choice of a token", std::move(token)});
  for (auto& [name, times] : outermost) {
    signs_.push_back({"calls of one module", times, true});
    called_.push_back(std::move(times));
  }
}

/// True if a copy to the device that this outermost operation made may be of a batch: the program
/// asked for it, not a library for tables of its own.
bool OuterLoop::brings_input(Text operation) const {
  return operation == Text::none || names_.host(operation) & host_is::asks_for_input;
}

void OuterLoop::see_device() {
  const auto& rows = capture_.activities;
  enum class Kind : std::uint8_t { other, update, token };
  const bool host_tells = has_operations(capture_) || !optimizer_.empty();
  Times token, input;
  std::map<std::int64_t, Times> graphs;  // launches by graph; none, where the source does not say
  bool graphs_alone = true;              // no kernel is launched by itself
  Kind before = Kind::other;
  std::int64_t launch_before = -1;
  for (std::uint32_t position = 0; position < sequence_.rows.size(); ++position) {
    const auto row = sequence_.rows[position];
    const NameWord is = names_.kernel(rows.name[row]);
    const Kind kind = is & kernel_is::updates         ? Kind::update
                      : is & kernel_is::chooses_token ? Kind::token
                                                      : Kind::other;
    if (kind == Kind::update && before != kind && !host_tells)
      optimizer_.push_back(launched(position));
    if (kind == Kind::token && before != kind) token.push_back(launched(position));
    before = kind;
    const bool of_graph = row < launch_.size() && launch_[row] != kNoRow &&
                          capture_.api_calls.kind[launch_[row]] == ApiKind::graph_launch;
    graphs_alone = graphs_alone && of_graph;
    if ((of_graph || rows.graph_id[row] >= 0) && rows.correlation[row] != launch_before)
      graphs[rows.graph_id[row]].push_back(launched(position));
    launch_before = rows.correlation[row];
  }
  for (std::uint32_t row = 0; row < rows.size(); ++row)
    if (rows.copy[row] == CopyKind::host_to_device && rows.device[row] == sequence_.device &&
        brings_input(made_by(row))) {
      const bool known = row < launch_.size() && launch_[row] != kNoRow;
      input.push_back(known ? capture_.api_calls.start_ns[launch_[row]] : rows.start_ns[row]);
    }
  signs_.push_back({"the choice of a token", std::move(token)});
  for (auto& [id, times] : graphs)
    if (id >= 0 || graphs_alone)
      signs_.push_back({"launches of one CUDA graph", std::move(times), true});
  see_compiled();
  // One kernel again and again with a copy for each may be a layer that brings its mask along.
  if (capture_.host_ops.empty() || sequence_.distinct > 1)
    signs_.push_back({"copies of the input", std::move(input), true});
}

/// One compiled graph from which every kernel comes. Where it is a layer, others come between.
void OuterLoop::see_compiled() {
  Text graph = Text::none;
  Times times;
  for (std::uint32_t position = 0; position < sequence_.rows.size(); ++position) {
    const auto name = made_by(sequence_.rows[position]);
    const bool compiled = names_.host(name) & host_is::compiled_region;
    if (!compiled || (graph != Text::none && name != graph)) return;
    graph = name;
  }
  for (const auto& [spans, names] : outermost_)
    for (std::size_t i = 0; i < spans.size(); ++i)
      if (names[i] == graph) times.push_back(spans[i].start);
  signs_.push_back({"calls of one compiled graph", std::move(times)});
}

/// Marks the kernels that autograd launched.
void OuterLoop::see_backward(const HostThreads& host) {
  const auto& ops = capture_.host_ops;
  bool adds = false;  // to gradients of an earlier pass
  std::vector<Outermost> spans(host.threads());
  for (std::uint32_t thread = 0; thread < host.threads(); ++thread) {
    Nanos kept_until = INT64_MIN;
    for (auto row : host.ops(thread)) {
      const NameWord is = names_.host(ops.name[row]);
      if (is & host_is::backward && add_outermost(spans[thread].spans, span_of(ops, row)))
        spans[thread].names.push_back(ops.name[row]);
      if (is & host_is::accumulates) kept_until = span_of(ops, row).end;
      if (is & host_is::adds && ops.start_ns[row] < kept_until) adds = true;
    }
  }
  if (std::all_of(spans.begin(), spans.end(),
                  [](const auto& thread) { return thread.spans.empty(); }))
    return;
  std::size_t passes = 0, scaled = 0;
  backward_.assign(sequence_.rows.size(), false);
  for (std::uint32_t position = 0; position < sequence_.rows.size(); ++position) {
    const auto row = sequence_.rows[position];
    if (row >= launch_.size() || launch_[row] == kNoRow) continue;
    const auto thread = capture_.api_calls.thread[launch_[row]];
    if (thread >= spans.size()) continue;
    const Intervals& backward = spans[thread].spans;
    const Interval* span = member_at(backward, launched(position));
    backward_[position] = span != nullptr;
    if (!span || (position > 0 && backward_[position - 1])) continue;
    ++passes;
    const auto name = spans[thread].names[static_cast<std::size_t>(span - backward.data())];
    scaled += capture_.text(name).ends_with("DivBackward0");
  }
  // (loss / 4).backward(), and gradients that are added up.
  micro_batches_ = adds && 2 * scaled > passes;
}

bool OuterLoop::both_ways(Cuts cut) const {
  if (backward_.empty() || micro_batches_) return false;
  for (std::size_t i = 0; i + 1 < cut.size(); ++i) {
    const auto end = backward_.begin() + cut[i + 1];
    const auto count = static_cast<double>(cut[i + 1] - cut[i]);
    const auto back = static_cast<double>(std::count(backward_.begin() + cut[i], end, true));
    if (back < kEachWay * count || count - back < kEachWay * count) return false;
  }
  return true;
}

OuterLoop::Times OuterLoop::begins_of(Cuts cut) const {
  Times begins;
  for (auto position : cut)
    if (position < sequence_.rows.size()) begins.push_back(launched(position));
  std::sort(begins.begin(), begins.end());
  return begins;
}

/// True if the program calls a module before or after the segments that it never calls in them: an
/// encoder of the prompt, a decoder of the image. Then they are the inner loop of one pass.
bool OuterLoop::inside_a_pass(const Times& begins) const {
  return std::any_of(called_.begin(), called_.end(), [&](const Times& times) {
    return std::lower_bound(times.begin(), times.end(), begins.front()) ==
           std::lower_bound(times.begin(), times.end(), begins.back());
  });
}

OuterLoop::Sign OuterLoop::sign(Cuts cut) const {
  const Times begins = begins_of(cut);
  if (begins.size() < 2) return {};
  const auto repeats = [&](const Times& times) {
    if (times.empty() || !regular(count_between(times, begins))) return false;
    return times.front() < begins.front() || times.back() >= begins.back();  // and the last one
  };
  // Where the optimizer runs, it ends the iterations: nothing else does.
  if (!optimizer_.empty()) {
    if (repeats(optimizer_)) return {"the optimizer", &optimizer_};
    return {};
  }
  const bool in_a_pass = inside_a_pass(begins);
  for (const auto& sign : signs_)
    if (repeats(sign.times) && !(sign.may_be_of_a_pass && in_a_pass))
      return {sign.what, &sign.times};
  if (both_ways(cut)) return {"forward and backward passes"};
  return {};
}

bool OuterLoop::shows(const Sign& sign, Cuts segment) const {
  if (!sign.times) return true;
  const Times begins = begins_of(segment);
  const auto first = std::ranges::lower_bound(*sign.times, begins.front());
  return first != sign.times->end() && (begins.size() < segment.size() || *first < begins.back());
}

std::string_view OuterLoop::module_of(Cuts cut) const {
  const Times begins = begins_of(cut);
  if (begins.size() < 2) return {};
  for (const auto& [name, times] : modules_) {
    const auto counts = count_between(times, begins);
    if (std::all_of(counts.begin(), counts.end(), [](std::size_t count) { return count == 1; }))
      return name;
  }
  return {};
}

}  // namespace gf
