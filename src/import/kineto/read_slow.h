// The slow reader: any valid JSON object through simdjson, and common damage repaired where its
// meaning is beyond doubt.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "import/kineto/event.h"

namespace gf::kineto {

class SlowReader {
 public:
  SlowReader();
  ~SlowReader();

  enum class Outcome { whole, repaired, damaged };
  /// Reads one event. Its tokens stay valid until the next call. `repaired`: control characters
  /// inside texts became spaces and invalid UTF-8 became U+FFFD.
  Outcome read(std::string_view object, Event& event);

 private:
  bool parse(Event& event);
  struct Parser;
  std::unique_ptr<Parser> parser_;
  std::string buffer_;
};

/// Control characters to spaces, invalid UTF-8 to U+FFFD. Returns whether anything changed.
bool repair_text(std::string& text);

}  // namespace gf::kineto
