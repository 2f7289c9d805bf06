// XSpace profiles (NAME.xplane.pb) of TensorFlow and JAX. docs/formats/xplane.md has the rules.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "import/importer.h"
#include "import/xplane/plane.h"

namespace gf::xplane {

int sniff(std::string_view path, std::string_view head);
Result<Capture> load(const std::string& path, const ImportOptions& options);

/// Reads a profile that lies in memory. `release`, when given, hears of every part that is done
/// with, once in each of two passes.
Result<Capture> load_bytes(std::string_view bytes, const std::string& path,
                           const ImportOptions& options, const Release& release = {});

// The folder that the TensorFlow and JAX profilers write:
// LOGDIR/plugins/profile/RUN/HOST.xplane.pb.

struct ProfileFile {
  std::string file;
  std::int64_t hosts = 1;  // files of this kind beside it, itself included
};

/// The profile to read when a folder is named: of LOGDIR, plugins, profile or RUN itself. The
/// latest run wins (run names are dates); in it the first host by name; the xplane file rather than
/// the trace.json.gz made from it. Errors: nothing of the kind in the folder.
Result<ProfileFile> find_profile(const std::string& folder);

}  // namespace gf::xplane
