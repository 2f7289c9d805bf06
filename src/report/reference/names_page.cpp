// docs/names.md: the vocabulary, by trait and by layer type.
#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/vocabulary.h"
#include "report/reference/pages.h"

namespace gf {
namespace {

constexpr const char* kHead = R"(# Names of operators, calls and kernels

<!-- Made by `./dev docs` from src/analyze/names/*.def: change those. -->

What a name says is written down once: the tables below list every pattern that gpufathom knows and
the library that writes such names. In a pattern `*` stands for any text and `~` for any number of
underlines at the end; case does not count. A name has the traits of all patterns that match it and
the layer type of the first one that has a type. The list of a kernel's parameters is not looked at.
Sizes, launch shapes and counters are used beside names wherever a capture has them.

To teach gpufathom a name, add a row to src/analyze/names/host.def (operators, marks and Python
frames), operators.def (their layer types), calls.def, kernels.def or modules.def.
)";

/// "`*gemm*`, `*gemv*` (cuBLAS); ...": the patterns of rows that are wanted, by library.
template <class Wanted>
std::string patterns_of(NameKind kind, Wanted wanted) {
  std::vector<std::string_view> libraries;
  std::map<std::string_view, std::string> patterns;
  for (const auto& row : name_rows(kind)) {
    if (!wanted(row)) continue;
    auto& of_library = patterns[row.seen];
    if (of_library.empty()) libraries.push_back(row.seen);
    of_library += fmt::format("{}`{}`", of_library.empty() ? "" : ", ", row.pattern);
  }
  std::string text;
  for (const auto library : libraries)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", library, patterns[library]);
  return text;
}

std::string by_trait(NameKind kind) {
  const auto traits = trait_rows(kind);
  std::string table = "| trait | says | names |\n|---|---|---|\n";
  for (std::size_t i = 0; i < traits.size(); ++i) {
    const auto patterns =
        patterns_of(kind, [&](const NameRow& row) { return (row.traits >> i & 1) != 0; });
    table += fmt::format("| `{}` | {} | {} |\n", traits[i].id, traits[i].meaning,
                         patterns.empty() ? "by its form, not by a pattern" : patterns);
  }
  return table;
}

std::string by_layer() {
  std::string table =
      "| layer type | operators | kernels | kernels that Inductor fused | modules |\n"
      "|---|---|---|---|---|\n";
  for (std::size_t i = 1; i < static_cast<std::size_t>(LayerType::count); ++i) {
    const auto type = static_cast<LayerType>(i);
    table += fmt::format("| {} |", name_of(type));
    for (const auto kind : {NameKind::host, NameKind::kernel, NameKind::fused, NameKind::module})
      table += fmt::format(
          " {} |", patterns_of(kind, [&](const NameRow& row) { return row.layer == type; }));
    table += '\n';
  }
  return table;
}

}  // namespace

std::string names_page() {
  std::string page = kHead;
  page += "\n## Operators, marks and Python frames\n\n" + by_trait(NameKind::host);
  page += "\n## Calls of the runtime and the driver\n\n" + by_trait(NameKind::call);
  page += "\n## Kernels\n\n" + by_trait(NameKind::kernel);
  page += "\n## Layer types\n\n" + by_layer();
  return page;
}

}  // namespace gf
