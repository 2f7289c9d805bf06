// Names of a part, each once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gf {

class Texts {
 public:
  std::int64_t number(std::string_view text) {
    const auto [at, added] =
        numbers_.try_emplace(std::string(text), static_cast<std::int64_t>(texts_.size()));
    if (added) texts_.emplace_back(text);
    return at->second;
  }
  std::vector<std::string> take() && { return std::move(texts_); }

 private:
  std::unordered_map<std::string, std::int64_t> numbers_;
  std::vector<std::string> texts_;
};

}  // namespace gf
