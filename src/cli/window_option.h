// --window, the same for every verb that analyses.
#pragma once

#include <string>

#include "cli/options.h"

namespace gf::cli {

/// What is wrong with a window before any capture is read; empty when nothing is.
std::string window_complaint(const std::string& text);

/// Adds --window; a text that can mean no window is wrong usage.
void add_window_option(
    Verb& verb, std::string& window,
    std::string help =
        "span to analyse: auto (default: the steps, or all without any), all, steps, stable, "
        "step:N or START:END, such as 10ms:25ms");

}  // namespace gf::cli
