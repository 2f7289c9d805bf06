// The formats that are read, of which no other file of this room knows.
#include <vector>

#include "import/formats.h"
#include "import/importer.h"
#include "import/stranger.h"
#include "import/xplane/xplane.h"

namespace gf {

std::span<const Importer> importers() {
  static const std::vector<Importer> table = {
      // one line a format
      {"gpf", capture_file::sniff, capture_file::load},
      {"gpu_trace_csv", gpu_trace_csv::sniff, gpu_trace_csv::load},
      {"kineto", kineto::sniff, kineto::load},
      {"nsight_compute_csv", ncu::sniff_csv, ncu::load_csv},
      {"nsight_compute_rep", ncu::sniff_rep, ncu::load_rep},
      {"ascend", ascend::sniff, ascend::load},
      {"ascend_trace", ascend::sniff_trace, ascend::load_trace},
      {"nsight_systems", nsys::sniff, nsys::load},
      {"nsight_systems_json", nsys::sniff_json, nsys::load_json},
      {"nsight_systems_report", nsys::sniff_report, nsys::load_report},
      {"nsight_systems_tables", nsys::sniff_tables, nsys::load_tables},
      {"nvprof", nvprof::sniff, nvprof::load},
      {"onnxruntime", onnxruntime::sniff, onnxruntime::load},
      {"perfetto", perfetto::sniff, perfetto::load},
      {"prometheus", fleet::sniff_prometheus, fleet::load_prometheus},
      {"proton", proton::sniff, proton::load},
      {"proton_tree", proton::sniff_tree, proton::load_tree},
      {"rocprof_compute", rocprof_compute::sniff, rocprof_compute::load},
      {"rocpd", rocprof::sniff_rocpd, rocprof::load_rocpd},
      {"rocprofv3_csv", rocprof::sniff_csv, rocprof::load_csv},
      {"rocprofv3_json", rocprof::sniff_json, rocprof::load_json},
      {"rpd", rpd::sniff, rpd::load},
      {"telemetry_csv", telemetry::sniff_csv, telemetry::load_csv},
      {"smi_dmon", telemetry::sniff_smi_dmon, telemetry::load_smi_dmon},
      {"dcgm_dmon", telemetry::sniff_dmon, telemetry::load_dmon},
      {"tf_trace_json", tf_trace_json::sniff, tf_trace_json::load},
      {"torch_memory", torch_memory::sniff, torch_memory::load},
      {"trtexec", trtexec::sniff, trtexec::load},
      {"trtexec_profile", trtexec::sniff_profile, trtexec::load_profile},
      {"unitrace", unitrace::sniff, unitrace::load},
      {"wandb", fleet::sniff_wandb, fleet::load_wandb},
      {"xplane", xplane::sniff, xplane::load},
  };
  return table;
}

Result<Capture> import_folder(const std::string& path, const ImportOptions& options) {
  const auto profile = xplane::find_profile(path);
  if (!profile) {
    if (nsys::is_folder_of_tables(path)) return checked(nsys::load_tables(path, options), path);
    if (const auto processes = rocprof::find_processes(path); !processes.empty())
      return checked(rocprof::load_processes(processes, path, options), path);
    if (const auto scrapes = fleet::find_scrapes(path); !scrapes.empty())
      return checked(fleet::load_scrapes(scrapes, path, options), path);
    if (const auto* stranger = find_stranger_folder(path.c_str())) return refuse(*stranger, path);
    return refuse_folder(path, profile.error());
  }
  auto capture = import_file(profile->file, options);
  if (capture && profile->hosts > 1)
    capture->note_quality(QualityCode::other_hosts,
                          "the profile has files of several hosts; this is one of them, name "
                          "another file to see its host",
                          profile->hosts - 1);
  return capture;
}

}  // namespace gf
