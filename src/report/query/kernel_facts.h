// The results of the analysis for each kernel and copy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/context.h"
#include "core/describe.h"

namespace gf {

/// One kernel or copy as the analysis sees it; the rest of its columns are those of activities.
struct KernelFacts {
  std::int64_t row = 0;
  std::string short_name;
  std::optional<std::string> operation, parent, module, layer, phase, idle_cause;
  std::optional<std::string> traits;  // of FactsOf::all
  std::optional<std::int64_t> step, step_offset_ns, exclusive_ns, idle_ns;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("row", &KernelFacts::row, "row of activities");
    visit("short_name", &KernelFacts::short_name, "name without arguments and template details");
    visit("operator", &KernelFacts::operation, "framework operation open at the launch");
    visit("parent", &KernelFacts::parent, "framework operation around that one");
    visit("module", &KernelFacts::module, "module that the operation belongs to");
    visit("layer", &KernelFacts::layer, "type of layer");
    visit("phase", &KernelFacts::phase, "forward, backward, optimizer or other");
    visit("step", &KernelFacts::step, "number of the step in which it starts");
    visit("step_offset_ns", &KernelFacts::step_offset_ns, "its start after that of the step");
    visit("traits", &KernelFacts::traits,
          "what its name and the operation's say, each trait between commas (docs/names.md)");
    visit("exclusive_ns", &KernelFacts::exclusive_ns,
          "time of a kernel that no other one counts; of copies and sets that without kernels; "
          "null outside of the window");
    visit("idle_ns", &KernelFacts::idle_ns, "time that the device was idle before it");
    visit("idle_cause", &KernelFacts::idle_cause, "why, for the longest part");
  }
};

/// Covers every kernel of the capture, or copies and sets as well, in the order of activities.
enum class FactsOf : std::uint8_t { kernels, all };
std::vector<KernelFacts> kernel_facts(const Context& context, FactsOf which = FactsOf::kernels);

}  // namespace gf
