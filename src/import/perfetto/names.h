// The meaning of the numbers in a sequence of packets, which explains them as it goes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "import/perfetto/packets.h"

namespace gf::perfetto {

class SequenceNames {
 public:
  /// Names of each kind that is interned.
  enum Kind { categories, events, keys, stages, kernels, arguments, texts, kKinds };

  void clear() { names_ = {}; }
  void learn(std::string_view interned) {
    constexpr std::pair<protozero::pbf_tag_type, Kind> kFields[] = {
        {field::kCategories, categories},  {field::kEventNames, events},
        {field::kAnnotationNames, keys},   {field::kSpecifications, stages},
        {field::kComputeKernels, kernels}, {field::kComputeArguments, arguments},
        {field::kAnnotationTexts, texts}};
    for (auto message = message_of(interned); message.next();) {
      const Kind* kind = nullptr;
      for (const auto& [number, of] : kFields)
        if (message.tag() == number) kind = &of;
      std::string_view named;
      if (!kind)
        message.skip();
      else if (read(message, named))
        add(*kind, named);
    }
  }
  /// Empty: never explained.
  std::string_view get(Kind kind, std::uint64_t number) const {
    const auto& of = names_[kind];
    const auto found = of.find(number);
    return found == of.end() ? std::string_view{} : std::string_view(found->second);
  }

 private:
  void add(Kind kind, std::string_view named) {
    std::uint64_t id = 0;
    std::string_view name, demangled;
    for (auto message = message_of(named); message.next();)
      if (message.tag() == field::kId)
        read(message, id);
      else if (message.tag() == field::kName)
        read(message, name);
      else if (kind == kernels && message.tag() == field::kDemangled)
        read(message, demangled);
      else
        message.skip();
    names_[kind][id] = demangled.empty() ? name : demangled;
  }
  std::array<std::map<std::uint64_t, std::string>, kKinds> names_;
};

}  // namespace gf::perfetto
