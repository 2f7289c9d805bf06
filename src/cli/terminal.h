// What the place that the answer goes to can show.
#pragma once

#include "report/text/style.h"

namespace gf::cli {

/// Style of a text report on standard output, or into a file when `to_file`: at most COLUMNS (or
/// the terminal's width) columns, colour only on a terminal and not with NO_COLOR, block characters
/// only in a UTF-8 locale.
TextStyle text_style(bool to_file);

bool stdout_is_terminal();
bool stderr_is_terminal();

}  // namespace gf::cli
