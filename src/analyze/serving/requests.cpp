// Requests by the marks that name them: gpufathom.request(ID, TOKENS) inside a step, and
// gpufathom.arrived(ID) when the request comes in.
#include <algorithm>
#include <charconv>
#include <map>
#include <span>
#include <string_view>

#include "analyze/serving/parts.h"
#include "core/apportion.h"
#include "core/text.h"

namespace gf::serving {

namespace {

constexpr std::string_view kRequest = "gpufathom.request(", kArrived = "gpufathom.arrived(";
constexpr std::int64_t kMostTokens = 1'000'000'000;  // of a request in a step

struct Said {
  std::string_view id;
  std::int64_t tokens = 1;
  std::optional<std::int64_t> kept = {};  // of a draft's tokens, and the one behind them
};

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0 ||
      number > kMostTokens)
    return std::nullopt;
  return number;
}

/// The content of the parentheses; without a number of tokens it is one.
std::optional<Said> said(std::string_view name, std::string_view mark) {
  if (!name.starts_with(mark) || !name.ends_with(")")) return std::nullopt;
  name.remove_prefix(mark.size());
  name.remove_suffix(1);
  Said found{{}};
  constexpr std::string_view kKept = "kept=";
  if (const auto last = trimmed(name.substr(name.rfind(',') + 1)); last.starts_with(kKept)) {
    found.kept = number_in(last.substr(kKept.size()));
    if (!found.kept || name.rfind(',') == name.npos) return std::nullopt;
    name = name.substr(0, name.rfind(','));
  }
  const auto comma = name.rfind(',');
  found.id = trimmed(name.substr(0, comma));
  if (comma != name.npos) {
    const auto tokens = number_in(trimmed(name.substr(comma + 1)));
    if (tokens.value_or(0) < 1) return std::nullopt;
    found.tokens = *tokens;
  }
  if (found.id.empty()) return std::nullopt;
  return found;
}

/// One request in one step.
struct Part {
  std::size_t step = 0;
  Nanos time = 0;  // of the mark
  std::uint32_t thread = kNoRow;
  std::string_view id;
  std::int64_t tokens = 0;
  std::optional<std::int64_t> kept;
};
using Arrivals = std::map<std::string_view, std::vector<Nanos>>;  // by time
struct Marks {
  std::vector<Part> parts;  // by step
  Arrivals arrivals;
};

/// A request in a step has one part: ranks of the engine mark it too, and an engine may mark it in
/// pieces.
void join_parts(std::vector<Part>& parts) {
  std::vector<Part> joined;
  std::map<std::string_view, std::size_t> place;  // in joined, of the parts of one step
  for (const auto& part : parts) {
    if (!joined.empty() && joined.back().step != part.step) place.clear();
    const auto [at, is_new] = place.try_emplace(part.id, joined.size());
    if (is_new) {
      joined.push_back(part);
      continue;
    }
    Part& known = joined[at->second];
    if (known.thread != part.thread) continue;
    known.tokens += part.tokens;
    if (known.kept && part.kept)
      *known.kept += *part.kept;
    else
      known.kept.reset();
  }
  parts = std::move(joined);
}

Marks read_marks(const Capture& capture, const RequestMarks& where) {
  const auto& host = where.host;
  struct Name {
    std::optional<Said> request, arrival;
  };
  std::map<Text, Name> names;
  for (std::uint32_t i = 0; i < capture.strings.size(); ++i) {
    const auto text = capture.text(Text{i});
    Name name{said(text, kRequest), said(text, kArrived)};
    if (name.request || name.arrival) names.emplace(Text{i}, name);
  }
  Marks marks;
  if (names.empty()) return marks;
  const auto& ops = capture.host_ops;
  for (std::uint32_t row = 0; row < ops.size(); ++row) {
    const auto name = names.find(ops.name[row]);
    if (name == names.end()) continue;
    const Nanos time = ops.start_ns[row];
    if (const auto& arrival = name->second.arrival) marks.arrivals[arrival->id].push_back(time);
    const auto& request = name->second.request;
    if (where.thread != kNoRow && ops.thread[row] != where.thread) continue;
    const auto after = std::ranges::upper_bound(host, time, {}, &Interval::start);
    if (!request || after == host.begin() || time >= std::prev(after)->end) continue;
    marks.parts.push_back({static_cast<std::size_t>(after - host.begin()) - 1, time,
                           ops.thread[row], request->id, request->tokens, request->kept});
  }
  std::ranges::stable_sort(marks.parts, {}, &Part::step);
  join_parts(marks.parts);
  for (auto& [id, times] : marks.arrivals) std::ranges::sort(times);
  return marks;
}

/// What the requests of a speculative step keep, where all of them say so.
void put_kept(std::span<const Part> parts, EngineStep& step) {
  const auto requests = static_cast<std::int64_t>(parts.size());
  if (step.kind != StepKind::speculative || step.requests.value_or(requests) != requests) return;
  std::int64_t kept = 0;
  for (const auto& part : parts) {
    if (!part.kept) return;
    kept += *part.kept;
  }
  step.requests = requests;
  step.generated = kept;
}

/// Requests as their parts come, by step.
class Requests {
 public:
  Requests(const std::vector<EngineStep>& steps, const Joules& joules, const Arrivals& arrivals)
      : steps_(steps), joules_(joules), arrivals_(arrivals) {}

  /// All parts of one step.
  void add(std::span<const Part> parts) {
    const EngineStep& step = steps_[parts.front().step];
    std::vector<double> weights;
    for (const auto& part : parts) weights.push_back(static_cast<double>(part.tokens));
    const auto time = apportion(step.duration_ns, weights);
    std::vector<std::int64_t> energy;
    if (const auto nj = joules_.nanojoules(span_of(step)))
      energy = apportion(std::max<std::int64_t>(0, *nj), weights);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Part& part = parts[i];
      auto& one = of(part, step);
      auto& request = one.request;
      request.end_ns = span_of(step).end;
      ++request.steps;
      request.tokens += part.tokens;
      request.step_ns += time[i];
      if (request.nj && !energy.empty())
        *request.nj += energy[i];
      else
        request.nj.reset();
      // The last part of its prompt gives the first token.
      const bool prompt = request.steps == 1 ||
                          (one.in_prompt && part.tokens > 1 && step.kind != StepKind::speculative);
      if (prompt) one.first_token = request.end_ns;
      one.in_prompt = prompt;
    }
  }

  std::vector<ServedRequest> take() {
    std::vector<ServedRequest> all;
    for (auto& one : known_) {
      auto& request = one.request;
      if (one.arrival) {
        request.arrival_ns = *one.arrival;
        request.queued_ns = std::max<Nanos>(0, request.start_ns - *one.arrival);
        request.first_token_ns = one.first_token - *one.arrival;
      }
      all.push_back(std::move(request));
    }
    return all;
  }

 private:
  struct One {
    ServedRequest request;
    std::optional<Nanos> arrival;
    Nanos first_token = 0;
    bool in_prompt = true;
  };
  /// The arrival that a part belongs to: the last one before it, of a request whose name comes
  /// again.
  std::optional<Nanos> arrival_of(const Part& part) const {
    const auto found = arrivals_.find(part.id);
    if (found == arrivals_.end()) return std::nullopt;
    const auto& times = found->second;
    const auto after = std::ranges::upper_bound(times, part.time);
    if (times.size() == 1 || after != times.begin())
      return times.size() == 1 ? times.front() : *std::prev(after);
    return std::nullopt;
  }
  One& of(const Part& part, const EngineStep& step) {
    const auto arrival = arrival_of(part);
    const auto [at, is_new] =
        place_.try_emplace({part.id, arrival.value_or(INT64_MIN)}, known_.size());
    if (is_new) {
      known_.emplace_back();
      known_.back().arrival = arrival;
      auto& request = known_.back().request;
      request.id = std::string(part.id);
      request.start_ns = step.start_ns;
      request.nj = 0;
    }
    return known_[at->second];
  }

  const std::vector<EngineStep>& steps_;
  const Joules& joules_;
  const Arrivals& arrivals_;
  std::map<std::pair<std::string_view, Nanos>, std::size_t> place_;  // in known_, by arrival too
  std::vector<One> known_;
};

}  // namespace

std::vector<ServedRequest> served_requests(const Capture& capture, const RequestMarks& where,
                                           const Joules& joules, std::vector<EngineStep>& steps) {
  const Marks marks = read_marks(capture, where);
  Requests requests(steps, joules, marks.arrivals);
  for (auto part = marks.parts.begin(); part != marks.parts.end();) {
    const auto end = std::find_if(part, marks.parts.end(),
                                  [&](const Part& other) { return other.step != part->step; });
    put_kept({part, end}, steps[part->step]);
    requests.add({part, end});
    part = end;
  }
  return requests.take();
}

}  // namespace gf::serving
