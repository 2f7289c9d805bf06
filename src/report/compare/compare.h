// A comparison of runs as text and as a page.
#pragma once

#include <cstddef>
#include <string>

#include "analyze/compare/compare.h"
#include "report/text/style.h"

namespace gf {

/// Letters for the runs: A, B, ... Z, then 27, 28, ...
/// A row as people read it: "idle: sync", "stalled", a layer or kernel.
std::string row_name(const ComparedTime& row);
std::string run_letter(std::size_t run);
/// What a row goes by: idle causes in words, kernels by their short name.
std::string row_name(const ComparedTime& row);
/// What the difference between the first run and run `other` is made of, largest first: "idle:
/// waits for input -46.8 ms, idle: launch too late +9.7 ms".
std::string comparison_headline(const Comparison& comparison, std::size_t other);

std::string comparison_text(const Comparison& comparison, const TextStyle& style,
                            std::size_t rows = 12);
/// One file that needs nothing else. Rows of layers and kernels beyond `rows` open at a press.
std::string comparison_page(const Comparison& comparison, std::size_t rows = 25);

}  // namespace gf
