// The ways to read the events of a trace. They give the same capture, which tests and fuzzers hold
// them to: the way that users get guesses and learns, the plain one does neither.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.h"
#include "import/importer.h"

namespace gf::kineto {

enum class Reading : std::uint8_t {
  learned,  // by patterns and layouts where they fit; the importer's way
  fast,     // each event by read_fast where it can
  plain,    // each event by simdjson
};

/// The number of events that each reader took.
struct ReadBy {
  std::int64_t pattern = 0, layout = 0, fast = 0, plain = 0;
};

/// As load (formats.h), by a way of reading. `counts`: added up over all threads.
Result<Capture> load_by(Reading reading, const std::string& path, const ImportOptions& options,
                        ReadBy* counts = nullptr);

}  // namespace gf::kineto
