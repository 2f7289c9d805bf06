// Phases of the frameworks' events: a table, as data. A new framework is a new table
// in rules.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/names.h"
#include "model/capture.h"

namespace gf {

// The runtime phases as numbers: analyze/names/phases.def declares them, docs/runtime.md explains
// them.

inline constexpr std::size_t kRuntimePhases = EnumNames<RuntimePhase>::names.size();

constexpr std::size_t index_of(RuntimePhase phase) { return static_cast<std::size_t>(phase); }

enum class Match : std::uint8_t { exact, prefix, suffix, contains, typed, compiled };

/// A condition inside an event that changes its phase.
enum class Unless : std::uint8_t {
  never,
  hands_on,  // it passes its work to other threads: this one waits for them
  launches,  // a launch, copy or set: this is the host side of a GPU operation, not a kernel of the
             // CPU
  nested,    // a launch or another operation: only operations without operations inside compute
};

/// The side of the framework's own queue of operations on which an event is.
enum class QueueSide : std::uint8_t { none, enters, leaves };

struct PhaseRule {
  Match match;
  std::string_view text;  // for `typed` ("node:OpType") and `compiled` (named after the operation
                          // it runs) no text
  RuntimePhase phase;
  std::string_view source;  // where the framework writes the event
  bool operation = false;   // one such event is one operation of the framework; its type is op_type
                            // or the rest of the name
  Unless unless = Unless::never;
  RuntimePhase instead = RuntimePhase::other;  // the phase when `unless` holds
  QueueSide queue = QueueSide::none;
  std::string_view mode = {};  // of the framework that such events show: compile, jit
};

/// The table of a framework (pytorch, tensorflow, jax); all tables one after the other when the
/// framework is not known. The first rule that matches counts.
std::vector<const PhaseRule*> phase_rules(std::string_view framework);

/// Rule of every host operation, looked up once per name and type.
class RuleLookup {
 public:
  static constexpr std::uint16_t kNoRule = UINT16_MAX;
  struct Found {
    std::uint16_t rule = kNoRule;  // row of the table
    std::uint32_t type = 0;  // of the operation, as people know it: index into types(); for rules
                             // that are no operation, its name
  };
  explicit RuleLookup(const Capture& capture);

  Found of(std::uint32_t host_op);
  const PhaseRule& rule(std::uint16_t rule) const { return *rules_[rule]; }
  std::size_t size() const { return rules_.size(); }
  const std::vector<std::string_view>& types() const { return types_; }

 private:
  struct Known {
    std::uint32_t name = UINT32_MAX;  // of the last row looked up, UINT32_MAX before
    Found found;
  };
  Found find(std::uint32_t host_op);
  std::uint16_t matching(std::string_view name, std::string_view type) const;
  const Capture& capture_;
  std::vector<const PhaseRule*> rules_;
  std::vector<Known> by_name_;  // for rows without a type
  std::vector<Known> by_type_;  // of the last name seen with that type
  std::vector<std::string_view> types_;
  std::unordered_map<std::string_view, std::uint32_t> type_numbers_;
};

/// True for events that pass work to other threads (TensorFlow's FunctionRun).
bool hands_on(std::string_view name);

}  // namespace gf
