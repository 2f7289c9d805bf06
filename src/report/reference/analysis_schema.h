// docs/analysis.schema.json: JSON Schema of the answer of `analyze`, made from the result structs'
// own declarations.
#pragma once

#include <string>

namespace gf {

/// Draft 2020-12. Keys of version 1 are required; further ones are allowed, as the contract says.
std::string analysis_schema();
/// docs/work.schema.json, the same of the answer of `work`.
std::string work_schema();
/// docs/sweep.schema.json, the same of a sweep.
std::string sweep_schema();
/// docs/reproduction.schema.json, that of `reproduce`.
std::string reproduction_schema();
/// docs/ranks.schema.json, that of `ranks`.
std::string ranks_schema();

}  // namespace gf
