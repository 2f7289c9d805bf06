#include <new>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "import/formats.h"
#include "import/importer.h"
#include "import/xplane/xplane.h"
#include "model/check.h"
#include "model/ledger/ledger.h"

namespace gf {

std::span<const Importer> importers() {
  static const std::vector<Importer> table = {
      // one line a format
      {"gpf", "gpufathom capture (.gpf)", capture_file::sniff, capture_file::load},
      {"kineto", "PyTorch profiler trace (JSON)", kineto::sniff, kineto::load},
      {"nsight_compute_csv", "Nsight Compute report (CSV)", ncu::sniff_csv, ncu::load_csv},
      {"nsight_compute_rep", "Nsight Compute report (.ncu-rep)", ncu::sniff_rep, ncu::load_rep},
      {"nsight_systems", "Nsight Systems export (SQLite)", nsys::sniff, nsys::load},
      {"telemetry_csv", "log of power, clocks or utilization (nvidia-smi or NVML, CSV)",
       telemetry::sniff_csv, telemetry::load_csv},
      {"smi_dmon", "output of nvidia-smi dmon", telemetry::sniff_smi_dmon,
       telemetry::load_smi_dmon},
      {"dcgm_dmon", "output of dcgmi dmon", telemetry::sniff_dmon, telemetry::load_dmon},
      {"tf_trace_json", "TensorFlow or JAX trace.json", tf_trace_json::sniff, tf_trace_json::load},
      {"torch_memory", "memory snapshot of PyTorch (pickle)", torch_memory::sniff,
       torch_memory::load},
      {"xplane", "TensorFlow or JAX profile (XSpace protobuf)", xplane::sniff, xplane::load},
  };
  return table;
}

namespace {

/// An input may ask for more memory than there is; what was made of it is given back by then.
Result<Capture> load_with(const Importer& importer, const std::string& path,
                          const ImportOptions& options) {
  try {
    return importer.load(path, options);
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  } catch (const std::system_error&) {  // a thread that cannot be started
  }
  return fail(std::string("needs more memory than there is, read as ") + importer.id, path, -1,
              "give the process more memory, or record a shorter run");
}

}  // namespace

Result<Capture> import_file(const std::string& path, const ImportOptions& options) {
  if (is_folder(path)) {
    const auto profile = xplane::find_profile(path);
    if (!profile) return tl::unexpected(profile.error());
    auto capture = import_file(profile->file, options);
    if (capture && profile->hosts > 1)
      capture->note_quality(QualityCode::other_hosts,
                            "the profile has files of several hosts; this is one of them, name "
                            "another file to see its host",
                            profile->hosts - 1);
    return capture;
  }
  auto head = read_head(path);
  if (!head) return tl::unexpected(head.error());
  const Importer* best = nullptr;
  int best_score = 0;
  for (const Importer& candidate : importers())
    if (const int score = candidate.sniff(path, *head); score > best_score) {
      best = &candidate;
      best_score = score;
    }
  if (best_score < 80)
    if (const auto stranger = describe_stranger(path, *head); !stranger.what.empty())
      return fail(std::string(stranger.what), path, -1, std::string(stranger.advice));
  if (!best) {
    const auto looks = describe_content(*head);
    std::string known;
    for (const Importer& importer : importers())
      known += (!known.empty() ? "; " : "") + std::string(importer.description);
    return fail(looks.empty() ? "has an unknown format"
                              : "is not a trace or report that can be read: it looks like " +
                                    std::string(looks),
                path, -1, "understood: " + known);
  }
  auto capture = load_with(*best, path, options);
  if (!capture) return capture;
  capture->path = path;
  if (capture->format.empty()) capture->format = best->id;
  // Who reads a capture file has looked where its references point (read_capture).
  if (best->load == capture_file::load)
    drop_impossible_rows(*capture);
  else if (const auto sound = capture->check(); !sound)
    return tl::unexpected(sound.error());
  check_evidence(*capture);
  return capture;
}

}  // namespace gf
