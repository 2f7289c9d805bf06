// What a captured program would take with something changed, for people.
#pragma once

#include <string>

#include "analyze/replay/what_if.h"
#include "report/text/style.h"

namespace gf {

std::string what_if_text(const WhatIf& answer, const TextStyle& style);

}  // namespace gf
