// The folder that the TensorFlow and JAX profilers write:
// LOGDIR/plugins/profile/RUN/HOST.xplane.pb.
#pragma once

#include <string>

#include "core/error.h"

namespace gf {

bool is_folder(const std::string& path);

namespace xplane {

struct ProfileFile {
  std::string file;
  std::int64_t hosts = 1;  // files of this kind beside it, itself included
};

/// The profile to read when a folder is named: of LOGDIR, plugins, profile or RUN itself. The
/// latest run wins (run names are dates); in it the first host by name; the xplane file rather than
/// the trace.json.gz made from it. Errors: nothing of the kind in the folder.
Result<ProfileFile> find_profile(const std::string& folder);

}  // namespace xplane
}  // namespace gf
