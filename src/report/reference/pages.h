// The page docs/analysis.md: the JSON of `analyze`, made from the result structs' own declarations.
// The page of counter formulas.
// docs/findings.md, from analyze/names/findings.def.
#pragma once

#include <string>
#include <type_traits>

#include "core/statistics.h"

namespace gf {

std::string analysis_page();
/// docs/work-json.md, the same of the answer of `work`.
std::string work_page();
/// docs/ranks-json.md, that of `ranks` and of its parts.
std::string ranks_page();

/// docs/levels.md: for every level of a kernel its formulas, best first, and the chips where each
/// holds.
std::string levels_page();

std::string findings_page();

/// docs/names.md, from analyze/names/*.def.
std::string names_page();

// docs/analysis.schema.json: JSON Schema of the answer of `analyze`, made from the result structs'
// own declarations.

/// Draft 2020-12. Keys of version 1 are required; further ones are allowed, as the contract says.
std::string analysis_schema();
/// docs/work.schema.json, the same of the answer of `work`.
std::string work_schema();
/// docs/nccl_dumps.schema.json, the same of dumps of PyTorch's flight recorder.
std::string nccl_dumps_schema();
/// docs/sweep.schema.json, the same of a sweep.
std::string sweep_schema();
/// docs/reproduction.schema.json, that of `reproduce`.
std::string reproduction_schema();
/// docs/ranks.schema.json, that of `ranks`.
std::string ranks_schema();

}  // namespace gf

namespace gf::declared_types {

// The declarations of results for a type, for those who write them in other languages.
// The answers' types for Python, made from the declarations of the results.
// web/src/model.ts: the answer of analyze as types, for the page.

/// Name and meaning of a struct of results.
template <class T>
struct Struct {
  static constexpr const char* name = T::struct_name;
  static constexpr const char* about = T::struct_about;
};
template <>
struct Struct<Distribution> {
  static constexpr const char* name = "Distribution";
  static constexpr const char* about = "Weighted quantiles, and shares in equal bins";
};

template <class T>
concept Optional = requires(T value) {
  typename T::value_type;
  value.has_value();
};
template <class T>
concept List = !std::is_same_v<T, std::string> && requires(T value) {
  typename T::value_type;
  value.push_back(value.front());
};

}  // namespace gf::declared_types

namespace gf {

/// python/gpufathom/results.py: a frozen dataclass for each struct that analyze and compare answer
/// with.
std::string python_results();

}  // namespace gf

namespace gf {

/// Types of every result struct and of the closed lists in them, and the colors of causes, bars
/// and phases; all from their declarations (analyze/results/*.def, analyze/names/*.def).
std::string typescript_model();

}  // namespace gf
