// The HTML report: one file that works offline. Its front end is web/, bundled by the build; this
// puts the data in.
#pragma once

#include <cstdint>
#include <string>

#include "analyze/compare/compare.h"
#include "analyze/context.h"
#include "analyze/result.h"
#include "core/error.h"

namespace gf {

/// What the page begins with: where the time goes, or where the joules go.
enum class PageOrder : std::uint8_t { time, energy };

/// The report as one page. `context` gives the timeline; without it the page has none. Error: a
/// build without the page.
Result<std::string> analysis_html(const Analysis& analysis, const Context* context,
                                  PageOrder order = PageOrder::time);

/// A comparison as one page; of layers and kernels `rows` are shown at first. The same error.
Result<std::string> comparison_html(const Comparison& comparison, std::size_t rows);

}  // namespace gf
