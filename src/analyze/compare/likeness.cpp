#include "analyze/compare/likeness.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace gf {

namespace {

double all_of(const std::map<std::string, double>& counts) {
  double all = 0;
  for (const auto& [name, count] : counts) all += count;
  return all;
}

/// The shared part of a step over the union of both; without steps by share of the window. Of GPUs
/// that each hold the model, all use its weights, `copies` times as many in the other run as in A:
/// that counts where it makes more of them alike.
std::optional<double> shared(const RunRoles& left, const RunRoles& right, const RoleMatch& match,
                             std::size_t run, bool by_step, double copies) {
  constexpr double kFewWeightsTell = 3;  // one or two sizes are alike by chance
  std::map<std::string, std::pair<double, double>> both;
  const double left_all = all_of(left.weights), right_all = all_of(right.weights);
  const double left_parts = by_step ? match.steps(0) : left_all;
  const double right_parts = by_step ? match.steps(run) : right_all;
  if (left_all < kFewWeightsTell * match.steps(0) || right_all < kFewWeightsTell * match.steps(run))
    return std::nullopt;
  for (const auto& [name, count] : left.weights) both[name].first = count / left_parts;
  for (const auto& [name, count] : right.weights) both[name].second = count / right_parts;
  const auto alike = [&](double times) {
    double least = 0, most = 0;
    for (const auto& [name, counts] : both) {
      least += std::min(counts.first * times, counts.second);
      most += std::max(counts.first * times, counts.second);
    }
    return least / most;
  };
  return std::max(alike(1), by_step ? alike(copies) : 0);
}

/// Kernel time by what it computes, each kernel's name and phase aside; attention is products,
/// whether one kernel makes them or several. Communication waits for other ranks, for any time.
std::map<std::string, double> shares_of(const RoleMatch& match, std::size_t run) {
  std::map<std::string, double> shares;
  double all = 0;
  for (std::size_t role = 0; role < match.roles().size(); ++role) {
    const auto& what = match.roles()[role];
    if (!what.is_kernel || what.name == name_of(LayerType::communication)) continue;
    const bool attends = what.name == name_of(LayerType::attention);
    shares[attends ? std::string(name_of(LayerType::matmul)) : what.name] +=
        match.sum(run, role).ns;
    all += match.sum(run, role).ns;
  }
  if (all > 0)
    for (auto& [name, share] : shares) share /= all;
  return shares;
}

/// Half the sum of the differences: 1 where the runs have no family in common.
double distance(const std::map<std::string, double>& left,
                const std::map<std::string, double>& right) {
  double sum = 0;
  for (const auto& [name, share] : left) {
    const auto other = right.find(name);
    sum += std::abs(share - (other == right.end() ? 0 : other->second));
  }
  for (const auto& [name, share] : right)
    if (!left.contains(name)) sum += share;
  return sum / 2;
}

/// "Convolution 71 %, Normalization 20 %": what most of a run's kernel time goes to.
std::string mostly(const std::map<std::string, double>& shares) {
  constexpr std::size_t kNamed = 2;
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, share] : shares) order.emplace_back(-share, name);
  std::ranges::sort(order);
  std::vector<std::string> named;
  for (std::size_t i = 0; i < std::min(kNamed, order.size()); ++i)
    named.push_back(fmt::format("{} {:.0f} %", order[i].second, -100 * order[i].first));
  return fmt::format("{}", fmt::join(named, ", "));
}

bool has_kind(const RunRoles& run, std::string_view kind) {
  return std::ranges::any_of(run.weights,
                             [&](const auto& weight) { return weight.first.starts_with(kind); });
}

/// The sizes that one run multiplies by most and the other never.
std::string own_weight(const RunRoles& run, const RunRoles& other) {
  std::string own;
  double most = 0;
  for (const auto& [weight, count] : run.weights) {
    if (other.weights.contains(weight) || count <= most) continue;
    most = count;
    own = weight;
  }
  return own;
}

std::string own_weights(const RunRoles& first, const RunRoles& other, const std::string& letter) {
  const auto left = own_weight(first, other), right = own_weight(other, first);
  if (left.empty() && right.empty()) return {};
  if (right.empty()) return fmt::format(" (A alone {})", left);
  if (left.empty()) return fmt::format(" ({} alone {})", letter, right);
  return fmt::format(" (A {}, {} {})", left, letter, right);
}

/// Share of the kernel time that trains: the backward pass and the optimizer.
double training(const RunRoles& run) {
  double trains = 0, all = 0;
  for (const auto& call : run.calls) {
    if (!call.is_kernel) continue;
    all += call.ns;
    if (call.phase == TrainingPhase::backward || call.phase == TrainingPhase::optimizer)
      trains += call.ns;
  }
  return all > 0 ? trains / all : 0;
}

/// In which way the programs differ; empty where they are the same.
std::string difference(const RunRoles& first, const RunRoles& other, const RoleMatch& match,
                       std::size_t run, std::optional<double> weights) {
  constexpr double kMostlyNamed = 0.5, kTrains = 0.1, kNever = 0.001;
  constexpr double kFewWeights = 0.5, kFarApart = 0.6;
  const std::string letter = run_letter(run);
  if (first.named > kMostlyNamed && other.named > kMostlyNamed) {
    const double left = training(first), right = training(other);
    if (left > kTrains && right < kNever)
      return fmt::format("A trains, {} runs forward passes alone", letter);
    if (right > kTrains && left < kNever)
      return fmt::format("{} trains, A runs forward passes alone", letter);
  }
  if (weights && *weights < kFewWeights)
    return fmt::format("{:.0f} % of the weights have the same sizes{}", 100 * *weights,
                       own_weights(first, other, letter));
  const bool images = has_kind(first, "convolution"), looks_up = has_kind(first, "embedding");
  if (weights && images != looks_up && images == has_kind(other, "embedding") &&
      looks_up == has_kind(other, "convolution"))
    return fmt::format("{} convolves, {} looks up embeddings", images ? "A" : letter,
                       images ? letter : "A");
  const auto left = shares_of(match, 0), right = shares_of(match, run);
  if (!weights && distance(left, right) > kFarApart)
    return fmt::format("kernel time goes to {} in A and to {} in {}", mostly(left), mostly(right),
                       letter);
  return {};
}

double input_bytes(const RunRoles& run) {
  double bytes = 0;
  for (const auto& call : run.calls)
    if (!call.is_kernel && call.family == "copy host to device") bytes += call.bytes;
  return bytes;
}

/// Thread blocks of the kernels that both runs have, where these are most of the time of both.
std::optional<std::pair<double, double>> blocks_of_same(const RunRoles& left,
                                                        const RunRoles& right) {
  constexpr double kMost = 0.8;
  struct Sum {
    double ns = 0, blocks = 0;
  };
  std::map<std::string_view, std::pair<Sum, Sum>> by_name;
  Sum all[2], same[2];
  const auto add = [](Sum& sum, const RoleCall& call) {
    sum.ns += call.ns;
    sum.blocks += call.blocks;
  };
  for (const auto& call : left.calls) {
    if (!call.is_kernel) continue;
    add(by_name[call.kernel].first, call);
    add(all[0], call);
  }
  for (const auto& call : right.calls) {
    if (!call.is_kernel) continue;
    add(by_name[call.kernel].second, call);
    add(all[1], call);
  }
  for (const auto& [name, sums] : by_name) {
    if (sums.first.blocks <= 0 || sums.second.blocks <= 0) continue;
    same[0].ns += sums.first.ns;
    same[1].ns += sums.second.ns;
    same[0].blocks += sums.first.blocks;
    same[1].blocks += sums.second.blocks;
  }
  if (same[0].ns < kMost * all[0].ns || same[1].ns < kMost * all[1].ns) return std::nullopt;
  return std::pair(same[0].blocks, same[1].blocks);
}

/// The inputs are of another size by what a step copies to the device or by the grids of the same
/// kernels, as where a graph hides the operators and their shapes. A step of several GPUs is what
/// they do together.
std::string other_size(const Comparison& comparison, const RunRoles& first, const RunRoles& other,
                       const RoleMatch& match, std::size_t run) {
  constexpr double kMuch = 1.5;
  const auto name = [&](std::size_t of) {
    const auto gpus = comparison.runs[of].devices;
    if (gpus == comparison.runs[of == 0 ? run : 0].devices || gpus < 2) return run_letter(of);
    return fmt::format("{} ({} GPUs together)", run_letter(of), gpus);
  };
  const auto said = [&](double left, double right, std::string_view what) -> std::string {
    left /= match.steps(0);
    right /= match.steps(run);
    const bool grows = right > left;
    const double small = std::min(left, right), large = std::max(left, right);
    if (small <= 0 || large <= kMuch * small) return {};
    return fmt::format("{} of {} are {:.3g} times as large as those of {}", what,
                       name(grows ? run : 0), large / small, name(grows ? 0 : run));
  };
  auto text = said(input_bytes(first), input_bytes(other),
                   "the inputs that a step copies to the "
                   "device");
  if (!text.empty()) return text;
  const auto blocks = blocks_of_same(first, other);
  return blocks ? said(blocks->first, blocks->second, "the grids of the kernels") : text;
}

std::string more_tokens(std::int64_t own, std::int64_t theirs, std::size_t run) {
  if (own == theirs) return {};
  return fmt::format("a step of {} has {} tokens, one of A {}", run_letter(run), theirs, own);
}

}  // namespace

ComparedLikeness likeness_of(const Comparison& comparison, const std::vector<RunDetails>& details,
                             const RoleMatch& match, std::size_t run) {
  ComparedLikeness likeness;
  likeness.run = static_cast<std::int64_t>(run);
  const auto &first = details[0].roles, &other = details[run].roles;
  if (first.calls.empty() || other.calls.empty()) return likeness;
  likeness.alike = match.alike(run);
  const auto gpus = [&](std::size_t of) {
    return static_cast<double>(std::max<std::int64_t>(1, comparison.runs[of].devices));
  };
  likeness.weights =
      shared(first, other, match, run, comparison.per == "step", gpus(run) / gpus(0));
  likeness.differs = difference(first, other, match, run, likeness.weights);
  if (!likeness.differs.empty()) {
    likeness.program = ComparedProgram::different;
    return likeness;
  }
  if (comparison.per != "step") return likeness;
  const auto &own = comparison.runs[0], &theirs = comparison.runs[run];
  if (own.batch && theirs.batch) {
    // Items of other lengths are other items, unless it is said how many there are.
    if (own.batch == theirs.batch && own.batch_source != "given" && own.tokens && theirs.tokens)
      likeness.differs = more_tokens(*own.tokens, *theirs.tokens, run);
  } else if (!likeness.weights) {
    likeness.differs = other_size(comparison, first, other, match, run);
  }
  if (!likeness.differs.empty()) likeness.program = ComparedProgram::other_size;
  return likeness;
}

void heed_likeness(Comparison& comparison) {
  for (const auto& likeness : comparison.likeness) {
    if (likeness.program == ComparedProgram::same || comparison.ranks_of_one_job) continue;
    auto& change = comparison.changes[static_cast<std::size_t>(likeness.run) - 1];
    const bool different = likeness.program == ComparedProgram::different;
    change.verdict = different ? ComparedVerdict::different_programs : ComparedVerdict::not_known;
    change.kernel_verdict = change.verdict;
    change.captures_needed.reset();
    change.remarks.clear();
    if (different) comparison.runs[static_cast<std::size_t>(likeness.run)].speedup.reset();
  }
}

}  // namespace gf
