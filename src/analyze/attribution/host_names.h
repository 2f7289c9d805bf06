// What the name of a host operation says: each distinct text is looked at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/capture.h"

namespace gf {

enum HostNameTrait : std::uint8_t {
  kLooked = 1,      // the other bits are valid
  kBackward = 2,    // autograd engine evaluating a backward function
  kOptimizer = 4,   // an optimiser step, its zero_grad, or a fused optimiser operation
  kModule = 8,      // Python frame of a module call, "nn.Module: Conv2d_0"
  kRecompute = 32,  // an activation checkpoint runs its forward pass again
  kScope = 16,      // as an annotation: a scope the user named, fit to stand for a module
};

/// The traits of a text.
std::uint8_t host_name_traits(std::string_view name);

class HostNames {
 public:
  explicit HostNames(const Capture& capture)
      : capture_(capture), traits_(capture.strings.size(), 0) {}
  std::uint8_t operator[](Text name) {
    auto& trait = traits_[static_cast<std::uint32_t>(name)];
    if (!trait) trait = host_name_traits(capture_.text(name)) | kLooked;
    return trait;
  }

 private:
  const Capture& capture_;
  std::vector<std::uint8_t> traits_;
};

}  // namespace gf
