// Reads the part of Python's pickle format that holds plain data: numbers, texts, lists, tuples and
// dictionaries. Nothing of a pickle is ever carried out: one that names a class or asks for a call
// is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace gf::torch_memory {

/// A value, by its place among all values of the pickle.
using Node = std::uint32_t;
inline constexpr Node kNoNode = UINT32_MAX;

class Pickle {
 public:
  enum class Kind : std::uint8_t { none, boolean, integer, real, text, list, dictionary };

  /// Errors: an operation that is not plain data, damage, more values than `most`. Views of texts
  /// point into `content`, which must outlive the pickle.
  static Result<Pickle> read(std::string_view content, std::size_t most = kMost);
  static constexpr std::size_t kMost = 100'000'000;

  Node root() const { return root_; }
  Kind kind(Node node) const;
  std::optional<std::int64_t> integer(Node node) const;
  std::string_view text(Node node) const;  // empty when it is none
  /// Items of a list or tuple; keys and values of a dictionary by turns.
  const std::vector<Node>& items(Node node) const;
  /// The value of a key that is a text; kNoNode when there is none.
  Node at(Node dictionary, std::string_view key) const;

 private:
  friend class Unpickler;
  struct Value {
    Kind kind = Kind::none;
    std::int64_t integer = 0;  // of numbers; of texts, lists and dictionaries their place
  };
  std::vector<Value> values_;
  std::vector<std::string_view> texts_;
  std::vector<std::vector<Node>> lists_;
  Node root_ = kNoNode;
};

}  // namespace gf::torch_memory
