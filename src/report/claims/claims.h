// The judged statements of a publication as text and as a page of Markdown.
#pragma once

#include <string>

#include "analyze/claims/claims.h"
#include "report/text/style.h"

namespace gf {

std::string reproduction_text(const Reproduction& answer, const TextStyle& style);
std::string reproduction_markdown(const Reproduction& answer);

}  // namespace gf
