#include "report/reference/python.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <type_traits>
#include <vector>

#include "analyze/compare/compare.h"
#include "analyze/result.h"
#include "report/reference/declared_types.h"
#include "report/text/format.h"

namespace gf {

namespace {

constexpr const char* kHead =
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
  return kHead + std::move(module).text();
}

}  // namespace gf
