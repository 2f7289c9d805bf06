// The places that take most of the time though no cause is known for it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/findings/place.h"
#include "analyze/findings/rules.h"
#include "analyze/work/kernel_work.h"
#include "core/text.h"
#include "model/kernel_name.h"

namespace gf::trace_rules {
namespace {

constexpr double kWorthAPlace = 0.05;
/// With more kernels, a sample (every second, third and so on) says what bounds them.
constexpr std::size_t kEnoughKernels = 4096;

/// Instructions of XLA that differ in their number alone, of one place in the program, are one:
/// a sort is three custom calls.
class Families {
 public:
  explicit Families(const Facts& facts) : facts_(facts), first_(facts.texts().size(), Text::none) {}
  /// The first instruction of the family.
  Text of(Text instruction, Text scope) {
    Text& first = first_[static_cast<std::size_t>(instruction)];
    if (first != Text::none) return first;
    first = instruction;
    if (scope != Text::none)
      first = families_.try_emplace({stem(facts_.capture().text(instruction)), scope}, instruction)
                  .first->second;
    return first;
  }
  static std::string_view stem(std::string_view name) {
    const auto end = name.find_last_not_of("0123456789");
    return end != name.npos && end > 0 && name[end] == '.' ? name.substr(0, end) : name;
  }

 private:
  const Facts& facts_;
  std::vector<Text> first_;  // by instruction
  std::map<std::pair<std::string_view, Text>, Text> families_;
};

/// The name of a kernel's place: XLA's instruction, the operator around its launch, or its own
/// name, which of XLA's command buffers is that of its instruction.
Text name_of_place(const Facts& facts, const KernelInstance& kernel) {
  if (const Text instruction = facts.capture().activities.op[kernel.activity];
      instruction != Text::none)
    return instruction;
  const Text operation = facts.capture().framework == "jax" ? Text::none : facts.operation(kernel);
  return operation == Text::none ? facts.kernel_name(kernel) : operation;
}

struct Place {
  Nanos ns = 0, all = 0;               // of the place; of all kernels without a cause
  std::vector<std::uint32_t> kernels;  // by place in facts.kernels
};

/// The module and name that take most of the time of kernels without a cause; without kernels where
/// that is little.
Place largest_place(const Facts& facts) {
  const auto& modules = facts.context.attribution.module;
  const auto& activities = facts.capture().activities;
  std::vector<std::uint32_t> name_of(facts.kernels.size(), kNoRow);  // kNoRow: it has a cause
  std::vector<Nanos> by_name(facts.texts().size());
  Families families(facts);
  Place largest;
  for (std::size_t at = 0; at < facts.kernels.size(); ++at) {
    const auto& kernel = facts.kernels[at];
    if (facts.told(kernel.activity) || facts.type(kernel) == LayerType::communication) continue;
    Text place = name_of_place(facts, kernel);
    if (activities.op[kernel.activity] == place)
      place = families.of(place, activities.scope[kernel.activity]);
    name_of[at] = static_cast<std::uint32_t>(place);
    const Nanos working = facts.context.working_ns(at);
    by_name[name_of[at]] += working;
    largest.all += working;
  }
  // Few names are large enough: each module has a row of those.
  std::vector<std::uint32_t> large(by_name.size(), kNoRow);
  std::uint32_t count = 0;
  for (std::size_t name = 0; name < by_name.size(); ++name)
    if (facts.of_window(by_name[name]) >= kWorthAPlace) large[name] = count++;
  struct Sum {
    Nanos ns = 0;
    std::size_t kernels = 0;
  };
  std::vector<Sum> places(count * facts.context.attribution.modules.size());
  const auto each_of_large = [&](auto&& apply) {
    for (std::uint32_t at = 0; at < name_of.size(); ++at)
      if (name_of[at] != kNoRow && large[name_of[at]] != kNoRow)
        apply(at, modules[facts.kernels[at].activity] * std::size_t{count} + large[name_of[at]]);
  };
  each_of_large([&](std::uint32_t at, std::size_t place) {
    places[place].ns += facts.context.working_ns(at);
    ++places[place].kernels;
  });
  const auto most = std::ranges::max_element(places, {}, &Sum::ns);
  if (most == places.end() || facts.of_window(most->ns) < kWorthAPlace) return largest;
  largest.ns = most->ns;
  largest.kernels.reserve(most->kernels);
  each_of_large([&](std::uint32_t at, std::size_t place) {
    if (place == static_cast<std::size_t>(most - places.begin())) largest.kernels.push_back(at);
  });
  return largest;
}

/// " (20 kernels, most of it ampere_sgemm_128x64) in Encoder.layers.0, in rank, at model.py(7): f"
std::string describe(const Facts& facts, const Place& place) {
  const auto& longest = facts.kernels[*std::ranges::max_element(
      place.kernels, {}, [&](std::uint32_t at) { return facts.kernels[at].exclusive_ns; })];
  const Text name = name_of_place(facts, longest);
  const bool by_kernel = name == facts.kernel_name(longest);
  const auto kernel = shown(short_kernel_name(facts.texts().view(facts.kernel_name(longest))));
  std::string text = by_kernel ? kernel : std::string(facts.capture().text(name));
  const auto of_another = [&](std::uint32_t at) {
    return name_of_place(facts, facts.kernels[at]) != name;
  };
  if (std::ranges::any_of(place.kernels, of_another)) text.resize(Families::stem(text).size());
  if (const Text scope = facts.capture().activities.scope[longest.activity]; scope != Text::none)
    text += fmt::format(" of {}", facts.capture().text(scope));
  const auto count = static_cast<std::int64_t>(place.kernels.size());
  text += fmt::format(" ({}", plural(count, "kernel"));
  text += by_kernel ? std::string(")") : fmt::format(", most of it {})", kernel);
  if (const auto module = facts.context.attribution.module[longest.activity]; module != 0)
    text += fmt::format(" in {}", facts.context.attribution.modules[module]);
  const auto call = facts.context.launches[longest.activity];
  if (call == kNoRow) return text;
  const auto& calls = facts.capture().api_calls;
  return text + where_is(facts, calls.thread[call], calls.start_ns[call]);
}

}  // namespace

std::string largest_untold(const Facts& facts) {
  const auto place = largest_place(facts);
  if (place.kernels.empty()) return {};
  Bound bound(facts, facts.context.works.get());
  const auto apart = std::max<std::size_t>(1, place.kernels.size() / kEnoughKernels);
  for (std::size_t at = 0; at < place.kernels.size(); at += apart) bound.add(place.kernels[at]);
  return fmt::format(
      "Kernels without a known cause take {} of the time; the largest place, {}, is {}.{}",
      say_share(facts.of_window(place.all)), say_share(facts.of_window(place.ns)),
      describe(facts, place), bound.said());
}

}  // namespace gf::trace_rules
