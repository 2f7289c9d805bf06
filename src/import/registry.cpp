#include <fmt/format.h>

#include <new>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "import/formats.h"
#include "import/importer.h"
#include "import/sqlite_file.h"
#include "import/stranger.h"
#include "import/xplane/xplane.h"
#include "model/check.h"
#include "model/ledger/ledger.h"

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

constexpr std::string_view kListed = "gpufathom help formats lists what is read";

}  // namespace

tl::unexpected<Error> refuse(const Stranger& stranger, const std::string& path) {
  return fail(fmt::format("cannot be read: it is {}", stranger.what), path, -1,
              fmt::format("{}; {}", stranger.next, kListed));
}

namespace {

/// The owner of a file: an importer's, or another tool's; neither is unknown.
struct Recognized {
  const Importer* importer = nullptr;
  const Stranger* stranger = nullptr;
};

Recognized recognize(const std::string& path, std::string_view head) {
  constexpr int kSure = 90;
  const Importer* best = nullptr;
  int best_score = 0;
  for (const Importer& candidate : importers())
    if (const int score = candidate.sniff(path, head); score > best_score) {
      best = &candidate;
      best_score = score;
    }
  // Most traces are that sure, and need not be looked through for the marks of all others.
  return {best, best_score < kSure ? find_stranger(path, head) : nullptr};
}

tl::unexpected<Error> refuse_unknown(std::string_view looks, const std::string& path) {
  if (looks.empty()) return fail("has an unknown format", path, -1, std::string(kListed));
  return fail(fmt::format("is not a trace or report that can be read: it looks like {}", looks),
              path, -1, std::string(kListed));
}

/// The capture that an importer made, after the checks that every capture passes.
Result<Capture> checked(Result<Capture> capture, const std::string& path) {
  if (!capture) return capture;
  capture->path = path;
  if (const auto sound = capture->check(); !sound) return tl::unexpected(sound.error());
  check_evidence(*capture);
  return capture;
}

}  // namespace

std::string_view format_of_file(const std::string& path) {
  if (is_folder(path)) return {};
  auto head = read_head(path);
  if (!head) return {};
  *head = with_schema(path, std::move(*head));
  const auto [importer, stranger] = recognize(path, *head);
  return importer && !stranger ? importer->id : "";
}

Result<Capture> import_file(const std::string& path, const ImportOptions& options) {
  if (is_folder(path)) {
    const auto profile = xplane::find_profile(path);
    if (!profile) {
      if (nsys::is_folder_of_tables(path)) return checked(nsys::load_tables(path, options), path);
      if (const auto processes = rocprof::find_processes(path); !processes.empty())
        return checked(rocprof::load_processes(processes, path, options), path);
      if (const auto scrapes = fleet::find_scrapes(path); !scrapes.empty())
        return checked(fleet::load_scrapes(scrapes, path, options), path);
      if (const auto* stranger = find_stranger_folder(path.c_str())) return refuse(*stranger, path);
      return tl::unexpected(profile.error());
    }
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
  *head = with_schema(path, std::move(*head));
  const auto [best, stranger] = recognize(path, *head);
  if (stranger) return refuse(*stranger, path);
  if (!best) return refuse_unknown(describe_content(*head), path);
  auto capture = load_with(*best, path, options);
  if (!capture) return capture;
  if (capture->format.empty()) capture->format = best->id;
  if (best->load != capture_file::load) return checked(std::move(capture), path);
  // read_capture has checked where the references of a capture file point.
  capture->path = path;
  drop_impossible_rows(*capture);
  check_evidence(*capture);
  return capture;
}

}  // namespace gf
