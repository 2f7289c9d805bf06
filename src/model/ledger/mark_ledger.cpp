// Marks of steps: those of one name are numbered without a hole.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "core/format.h"
#include "model/ledger/ledger.h"

namespace gf {

namespace {
/// torch.profiler's name of its steps.
constexpr std::string_view kStep = "ProfilerStep#";
constexpr std::int64_t kMostSteps = std::int64_t{1} << 40;
}  // namespace

void check_marks(Capture& capture) {
  std::vector<std::int64_t> numbers;
  for (std::uint32_t text = 0; text < capture.strings.size(); ++text) {
    std::string_view name = capture.text(Text{text});
    if (!name.starts_with(kStep)) continue;
    name.remove_prefix(kStep.size());
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size() && number >= 0 &&
        number < kMostSteps)
      numbers.push_back(number);
  }
  if (numbers.size() < 2) return;
  const auto [first, last] = std::ranges::minmax(numbers);
  const auto missing = last - first + 1 - static_cast<std::int64_t>(numbers.size());
  // A profiler that was started anew after many steps leaves out more than it marks.
  if (missing <= 0 || missing >= static_cast<std::int64_t>(numbers.size())) return;
  capture.note_quality(
      QualityCode::marks_missing,
      fmt::format("of the steps {} to {}, {} have no mark: their time is outside of every step, or "
                  "in the one before",
                  first, last, format_count(missing)),
      missing);
}

}  // namespace gf
