// Ids of the metric catalog in code: `"sm.active"_metric` does not compile when metrics.def does
// not declare it.
#pragma once

#include <cstddef>
#include <string_view>

namespace gf {

namespace detail {

constexpr bool is_metric(std::string_view id) {
#define GF_METRIC(name, ...) \
  if (id == name) return true;
#define GF_INPUT(metric, source, chips, expression)
#include "model/metrics.def"
#undef GF_INPUT
#undef GF_METRIC
  return false;
}

}  // namespace detail

/// The id as it stands.
consteval const char* operator""_metric(const char* id, std::size_t length) {
  if (!detail::is_metric({id, length})) throw "model/metrics.def declares no metric of this id";
  return id;
}

}  // namespace gf
