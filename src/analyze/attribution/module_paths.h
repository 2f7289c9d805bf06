// Numbers for module paths ("Sequential_0.Conv2d_0"), shared by all kernels of a module.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/strings.h"

namespace gf {

class ModulePaths {
 public:
  /// `paths` outlives this object; its entry 0 is the empty path.
  explicit ModulePaths(std::vector<std::string>& paths);

  /// The path of a module or scope called `name` inside the path `parent`. `label` is the part of
  /// the name shown.
  std::uint32_t child(std::uint32_t parent, StringId name, std::string_view label);
  /// The same for a scope that the user named by an annotation.
  std::uint32_t scope(std::uint32_t parent, StringId name, std::string_view label) {
    const auto id = child(parent, name, label);
    if (id >= is_scope_.size()) is_scope_.resize(id + 1, false);
    is_scope_[id] = true;
    return id;
  }
  bool is_scope(std::uint32_t id) const { return id < is_scope_.size() && is_scope_[id]; }
  /// The path that an operation's own "module" text gives: a hierarchy such as
  /// "top(ResNet)::forward.layer1(Block)", or a call stack with "nn.Module: X" frames, innermost
  /// first. 0 when the text names no module.
  std::uint32_t recorded(StringId text, std::string_view view);

 private:
  std::uint32_t add(std::string path);
  std::vector<std::string>& paths_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  // parent path and name
  std::unordered_map<std::uint32_t, std::uint32_t> recorded_;  // by text
  std::unordered_map<std::string, std::uint32_t> known_;
  std::vector<bool> is_scope_;
};

}  // namespace gf
