// Student's distribution, where a spread comes from few values.
#pragma once

#include <cstdint>

namespace gf {

/// Half the width of a two-sided 95 % interval in standard errors: the 97.5 % quantile of Student's
/// distribution with so many degrees of freedom, at least 1.
double student_quantile95(std::int64_t degrees);

}  // namespace gf
