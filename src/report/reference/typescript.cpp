#include "report/reference/typescript.h"

#include <fmt/format.h>

#include <set>
#include <type_traits>

#include "analyze/compare/compare.h"
#include "analyze/ranks/result.h"
#include "analyze/result.h"
#include "analyze/sweep/sweep.h"
#include "analyze/work/result.h"
#include "core/when.h"
#include "report/compare/compare.h"
#include "report/labels.h"
#include "report/reference/declared_types.h"

namespace gf {

namespace {

constexpr const char* kHead =
    R"(// The answers of analyze, as docs/analysis.schema.json has it, and of compare.
// Made by `./dev docs` from src/analyze/results/*.def and src/analyze/names/*.def: change those.
)";

using declared_types::List;
using declared_types::Optional;
using declared_types::Struct;

/// Writes what a type is made of before the type itself, each once.
class Model {
 public:
  template <class T>
  std::string type_of() {
    if constexpr (Optional<T>) {
      return type_of<typename T::value_type>() + " | null";
    } else if constexpr (List<T>) {
      // Every value of a list can be missing: NaN is written as null.
      if constexpr (std::is_floating_point_v<typename T::value_type>) return "(number | null)[]";
      if constexpr (Optional<typename T::value_type>)
        return "(" + type_of<typename T::value_type>() + ")[]";
      return type_of<typename T::value_type>() + "[]";
    } else if constexpr (std::is_same_v<T, std::string>) {
      return "string";
    } else if constexpr (std::is_same_v<T, bool>) {
      return "boolean";
    } else if constexpr (std::is_arithmetic_v<T>) {
      return "number";
    } else if constexpr (NamedEnum<T>) {
      declare_names<T>();
      return EnumNames<T>::type;
    } else {
      declare_struct<T>();
      return Struct<T>::name;
    }
  }

  /// A constant with the colour of every value of a list.
  template <class Enum>
  void colours(std::string_view constant) {
    declare_names<Enum>();
    out_ += fmt::format("\nexport const {}: Record<{}, string> = {{\n", constant,
                        EnumNames<Enum>::type);
    for (std::size_t i = 0; i < EnumNames<Enum>::names.size(); ++i)
      out_ += fmt::format("  {}: \"var(--{})\",\n", EnumNames<Enum>::names[i],
                          label_of(static_cast<Enum>(i)).colour);
    out_ += "};\n";
  }

  std::string text() && { return std::move(out_); }

 private:
  template <class Enum>
  void declare_names() {
    if (!known_.insert(EnumNames<Enum>::type).second) return;
    out_ += fmt::format("\nexport type {} =\n", EnumNames<Enum>::type);
    for (const auto name : EnumNames<Enum>::names)
      out_ += fmt::format("  | \"{}\"{}\n", name, when(name == EnumNames<Enum>::names.back(), ";"));
  }

  template <class T>
  void declare_struct() {
    if (!known_.insert(Struct<T>::name).second) return;
    std::string text =
        fmt::format("\n/** {}. */\nexport interface {} {{\n", Struct<T>::about, Struct<T>::name);
    T::fields([&]<class C, class M>(const char* name, M C::*, const char* meaning) {
      text += fmt::format("  /** {}. */\n  {}: {};\n", meaning, name, type_of<M>());
    });
    out_ += text + "}\n";
  }

  std::set<std::string_view> known_;
  std::string out_;
};

}  // namespace

std::string typescript_model() {
  Model model;
  model.type_of<Comparison>();
  model.type_of<Analysis>();
  model.type_of<WorkUse>();
  model.type_of<JobRanks>();
  model.type_of<Sweep>();
  model.colours<IdleReason>("CAUSE_COLOURS");
  model.colours<Bar>("BAR_COLOURS");
  model.colours<RuntimePhase>("PHASE_COLOURS");
  return kHead + std::move(model).text();
}

}  // namespace gf
