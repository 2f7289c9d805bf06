#include "analyze/runtime/rules.h"

namespace gf {

namespace {

using enum RuntimePhase;

constexpr PhaseRule kTensorFlow[] = {
#define GF_TENSORFLOW(...) {__VA_ARGS__},
#include "analyze/names/runtime.def"
};

constexpr PhaseRule kXla[] = {
#define GF_XLA(...) {__VA_ARGS__},
#include "analyze/names/runtime.def"
};

constexpr PhaseRule kJax[] = {
#define GF_JAX(...) {__VA_ARGS__},
#include "analyze/names/runtime.def"
};

constexpr PhaseRule kPyTorch[] = {
#define GF_PYTORCH(...) {__VA_ARGS__},
#include "analyze/names/runtime.def"
};

/// The operation's type as people know it: without the rule's prefix,
/// "autograd::engine::evaluate_function: " and the like.
std::string_view operation_type(const Capture& capture, std::uint32_t row, const PhaseRule& rule) {
  const auto name = capture.text(capture.host_ops.name[row]),
             type = capture.text(capture.host_ops.op_type[row]);
  if (rule.match == Match::compiled) {  // fusion.12 and fusion.13 are two of one type
    const auto digits = type.find_last_not_of("0123456789");
    if (digits != type.npos && digits + 1 < type.size() && type[digits] == '.' && digits > 0)
      return type.substr(0, digits);
    return type;
  }
  if (!type.empty()) return type;
  if (rule.match == Match::prefix && name.size() > rule.text.size() &&
      (rule.text.ends_with(' ') || rule.text.ends_with('('))) {
    auto rest = name.substr(rule.text.size());
    if (rule.text.ends_with('(') && rest.ends_with(')')) rest.remove_suffix(1);
    return rest;
  }
  return name;
}

}  // namespace

std::vector<const PhaseRule*> phase_rules(std::string_view framework) {
  std::vector<const PhaseRule*> rules;
  auto take = [&](std::span<const PhaseRule> table) {
    for (const auto& rule : table) rules.push_back(&rule);
  };
  const bool all = framework != "pytorch" && framework != "tensorflow" && framework != "jax";
  if (all || framework == "tensorflow") take(kTensorFlow);
  if (all || framework == "jax") take(kJax);
  if (framework != "pytorch") take(kXla);
  if (all || framework == "pytorch") take(kPyTorch);
  return rules;
}

RuleLookup::RuleLookup(const Capture& capture)
    : capture_(capture),
      rules_(phase_rules(capture.framework)),
      by_name_(capture.strings.size()),
      by_type_(capture.strings.size()) {}

RuleLookup::Found RuleLookup::of(std::uint32_t row) {
  const auto& ops = capture_.host_ops;
  if (ops.kind[row] == HostKind::python)
    return {};  // Python's own frames are the program, not the framework
  const auto name = static_cast<std::uint32_t>(ops.name[row]),
             type = static_cast<std::uint32_t>(ops.op_type[row]);
  Known& known = type == 0 ? by_name_[name] : by_type_[type];
  if (known.name != name) known = {name, find(row)};
  return known.found;
}

RuleLookup::Found RuleLookup::find(std::uint32_t row) {
  const auto name = capture_.text(capture_.host_ops.name[row]);
  const auto rule = matching(name, capture_.text(capture_.host_ops.op_type[row]));
  if (rule == kNoRule) return {};
  const auto [at, fresh] = type_numbers_.try_emplace(
      rules_[rule]->operation ? operation_type(capture_, row, *rules_[rule]) : name,
      static_cast<std::uint32_t>(types_.size()));
  if (fresh) types_.push_back(at->first);
  return {rule, at->second};
}

std::uint16_t RuleLookup::matching(std::string_view name, std::string_view type) const {
  auto matches = [&](const PhaseRule& rule) {
    switch (rule.match) {
      case Match::exact:
        return name == rule.text;
      case Match::prefix:
        return name.starts_with(rule.text);
      case Match::suffix:
        return name.ends_with(rule.text);
      case Match::contains:
        return name.find(rule.text) != name.npos;
      case Match::typed:
        return !type.empty() && name.size() > type.size() && name.ends_with(type) &&
               name[name.size() - type.size() - 1] == ':';
      case Match::compiled:
        return !type.empty() && name == type;
    }
    return false;
  };
  for (std::size_t i = 0; i < rules_.size(); ++i)
    if (matches(*rules_[i])) return static_cast<std::uint16_t>(i);
  return kNoRule;
}

bool hands_on(std::string_view name) { return name == "FunctionRun"; }

}  // namespace gf
