#include "analyze/steps/engine_work.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyze/steps/outer_loop.h"
#include "analyze/traits.h"
#include "analyze/work/kernel_traits.h"

namespace gf {

namespace {

constexpr double kOfGraphs = 0.9;  // share of the kernels: the step is a graph's
constexpr std::size_t kFewestExact = 4;

bool is_of_graph(const Capture& capture, const std::vector<std::uint32_t>& launch,
                 std::uint32_t row) {
  if (capture.activities.graph_id[row] >= 0) return true;
  return row < launch.size() && launch[row] != kNoRow &&
         capture.api_calls.kind[launch[row]] == ApiKind::graph_launch;
}

/// Blocks (x) that a kernel has most often in a step.
struct Grid {
  Text name;
  std::int32_t blocks = 0;
};

/// The observed facts of a step.
struct Seen {
  std::vector<Grid> grids;                      // of kernels that every layer runs
  std::vector<Text> attention;                  // kernels, each once
  double of_graphs = 0;                         // share of kernels
  bool eager_attention = false;                 // beside graphs: those are of parts of the model
  std::optional<std::int64_t> sampled, tokens;  // tokens that were copied, that were computed
  std::optional<std::int64_t> decodes;          // requests that the kernels of decoding work for
  std::size_t choices = 0;
  bool pure = false;  // a token of each request alone

  std::optional<std::int64_t> blocks_of(Text name) const {
    const auto grid = std::ranges::find(grids, name, &Grid::name);
    if (grid == grids.end()) return std::nullopt;
    return grid->blocks;
  }
};

class LearnedSteps {
 public:
  LearnedSteps(const Capture& capture, const std::vector<std::uint32_t>& launch, const Names& names,
               const KernelOrder& sequence, const std::vector<EnginePass>& passes);
  LearnedWork work() const;

 private:
  void look_at(const EnginePass& pass);
  std::size_t fitting(std::int64_t size, const std::vector<std::int64_t>& bytes) const;
  void count_sampled(const std::vector<EnginePass>& passes);
  void count_tokens();
  void learn_decoding();
  void count_decodes();
  bool prompts_beside_decodes() const;
  /// True of a kernel that may work on tokens row by row.
  bool tells_tokens(Text name) const {
    return !attends(name) && !work::multiplies(names_.kernel(name));
  }
  bool attends(Text name) const { return names_.kernel(name) & kernel_is::attends; }
  bool decodes(Text name) const { return std::ranges::binary_search(decoding_, name); }
  std::size_t others(const Seen& step) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(step.attention, [&](Text name) { return !decodes(name); }));
  }
  StepKind kind_of(const Seen& step, bool first, bool shared) const;

  const Capture& capture_;
  const std::vector<std::uint32_t>& launch_;
  const Names& names_;
  const KernelOrder& sequence_;
  std::vector<Seen> steps_;
  std::vector<Text> decoding_;  // attention of steps of a token each, sorted
  std::int64_t blocks_ = 0;     // of the kernel that tells tokens, for each of them; 0: none tells
  bool known_ = false;
};

LearnedSteps::LearnedSteps(const Capture& capture, const std::vector<std::uint32_t>& launch,
                           const Names& names, const KernelOrder& sequence,
                           const std::vector<EnginePass>& passes)
    : capture_(capture), launch_(launch), names_(names), sequence_(sequence) {
  for (const auto& pass : passes) look_at(pass);
  count_sampled(passes);
  count_tokens();
  learn_decoding();
  count_decodes();
}

void LearnedSteps::look_at(const EnginePass& pass) {
  constexpr std::ptrdiff_t kOften = 8;  // in every layer
  const auto& rows = capture_.activities;
  Seen seen;
  seen.choices = pass.choices;
  std::vector<std::pair<Text, std::int32_t>> kernels;
  std::size_t graphs = 0;
  for (auto position = pass.begin; position < pass.end; ++position) {
    const auto row = sequence_.rows[position];
    kernels.emplace_back(rows.name[row], rows.grid_x[row]);
    const bool of_graph = is_of_graph(capture_, launch_, row);
    graphs += of_graph;
    if (!of_graph && attends(rows.name[row])) seen.eager_attention = true;
  }
  std::ranges::sort(kernels);
  for (auto at = kernels.begin(); at != kernels.end();) {
    const auto end = std::find_if(at, kernels.end(),
                                  [&](const auto& kernel) { return kernel.first != at->first; });
    if (attends(at->first)) seen.attention.push_back(at->first);
    if (end - at >= kOften) {
      auto usual = at;
      std::ptrdiff_t most = 0;
      for (auto run = at; run != end;) {
        const auto last = std::find_if(run, end, [&](const auto& one) { return one != *run; });
        if (last - run > most) {
          most = last - run;
          usual = run;
        }
        run = last;
      }
      if (usual->second > 0) seen.grids.push_back({usual->first, usual->second});
    }
    at = end;
  }
  if (!kernels.empty())
    seen.of_graphs = static_cast<double>(graphs) / static_cast<double>(kernels.size());
  steps_.push_back(std::move(seen));
}

/// In how many steps, at most, a kernel of every layer has a block for each `size` copied bytes.
std::size_t LearnedSteps::fitting(std::int64_t size, const std::vector<std::int64_t>& bytes) const {
  std::map<Text, std::size_t> fits;
  std::size_t most = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i)
    for (const auto& [name, blocks] : steps_[i].grids)
      if (bytes[i] > 0 && blocks * size == bytes[i] && tells_tokens(name))
        most = std::max(most, ++fits[name]);
  return most;
}

/// Tokens are numbers of 8 bytes; of 4 where a copy is no multiple of 8, or where kernels of a
/// block a token say so.
void LearnedSteps::count_sampled(const std::vector<EnginePass>& passes) {
  std::vector<std::int64_t> all;
  for (const auto& pass : passes)
    all.push_back(pass.copy == kNoRow ? 0 : capture_.activities.bytes[pass.copy]);
  std::int64_t size = 8;
  if (std::ranges::any_of(all, [&](auto one) { return one > 0 && one % size != 0; })) size = 4;
  if (const auto of_four = fitting(4, all); of_four >= kFewestExact && of_four > fitting(8, all))
    size = 4;
  for (std::size_t i = 0; i < passes.size(); ++i)
    if (all[i] > 0 && all[i] % size == 0) steps_[i].sampled = all[i] / size;
}

/// Kernels of a block (or k) a token: their blocks are k times the sampled tokens in the steps that
/// hold nothing else, and never fewer.
void LearnedSteps::count_tokens() {
  constexpr double kNearlyAll = 0.9, kEnough = 0.1;
  struct Family {
    std::size_t steps = 0;
    double least = 0;
  };
  std::map<Text, Family> families;
  for (const auto& step : steps_)
    for (const auto& [name, blocks] : step.grids) {
      if (!step.sampled) continue;
      const double ratio = static_cast<double>(blocks) / static_cast<double>(*step.sampled);
      auto& family = families[name];
      family.least = family.steps == 0 ? ratio : std::min(family.least, ratio);
      ++family.steps;
    }
  const auto exact = [&](Text name, std::int64_t each) {
    return static_cast<std::size_t>(std::ranges::count_if(steps_, [&](const Seen& step) {
      return step.sampled && step.blocks_of(name) == each * *step.sampled;
    }));
  };
  const auto steps = static_cast<double>(steps_.size());
  std::size_t best = std::max(kFewestExact, static_cast<std::size_t>(kEnough * steps)) - 1;
  Text chosen{};
  for (const auto& [name, family] : families) {
    const auto each = static_cast<std::int64_t>(family.least);
    if (static_cast<double>(family.steps) < kNearlyAll * steps || each < 1 ||
        static_cast<double>(each) != family.least || !tells_tokens(name))
      continue;
    const auto same = exact(name, each);
    if (same < best || (same == best && (blocks_ == 0 || each >= blocks_))) continue;
    best = same;
    chosen = name;
    blocks_ = each;
  }
  if (blocks_ == 0) return;
  for (auto& step : steps_)
    if (const auto blocks = step.blocks_of(chosen); blocks && *blocks % blocks_ == 0)
      step.tokens = *blocks / blocks_;
}

/// Steps of a token each teach the attention kernels of decoding; whatever else attends is of
/// prompts. Where all steps share their kernels and a token has many blocks, these are no tokens
/// but the rows of a classifier's batch.
void LearnedSteps::learn_decoding() {
  for (auto& step : steps_) {
    const bool one_graph = step.of_graphs > kOfGraphs && !step.eager_attention;
    step.pure = one_graph || (step.tokens && step.tokens == step.sampled);
    if (step.pure) decoding_.insert(decoding_.end(), step.attention.begin(), step.attention.end());
  }
  std::ranges::sort(decoding_);
  const auto same = std::ranges::unique(decoding_);
  decoding_.erase(same.begin(), same.end());
  const bool apart =
      std::ranges::any_of(steps_, [&](const Seen& step) { return others(step) > 0; });
  known_ = !decoding_.empty() && (apart || blocks_ == 1);
}

/// A kernel of decoding whose blocks are the tokens (or k times) in all steps of a token each tells
/// how many requests go on beside prompts.
void LearnedSteps::count_decodes() {
  if (!known_ || blocks_ == 0) return;
  for (const Text name : decoding_) {
    std::int64_t each = 0;
    std::size_t fits = 0;
    const bool tells = std::ranges::all_of(steps_, [&](const Seen& step) {
      const auto blocks = step.blocks_of(name);
      if (!step.pure || step.choices > 1 || !blocks || !step.tokens) return true;
      if (each == 0 && *blocks % *step.tokens == 0) each = *blocks / *step.tokens;
      ++fits;
      return each > 0 && *blocks == each * *step.tokens;
    });
    if (!tells || fits < kFewestExact) continue;
    for (auto& step : steps_)
      if (const auto blocks = step.blocks_of(name);
          !step.pure && blocks && *blocks % each == 0 && *blocks / each <= step.sampled.value_or(0))
        step.decodes = *blocks / each;
    return;
  }
}

/// True if prompts and the requests that decode share their steps and one attention kernel. Where
/// prompts come alone, the next step decodes for those before them too: more than got a token.
bool LearnedSteps::prompts_beside_decodes() const {
  std::size_t alone = 0, beside = 0;
  for (std::size_t i = 1; i + 1 < steps_.size(); ++i) {
    const Seen& step = steps_[i];
    if (step.pure || !steps_[i + 1].pure || !step.sampled) continue;
    if (others(step) < step.attention.size()) return false;  // names tell such steps
    ++(steps_[i + 1].sampled > step.sampled ? alone : beside);
  }
  return beside > alone;
}

StepKind LearnedSteps::kind_of(const Seen& step, bool first, bool shared) const {
  if (!known_) return StepKind::unknown;
  if (step.pure) return step.choices > 1 ? StepKind::speculative : StepKind::decode;
  const auto of_prompts = others(step);
  const bool more = step.tokens && step.sampled && step.tokens > step.sampled;
  if (of_prompts == 0) return first && more ? StepKind::prefill : StepKind::unknown;
  if (of_prompts < step.attention.size()) return StepKind::mixed;
  return shared && !first ? StepKind::unknown : StepKind::prefill;
}

LearnedWork LearnedSteps::work() const {
  const bool shared = prompts_beside_decodes();
  LearnedWork learned;
  bool first = true;  // nothing decodes yet
  std::size_t kinds = 0, fitting = 0;
  for (const auto& step : steps_) {
    EngineWork one;
    one.graph = step.of_graphs > kOfGraphs;
    one.kind = kind_of(step, first, shared);
    first = false;
    if (one.kind != StepKind::unknown) {
      ++kinds;
      fitting += step.tokens && step.sampled &&
                 (step.pure ? step.tokens >= step.sampled : step.tokens > step.sampled);
    }
    if (known_) {
      one.run_tokens = step.tokens;
      // Only the kept tokens of a draft count: the copy holds all.
      if (blocks_ > 0 && step.choices == 1) one.requests = one.generated = step.sampled;
      if (one.kind == StepKind::decode) one.tokens = one.decodes = one.requests;
      if (one.kind == StepKind::prefill) one.decodes = 0;
      if (one.kind == StepKind::mixed) one.decodes = step.decodes;
    }
    learned.work.push_back(one);
  }
  if (kinds > 0) learned.confidence = static_cast<double>(fitting) / static_cast<double>(kinds);
  return learned;
}

}  // namespace

LearnedWork learn_engine_work(const Capture& capture, const std::vector<std::uint32_t>& launch,
                              const Names& names, const TokenChoices& choices,
                              const std::vector<EnginePass>& passes) {
  return LearnedSteps(capture, launch, names, choices.sequence, passes).work();
}

namespace {

bool may_be_prompts(const EngineWork& work) {
  return work.kind == StepKind::prefill || work.kind == StepKind::unknown;
}
bool may_have_prompts(const EngineWork& work) {
  return work.kind == StepKind::mixed || may_be_prompts(work);
}

/// True if prompts alone, one step after the other, are too many for the step behind them, which
/// decodes for those that ended, in a fifth of such runs and more: they may be parts of one prompt.
bool may_be_parts(const std::vector<EngineWork>& work) {
  std::size_t runs = 0, parts = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (!may_be_prompts(work[i]) || work[i].requests == 0) continue;
    const auto first = i;
    std::int64_t prompts = 0;
    for (; i < work.size() && may_be_prompts(work[i]); ++i) prompts += work[i].requests.value_or(0);
    if (i < work.size() && !work[i].decodes) continue;
    ++runs;
    parts += i < work.size() ? *work[i].decodes < prompts : i - first > 1;
  }
  return parts > 0 && 5 * parts >= runs;
}

/// Some engines copy a token of every request, also of prompts that go on in the next step, and
/// drop it there. Where no copy ever lacks a request, and the step behind prompts decodes for fewer
/// in a fifth of them and more, how many tokens count is not known.
void forget_unfinished_prompts(Steps& steps, const std::vector<EngineWork>& seen) {
  bool mixed = false;
  std::size_t with_prompts = 0, decoded_next = 0;
  for (std::size_t i = 0; i < steps.work.size(); ++i) {
    const EngineWork& work = steps.work[i];
    if (work.kind == StepKind::chunked) return;  // parts have no token
    mixed = mixed || work.kind == StepKind::mixed;
    if (!may_have_prompts(work) || work.requests == 0) continue;
    if (!work.requests || !seen[i].generated || *seen[i].generated < *work.requests) return;
    ++with_prompts;
    const bool known = i + 1 < steps.work.size() && steps.work[i + 1].decodes;
    decoded_next += known && *steps.work[i + 1].decodes >= *work.requests;
  }
  if (5 * decoded_next >= 4 * with_prompts || (!mixed && !may_be_parts(steps.work))) return;
  for (auto& work : steps.work)
    if (may_have_prompts(work) && work.requests != 0) work.generated.reset();
}

}  // namespace

void keep_known_tokens(Steps& steps) {
  const auto seen = steps.work;
  forget_unfinished_prompts(steps, seen);
}

void find_graphs(const Capture& capture, const std::vector<std::uint32_t>& launch, Steps& steps) {
  const auto& rows = capture.activities;
  std::vector<std::pair<std::size_t, std::size_t>> counts(steps.steps.size());  // all, of graphs
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    if (rows.kind[row] != ActivityKind::kernel) continue;
    const auto call = row < launch.size() ? launch[row] : kNoRow;
    if (steps.engines > 1 && (call == kNoRow || capture.api_calls.thread[call] != steps.thread))
      continue;
    const Nanos start = rows.start_ns[row];
    const auto after = std::ranges::upper_bound(steps.steps, start, {}, &StepInfo::start_ns);
    if (after == steps.steps.begin()) continue;
    const auto& step = *std::prev(after);
    if (start >= step.start_ns + step.duration_ns) continue;
    auto& [all, of_graphs] = counts[static_cast<std::size_t>(after - steps.steps.begin()) - 1];
    ++all;
    of_graphs += is_of_graph(capture, launch, row);
  }
  for (std::size_t i = 0; i < counts.size(); ++i)
    steps.work[i].graph =
        static_cast<double>(counts[i].second) > kOfGraphs * static_cast<double>(counts[i].first);
}

namespace {

/// Assigns choices of tokens to steps of marks: to the last mark that began before the launch, for
/// engines choose behind their marks, and ahead of the device; to the time of the step where no
/// launch is known. Choices of other processes are none of these steps'.
class StepOfChoice {
 public:
  StepOfChoice(const Capture& capture, const std::vector<std::uint32_t>& launch, const Steps& steps)
      : capture_(capture), launch_(launch), steps_(steps) {
    const auto& threads = capture.threads;
    if (steps.thread < threads.size()) pid_ = threads.pid[steps.thread];
  }

  std::optional<std::size_t> operator()(std::uint32_t row) const {
    const auto call = row < launch_.size() ? launch_[row] : kNoRow;
    if (call == kNoRow) {
      const Nanos time = capture_.activities.start_ns[row];
      const auto after = std::ranges::upper_bound(steps_.steps, time, {}, &StepInfo::start_ns);
      if (after == steps_.steps.begin()) return std::nullopt;
      const auto place = static_cast<std::size_t>(after - steps_.steps.begin()) - 1;
      const StepInfo& step = steps_.steps[place];
      if (time >= step.start_ns + step.duration_ns) return std::nullopt;
      return place;
    }
    const auto thread = capture_.api_calls.thread[call];
    if (pid_ >= 0 && thread < capture_.threads.size() && capture_.threads.pid[thread] != pid_)
      return std::nullopt;
    const auto after =
        std::ranges::upper_bound(steps_.work, capture_.api_calls.start_ns[call], {},
                                 [](const EngineWork& work) { return work.host.start; });
    if (after == steps_.work.begin()) return std::nullopt;
    return static_cast<std::size_t>(after - steps_.work.begin()) - 1;
  }

 private:
  const Capture& capture_;
  const std::vector<std::uint32_t>& launch_;
  const Steps& steps_;
  std::int64_t pid_ = -1;
};

}  // namespace

void add_learned_work(const Capture& capture, const std::vector<std::uint32_t>& launch,
                      const Names& names, const TokenChoices& choices, Steps& steps) {
  const auto& rows = capture.activities;
  const auto start_of = [&](std::uint32_t row) { return rows.start_ns[row]; };
  const auto position_at = [&](Nanos time) {
    return static_cast<std::uint32_t>(
        std::ranges::lower_bound(choices.sequence.rows, time, {}, start_of) -
        choices.sequence.rows.begin());
  };
  std::vector<EnginePass> passes;
  for (const auto& step : steps.steps)
    passes.push_back(
        {position_at(step.start_ns), position_at(step.start_ns + step.duration_ns), 0, kNoRow});
  const StepOfChoice step_of(capture, launch, steps);
  bool any = false;
  auto copied = engine_passes(capture, choices);
  for (const auto position : choices.positions) {
    const auto place = step_of(choices.sequence.rows[position]);
    if (!place) continue;
    any = true;
    ++passes[*place].choices;
    // Its copy is that of the first pass that ends behind it.
    const auto copy = std::ranges::upper_bound(copied, position, {}, &EnginePass::end);
    if (copy != copied.end()) passes[*place].copy = copy->copy;
  }
  if (!any) return;
  const auto learned = learn_engine_work(capture, launch, names, choices, passes);
  const auto fill = [](auto& said, const auto& seen) {
    if (!said) said = seen;
  };
  bool said_by_marks = true;
  for (std::size_t i = 0; i < steps.work.size(); ++i) {
    EngineWork& work = steps.work[i];
    const EngineWork& seen = learned.work[i];
    if (work.requests == 0) continue;  // it only takes part in what other ranks compute
    // The capture may end before the tokens of the last step are chosen.
    const bool last = i + 1 == steps.work.size();
    if (work.kind == StepKind::prefill && passes[i].choices == 0 && !last)
      work.kind = StepKind::chunked;
    if (work.kind == StepKind::unknown) {
      work.kind = seen.kind;
      said_by_marks = false;
    }
    fill(work.run_tokens, seen.run_tokens);
    fill(work.tokens, seen.tokens);
    fill(work.requests, seen.requests);
    fill(work.decodes, seen.decodes);
    fill(work.generated,
         work.kind == StepKind::chunked ? std::optional<std::int64_t>(0) : seen.generated);
    // Only the kept tokens of a draft count, which only a mark can say.
    if (work.kind == StepKind::speculative) work.generated.reset();
  }
  forget_unfinished_prompts(steps, learned.work);
  if (!said_by_marks) steps.kind_confidence = learned.confidence;
}

}  // namespace gf
