// XSpace profiles (NAME.xplane.pb) of TensorFlow and JAX. docs/formats/xplane.md has the rules.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "import/importer.h"

namespace gf::xplane {

int sniff(std::string_view path, std::string_view head);
Result<Capture> load(const std::string& path, const ImportOptions& options);

/// Reads a profile that lies in memory. `release`, when given, hears of every part that is done
/// with.
Result<Capture> load_bytes(std::string_view bytes, const std::string& path,
                           const ImportOptions& options,
                           const std::function<void(std::string_view)>& release = {});

}  // namespace gf::xplane
