#include "core/apportion.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "core/assert.h"

namespace gf {

std::vector<std::int64_t> apportion(std::int64_t total, std::span<const double> weights) {
  std::vector<std::int64_t> parts(weights.size(), 0);
  if (weights.empty() || total <= 0) return parts;
  auto clean = [](double weight) { return weight > 0 ? static_cast<long double>(weight) : 0.0L; };
  long double sum = 0;
  for (double weight : weights) sum += clean(weight);
  if (!(sum > 0) || std::isinf(sum)) {
    parts[0] = total;
    return parts;
  }
  std::vector<long double> remainder(weights.size());
  std::int64_t given = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const long double exact = static_cast<long double>(total) * (clean(weights[i]) / sum);
    const long double whole = std::floor(exact);
    parts[i] = static_cast<std::int64_t>(whole);
    remainder[i] = exact - whole;
    given += parts[i];
  }
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](auto left, auto right) { return remainder[left] > remainder[right]; });
  // Rounding of the shares themselves can leave more than one unit a part on either side; the loops
  // go round again then.
  for (std::size_t i = 0; given < total; i = (i + 1) % order.size(), ++given) ++parts[order[i]];
  for (std::size_t i = order.size(); given > total; i = (i + order.size() - 1) % order.size()) {
    auto& part = parts[order[(i + order.size() - 1) % order.size()]];
    if (part > 0) {
      --part;
      --given;
    }
  }
  GF_ASSERT(given == total);
  return parts;
}

}  // namespace gf
