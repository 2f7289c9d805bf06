// Long answers on a terminal, a screen at a time, as git shows them.
#pragma once

#include <string_view>

namespace gf::cli {

/// Shows a text that is longer than the terminal in GPUFATHOM_PAGER, PAGER or less. False when it
/// is still to be printed: standard output is no terminal, the text fits, or there is no pager.
bool show_paged(std::string_view text);

}  // namespace gf::cli
