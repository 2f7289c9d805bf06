#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <type_traits>
#include <vector>

#include "analyze/call_tree.h"
#include "analyze/claims/claims.h"
#include "analyze/compare/compare.h"
#include "analyze/ranks/names.h"
#include "analyze/result.h"
#include "analyze/sweep/sweep.h"
#include "analyze/work/result.h"
#include "report/compare/compare.h"
#include "report/labels.h"
#include "report/reference/pages.h"
#include "report/text/format.h"

namespace gf {

namespace {

constexpr const char* kPythonHead =
    R"("""The answers of `analyze` and `compare` as types. Names and units are those of the JSON:
times in nanoseconds (`_ns`), energies in nanojoules (`nj`), shares from 0 to 1; None is "no data".

Made by `./dev docs` from src/analyze/results/*.def and src/analyze/names/*.def: change those.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Dict, List, Optional, Type

from gpufathom._decode import Answer
)";
constexpr std::size_t kColumns = 100;

using declared_types::List;
using declared_types::Optional;
using declared_types::Struct;

struct Type {
  std::string hint;
  std::string nested;   // the class that a value, or each of a list, becomes
  std::string meaning;  // besides what the field says
};

/// Writes what a type is made of before the type itself, each once.
class Module {
 public:
  template <class T>
  Type type_of() {
    if constexpr (Optional<T>) {
      auto inner = type_of<typename T::value_type>();
      if (!inner.hint.starts_with("Optional")) inner.hint = fmt::format("Optional[{}]", inner.hint);
      return inner;
    } else if constexpr (List<T>) {
      auto inner = type_of<typename T::value_type>();
      return {fmt::format("List[{}]", inner.hint), inner.nested, inner.meaning};
    } else if constexpr (std::is_same_v<T, std::string>) {
      return {"str", {}, {}};
    } else if constexpr (std::is_same_v<T, bool>) {
      return {"bool", {}, {}};
    } else if constexpr (std::is_floating_point_v<T>) {
      return {"Optional[float]", {}, {}};  // NaN is written as null
    } else if constexpr (std::is_arithmetic_v<T>) {
      return {"int", {}, {}};
    } else if constexpr (NamedEnum<T>) {
      return {"str", {}, fmt::format(" ({})", fmt::join(EnumNames<T>::names, ", "))};
    } else {
      declare_struct<T>();
      return {Struct<T>::name, Struct<T>::name, {}};
    }
  }
  std::string text() && { return std::move(out_); }

 private:
  template <class T>
  void declare_struct() {
    if (!known_.insert(Struct<T>::name).second) return;
    std::string about, members;
    std::vector<std::string> nested;
    T::fields([&]<class C, class M>(const char* name, M C::*, const char* meaning) {
      const Type type = type_of<M>();
      about += wrap(fmt::format("{}: {}{}", name, meaning, type.meaning), kColumns, 4);
      members += fmt::format("    {}: {}\n", name, type.hint);
      if (!type.nested.empty()) nested.push_back(fmt::format("\"{}\": {}", name, type.nested));
    });
    out_ += fmt::format("\n\n@dataclass(frozen=True)\nclass {}(Answer):\n", Struct<T>::name);
    const std::string sentence = wrap(fmt::format("\"\"\"{}.", Struct<T>::about), kColumns, 4);
    out_ += sentence + "\n" + about + "    \"\"\"\n\n" + members;
    if (!nested.empty())
      out_ +=
          fmt::format("    _nested: ClassVar[Dict[str, Type[Answer]]] = {{\n        {},\n    }}\n",
                      fmt::join(nested, ",\n        "));
  }

  std::set<std::string_view> known_;
  std::string out_;
};

}  // namespace

std::string python_results() {
  Module module;
  module.type_of<Analysis>();
  module.type_of<Comparison>();
  return kPythonHead + std::move(module).text();
}

namespace {

constexpr const char* kTypescriptHead =
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

  /// A constant with the color of every value of a list.
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
      out_ += fmt::format("  | \"{}\"{}\n", name, name == EnumNames<Enum>::names.back() ? ";" : "");
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
  model.type_of<CallNode>();
  model.type_of<JobRanks>();
  model.type_of<Sweep>();
  model.type_of<Figure>();
  model.colours<IdleReason>("CAUSE_COLOURS");
  model.colours<Bar>("BAR_COLOURS");
  model.colours<RuntimePhase>("PHASE_COLOURS");
  return kTypescriptHead + std::move(model).text();
}

}  // namespace gf
