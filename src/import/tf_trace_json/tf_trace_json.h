// trace.json.gz, which the TensorFlow and JAX profilers derive from their xplane file.
// docs/formats/xplane.md has the rules.
#pragma once

#include "import/importer.h"

namespace gf::tf_trace_json {

int sniff(std::string_view path, std::string_view head);
/// Reads the xplane file beside it instead when there is one: it has what this file leaves out, and
/// no event cap.
Result<Capture> load(const std::string& path, const ImportOptions& options);
/// Reads the JSON itself. `text` must be followed by kPadding readable bytes.
Result<Capture> load_text(std::string_view text, const std::string& path,
                          const ImportOptions& options);
inline constexpr std::size_t kPadding = 64;

}  // namespace gf::tf_trace_json
