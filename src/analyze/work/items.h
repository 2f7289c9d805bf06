// How many items a step works on, by the sizes of what it computes: the one place that knows, for
// `work`, `analyze`, `energy` and `compare`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyze/result.h"
#include "model/capture.h"

namespace gf::work {

struct StepItems {
  std::int64_t items = 0, tokens = 0;  // tokens 0: not known
  std::string from;                    // the operation and sizes that tell
  std::string_view kind;  // what an item is by it: sequences, bags, images, or rows of a product
};

/// Of a step when all steps of the window agree; without steps, what most of the operations say.
std::optional<StepItems> items_of_window(const Capture& capture, const WindowInfo& window);

}  // namespace gf::work
