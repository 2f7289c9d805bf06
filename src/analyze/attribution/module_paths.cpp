#include "analyze/attribution/module_paths.h"

#include <fmt/format.h>

namespace gf {

namespace {

// Modules nested deeper than any program nests them count with the one around them: each would be
// as long as all above it together.
constexpr std::size_t kLongestPath = 4 << 10;

}  // namespace

ModulePaths::ModulePaths(std::vector<std::string>& paths) : paths_(paths) {
  for (std::uint32_t i = 1; i < paths.size(); ++i) known_.emplace(paths[i], i);
}

std::uint32_t ModulePaths::add(std::string path) {
  if (path.empty()) return 0;
  const auto [at, fresh] =
      known_.try_emplace(std::move(path), static_cast<std::uint32_t>(paths_.size()));
  if (fresh) paths_.push_back(at->first);
  return at->second;
}

std::uint32_t ModulePaths::child(std::uint32_t parent, StringId name, std::string_view label) {
  if (paths_[parent].size() > kLongestPath) return parent;
  const auto key = static_cast<std::uint64_t>(parent) << 32 | static_cast<std::uint32_t>(name);
  const auto [at, fresh] = children_.try_emplace(key, 0u);
  if (fresh) {
    std::string path = paths_[parent];
    if (!path.empty()) path += '.';
    path += label;
    at->second = add(std::move(path));
  }
  return at->second;
}

std::uint32_t ModulePaths::recorded(StringId text, std::string_view view) {
  if (text == StringId::none) return 0;
  const auto [at, fresh] = recorded_.try_emplace(static_cast<std::uint32_t>(text), 0u);
  if (!fresh) return at->second;
  constexpr std::string_view kFrame = "nn.Module: ";
  std::string path;
  if (view.find(kFrame) != std::string_view::npos) {
    for (auto from = view.find(kFrame); from != std::string_view::npos;
         from = view.find(kFrame, from)) {
      from += kFrame.size();
      std::string module(view.substr(from, view.find_first_of(";\n", from) - from));
      if (path.empty()) {
        path = module;
      } else {
        path = fmt::format("{}.{}", module, path);
      }  // innermost first in the text
    }
  } else if (view.find('(') != std::string_view::npos && view.find(';') == std::string_view::npos &&
             view.find(".py") == std::string_view::npos) {
    path = std::string(view);
    if (const auto call = path.find("::forward"); call != std::string::npos) path.erase(call, 9);
  }
  // add() may move the map's nodes but not `at`: unordered_map keeps references, and known_ is
  // another map.
  return at->second = add(std::move(path));
}

}  // namespace gf
