// Bytes inside a page.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace gf {

/// gzip, at the smallest size unless `effort` is below 9; the same bytes for the same input.
std::string gzipped(std::string_view bytes, int effort = 9);

/// The page around its two blocks of data, the answer and the timeline's events; made by
/// web/build.mjs, empty in a build without Node.
extern const std::string_view kPageBefore, kPageBetween, kPageAfter;

/// The page with the answer and, where there is one, the packed timeline put in. Error: a build
/// without the page.
Result<std::string> filled_page(std::string_view answer, std::string_view timeline = {});

}  // namespace gf
