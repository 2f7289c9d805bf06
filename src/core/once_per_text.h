// What a text alone decides, worked out once for every distinct text: a rule that looks at the
// names of a million kernels reads each name once.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/strings.h"

namespace gf {

/// Answers by the ids of a pool. `ask` is called with a text when its answer is first wanted.
template <class Ask>
class OncePerText {
 public:
  using Answer = std::remove_cvref_t<std::invoke_result_t<Ask&, std::string_view>>;
  OncePerText(const StringPool& texts, Ask ask)
      : texts_(texts), ask_(std::move(ask)), numbers_(texts.size()) {}

  Answer& operator()(StringId id) {
    auto& number = numbers_[static_cast<std::uint32_t>(id)];
    if (number == 0) {
      answers_.push_back(ask_(texts_.view(id)));
      number = static_cast<std::uint32_t>(answers_.size());
    }
    return answers_[number - 1];
  }

 private:
  const StringPool& texts_;
  Ask ask_;
  std::vector<std::uint32_t> numbers_;  // by id: place in answers_ + 1, 0 when not asked yet
  std::deque<Answer> answers_;
};

}  // namespace gf
